"""Optimal partitioning against all partitions there are."""

from itertools import combinations

import numpy as np
import pytest

from webapp.stats.levels.partition import partition


def cost_of(costs, starts, penalty):
    stops = [*starts[1:], len(costs)]
    parts = (costs[first:stop].sum(axis=0).min() for first, stop in zip(starts, stops, strict=True))
    return sum(parts) + penalty * (len(starts) - 1)


def cheapest(costs, penalty, least):
    """The cheapest of all partitions whose stretches hold at least so many."""
    count = len(costs)
    best = np.inf
    for cuts in range(count):
        for inner in combinations(range(1, count), cuts):
            starts = [0, *inner]
            lengths = np.diff([*starts, count])
            if lengths.min() >= least or not inner:
                best = min(best, cost_of(costs, starts, penalty))
    return best


@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_no_other_partition_costs_less(seed, least):
    rng = np.random.default_rng([seed, least])
    costs = rng.exponential(2.0, (10, 4))
    penalty = float(rng.uniform(0.2, 4.0))

    starts, states = partition(costs, penalty, least)

    stops = [*starts[1:], 10]
    assert cost_of(costs, starts, penalty) == pytest.approx(cheapest(costs, penalty, least))
    assert min(np.diff([*starts, 10])) >= least
    assert states == [
        int(costs[first:stop].sum(axis=0).argmin())
        for first, stop in zip(starts, stops, strict=True)
    ]


def test_a_sequence_too_short_for_two_stretches_is_one():
    assert partition(np.array([[0.0, 9.0], [9.0, 0.0], [9.0, 0.0]]), 0.1, 2) == ([0], [1])
