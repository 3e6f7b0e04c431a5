"""`python -m webapp.stats.changes` as a shell sees it."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run_text
from tests.stats.series import simulated
from webapp.stats.changes.__main__ import main
from webapp.stats.simulate import Drift, OutlierRevision, Scatter, Step

ROOT = Path(__file__).parents[3]


def run(text, *arguments):
    return run_text(main, *arguments, stdin=text)


def as_csv(points, header="revision,value"):
    return "\n".join([header, *(f"{p.label},{s!r}" for p in points for s in p.samples)])


def test_a_reader_that_closes_early_ends_it_without_a_word():
    command = [sys.executable, "-m", "webapp.stats.changes"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        process.stdout.close()  # as `| true` does
        process.stdin.write(as_csv(STEP).encode())
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE


STEP = simulated(Step(60, -8.0), seed=3)


def test_it_prints_changes_segments_and_noise():
    answer = json.loads(run(as_csv(STEP)).stdout)

    [change] = answer["changes"]
    assert (change["revision"], change["previous"]) == ("r60", "r59")
    assert change["interval"] == ["r60", "r60"]
    assert change["ci_pct"][0] < -8 < change["ci_pct"][1]
    assert change["verdict"] == "worse"
    assert change["state"] == "confirmed"
    assert 0.9 < change["probability"] <= 1
    assert "detected_at" not in change
    assert [s["revisions"] for s in answer["segments"]] == [60, 40]
    assert 0.3 < answer["noise_pct"] < 1.2


def test_online_adds_the_revision_that_confirmed_each_change():
    answer = json.loads(run(as_csv(STEP), "--online").stdout)

    assert [change["detected_at"] for change in answer["changes"]] == ["r61"]
    assert answer["retracted"] == []


def test_the_direction_and_the_smallest_effect_are_options():
    better = json.loads(run(as_csv(STEP), "--better", "less").stdout)
    nothing = json.loads(run(as_csv(STEP), "--min-effect", "10").stdout)

    assert better["changes"][0]["verdict"] == "better"
    assert nothing["changes"] == []
    assert len(nothing["segments"]) == 2


def test_positions_and_boots_are_read_and_line_endings_do_not_matter():
    rows = ["revision,position,boot,value"]
    rows += [
        f"{p.label},{10 * p.position},{b},{s!r}" for p in STEP for b, s in enumerate(p.samples)
    ]

    answer = run("\r\n".join(rows))

    assert json.loads(answer.stdout)["changes"][0]["revision"] == "r60"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: nothing to read"),
        ("rev,value\n1,2", "line 1: the header has no column revision"),
        ("revision,value\nr1,1.5\nr1,abc", "line 3: 'abc' is not a number"),
        ("revision,value\nr1,nan", "line 2: 'nan' is not a number"),
        ("revision,value\nr1,1e999", "line 2: '1e999' is out of range"),
        ("revision,value\n,1", "line 2: no revision"),
        ("revision,value\nr1", "line 2: None is not a number"),
        ("revision,value\nr1,1\nr2,1\nr1,1", "line 4: revision r1 again"),
        ("revision,position,value\nr1,5,1\nr2,4,1", "line 3: position 4 does not follow 5"),
        ("revision,position,value\nr1,x,1", "line 2: position 'x' is not a whole number"),
        ("revision,position,value\nr1,1,1\nr1,2,1", "line 3: revision r1 has two positions"),
    ],
)
def test_bad_input_is_refused_with_the_line(text, complaint):
    answer = run(text)

    assert answer.returncode == 2
    assert answer.stdout == ""
    assert complaint in answer.stderr
    assert "Traceback" not in answer.stderr


def test_what_is_not_csv_is_refused_with_the_line():
    answer = run('revision,value\nr1,"1\n' + 200_000 * "x")

    assert answer.returncode == 2
    assert "this is not CSV" in answer.stderr


def test_the_mark_that_spreadsheets_put_first_does_not_matter():
    assert run("\ufeff" + as_csv(STEP)).stdout == run(as_csv(STEP)).stdout


def test_a_header_alone_is_an_empty_series():
    answer = json.loads(run("revision,value\n").stdout)

    assert answer["changes"] == answer["segments"] == []
    assert answer["noise_pct"] is None


def test_neither_django_nor_celery_is_loaded():
    code = (
        "import sys, webapp.stats.changes.__main__;"
        "print([m for m in ('django', 'celery', 'scipy') if m in sys.modules])"
    )

    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    assert out.stdout.strip() == "[]"


EXCURSION = simulated(OutlierRevision(60, -35.0), seed=3)
SLOW = simulated(Drift(0, 199, -10.0), seed=4, revisions=200, scatter=Scatter())


def test_it_prints_an_excursion_apart_from_the_changes():
    answer = json.loads(run(as_csv(EXCURSION)).stdout)

    [excursion] = answer["excursions"]
    assert (excursion["revision"], excursion["recovered_by"]) == ("r60", "r61")
    assert excursion["ci_pct"][0] < -35 < excursion["ci_pct"][1]
    assert "detected_at" not in excursion
    assert answer["slow"] == answer["noise_changes"] == answer["modes"] == []


def test_it_prints_a_slow_loss_with_its_window():
    answer = json.loads(run(as_csv(SLOW)).stdout)

    [slow] = answer["slow"]
    assert slow["window"] == ["r0", "r199"]
    assert slow["ci_pct"][0] < -10 < slow["ci_pct"][1]


def test_online_prints_when_an_excursion_was_reported_first():
    answer = json.loads(run(as_csv(EXCURSION), "--online").stdout)

    assert answer["excursions"][0]["detected_at"] == "r61"


def test_a_least_effect_holds_for_the_other_findings_too():
    assert json.loads(run(as_csv(EXCURSION), "--min-effect", "50").stdout)["excursions"] == []
    assert json.loads(run(as_csv(SLOW), "--min-effect", "50").stdout)["slow"] == []
