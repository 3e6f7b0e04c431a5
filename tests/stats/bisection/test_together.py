"""What several machines measure next, and how that ends."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bisection import team_table
from benchmarks.bisection.teams import Member, Team, play_team, team_result
from webapp.stats import OutOfRangeError
from webapp.stats.bisection import (
    Asked,
    Boot,
    Costs,
    Evidence,
    Kind,
    Measure,
    Noise,
    Plan,
    Purpose,
    State,
    Subject,
    decide,
    forecast,
)
from webapp.stats.bisection.forecast import _labs
from webapp.stats.bisection.forecast_labs import Believed
from webapp.stats.bisection.playing import LabChanges, SimulatedLab, play
from webapp.stats.simulate.bisect_cells import here

COMMITS, CULPRIT = 16, 6


def plan(**fields):
    return Plan(weights=(1.0,) * COMMITS, effect=-2.0, noise=Noise(0.3, 0.3), **fields)


def lab(seed, step=-2.0, **fields):
    levels = np.where(np.arange(COMMITS + 1) >= CULPRIT, step, 0.0)
    return SimulatedLab(np.random.default_rng(seed), levels, Noise(0.3, 0.3), **fields)


def history(its_lab):
    return Evidence(tuple(Boot(0, float(its_lab.runs(0, 1)[0])) for _ in range(5)))


def team(*steps, machines="abc", plans=None, seed=0):
    labs = [lab(seed + at, step) for at, step in enumerate(steps)]
    subjects = [
        Subject((plans or {}).get(at, plan()), history(one), machines[at], 0.1, f"machine {at}")
        for at, one in enumerate(labs)
    ]
    return subjects, labs


def test_every_machine_begins_with_an_end():
    subjects, _ = team(-2.0, -2.0)

    found = decide(subjects)

    assert found.state is State.VALIDATING
    assert {one.subject for one in found.actions} == {0, 1}
    assert {one.measure.index for one in found.actions} <= {0, COMMITS}


def test_of_two_modes_of_one_machine_one_is_measured_at_a_time_the_one_that_shows_more():
    loud = Plan(weights=(1.0,) * COMMITS, effect=-2.0, noise=Noise(2.0, 2.0))
    subjects, _ = team(-2.0, -2.0, machines="aa", plans={0: loud})

    found = decide(subjects)

    assert [one.subject for one in found.actions] == [1]
    assert found.lead == 1


def test_a_machine_whose_boots_are_cheaper_leads():
    subjects, _ = team(-2.0, -2.0, plans={1: plan(costs=Costs(boot=0.25))})

    assert decide(subjects).lead == 1


def test_the_machines_find_the_commit_together_and_in_less_time_than_one_alone():
    hours = []
    for seed in range(0, 80, 10):
        both = play(*team(-2.0, -2.0, seed=seed))
        one = play(*team(-2.0, seed=seed))
        assert both.outcome.kind is one.outcome.kind is Kind.SINGLE
        assert both.outcome.candidates == one.outcome.candidates == (CULPRIT,)
        hours.append((both.hours, one.hours))

    together, alone = np.median(hours, axis=0)
    assert together < alone
    assert sum(one.hours for one in both.evidence) == both.effort


def test_boots_end_in_turn_each_on_its_machine():
    played = play(*team(-2.0, -2.0))

    hours = [hour for _, hour in played.ended]
    assert hours == sorted(hours)
    assert hours[-1] == played.hours
    for at, evidence in enumerate(played.evidence):
        assert [one for one, _ in played.ended].count(at) == evidence.effort


def test_no_step_on_any_machine_is_not_reproduced():
    subjects, labs = team(0.0, 0.0)

    assert play(subjects, labs).outcome.kind is Kind.NOT_REPRODUCED


def test_a_machine_that_the_commit_spares_is_left_alone_soon():
    subjects, labs = team(-2.0, 0.0)

    played = play(subjects, labs)

    assert played.outcome.candidates == (CULPRIT,)
    assert played.evidence[1].effort < played.evidence[0].effort


def test_a_machine_that_goes_away_does_not_stop_the_others():
    subjects, labs = team(-2.0, -2.0)

    played = play(subjects, labs, gone={"a": 3.0})

    assert played.outcome.candidates == (CULPRIT,)
    assert played.evidence[0].effort <= 3


def test_a_machine_that_is_not_there_is_asked_for_nothing_and_does_not_lead():
    subjects, _ = team(-2.0, -2.0)
    waits = [Asked(0, Measure(0, Purpose.VALIDATING))]

    found = decide(subjects, waits, {"b": 1})

    assert [one.subject for one in found.actions] == [1]
    assert found.lead == 1


def test_a_machine_that_is_not_there_is_waited_for_where_the_others_have_nothing_left():
    subjects, labs = team(0.0, -2.0)

    waiting = play(subjects, labs, gone={"b": 0.0})
    found = decide(
        [Subject(subjects[0].plan, waiting.evidence[0], "a", 0.1), subjects[1]], free={"a": 1}
    )

    assert waiting.outcome.kind is Kind.INCONCLUSIVE
    assert waiting.evidence[1].effort == 0
    assert found.outcome is None
    assert [one.subject for one in found.actions] == [1]


def test_a_subject_whose_lab_failed_is_left_out_and_all_of_them_end_the_bisect():
    subjects, _ = team(-2.0, -2.0)
    broken = [
        Subject(one.plan, Evidence(one.evidence.boots, failure="dead"), one.machine, 0.1)
        for one in subjects
    ]

    one = decide([broken[0], subjects[1]])
    both = decide(broken)

    assert [asked.subject for asked in one.actions] == [1]
    assert both.outcome is not None
    assert both.outcome.kind is Kind.LAB_FAILED
    assert both.text == "dead"


def test_the_budget_is_that_of_all_machines_together():
    subjects, _ = team(-2.0, -2.0)
    spent = tuple(Boot(0, 0.0, purpose=Purpose.VALIDATING) for _ in range(50))
    full = [
        Subject(one.plan, Evidence((*one.evidence.boots, *spent)), one.machine, 0.1)
        for one in subjects
    ]

    found = decide(full)

    assert found.actions == ()
    assert found.outcome is not None
    assert found.effort == 100


def test_a_drifting_machine_beside_a_steady_one_names_nobody_else():
    for seed in range(4):
        steady, drifting = lab(seed), lab(seed + 50, changes=LabChanges(drift=-0.1))
        labs = [steady, drifting]
        subjects = [
            Subject(plan(), history(one), name, 0.1) for one, name in zip(labs, "ab", strict=True)
        ]

        outcome = play(subjects, labs).outcome

        assert outcome.kind is not Kind.SINGLE or outcome.candidates == (CULPRIT,)


def test_what_is_pending_must_be_of_these_subjects():
    subjects, _ = team(-2.0)

    with pytest.raises(OutOfRangeError, match="pending"):
        decide(subjects, [Asked(1, Measure(0, Purpose.SEARCHING))])
    with pytest.raises(OutOfRangeError, match="pending"):
        decide(subjects, [Asked(0, Measure(99, Purpose.SEARCHING))])


def test_a_forecast_of_two_machines_states_fewer_hours_than_boots():
    subjects, _ = team(-2.0, -2.0)

    found = forecast(subjects, trials=3)

    assert found.one is not None
    assert found.several is not None
    assert (found.trials, found.several.trials) == (6, 3)
    assert found.hours_median < found.boots_median
    assert sum(found.outcomes.values()) == pytest.approx(1.0)
    assert forecast(subjects, trials=3) is found


def test_modes_of_one_machine_move_alike_in_a_forecast():
    subjects, _ = team(-2.0, -2.0)
    one = [replace(subject, machine="one") for subject in subjects]
    series = [Believed.of(each.plan, each.evidence) for each in one]
    walking = 3

    labs = _labs(one, series, [(0, walking, {5: -2.0})] * 2, np.random.default_rng(1))

    first, second = ([lab.changes.offset(boots) for boots in range(10)] for lab in labs)
    assert np.diff(first) == pytest.approx(np.diff(second))
    assert np.ptp(first) > 0


@pytest.mark.bench
def test_three_machines_of_which_one_is_spared_and_one_drifts_name_nobody_wrongly():
    row = next(one for one in team_table.ROWS if one.name.startswith("three, one without"))

    result = team_result(play_team(row.team, trials=40, seed=3))

    assert result.wrong <= 0.05
    assert result.right >= 0.85


def test_the_table_has_a_line_for_each_team(monkeypatch):
    monkeypatch.setattr(team_table, "ROWS", team_table.ROWS[-2:-1])

    printed = list(team_table.lines(trials=2, seed=1, spread=here))

    assert len(printed) == 2
    assert printed[1].startswith("| two, false alert | ")
    with pytest.raises(OutOfRangeError, match="trials"):
        play_team(Team((Member(),)), trials=0, seed=1)
    with pytest.raises(OutOfRangeError, match="members"):
        play_team(Team(()), trials=1, seed=1)
