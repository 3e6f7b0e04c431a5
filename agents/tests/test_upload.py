"""Spool, then send; what a server is sent of the directories that an upload was read from."""

from __future__ import annotations

import json

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labagent.client import Client, Flags
from labagent.errors import RefusedError, UnavailableError
from labagent.spool import Spool
from labagent.upload import Sender

from agents.tests.make import bench, label_dir
from agents.tests.server import TOKEN, FakeServer, error


def document(number: int) -> dict:
    mode = {"workload": "pf", "traffic": "inet4", "options": ["a"]}
    facts = {"label": f"fbsd{number}"}
    return {
        "uuid": f"u{number:03}",
        "hardware": "A/B",
        "revision": f"r{number}",
        "mode": mode,
        "facts": facts,
    }


def sender(server: FakeServer, directory, count: int = 10, flags: Flags | None = None) -> Sender:
    spool = Spool(directory)
    spool.add([document(number) for number in range(count)], flags or Flags())
    client = Client("https://driftline.test", TOKEN, transport=server.transport)
    return Sender(client, spool)


def refuse(*numbers: int):
    uuids = {f"u{number:03}" for number in numbers}
    return lambda run: ("tree", "unknown tree") if run["uuid"] in uuids else None


def test_a_batch_that_was_taken_leaves_the_spool(server, tmp_path):
    sending = sender(server, tmp_path)
    assert str(sending.send_all()) == "stored 10, known 0, rejected 0"
    assert len(server.runs) == 10
    assert sending.spool.pending() == []


def test_what_the_server_warns_of_is_printed_for_the_run(server, tmp_path):
    warned = {"uuid": "u000", "status": "stored", "warnings": ["r0 waits for its place"]}
    plain = {"uuid": "u001", "status": "stored"}  # an older server's answer
    server.script.append((201, {"runs": [warned, plain]}))
    tally = sender(server, tmp_path, count=2).send_all()
    assert [(one.where, one.reason) for one in tally.warned] == [
        ("A/B r0 pf@inet4+a (fbsd0)", "r0 waits for its place")
    ]


def test_a_quota_is_shown_with_its_remedy_and_the_spool_goes_on_afterwards(server, tmp_path):
    status, body = error(429, "The quota of the lab x is 5 runs a day.", "Have it raised.")
    body["error"]["code"] = "quota"
    server.script.append((status, {**body, "headers": {"Retry-After": "40000"}}))
    sending = sender(server, tmp_path)
    with pytest.raises(UnavailableError, match=r"5 runs a day\. \(Have it raised; nothing is lost"):
        sending.send_all()
    # A wait of hours is not begun, and nothing is rejected.
    assert len(server.requests) == 1
    assert len(sending.spool.pending()) == 1
    assert str(sending.send_all()) == "stored 10, known 0, rejected 0"


@pytest.mark.parametrize("status", [404, 409, 422])
def test_named_runs_are_set_aside_and_the_others_stored(server, tmp_path, status):
    server.judge, server.refusal = refuse(2, 5), status
    sending = sender(server, tmp_path)
    tally = sending.send_all()
    assert str(tally) == "stored 8, known 0, rejected 2"
    assert server.posts() == 2
    assert [skip.where for skip in tally.rejected.values()] == [
        "A/B r2 pf@inet4+a (fbsd2)",
        "A/B r5 pf@inet4+a (fbsd5)",
    ]
    assert all("tree: unknown tree" in skip.reason for skip in tally.rejected.values())
    assert [path.name for path in sending.spool.rejected()] == ["u002.json", "u005.json"]
    kept = json.loads(sending.spool.rejected()[0].read_text())
    assert kept["run"] == document(2)
    assert sending.spool.pending() == []


def test_a_batch_refused_without_naming_anyone_is_halved_until_found(server, tmp_path):
    def store_runs(runs):
        bad = any(run["uuid"] == "u007" for run in runs)
        return error(422, "something is wrong") if bad else FakeServer.store_runs(server, runs)

    server.store_runs = store_runs
    sending = sender(server, tmp_path)
    tally = sending.send_all()
    assert str(tally) == "stored 9, known 0, rejected 1"
    (skip,) = tally.rejected.values()
    assert (skip.where, "something is wrong" in skip.reason) == ("A/B r7 pf@inet4+a (fbsd7)", True)


def test_a_batch_too_large_is_sent_in_halves(server, tmp_path):
    server.most = 3
    assert str(sender(server, tmp_path).send_all()) == "stored 10, known 0, rejected 0"


def test_the_flags_travel_with_what_is_sent_again(server, tmp_path):
    server.judge = refuse(1)
    sender(server, tmp_path, flags=Flags(history=True)).send_all()
    assert [params for _, _, params in server.requests] == [{"history": "true"}] * 2


@pytest.mark.parametrize("trouble", [error(401), error(403), error(404), error(400)])
def test_a_refusal_of_the_agent_itself_stops_and_keeps_everything(server, tmp_path, trouble):
    server.script = [trouble]
    sending = sender(server, tmp_path)
    with pytest.raises(RefusedError):
        sending.send_all()
    assert sending.spool.count(sending.spool.pending()) == 10


def test_trouble_on_the_way_keeps_what_was_not_answered_for(server, tmp_path, no_waiting):
    sending = sender(server, tmp_path)
    sending.spool.add([document(100)], Flags())
    server.script = [httpx2.ConnectError("refused")] * 8
    with pytest.raises(UnavailableError):
        sending.send_all()
    assert sending.spool.count(sending.spool.pending()) == 11
    assert str(sending.send_all()) == "stored 11, known 0, rejected 0"


def test_a_run_on_which_the_server_fails_holds_up_no_other_and_waits(server, tmp_path):
    server.judge, server.refusal = refuse(7), 500
    sending = sender(server, tmp_path)
    sending.spool.add([document(100)], Flags())
    assert sending.send_all().failed == {"u007": "A/B r7 pf@inet4+a (fbsd7)"}
    assert len(server.runs) == 10
    assert sending.spool.count(sending.spool.pending()) == 1
    server.judge = refuse()
    assert str(Sender(sending.client, sending.spool).send_all()).startswith("stored 1, known 0")


def test_a_server_that_fails_on_everything_is_soon_left_alone(server, tmp_path):
    server.judge, server.refusal = refuse(*range(100)), 500
    sending = sender(server, tmp_path, count=100)
    with pytest.raises(UnavailableError):
        sending.send_all()
    assert server.posts() == 20
    assert sending.spool.count(sending.spool.pending()) == 100


def test_a_conflict_states_how_to_let_the_new_content_in(server, tmp_path):
    server.judge, server.refusal = refuse(0), 409
    tally = sender(server, tmp_path, count=1).send_all()
    assert "--replace" in tally.rejected["u000"].reason


def test_a_path_beyond_the_batch_names_nobody(server, tmp_path):
    server.script = [error(422, "odd", **{"runs[99].tree": "unknown"})]
    assert str(sender(server, tmp_path, count=2).send_all()) == "stored 2, known 0, rejected 0"


@settings(max_examples=25)
@given(st.sets(st.integers(0, 19)), st.integers(1, 25))
def test_every_run_ends_either_stored_or_rejected(tmp_path_factory, bad, most):
    server = FakeServer(judge=refuse(*bad), most=most)
    sending = sender(server, tmp_path_factory.mktemp("spool"), count=20)
    tally = sending.send_all()
    assert tally.stored == len(server.runs) == 20 - len(bad)
    assert len(sending.spool.rejected()) == len(tally.rejected) == len(bad)
    assert sending.spool.pending() == []


@pytest.fixture
def label(tmp_path):
    """A directory with two kernels in one mode, and a README."""
    found = label_dir(tmp_path / "archive", "fbsd12-head.r303643")
    for number in (303642, 303643):
        uname = f"FreeBSD b 12.0-CURRENT FreeBSD 12.0-CURRENT #1 r{number}: Mon Aug  1 amd64"
        bench(found, f"{number}.pf", image=str(number), cfg="pf", uname=uname)
    (found / "README.md").write_text("Impact of r303643\n - a bullet\n")
    return found


def test_a_directory_is_sent_with_its_readme_and_its_runs(labagent, server, label, capsys):
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


def test_why_the_server_makes_none_is_printed_and_the_next_directory_follows(
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
