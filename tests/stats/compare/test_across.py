"""Whether a change is the same on every machine."""

from math import log1p

import numpy as np
import pytest
from scipy import stats

from webapp.stats.compare import (
    Estimate,
    compare,
    estimate_of,
    heterogeneity,
)

LEVEL = 0.05
MACHINES, UNITS, TRIALS = 4, 5, 600


def test_it_is_the_test_of_alexander_and_govern() -> None:
    """SciPy's takes samples; a change of one sample set against zero has its mean and n - 1."""
    sets = [[1.1, 1.4, 0.9, 1.2], [1.0, 2.2, 1.7], [0.4, 0.5, 0.7, 0.6, 0.5]]
    estimates = [
        Estimate(float(np.mean(one)), float(stats.sem(one)), len(one) - 1.0) for one in sets
    ]
    oracle = stats.alexandergovern(*sets)
    found = heterogeneity(estimates)
    assert found is not None
    assert found.statistic == pytest.approx(oracle.statistic)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.changes == 3


def test_by_hand_two_changes_that_are_known_well_are_a_z_test() -> None:
    # 2 and 5 standard errors of 1 apart from the mean 0.5: ((0.5)^2 + (0.5)^2) / 0.01 = 50 / 100.
    found = heterogeneity([Estimate(0.0, 0.1, 1e6), Estimate(0.1, 0.1, 1e6)])
    assert found is not None
    assert found.statistic == pytest.approx(0.5, abs=1e-5)
    assert found.p == pytest.approx(0.4795, abs=1e-4)


def test_an_interval_gives_back_what_it_was_made_of() -> None:
    judged = compare([100.0, 101.0, 99.0, 100.5], [95.0, 96.0, 94.5, 95.2])
    change = judged.change
    found = estimate_of(change.percent, change.low, change.high, change.df)
    assert found is not None
    assert judged.change.percent is not None
    assert found.change == pytest.approx(log1p(judged.change.percent / 100))


@pytest.mark.parametrize(
    ("percent", "low", "high", "df"),
    [
        (None, -1.0, 1.0, 4.0),
        (0.0, None, 1.0, 4.0),
        (0.0, -1.0, None, 4.0),
        (0.0, -1.0, 1.0, None),
        (-50.0, -100.0, 5.0, 4.0),
        (1.0, 1.0, 1.0, 4.0),
        (0.0, -1.0, float("inf"), 4.0),
        (0.0, -1.0, 1.0, 0.5),
        (0.0, -20.0, 20.0, 4.0),  # in the middle of percents: not on logarithms
    ],
)
def test_without_an_interval_on_logarithms_and_scatter_there_is_no_estimate(
    percent: float | None, low: float | None, high: float | None, df: float | None
) -> None:
    assert estimate_of(percent, low, high, df) is None


def test_one_change_has_nothing_to_differ_from() -> None:
    assert heterogeneity([Estimate(0.1, 0.01, 4)]) is None


def _called_different(changes: list[float], rng: np.random.Generator) -> float:
    """The share of simulated worlds whose machines are reported to differ."""
    called = 0
    for _ in range(TRIALS):
        found = []
        for change in changes:
            scatter = 0.01 * np.exp(rng.uniform(-1, 1))
            a, b = np.exp(rng.normal(0, scatter, (2, UNITS)))
            judged = compare((100 * a).tolist(), (100 * (1 + change) * b).tolist()).change
            found.append(estimate_of(judged.percent, judged.low, judged.high, judged.df))
        test = heterogeneity([one for one in found if one is not None])
        called += test is not None and test.p <= LEVEL
    return called / TRIALS


def test_of_equal_changes_at_most_five_in_a_hundred_are_reported_to_differ() -> None:
    """0.05 and two standard errors of 600 trials."""
    assert _called_different([-0.04] * MACHINES, np.random.default_rng(1)) < 0.068


def test_changes_that_differ_are_found() -> None:
    assert _called_different([-0.08, 0.0, 0.0, 0.06], np.random.default_rng(2)) > 0.9
