"""Axes that do not make drama of noise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.charts.scale import Scale, spread_labels, ticks, y_range

reasonable = st.floats(min_value=-1e12, max_value=1e12, allow_subnormal=False)


def test_the_y_axis_reaches_at_least_two_and_a_half_percent_to_either_side() -> None:
    low, high = y_range([1000.0, 1001.0, 999.0])
    assert low <= 975
    assert high >= 1025


@given(st.lists(reasonable, min_size=1, max_size=30))
def test_every_value_lies_inside_the_axis(values: list[float]) -> None:
    low, high = y_range(values)
    assert low < high
    assert all(low <= value <= high for value in values)


def test_a_whisker_of_two_samples_does_not_flatten_the_line() -> None:
    low, high = y_range([100.0, 110.0], [100.0, -900.0], [100.0, 1100.0])
    assert high - low < 40


def test_unknown_and_infinite_whiskers_are_ignored() -> None:
    known = y_range([100.0, 110.0])
    assert y_range([100.0, 110.0], [None, float("-inf")], [None, float("inf")]) == known


def test_no_values_still_give_an_axis() -> None:
    assert y_range([]) == (0.0, 1.0)
    assert y_range([0.0]) == pytest.approx((-1.12, 1.12))


def test_ticks_are_round_numbers_inside_the_axis() -> None:
    assert ticks(0.9, 5.2) == [1, 2, 3, 4, 5]
    assert ticks(95_000, 105_500) == [95_000, 100_000, 105_000]
    assert ticks(90.4, 96.9, about=3) == [92, 94, 96]


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, float("inf"))])
def test_an_axis_without_extent_has_no_ticks(low: float, high: float) -> None:
    assert ticks(low, high) == []


def test_labels_are_evenly_apart_and_include_the_last() -> None:
    assert spread_labels(10, 4) == [0, 3, 6, 9]
    assert spread_labels(3, 8) == [0, 1, 2]
    assert spread_labels(0, 8) == []


def test_a_scale_maps_its_ends_and_can_keep_inside_them() -> None:
    scale = Scale(0, 10, 100, 0)
    assert (scale(0), scale(10), scale(5)) == (100, 0, 50)
    assert scale.clamped(99) == 0
