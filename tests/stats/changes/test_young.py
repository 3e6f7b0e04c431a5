"""Young series: what is found before a series has shown how its builds scatter."""

import numpy as np
import pytest

from benchmarks.online import advance, detect
from tests.stats.series import confirmed, seen, simulated
from webapp.stats.changes import Analysis, Point
from webapp.stats.changes.explain import TOO_FEW, what_helps, why_not
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.scale import CONFIRM, as_student
from webapp.stats.simulate import OutlierRevision, Scatter, Step

WIDE_BUILDS = Scatter(run=0.01, build=0.04)
YEAR = Scatter(run=0.01, build=0.018)
"""Builds scatter by as much as they do in the middle one of a real lab's year series."""


def online(points: list[Point]) -> list[Analysis]:
    state, analyses = OnlineState(), []
    for point in points:
        state = advance(state, [point])
        analyses.append(present(state, "more"))
    return analyses


@pytest.mark.parametrize("at", [2, 3, 4])
@pytest.mark.parametrize("pct", [-99.0, 900.0])
def test_the_first_five_revisions_give_no_finding_however_large_the_step(at, pct):
    for analysis in online(simulated(Step(at, pct), revisions=5)):
        assert analysis.changes == ()
        assert analysis.newest is None
        assert analysis.smallest is None
        assert why_not(analysis) == what_helps(analysis) == TOO_FEW


@pytest.mark.parametrize("pct", [-50.0, 100.0])
def test_the_sixth_may(pct):
    assert confirmed(detect(simulated(Step(3, pct), revisions=6))) == ["r3"]


def test_builds_that_scatter_four_times_as_much_as_runs_are_no_changes():
    """Of 150 series 69 had a candidate, and 13 a confirmed change, while the guess was trusted."""
    candidates = changes = 0
    for seed in range(150):
        states_by_time = [
            {change.state for change in analysis.changes}
            for analysis in online(simulated(seed=seed, revisions=12, scatter=WIDE_BUILDS))
        ]
        candidates += any("candidate" in states for states in states_by_time)
        changes += any("confirmed" in states for states in states_by_time)

    assert candidates <= 6
    assert changes <= 5


def test_runs_that_agree_to_the_last_digit_show_nothing_of_builds():
    alike = Scatter(run=1e-7, build=0.01)
    found = [
        bool(confirmed(detect(simulated(seed=seed, revisions=20, scatter=alike))))
        for seed in range(60)
    ]

    assert sum(found) <= 6


@pytest.mark.parametrize(("pct", "least"), [(-11.0, 55), (-22.0, 97)])
def test_a_large_step_after_eight_revisions_is_confirmed_by_its_second(pct, least):
    """Of 100 series 21 were, whichever the size, when either revision counted for at most 4 sd."""
    found = 0
    for seed in range(100):
        points = simulated(Step(8, pct), seed=seed, revisions=10, scatter=YEAR)
        found += confirmed(detect(points)) in (["r7"], ["r8"], ["r9"])

    assert found >= least


def test_one_odd_revision_among_the_first_hides_no_later_step():
    found = 0
    for seed in range(40):
        points = simulated(OutlierRevision(3, -40.0), Step(30, -8.0), seed=seed, revisions=33)
        found += "r30" in confirmed(detect(points))

    assert found >= 37


def test_one_odd_revision_among_the_first_is_no_change():
    for seed in range(20):
        for at in range(5):
            points = simulated(OutlierRevision(at, -40.0), seed=seed, revisions=14)
            assert all(state != "confirmed" for _, _, state in seen(points))


def test_the_figures_worked_out_by_hand_in_the_documentation_are_those_of_the_code():
    """Ten revisions: six differences count, which are worth four degrees; the guess one more."""
    state = advance(OnlineState(), simulated(revisions=10, scatter=YEAR))
    tracker = state.tracker

    assert tracker.nears == pytest.approx(6, abs=0.2)
    assert tracker.variance(0.0)[1] - tracker.measured(0.0)[1] == pytest.approx(1.0, abs=0.05)
    assert state.freedom == pytest.approx(5, abs=0.1)
    assert as_student(CONFIRM, state.freedom) ** 0.5 == pytest.approx(7.2, abs=0.05)
    by_hand = 7.2 * 0.018 * (1 / 2 + 1 / 8) ** 0.5
    assert by_hand == pytest.approx(0.102, abs=0.0005)
    assert -np.log(0.89) == pytest.approx(0.117, abs=0.0005)
    assert as_student(CONFIRM, 2) ** 0.5 == pytest.approx(42, abs=0.5)
