"""`labagent check`: two files or directories, one line, an exit code."""

from __future__ import annotations

import hashlib
import json

import pytest
from labagent.model import Metric, Mode, Run, Samples, Source

from agents.tests.make import bench, label_dir

FAST, SLOW = (100, 101, 102, 99, 100), (90, 91, 92, 89, 90)
NEAR = (100.1, 101.1, 101.9, 99.1, 99.9)


@pytest.fixture
def side(tmp_path):
    def write(name, values, metric=""):
        path = tmp_path / name
        extra = {"metric": metric, "unit": "s", "better": "less"} if metric else {}
        lines = [json.dumps({"value": one, **extra}) if metric else str(one) for one in values]
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.mark.parametrize(
    ("b", "options", "code", "text"),
    [
        (SLOW, ["--better", "more"], 1, "worse: value -10 % [-12, -8.4], runs 5 and 5"),
        (SLOW, ["--better", "less"], 0, "better: value -10 %"),
        (NEAR, ["--better", "more"], 0, "equivalent: value"),
        (NEAR, [], 0, "equivalent: value"),
        (SLOW, ["--min-effect", "15"], 0, "equivalent: value -10 %"),
        (SLOW, [], 2, "cannot tell: value -10 %"),
        ((95, 80, 104, 120, 99), ["--better", "more"], 2, "cannot tell: value"),
        ((90,), ["--better", "more"], 2, "cannot tell: value -10 %, runs 5 and 1"),
    ],
)
def test_one_line_and_the_exit_code(labagent, environ, side, capsys, b, options, code, text):
    environ.clear()  # no server, no settings
    assert labagent("check", side("a", FAST), side("b", b), *options) == code
    out = capsys.readouterr().out
    assert out.startswith(text)
    assert out.count("\n") == 1


def test_a_difference_without_a_direction_asks_for_one(labagent, side, capsys):
    labagent("check", side("a", FAST), side("b", SLOW))
    assert "pass --better more or --better less" in capsys.readouterr().out


def test_a_direction_that_the_format_states_wins(labagent, side):
    a, b = side("a", FAST, "time"), side("b", SLOW, "time")
    assert labagent("check", a, b, "--better", "more") == 0
    assert labagent("check", b, a) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing",),
        ("a", "absent"),
        ("a", "text"),
        ("a", "a", "--format", "nonsense"),
        ("a", "a", "--better", "most"),
        ("a", "a", "--min-effect", "-1"),
        ("a", "a", "--min-effect", "nan"),
        ("a", "a", "--min-effect", "inf"),
        ("a", "time"),
    ],
)
def test_what_cannot_be_compared_ends_with_three(labagent, side, tmp_path, arguments):
    side("a", FAST)
    side("time", FAST, "time")
    (tmp_path / "text").write_text("hello\n")
    assert labagent("check", *(tmp_path / one if len(one) < 8 else one for one in arguments)) == 3


def test_bench_directories_are_compared_mode_by_mode(labagent, tmp_path, capsys):
    labels = [label_dir(tmp_path, f"fbsd12-head.r31784{n}") for n in (8, 9)]
    for label, values in zip(labels, (FAST, SLOW), strict=True):
        bench(label, "pf", [float(one) for one in values], cfg="pf")
        bench(label, "ipfw", [float(one) for one in FAST], cfg="ipfw")
    assert labagent("check", *labels) == 1
    out = capsys.readouterr().out
    assert out.startswith("worse (1 of 2 metrics): pf pps -10 % [-12, -8.4], boots 5 and 5")


def test_files_of_a_directory_are_one_side(labagent, side, tmp_path, capsys):
    for name, values in (("a", FAST), ("b", SLOW)):
        (tmp_path / f"dir-{name}").mkdir()
        for number, value in enumerate(values):
            side(f"dir-{name}/run.{number}", [value], "time")
    (tmp_path / "dir-a" / "notes").write_text("warm-up was off\n")
    assert labagent("check", tmp_path / "dir-a", tmp_path / "dir-b") == 0
    out, err = capsys.readouterr()
    assert out.startswith("better: time -10 % [-12, -8.4], runs 5 and 5")
    assert "warning: left out: notes: no format that is known" in err


@pytest.mark.parametrize(("name", "units"), [("boot-{}", "boots"), ("part-{}", "runs")])
def test_directories_may_name_boots(labagent, side, tmp_path, capsys, name, units):
    for top, values in (("a", FAST), ("b", SLOW)):
        for number, value in enumerate(values):
            below = f"{top}-side/{name.format(number)}"
            (tmp_path / below).mkdir(parents=True)
            for run in range(2):
                side(f"{below}/{run}", [value + run / 10], "time")
    assert labagent("check", tmp_path / "a-side", tmp_path / "b-side") == 0
    assert f"{units} {'5 and 5' if units == 'boots' else '10 and 10'}" in capsys.readouterr().out


def test_of_many_metrics_one_that_differs_by_chance_is_not_worse(labagent, tmp_path, capsys):
    def write(name, moved):
        lines = [
            {"metric": f"m{n}", "unit": "s", "better": "less", "value": value + moved * (n == 0)}
            for n in range(30)
            for value in (100, 103, 97)
        ]
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return path

    assert labagent("check", write("a", 0), write("b", 7.5)) == 2
    assert labagent("check", write("a", 0), write("b", 60)) == 1


def test_data_ministat_and_annotations(labagent, side, tmp_path, capsys):
    a, b = side("a", FAST), side("b", SLOW)
    report = tmp_path / "quality.json"
    labagent("check", a, b, "--better", "more", "--json", "--gitlab", report)
    document = json.loads(capsys.readouterr().out)
    (metric,) = document.pop("metrics")
    assert document == {"verdict": "worse", "exit_code": 1, "warnings": []}
    assert metric["change_pct"] == pytest.approx(-9.961, abs=1e-3)
    assert (metric["verdict"], metric["better"], metric["n"]) == ("worse", "more", [5, 5])
    (entry,) = json.loads(report.read_text())
    assert entry["description"].startswith("worse: value -10 %")
    assert entry["location"] == {"path": str(b), "lines": {"begin": 1}}
    labagent("check", a, b, "--better", "more", "--json", "--github")
    shown = capsys.readouterr()
    assert json.loads(shown.out)["verdict"] == "worse"
    assert shown.err.startswith("::error title=Driftline%3A worse::value -10 %25")
    labagent("check", a, b, "--better", "more", "--ministat", "--github")
    out = capsys.readouterr().out
    assert "Difference at 95.0% confidence\n\t-10 +/- 1.6628" in out
    assert "::error title=Driftline%3A worse::value -10 %25 [-12, -8.4]" in out


BOOTS = {"a": (99, 100, 101), "b": (89.1, 90, 90.9)}
"""Levels of the boots of each side. Each has two samples, 1 % above and below it, whose geometric
mean it is. By hand: ln(b/a) = ln 0.9 = -0.10536 for each pair of boots; the logarithms of a side's
boots scatter by 0.0100, so the difference by 0.0100 sqrt(2/3) = 0.00817, times t(4) = 2.776 is
0.0227: from exp(-0.1280) - 1 = -12.0 % to exp(-0.0827) - 1 = -7.9 %."""
BY_HAND = "worse: pps -10 % [-12, -7.9], boots 3 and 3"


def samples_of(levels):
    """(value, boot) of each sample."""
    return [(level * scale, n) for n, level in enumerate(levels) for scale in (1.01, 1 / 1.01)]


def run_of_agent(levels, name, *, revision="r1", boots=True):
    """A document as `labagent run --reboot` sends it."""
    values, numbers = zip(*samples_of(levels), strict=True)
    run = Run(
        tree="head",
        revision=revision,
        hardware="rig/ix0",
        mode=Mode("pf"),
        samples=(Samples(Metric("pps", "p/s", "more"), values, numbers if boots else None),),
        build_id=name,
        kernel_ident="",
        measured_at=None,
        sources=(Source(name, hashlib.sha256(name.encode()).hexdigest()),),
    )
    return run.document()


def test_json_lines_name_their_boots(labagent, tmp_path, capsys):
    named = {"metric": "pps", "unit": "p/s", "better": "more"}
    for name, levels in BOOTS.items():
        lines = [{**named, "value": value, "boot": boot} for value, boot in samples_of(levels)]
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert labagent("check", tmp_path / "a", tmp_path / "b") == 1
    assert capsys.readouterr().out == f"{BY_HAND}\n"


@pytest.mark.parametrize("boot", [-1, 1.5, "x", None])
def test_a_boot_that_is_no_number_is_refused(labagent, tmp_path, capsys, boot):
    line = {"metric": "pps", "unit": "p/s", "better": "more", "value": 1, "boot": boot}
    (tmp_path / "a").write_text(json.dumps(line) + "\n")
    assert labagent("check", tmp_path / "a", tmp_path / "a") == 3
    assert "a line 1: boot" in capsys.readouterr().err


def test_run_documents_state_their_boots(labagent, tmp_path, capsys):
    for name, levels in BOOTS.items():
        (tmp_path / name).write_text(json.dumps(run_of_agent(levels, name)) + "\n")
    assert labagent("check", tmp_path / "a", tmp_path / "b") == 1
    assert capsys.readouterr().out == f"{BY_HAND.replace('pps', 'pf pps')}\n"
    for name, levels in BOOTS.items():
        document = run_of_agent(levels, name, boots=False)
        (tmp_path / name).write_text(json.dumps(document, indent=1) + "\n")
    assert labagent("check", tmp_path / "a", tmp_path / "b") == 1
    assert "runs 6 and 6" in capsys.readouterr().out


def test_documents_of_several_builds_are_compared_between_builds(labagent, tmp_path, capsys):
    for name, levels in BOOTS.items():
        (tmp_path / name).mkdir()
        for build, level in enumerate(levels):
            document = run_of_agent([level, level], f"{name}{build}")
            (tmp_path / name / f"{build}.json").write_text(json.dumps(document) + "\n")
    assert labagent("check", tmp_path / "a", tmp_path / "b") == 1
    assert BY_HAND.replace("boots", "builds").partition("pps")[2] in capsys.readouterr().out


def test_documents_of_several_revisions_on_one_side_are_doubted(labagent, tmp_path, capsys):
    documents = [run_of_agent((99, 100), one, revision=one) for one in ("r1", "r2")]
    (tmp_path / "a").write_text("".join(json.dumps(one) + "\n" for one in documents))
    labagent("check", tmp_path / "a", tmp_path / "a")
    assert "a holds runs of 2 revisions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"revision": "r2"}, "its uuid is not that of its content"),
        ({"metrics": {"pps": {}}}, "KeyError('boots')"),
        ({"sources": 1}, "TypeError"),
        ({"mode": []}, "is no document of a run"),
    ],
)
def test_a_document_that_was_changed_is_refused(labagent, tmp_path, capsys, change, reason):
    document = run_of_agent((99, 100), "a") | change
    (tmp_path / "a").write_text(json.dumps(document) + "\n")
    assert labagent("check", tmp_path / "a", tmp_path / "a") == 3
    assert reason in capsys.readouterr().err


def test_a_document_is_sent_as_the_run_that_it_was_made_of(labagent, server, tmp_path, capsys):
    document = run_of_agent((99, 100), "a")
    (tmp_path / "a.json").write_text(json.dumps(document) + "\n")
    assert labagent("upload", tmp_path / "a.json", "--revision", "r2") == 3
    assert "states what it was measured on" in capsys.readouterr().err
    assert labagent("upload", tmp_path / "a.json") == 0
    assert list(server.runs.values()) == [document]
