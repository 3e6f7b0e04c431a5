"""What series of one machine say together, against arithmetic and simulated truth."""

import numpy as np
import pytest

from webapp.stats.agreeing.dependence import (
    EXPECTED,
    LEAST,
    clusters_of,
    correlation,
    variance_of_sum,
)

HISTORY = 40


def deviations(rho: float, series: int, seed: int = 1) -> list[dict[int, float]]:
    rng = np.random.default_rng(seed)
    shared, own = rng.standard_normal(HISTORY), rng.standard_normal((series, HISTORY))
    rows = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
    return [dict(enumerate(row.tolist())) for row in rows]


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_the_correlation_is_measured_where_enough_revisions_are_shared(rho: float) -> None:
    found = [correlation(deviations(rho, 3, seed), HISTORY) for seed in range(30)]
    assert np.mean(found) == pytest.approx(rho, abs=0.06)


def test_independent_series_of_a_machine_are_never_taken_for_independent() -> None:
    assert correlation(deviations(0.0, 3), HISTORY) == LEAST


def test_where_nothing_is_shared_builds_are_nearly_one() -> None:
    assert correlation([], HISTORY) == EXPECTED
    assert correlation([{1: 0.5}, {2: -0.5}], HISTORY) == EXPECTED


def test_revisions_from_the_place_on_do_not_count() -> None:
    rows = deviations(0.0, 3)
    together = [row | {HISTORY + i: 3.0 for i in range(5)} for row in rows]
    assert correlation(together, HISTORY) == correlation(rows, HISTORY)


def test_the_variance_of_a_sum_is_that_of_cluster_samples() -> None:
    """Three of .5 are 3 · (1 + 2 · .5) = 6, one is 1; the clusters add up to 7."""
    found = variance_of_sum(np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([0.5, 0.25]))
    assert found.tolist() == [7.0, 2.5]


def test_machines_that_measured_one_build_are_one_cluster() -> None:
    assert clusters_of([3, 1, 2]) == {1: 1, 2: 2, 3: 3}
    builds = [(1, "a"), (2, "b"), (3, "a"), (9, "b")]
    assert clusters_of([1, 2, 3], builds) == {1: 1, 2: 2, 3: 1}
    assert clusters_of([1, 2, 3], [(1, "a"), (2, "a"), (2, "b"), (3, "b")]) == {1: 1, 2: 1, 3: 1}


def test_builds_without_a_name_are_not_the_same() -> None:
    assert clusters_of([1, 2], [(1, ""), (2, "")]) == {1: 1, 2: 2}
