"""The evidence of sets of columns against matrices that are inverted one by one."""

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.stats.bisection.hypotheses import (
    Fit,
    mixed,
    products,
)
from webapp.stats.bisection.noise import WITHIN_FACTORS

ROWS, COLUMNS = 9, 4


def one_set(covariance, values, columns, means, prior):
    """log Z, mean and variance of the first size: dense, with a level of huge variance."""
    level = np.ones(ROWS)
    known = np.linalg.inv(covariance)
    inner = known - np.outer(known @ level, known @ level) / (level @ known @ level)
    precision = np.linalg.inv(prior) + columns.T @ inner @ columns
    sizes = np.linalg.solve(precision, columns.T @ inner @ values + np.linalg.solve(prior, means))
    rest = values - columns @ means
    marginal = covariance + columns @ prior @ columns.T
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
    covariance = root @ root.T + np.eye(ROWS)
    values, columns = rng.normal(size=ROWS), rng.normal(size=(ROWS, COLUMNS))
    chosen = np.array([rng.permutation(COLUMNS)[:count] for _ in range(5)])
    means, root = rng.normal(size=count), rng.normal(size=(count, count))
    prior = root @ root.T + 0.1 * np.eye(count)

    made = products(covariance[None], values, columns, np.ones((ROWS, 1)))
    found = made.of(*chosen.T).fit(means.tolist(), np.linalg.inv(prior))

    for (line, factor), (at, own) in product(enumerate(WITHIN_FACTORS), enumerate(chosen)):
        expected = one_set(factor * covariance, values, columns[:, own], means, prior)
        assert [each[line, at] for each in found] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_mixture_far_below_the_smallest_number_keeps_its_evidence_and_its_mean():
    fits = [
        (0.25, Fit(np.array([[-2000.0]]), np.array([[1.0]]), np.array([[4.0]]))),
        (0.75, Fit(np.array([[-2000.0]]), np.array([[5.0]]), np.array([[4.0]]))),
    ]

    found = mixed(fits)

    assert found.log_z == pytest.approx(-2000.0)
    assert found.mean == pytest.approx(4.0)
    assert found.variance == pytest.approx(4.0 + 0.25 * 9 + 0.75 * 1)
