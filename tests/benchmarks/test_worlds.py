"""The benchmark of worlds, in small: it runs, and its verdicts are right."""

import sys

import pytest

from benchmarks.worlds import __main__ as worlds
from benchmarks.worlds import young
from benchmarks.worlds.figures import Figure, at_least, at_most, percent, table, verdict
from benchmarks.worlds.table import WORLDS

pytestmark = pytest.mark.bench


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["worlds", *arguments])
    worlds.main()


@pytest.mark.parametrize(
    ("arguments", "names", "trials"),
    [(["--trials=2"], list(WORLDS), 2), (["--short", "--only", "young"], ["young"], worlds.SHORT)],
)
def test_a_short_run_prints_a_table_of_every_world(monkeypatch, capsys, arguments, names, trials):
    run(monkeypatch, *arguments)

    printed = capsys.readouterr().out
    assert printed.count("## ") == len(names)
    for name in names:
        assert f"## {name}\n" in printed
        assert f"`python -m benchmarks.worlds --only {name} --trials {trials}" in printed


def test_a_world_that_does_not_exist_is_refused_with_those_that_do(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, "--only", "young,flat")

    assert "no world flat: there are young" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("goal", "measured", "is_met"),
    [
        (at_most(2.0), (3.0, 1.9, 4.0), True),
        (at_most(2.0), (3.0, 2.1, 4.0), False),
        (at_least(90.0), (88.0, 86.0, 90.1), True),
        (at_least(90.0), (88.0, 86.0, 89.9), False),
    ],
)
def test_a_goal_is_met_when_the_interval_reaches_it(goal, measured, is_met):
    figure = Figure("x", measured, goal)

    assert verdict(figure) == ("met" if is_met else "**not met**")


def test_a_figure_without_a_goal_has_no_verdict():
    assert verdict(Figure("x", (3.0, 1.9, 4.0))) == ""


def test_a_row_holds_goal_interval_and_the_second_seed():
    one, other = Figure("x", percent(30, 100), at_most(20), "40"), Figure("x", percent(25, 100))

    assert table([one], [other]).endswith(
        "| x | 40 | ≤ 20 | 30.0 [21.9, 39.6] | 25.0 | **not met** |"
    )


def test_the_same_seed_gives_the_same_figures_and_another_seed_others():
    assert young.measure(20, 1) == young.measure(20, 1)
    assert young.measure(20, 1) != young.measure(20, 2)
