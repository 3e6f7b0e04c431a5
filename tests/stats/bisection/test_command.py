"""`python -m webapp.stats.bisection` as a shell sees it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run_text
from webapp.stats.bisection.__main__ import main

ROOT = Path(__file__).parents[3]


def run(*arguments):
    return run_text(main, *arguments)


def test_it_prints_outcomes_wrong_answers_and_boots():
    arguments = [
        "--simulate",
        "--commits",
        "16",
        "--step",
        "2",
        "--run-noise",
        "0.3",
        "--boot-noise",
        "0.3",
    ]
    more = ["--build-noise", "0.1", "--history", "30", "--trials", "8", "--seed", "5"]

    answer = json.loads(run(*arguments, *more).stdout)

    assert set(answer["outcomes"]) == {
        "single",
        "range",
        "two steps",
        "not reproduced",
        "outside the range",
        "inconclusive",
        "machine or noise suspected",
        "lab failed",
        "more than one",
    }
    several = answer["outcomes"].pop("more than one")
    assert sum(answer["outcomes"].values()) == pytest.approx(1)
    assert several >= answer["outcomes"]["two steps"]
    assert 0 <= answer["stated_90"]["right"] <= answer["stated_90"]["named"] <= 8
    assert answer["wrong_single"] + answer["right_single"] == answer["outcomes"]["single"]
    assert 0 < answer["boots"]["median"] <= answer["boots"]["p95"]
    assert (answer["trials"], answer["seed"], answer["history"]) == (8, 5, 30)


def test_a_lab_without_noise_names_the_commit():
    arguments = ["--simulate", "--commits", "8", "--run-noise", "0", "--boot-noise", "0"]

    answer = json.loads(run(*arguments, "--trials", "2").stdout)

    assert answer["right_single"] == 1


def test_a_false_alert_is_an_option():
    arguments = [
        "--simulate",
        "--commits",
        "16",
        "--run-noise",
        "0.3",
        "--boot-noise",
        "0.3",
        "--trials",
        "5",
    ]

    answer = json.loads(run(*arguments, "--false-alert").stdout)

    assert answer["outcomes"]["not reproduced"] == 1
    assert answer["false_alert"] is True


@pytest.mark.parametrize(
    ("options", "world"),
    [
        ("--true-noise 2", {"true_noise": 2}),
        ("--hidden-build-noise 1", {"hidden_build": 1}),
        ("--drift -0.1", {"drift": -0.1}),
        ("--lab-step -2 --lab-step-at 4", {"lab_step": -2, "lab_step_at": 4}),
        ("--flaky 0.1 --flaky-pct -9", {"flaky": 0.1, "flaky_pct": -9}),
        ("--culprits=-1.5,-1.5", {"culprits": [-1.5, -1.5]}),
        ("--outside -1", {"outside": -1}),
        ("--beside 1 --beside-share 0.5", {"beside": 1, "beside_share": 0.5}),
        ("--misleading-prior 0.001", {"misleading_prior": 0.001}),
    ],
)
def test_what_breaks_the_model_is_an_option_of_the_simulation(options, world):
    easy = "--simulate --commits 16 --run-noise 0.3 --boot-noise 0.3 --trials 2"

    answer = json.loads(run(*easy.split(), *options.split()).stdout)

    assert answer["world"].items() >= world.items()
    several = answer["outcomes"].pop("more than one")
    assert several >= answer["outcomes"]["two steps"]
    assert sum(answer["outcomes"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--simulate", "--commits", "0"], "commits"),
        (["--simulate", "--step", "0"], "step"),
        (["--simulate", "--run-noise", "-1"], "noise"),
        (["--simulate", "--trials", "0"], "trials"),
        (["--simulate", "--seed", "-1"], "seed"),
        ([], "required"),
    ],
)
def test_bad_arguments_are_named_on_standard_error(arguments, complaint):
    answer = run(*arguments)

    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert answer.stdout == ""


def test_it_needs_neither_django_nor_celery():
    program = (
        "import sys, webapp.stats.bisection.__main__; "
        "sys.exit(any(name.split('.')[0] in {'django', 'celery'} for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
