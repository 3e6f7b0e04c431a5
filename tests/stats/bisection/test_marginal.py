"""The evidence of sets of columns against matrices that are inverted one by one."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.stats.bisection.hypotheses import (
    Fit,
    PairPrior,
    Pairs,
    columns_apart,
    mixed,
    products,
    two_columns,
)

ROWS, COLUMNS = 9, 4


def one_set(covariance, values, columns, means, spreads):
    """log Z, mean and variance of the first size: dense, with a level of huge variance."""
    level = np.ones(ROWS)
    known = np.linalg.inv(covariance)
    inner = known - np.outer(known @ level, known @ level) / (level @ known @ level)
    precision = np.diag(1 / spreads**2) + columns.T @ inner @ columns
    sizes = np.linalg.solve(precision, columns.T @ inner @ values + means / spreads**2)
    rest = values - columns @ means
    marginal = covariance + columns @ np.diag(spreads**2) @ columns.T
    by_level = np.linalg.inv(marginal)
    inner = by_level - np.outer(by_level @ level, by_level @ level) / (level @ by_level @ level)
    evidence = np.linalg.slogdet(marginal)[1] + log(level @ by_level @ level)
    log_z = -0.5 * (evidence + float(rest @ inner @ rest))
    return log_z, sizes[0], np.linalg.inv(precision)[0, 0]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 3))
def test_sets_of_columns_have_the_evidence_of_the_dense_density(seed, count):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(ROWS, ROWS))
    covariance, factor = root @ root.T + np.eye(ROWS), float(rng.uniform(0.5, 4))
    values, columns = rng.normal(size=ROWS), rng.normal(size=(ROWS, COLUMNS))
    chosen = np.array([rng.permutation(COLUMNS)[:count] for _ in range(5)])
    means, spreads = rng.normal(size=count), rng.uniform(0.3, 3, count)

    made = products(covariance[None], np.array([factor]), values, columns, np.ones((ROWS, 1)))
    found = columns_apart(made, chosen, means, spreads)

    for at, own in enumerate(chosen):
        log_z, mean, variance = one_set(
            factor * covariance, values, columns[:, own], means, spreads
        )
        assert found.log_z[0, at] == pytest.approx(log_z, abs=1e-8)
        assert found.mean[0, at] == pytest.approx(mean, abs=1e-8)
        assert found.variance[0, at] == pytest.approx(variance, rel=1e-8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_two_columns_with_sizes_of_their_own_are_a_set_of_two(seed):
    rng = np.random.default_rng(seed)
    values, columns = rng.normal(size=ROWS), rng.normal(size=(ROWS, COLUMNS))
    made = products(np.eye(ROWS)[None], np.array([1.5]), values, columns, np.ones((ROWS, 1)))
    means, spreads = rng.normal(size=2), rng.uniform(0.3, 3, 2)
    first, second = np.array([0, 2]), np.array([1, 3])

    prior = PairPrior((means[0], means[1]), spreads[0] ** 2, 0.0, spreads[1] ** 2)
    pairs = two_columns(Pairs.of(made, first, second), prior)
    sets = columns_apart(made, np.stack([first, second], axis=1), means, spreads)

    for name in ("log_z", "mean", "variance"):
        assert getattr(pairs, name) == pytest.approx(getattr(sets, name), rel=1e-8, abs=1e-8)


def test_a_mixture_far_below_the_smallest_number_keeps_its_evidence_and_its_mean():
    fits = [
        (0.25, Fit(np.array([[-2000.0]]), np.array([[1.0]]), np.array([[4.0]]))),
        (0.75, Fit(np.array([[-2000.0]]), np.array([[5.0]]), np.array([[4.0]]))),
    ]

    found = mixed(fits)

    assert found.log_z == pytest.approx(-2000.0)
    assert found.mean == pytest.approx(4.0)
    assert found.variance == pytest.approx(4.0 + 0.25 * 9 + 0.75 * 1)
