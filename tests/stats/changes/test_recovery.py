"""Changes that a later one took back."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.online import detect
from tests.stats.series import simulated
from webapp.stats.changes.findings import RESTORED, recoveries
from webapp.stats.simulate import Step as Planted


@dataclass(frozen=True)
class Step:
    """As much of a change as matters here: the levels around it, of a metric that should rise."""

    before: float
    level: float
    at: int = 0
    state: str = "confirmed"

    @property
    def revision(self) -> int:
        return self.at

    @property
    def verdict(self) -> str:
        return "better" if self.level > self.before else "worse"


def along(*levels: float, newest: str = "confirmed") -> Any:
    """The changes of a series that stood at each of ``levels`` in turn."""
    steps = [Step(a, b, i) for i, (a, b) in enumerate(pairwise(levels))]
    return [*steps[:-1], replace(steps[-1], state=newest)]


def recovered_at(*levels: float, newest: str = "confirmed") -> list[int | None]:
    found: list[Any] = [*recoveries(along(*levels, newest=newest))]
    return found


def test_a_loss_is_recovered_by_the_change_that_restores_it():
    assert recovered_at(100, 90, 100) == [1, None]


def test_three_quarters_of_the_way_back_are_enough_and_less_is_not():
    assert recovered_at(100, 90, 97.5) == [1, None]
    assert recovered_at(100, 90, 97.4) == [None, None]


def test_a_gain_that_is_lost_again_counts_the_same_way():
    assert recovered_at(100, 120, 101) == [1, None]


def test_the_way_back_may_take_two_steps_and_the_second_is_named():
    assert recovered_at(100, 80, 90, 99) == [2, None, None]


def test_the_end_of_a_later_dip_gives_the_earlier_loss_nothing_back():
    assert recovered_at(100, 90, 60, 90) == [None, 2, None]


def test_a_recovery_stays_one_when_the_level_falls_again():
    assert recovered_at(100, 90, 100, 91) == [1, 2, None]


def test_a_candidate_neither_recovers_nor_is_recovered():
    assert recovered_at(100, 90, 100, newest="candidate") == [None, None]
    assert recovered_at(100, 90, newest="candidate") == [None]


def test_a_change_without_a_size_recovers_never():
    assert recovered_at(100, 100, 90) == [None, None]


@given(levels=st.lists(st.floats(1, 1000), min_size=2, max_size=12))
def test_what_recovers_is_later_opposite_and_far_enough_back(levels):
    steps = along(*levels)
    places: Any = recoveries(steps)
    for i, at in enumerate(places):
        found = None if at is None else steps[at]
        if found is not None:
            assert found.revision > i
            assert found.verdict != steps[i].verdict
            share = (found.level - steps[i].level) / (steps[i].before - steps[i].level)
            assert share >= RESTORED


@pytest.mark.parametrize("better", ["more", "less"])
def test_a_series_that_falls_and_comes_back_has_one_recovered_change(better):
    points = simulated(Planted(20, -10), Planted(40, 11.1), revisions=60)
    found = detect(points, better=better).changes
    first, second = recoveries(found)
    assert first == found[1].revision
    assert second is None
