"""Optimal partitioning against all partitions there are."""

from itertools import combinations

import numpy as np
import pytest

from webapp.stats.changes.scatter import partition


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


def test_one_stretch_that_is_seen_at_once_is_what_reading_every_revision_finds():
    """A price for each revision has them all read, one price for all does not."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng([seed, 9])
        costs = rng.exponential(2.0, (int(rng.integers(20, 150)), 9))
        penalty = float(rng.uniform(4.0, 40.0))
        both = partition(costs, penalty, 2), partition(costs, np.full(len(costs), penalty), 2)
        assert both[0] == both[1]
        found.append(len(both[0][0]))
    assert 1 < found.count(1) < 99


def one_by_one(costs, penalty, least):
    """The same, revision by revision: what blocks must not differ from."""
    count, width = costs.shape
    sums = np.vstack([np.zeros(width), np.cumsum(costs, axis=0)])
    lead, begins = np.zeros(width), np.full(count + 1, np.inf)
    begins[0] = 0.0
    for stop in range(least, count + 1):
        lead = np.minimum(lead, begins[stop - least] - sums[stop - least])
        begins[stop] = (lead + sums[stop]).min() + penalty
    starts, states, stop = [], [], count
    while stop > 0:
        wholes = begins[: stop - least + 1, None] - sums[: stop - least + 1]
        states.append(int((wholes.min(axis=0) + sums[stop]).argmin()))
        starts.append(int(wholes[:, states[-1]].argmin()))
        stop = starts[-1]
    return starts[::-1], states[::-1]


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_blocks_find_what_one_revision_after_the_other_does(block, monkeypatch):
    monkeypatch.setattr("webapp.stats.changes.scatter.BLOCK", block)
    for seed in range(200):
        rng = np.random.default_rng([seed, block])
        least = int(rng.integers(1, 6))
        shape = int(rng.integers(2 * least, 150)), int(rng.integers(1, 12))
        # Whole numbers make ties, in which both must choose alike.
        draw = rng.exponential(2.0, shape) if seed % 2 else rng.integers(0, 4, shape)
        costs, penalty = draw.astype(float), float(rng.choice((0.5, 1.0, 2.0, 4.3, 9.0)))

        assert partition(costs, penalty, least) == one_by_one(costs, penalty, least)
