"""Histograms: buckets narrower than 1 %, quantiles within a bucket, and back from the database."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.stats.histograms import (
    LARGEST,
    QUANTILES,
    ZERO,
    Histogram,
    bounds_of,
    index_of,
    least_values,
    unpack,
)
from webapp.stats.metrics import LARGEST_SAMPLE, SMALLEST_SAMPLE

values = st.just(0.0) | st.floats(SMALLEST_SAMPLE, LARGEST_SAMPLE)
counted = st.dictionaries(values, st.integers(1, 2**53), min_size=1, max_size=30)


@given(values)
def test_a_value_lies_in_its_bucket_which_is_narrower_than_a_percent(value: float) -> None:
    low, high = bounds_of(index_of(value))
    assert low <= value < high or value == low == 0
    assert high <= low * 1.008


@given(st.lists(values, min_size=2))
def test_greater_values_lie_in_no_lower_bucket(found: list[float]) -> None:
    indices = [index_of(value) for value in sorted(found)]
    assert indices == sorted(indices)
    assert min(indices) >= ZERO


@given(counted)
def test_quantiles_rise_and_stay_within_the_values(pairs: dict[float, int]) -> None:
    histogram = Histogram.of(list(pairs), list(pairs.values()))
    quantiles = [histogram.quantile(share) for share in (0.01, *QUANTILES.values(), 1.0)]
    assert quantiles == sorted(quantiles)
    assert min(pairs) * 0.992 <= quantiles[0]
    assert quantiles[-1] <= max(pairs) == histogram.largest


@pytest.mark.parametrize("quantile", QUANTILES)
def test_a_quantile_is_that_of_the_values_within_a_bucket(quantile: str) -> None:
    found = np.random.default_rng(1).lognormal(3, 1, 200_000)
    histogram = Histogram.of(found.tolist(), [1] * len(found))
    exact = float(np.quantile(found, QUANTILES[quantile]))
    assert histogram.derived()[quantile] == pytest.approx(exact, rel=0.005)


def test_a_quantile_needs_ten_values_above_it() -> None:
    assert {name: least_values(name) for name in QUANTILES} == {
        "p50": 20,
        "p90": 100,
        "p99": 1000,
        "p99.9": 10_000,
    }
    assert set(Histogram.of([1.0], [9_999]).derived()) == {"p50", "p90", "p99", LARGEST}
    assert set(Histogram.of([1.0, 2.0], [10, 9]).derived()) == {LARGEST}


@given(st.lists(counted, min_size=1, max_size=3))
def test_histograms_come_back_as_they_were_packed(found: list[dict[float, int]]) -> None:
    histograms = [Histogram.of(list(pairs), list(pairs.values())) for pairs in found]
    assert unpack(b"".join(one.packed for one in histograms)) == histograms


@pytest.mark.parametrize("kept", [1, 7, 9, 11])
def test_data_that_end_early_are_refused(kept: int) -> None:
    with pytest.raises(ValueError, match="end before"):
        unpack(Histogram.of([1.0, 2.0], [300, 4]).packed[:kept])


def test_histograms_together_hold_the_values_of_all() -> None:
    one, other = Histogram.of([0.0, 3.0], [2, 5]), Histogram.of([3.0, 9.5], [1, 4])
    together = Histogram.together([one, other])
    assert together == Histogram.of([0.0, 3.0, 9.5], [2, 6, 4])
    assert together.total == 12
