"""Worlds that break the model: their options, their truth, and a short table of what comes out."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bisection import forecast_table, team_table, world_table
from benchmarks.bisection.forecast_table import (
    Judged,
    check_forecast,
    check_team,
    judged_of,
    judged_of_team,
    lines,
)
from benchmarks.bisection.teams import Member, Team, play_team, team_question
from webapp.stats import OutOfRangeError
from webapp.stats.bisection import Kind, Measure, Noise, Purpose
from webapp.stats.bisection.playing import SimulatedLab
from webapp.stats.intervals import proportion
from webapp.stats.simulate.bisect_cells import Cell, here, question_of, simulate
from webapp.stats.simulate.bisect_worlds import World, draw_culprits, levels_of

pytestmark = pytest.mark.bench

EASY = Cell(16, -2.0, 0.3, 0.3)


def values(world, boots, **noise):
    lab = SimulatedLab(np.random.default_rng(1), np.zeros(3), Noise(**noise), changes=world.changes)
    return np.array([lab.boot(Measure(1, Purpose.SEARCHING), "", 1).value for _ in range(boots)])


def test_a_lab_drifts_and_steps_after_the_boots_it_was_given():
    drift = values(World(drift=-0.1), 11, run=0.0)
    step = values(World(lab_step=-2.0, lab_step_at=4), 6, run=0.0)

    assert drift[[0, 10]] == pytest.approx([0, -1.0005], abs=1e-3)
    assert step == pytest.approx([0, 0, 0, 0, -2.0203, -2.0203], abs=1e-4)


def test_a_share_of_boots_is_flaky():
    found = values(World(flaky=0.1), 4000, run=0.0)

    assert set(found.round(2)) == {0.0, -8.34}
    assert (found < -1).mean() == pytest.approx(0.1, abs=0.02)


def test_several_culprits_lie_apart_and_step_one_after_the_other():
    drawn = draw_culprits(np.random.default_rng(1), 64, 3)

    assert drawn == tuple(sorted(drawn))
    assert min(np.diff(drawn)) >= 8
    assert levels_of(4, (1, 3), (-1.0, -2.0)).tolist() == [0, -1, -1, -3, -3]


def test_the_truth_of_a_world_is_not_what_is_believed():
    cell = replace(EASY, world=World(true_noise=2.0, hidden_build=0.5, culprits=(-1.5, -1.5)))

    assert cell.noise == Noise(0.3, 0.3)
    assert cell.true_noise == Noise(0.6, 0.6, 0.5)
    assert cell.alerted_effect == pytest.approx(sum(cell.effects))


@pytest.mark.parametrize(
    "wrong",
    [
        {"true_noise": 0.0},
        {"hidden_build": -1.0},
        {"flaky": 1.0},
        {"lab_step_at": -1},
        {"drift": -100.0},
        {"misleading_prior": 0.0},
        {"culprits": (-1.0, -200.0)},
        {"outside": 2},
        {"beside": -1},
    ],
)
def test_a_world_that_makes_no_sense_names_the_field(wrong):
    [name] = wrong

    with pytest.raises(OutOfRangeError, match=name.split("_")[0]):
        World(**wrong)


@pytest.mark.parametrize(
    ("world", "right", "wrong"),
    [
        (World(drift=-0.1), 0.8, 0.1),
        (World(lab_step=-2.0), 0.8, 0.1),
        (World(true_noise=2.0), 0.5, 0.1),
        (World(hidden_build=1.0), 0.0, 0.1),
        (World(flaky=0.1), 0.7, 0.1),
        (World(misleading_prior=1e-3), 0.8, 0.1),
    ],
)
def test_nobody_is_wrongly_accused_in_a_world_that_breaks_the_model(world, right, wrong):
    result = simulate(replace(EASY, commits=32, run=0.5, boot=0.5, world=world), trials=20, seed=7)

    assert result.right_single >= right
    assert result.wrong_single <= wrong


def test_two_culprits_are_reported_as_more_than_one():
    cell = Cell(64, -3.0, 0.5, 0.5, world=World(culprits=(-1.5, -1.5)))

    result = simulate(cell, trials=20, seed=7)

    assert result.several >= 0.5
    assert result.outcomes[Kind.TWO_STEPS] <= result.several


def test_the_table_has_a_line_for_each_world_and_what_was_before(monkeypatch):
    rows = [replace(row, cell=replace(row.cell, commits=4, run=0.1, boot=0.1)) for row in ROWS[:3]]
    monkeypatch.setattr(world_table, "ROWS", rows)

    lines = list(world_table.lines(trials=1, seed=1, spread=here))

    assert len(lines) == 1 + 3
    assert lines[3].startswith("| noise twice the believed | ")
    assert lines[3].endswith("| 49 / 39 | wrong ≤ 3 |")


ROWS = world_table.ROWS


def test_a_forecast_is_held_against_what_the_bisect_took():
    found = check_forecast(replace(EASY, commits=4), trials=2, seed=1, spread=here)

    assert found is not None
    assert len(found.took) == 2
    assert 0 <= found.below <= found.within <= 1
    assert found.median <= found.p90
    assert found.chance == pytest.approx(0.045)
    with pytest.raises(OutOfRangeError, match="trials"):
        check_forecast(EASY, trials=1, seed=1, spread=here)


def test_a_forecast_of_a_bisect_that_runs_is_of_what_is_left():
    few = replace(EASY, commits=4)
    whole = check_forecast(few, trials=2, seed=1, spread=here)
    rest = check_forecast(few, trials=2, seed=1, spread=here, after=5)

    assert whole is not None
    assert rest is not None
    assert rest.took == tuple(boots - 5 for boots in whole.took)
    assert rest.median < whole.median
    assert check_forecast(few, trials=2, seed=1, spread=here, after=100) is None


def test_a_forecast_of_machines_that_run_is_of_the_hours_that_are_left():
    team = Team((Member(-8.0, -8.0),) * 2)
    rest = check_team(team, trials=2, seed=1, spread=here, after=6)

    assert rest is not None
    assert rest.took == tuple(one.hours - 3 for one in play_team(team, trials=2, seed=1))
    assert rest.median <= rest.p90
    assert check_team(team, trials=2, seed=1, spread=here, after=200) is None


def test_what_is_reported_of_several_holds_for_three_as_well():
    cell = Cell(64, -2.0, 0.5, 0.5, world=World(culprits=(-1.0,) * 3))

    found = check_forecast(cell, trials=8, seed=3, spread=here)

    assert found is not None
    kept = proportion(round(found.within * 8), 8)
    assert kept is not None
    assert kept.high >= 0.9


@pytest.mark.parametrize("after", [0, 15])
def test_every_world_and_team_is_judged_also_while_it_runs(after):
    names = [name for name, _, _ in forecast_table._checks(after)]

    teams = (*team_table.ROWS, *team_table.SHARED)
    assert names == [row.name for row in (*ROWS, *teams)]


def test_each_world_is_judged_by_what_was_reported_of_it():
    names = {row.name: judged_of(row.cell) for row in ROWS}

    assert names["as modelled"] is Judged.ONE
    assert names["three of −1 %"] is Judged.SEVERAL
    assert names["−3 % and +1 %"] is Judged.ALL
    assert names["false alert"] is Judged.ALL
    assert judged_of_team(Team((Member(),))) is Judged.ONE
    assert judged_of_team(Team((Member(),), shares=(0.5, 0.5))) is Judged.SEVERAL
    assert judged_of_team(Team((Member(0.0),))) is Judged.ALL


def test_a_team_of_which_several_commits_share_the_loss_is_played():
    team = Team((Member(),), shares=(0.5, 0.5))
    asked = team_question(team, np.random.default_rng(1))
    first, second = asked.culprits

    steps = np.diff(asked.labs[0].levels)

    assert first < second
    assert np.flatnonzero(steps).tolist() == [first - 1, second - 1]
    assert steps[[first - 1, second - 1]] == pytest.approx([-1.0101] * 2, abs=1e-4)


def test_forecasts_are_printed_with_a_mixture_of_both_kinds(monkeypatch):
    rows = [
        world_table.Row(name, replace(EASY, commits=4, world=world), "", "")
        for name, world in (("one", World()), ("two", World(culprits=(-1.0, -1.0))))
    ]
    monkeypatch.setattr(forecast_table, "ROWS", rows)

    table = list(lines(trials=2, seed=1, spread=here, rows=slice(0, 2)))

    assert [line.split(" | ")[1] for line in table[1:3]] == ["one commit", "several"]
    assert "mixture with 4.5% of several" in table[3]
    assert len(list(lines(trials=2, seed=1, spread=here, rows=slice(1, 2)))) == 2


@pytest.mark.parametrize(("side", "kind"), [(-1, Kind.OUTSIDE), (1, Kind.OUTSIDE)])
def test_a_culprit_outside_the_range_is_reported_and_on_which_side(side, kind):
    result = simulate(replace(EASY, world=World(outside=side)), trials=8, seed=2)

    assert result.outcomes[kind] >= 0.75
    assert result.outside_right == result.outcomes[kind]


@pytest.mark.parametrize(("side", "level"), [(-1, 2.02), (1, -2.02)])
def test_history_lies_a_step_away_beyond_a_culprit_outside_the_range(side, level):
    cell = Cell(16, -2.0, 0.01, 0.01, world=World(outside=side))

    beyond = question_of(cell, np.random.default_rng(1)).known.beyond

    assert [boot.value for boot in beyond] == pytest.approx([level] * len(beyond), abs=0.1)
    assert all((boot.index > 16) if side > 0 else (boot.index < 0) for boot in beyond)
    assert beyond


def test_a_loss_with_a_gain_behind_it_is_reported_as_more_than_one():
    cell = Cell(64, -2.0, 0.5, 0.5, world=World(culprits=(-3.0, 1.0)))

    result = simulate(cell, trials=30, seed=7)

    assert result.several >= 0.8
    assert result.innocent <= 0.05


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_mode_in_the_same_boots_hides_no_culprit_while_the_machine_drifts(share):
    world = World(drift=-0.1, beside=1, beside_share=share)

    result = simulate(replace(EASY, run=0.5, boot=0.5, world=world), trials=15, seed=7)

    assert result.right_single >= 0.8
    assert result.wrong_single <= 0.1


def test_every_world_of_the_table_differs_from_the_model():
    assert all(row.cell != world_table.USUAL for row in ROWS[1:])
    assert len({row.name for row in ROWS}) == len(ROWS)
