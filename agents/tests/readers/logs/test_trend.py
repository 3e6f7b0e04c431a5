"""Rising and falling seconds: found where they are, and hardly ever where they are not."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from labagent.readers.logs.seconds import FEWEST, find_trend


def scatter(count: int, phi: float, seed: int) -> list[float]:
    """Noise of standard deviation 1 around 100, first-order autoregressive."""
    noise = random.Random(seed)
    value = noise.gauss()
    found = []
    for _ in range(count):
        found.append(100 + value)
        value = phi * value + math.sqrt(1 - phi * phi) * noise.gauss()
    return found


def marked(series: int, count: int, phi: float) -> int:
    found = (find_trend(scatter(count, phi, seed)) for seed in range(series))
    return sum(trend is not None and trend.is_decisive for trend in found)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_a_series_without_a_trend_hardly_ever_has_one(phi):
    assert marked(1000, 45, phi) <= 3, "1 of 1000 is allowed: 3 or fewer come in 98 of 100 draws"


@pytest.mark.long
@pytest.mark.parametrize("phi", [0.0, 0.8])
@pytest.mark.parametrize("count", [12, 35, 60])
def test_at_most_one_of_a_thousand_series_without_a_trend_has_one(count, phi):
    assert marked(4000, count, phi) <= 9, "4 are allowed: 9 or fewer come in 99 of 100 draws"


def is_found(slope: float, phi: float):
    def decide(seed: int) -> bool:
        values = [v + slope * at for at, v in enumerate(scatter(60, phi, seed))]
        return find_trend(values).is_decisive

    return decide


@pytest.mark.parametrize("phi", [0.0, 0.4])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_steady_rise_or_fall_is_found_and_measured(phi, sign):
    for seed in range(50):
        values = [v + sign * 0.3 * at for at, v in enumerate(scatter(60, phi, seed))]
        trend = find_trend(values)
        assert trend.z * sign > 0
        assert abs(trend.change - sign * 0.3 * 59) < 4
    assert sum(map(is_found(sign * 0.3, phi), range(50))) >= 49


def test_a_slow_approach_to_the_level_is_found():
    approach = [-10 * math.exp(-at / 15) for at in range(60)]
    for seed in range(20):
        noise = scatter(60, 0, seed)
        assert find_trend([a + b for a, b in zip(approach, noise, strict=True)]).is_decisive


def test_two_odd_seconds_make_no_trend():
    values = scatter(40, 0, 3)
    values[0], values[1] = 10.0, 20.0
    assert not find_trend(values).is_decisive


def test_an_odd_second_hides_no_trend():
    values = [v + 0.3 * at for at, v in enumerate(scatter(60, 0, 3))]
    values[0] = 10.0
    assert find_trend(values).phi < 0.5
    assert find_trend(values).is_decisive


def test_fewer_values_and_equal_values_have_no_trend():
    assert find_trend(range(FEWEST - 1)) is None
    assert find_trend([5] * 100) is None


def test_ten_values_in_perfect_order_are_still_too_few():
    assert not find_trend([1000, 1003, 1005, 1009, 1010, 1014, 1016, 1017, 1021, 1024]).is_decisive


def test_the_statistic_is_that_of_the_textbook():
    """Gilbert, Statistical Methods for Environmental Pollution Monitoring (1987), 16.4.2: n = 12
    without ties has variance 212.7; here S is counted by hand."""
    values = [3, 1, 2, 5, 4, 7, 6, 9, 8, 11, 10, 12]
    trend = find_trend(values)
    deviation = math.sqrt(212.6667 * (1 + trend.phi) / (1 - trend.phi))
    assert trend.z == pytest.approx((66 - 2 * 6) / deviation, rel=1e-4)


def test_the_slope_is_the_median_of_all_slopes():
    values = scatter(30, 0.3, 5)
    slopes = [(values[j] - values[i]) / (j - i) for i in range(30) for j in range(i + 1, 30)]
    assert find_trend(values).change == pytest.approx(29 * statistics.median(slopes))


def test_a_long_log_is_put_together_into_blocks():
    values = [v + at / 2000 for at, v in enumerate(scatter(20_000, 0, 1))]
    trend = find_trend(values)
    assert trend.is_decisive
    assert trend.change == pytest.approx(10, abs=0.5)
