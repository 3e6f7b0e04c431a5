"""From the revisions of a young series to what is found, confirmed and withdrawn."""

import json
from math import log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.single_build import (
    Judged,
    Measured,
    NoisePrior,
    Pair,
    Step,
    asked_at,
    build_of,
    figures_of,
    judge,
    limit_among,
    pairs_of,
)

RUNS = (-0.7, 0.3, 0.0, 0.9, -0.5)
"""Five runs around their level, in percent."""


def build(percent: float, scatter: float = 1.0):
    """Five runs at a level of so many percent above 100."""
    level = 100 + percent
    found = build_of([level * (1 + scatter * run / 100) for run in RUNS])
    assert found is not None
    return found


def series(*levels) -> list[Measured]:
    """A revision for each level; a tuple is one of several builds."""
    rows = [one if isinstance(one, tuple) else (one,) for one in levels]
    return [Measured(at, tuple(map(build, row))) for at, row in enumerate(rows, 1)]


def found(*levels, pairs: int = 1, belief: NoisePrior = NoisePrior()) -> list[Judged]:  # noqa: B008
    return [judge(pair, belief, pairs) for pair in pairs_of(series(*levels))]


def at(step: Step | None) -> int | None:
    return step and step.position


def test_two_points_with_a_large_loss_are_found():
    (one,) = found(0.0, -11.4)

    assert one.state == "open"
    assert one.chance == pytest.approx(0.0015, abs=0.0001)
    assert one.limit == 0.0025


def test_three_pairs_of_one_commit_leave_it_in_and_four_do_not():
    assert limit_among(3) == pytest.approx(0.005 / 3)
    assert found(0.0, -11.4, pairs=3)[0].state == "open"
    assert found(0.0, -11.4, pairs=4)[0].state == "withdrawn"


@pytest.mark.parametrize("percent", [11.4, 0.0, -2.0, -8.0])
def test_gains_and_small_losses_are_not(percent):
    assert all(one.state == "withdrawn" for one in found(0.0, percent))


def test_where_less_is_better_a_rise_is_the_loss():
    (pair,) = pairs_of(series(0.0, 14.0), "less")

    assert judge(pair, NoisePrior()).state == "open"
    assert not pairs_of(series(0.0, -14.0), "less")


def test_a_second_build_that_agrees_confirms_it():
    (one,) = found(0.0, (-11.4, -10.5))

    assert (one.state, at(one.settled_by)) == ("confirmed", 2)


def test_a_second_build_at_the_old_level_withdraws_it():
    (one,) = found(0.0, (-11.4, -0.5))

    assert (one.state, at(one.settled_by)) == ("withdrawn", 2)


def test_a_rebuild_of_the_revision_before_alone_confirms_nothing():
    assert found((0.0, -0.5), -11.4)[0].state == "open"


def test_a_rebuild_of_the_revision_before_that_is_as_slow_withdraws_it():
    assert found((0.0, -10.5), -11.4)[0].state == "withdrawn"


def test_a_later_revision_that_agrees_confirms_it():
    one = found(0.0, -11.4, -11.0)[0]

    assert (one.state, at(one.settled_by)) == ("confirmed", 3)


def test_a_later_revision_at_the_old_level_withdraws_it():
    one = found(0.0, -11.4, 0.3)[0]

    assert (one.state, at(one.settled_by)) == ("withdrawn", 3)


def test_one_that_shows_neither_leaves_it_to_the_next():
    assert found(0.0, -11.4, -7.0)[0].state == "open"
    assert found(0.0, -11.4, -7.0, -10.0)[0].state == "confirmed"


def test_what_was_confirmed_stays_when_a_later_revision_gives_it_back_and_is_recovered():
    one = found(0.0, -11.4, -11.0, -0.4, 0.2)[0]

    assert (one.state, at(one.recovered_by)) == ("confirmed", 4)


def test_what_comes_and_goes_is_not_recovered():
    assert found(0.0, -11.4, -11.0, -0.4, -10.9)[0].recovered_by is None


def test_a_series_that_swung_before_is_not_believed():
    """The same last step, after a level that moved as much without anybody calling it a loss."""
    assert found(0.0, 0.4, -11.4)[0].state == "open"
    assert not any(one.state != "withdrawn" for one in found(-11.0, 0.4, -11.4))


def test_it_is_asked_of_the_first_five_revisions_alone():
    steady = [0.0, 0.3, -0.2, 0.1]

    assert asked_at(series(*steady, 0.2, 0.1)) == (2, 3, 4, 5)
    assert pairs_of(series(*steady, -11.4))
    assert not pairs_of(series(*steady, 0.2, -11.4))


def test_runs_that_scatter_as_much_find_nothing():
    wild = [Measured(at, (build(level, scatter=20.0),)) for at, level in ((1, 0.0), (2, -11.4))]

    assert not pairs_of(wild)


def test_one_run_a_build_shows_nothing_of_runs():
    single = [Measured(at, (build_of([level]),)) for at, level in ((1, 100.0), (2, 50.0))]

    assert not pairs_of(single)  # type: ignore[arg-type]


def test_boots_are_the_units_of_a_build():
    by_boot = build_of([100.0, 102.0, 90.0, 92.0], [0, 0, 1, 1])

    assert by_boot is not None
    assert by_boot.units == 2
    assert build_of([100.0, 102.0, 90.0, 92.0], [None] * 4).units == 4  # type: ignore[union-attr]
    assert build_of([0.0, -1.0]) is None


def test_a_belief_in_more_scatter_asks_for_more():
    assert found(0.0, -11.4, belief=NoisePrior(3.11, 1.5))[0].state == "withdrawn"
    assert found(0.0, -25.0, belief=NoisePrior(3.11, 1.5))[0].state == "open"


def test_what_is_reported_of_it():
    (pair,) = pairs_of(series(0.0, -11.4))
    judged = judge(pair, NoisePrior(), 3)

    figures = figures_of(judged, NoisePrior())

    assert figures.low < -log1p(-0.114) < figures.high
    assert figures.low < figures.sure
    assert figures.turning_pct == pytest.approx(2.9, abs=0.05)


@given(
    st.lists(
        st.lists(st.floats(-60.0, 60.0), min_size=1, max_size=3).map(tuple), min_size=2, max_size=9
    )
)
def test_a_passage_through_json_changes_nothing(levels):
    pairs = pairs_of(series(*levels))

    assert tuple(Pair.from_data(json.loads(json.dumps(pair.to_data()))) for pair in pairs) == pairs


@given(st.permutations([-11.4, -10.5, -12.0]))
def test_the_order_of_builds_does_not_matter(levels):
    pairs = [pairs_of(series(0.0, tuple(order))) for order in (levels, sorted(levels))]
    first, second = (judge(found[0], NoisePrior()) for found in pairs)

    assert first.state == second.state
    assert first.chance == pytest.approx(second.chance)
