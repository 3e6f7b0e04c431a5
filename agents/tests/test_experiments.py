"""What a server is told of the directories of an upload."""

from __future__ import annotations

import pytest

from agents.tests.make import bench, label_dir
from agents.tests.server import error


@pytest.fixture
def label(tmp_path):
    """A directory with two kernels in one mode, and a README."""
    found = label_dir(tmp_path / "archive", "fbsd12-head.r303643")
    for number in (303642, 303643):
        uname = f"FreeBSD b 12.0-CURRENT FreeBSD 12.0-CURRENT #1 r{number}: Mon Aug  1 amd64"
        bench(found, f"{number}.pf", image=str(number), cfg="pf", uname=uname)
    (found / "README.md").write_text("Impact of r303643\n - a bullet\n")
    return found


def test_a_directory_is_told_with_its_readme_and_its_runs(labagent, server, label, capsys):
    assert labagent("upload", label) == 0
    ((source, body),) = server.experiments.items()
    assert source.endswith("firewalls/fbsd12-head.r303643")
    assert body["readme"].startswith("Impact of r303643")
    assert set(body["runs"]) == set(server.runs)
    assert "/experiments/1/" in capsys.readouterr().err


def test_sent_twice_it_is_one(labagent, server, label):
    assert labagent("upload", label) == 0
    assert labagent("upload", label) == 0
    assert len(server.experiments) == 1


def test_all_that_is_sent_is_one_with_a_name(labagent, server, label):
    assert labagent("upload", label, "--report", "backoff") == 0
    assert [(one["source"], one["question"]) for one in server.experiments.values()] == [
        ("backoff", "backoff")
    ]


def test_a_baseline_is_sent_where_it_is_named(labagent, server, label):
    assert labagent("upload", label, "--baseline", "r303643") == 0
    assert [one["baseline"] for one in server.experiments.values()] == ["r303643"]


def test_without_a_readme_there_is_none(labagent, server, label):
    (label / "README.md").unlink()
    assert labagent("upload", label) == 0
    assert [one["readme"] for one in server.experiments.values()] == [""]


def test_one_run_is_no_experiment(labagent, server, tmp_path):
    found = label_dir(tmp_path / "archive", "fbsd12-head.r317849")
    bench(found, "pf", cfg="pf")
    assert labagent("upload", found) == 0
    assert server.experiments == {}


def test_a_server_without_experiments_takes_the_runs(labagent, server, label, capsys):
    server.has_experiments = False
    assert labagent("upload", label) == 0
    assert len(server.runs) == 2
    assert labagent("upload", label, "--experiment", "backoff") != 0
    assert "Not Found" in capsys.readouterr().err


def test_two_directories_that_may_be_one_report_are_offered_last(labagent, label, capsys):
    other = label.parent / f"{label.name}.D58513"
    for number in (303642, 303643):
        uname = f"FreeBSD b 12.0-CURRENT FreeBSD 12.0-CURRENT #2 r{number}: Mon Aug  1 amd64"
        values = [number + 0.25, number, number]
        bench(other, f"{number}.pf", values, image=str(number), cfg="pf", uname=uname)
    for _ in range(2):
        assert labagent("upload", label.parents[4]) == 0
        *_, made, offered = capsys.readouterr().err.splitlines()
        assert made.startswith("2 reports of 2 directories made")
        assert offered.startswith("one report of ")
        assert f"{other.name} " in offered or f"{other.name} is" in offered
        assert "is offered: https://driftline.test/experiments/" in offered


@pytest.fixture
def archive(label):
    """That directory, one whose second kernel is refused, and one of a single run."""
    for name, numbers in (("fbsd12-head.r303650", (303649, 303650)), ("fbsd12-head.r9", (303650,))):
        other = label.parent / name
        for number in numbers:
            uname = f"FreeBSD b 12.0-CURRENT FreeBSD 12.0-CURRENT #1 r{number}: Mon Aug  1 amd64"
            values = [number + 0.5, number, number]
            bench(other, f"{number}.pf", values, image=str(number), cfg="pf", uname=uname)
    return label.parents[4]


@pytest.mark.parametrize(("refusal", "code"), [(422, 1), (500, 5)])
def test_refused_runs_cost_no_other_directory_its_experiment(
    labagent, server, archive, capsys, refusal, code
):
    server.judge = lambda run: ("tree", "no") if run["revision"] == "r303649" else None
    server.refusal = refusal
    assert labagent("upload", archive) == code
    (source,) = server.experiments
    assert source.endswith("fbsd12-head.r303643")
    *_, one, other, made, error = capsys.readouterr().err.splitlines()
    assert one.startswith("no report of 1: 1 of its 2 runs were not taken (Atom_C2558")
    assert other.startswith("no report of 1: a single run (")
    assert made == "1 report of 3 directories made: https://driftline.test/experiments/"
    assert error.startswith("labagent: ")


def test_why_the_server_makes_none_is_said_and_the_next_directory_follows(
    labagent, server, archive, capsys
):
    answer = server.store_experiment
    server.store_experiment = lambda body: (
        error(413, "the body is larger than 1 bytes")
        if body["source"].endswith("r303643")
        else answer(body)
    )
    assert labagent("upload", archive) == 0
    (source,) = server.experiments
    assert source.endswith("fbsd12-head.r303650")
    assert "no report of 1: the body is larger than 1 bytes (" in capsys.readouterr().err


def test_a_rehearsal_makes_none(labagent, server, label):
    assert labagent("upload", label, "--dry-run") == 0
    assert server.experiments == {}
