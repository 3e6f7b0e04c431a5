"""How often a loss as large is seen without any change, as far as noise is believed or measured.

For a standard deviation s between builds and t of one unit within its build the loss is normal
around the true one, with variance s² (1/old + 1/new) + t² (its share). Neither is known. s is
integrated over the belief, t over what the units tell of it (t² = its estimate times f / chi² with
f degrees of freedom, which alone gives Student's t); where there are several builds of a side, both
are weighed by how well they explain their scatter. By the trapezoid rule on fixed grids, which for
such densities is as exact as the arithmetic: the same figures always, and no random numbers.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from webapp.stats.decisive.belief import Belief
from webapp.stats.decisive.evidence import Evidence

Floats = NDArray[np.float64]

BELIEF_NODES = np.linspace(-5.0, 6.0, 89)
"""Standard deviations of the logarithm of s around its median."""

RUN_NODES = 41
RUN_TAIL = 27.6
"""2 ln(10⁶): beyond the grid lies less than a millionth of what f degrees of freedom tell."""

LEAST_SD = 1e-9
"""Of a loss, on the log scale, so that units that agree to the last digit divide by something."""

MOST_LOSS = 20.0
"""On the log scale: 2·10⁻⁹ of the level is left. A larger loss is not looked for."""

MOST_PERCENT_LOG = 700.0
"""A hundred times exp() of more than this is no number any more."""

BISECTIONS = 60


@dataclass(frozen=True, slots=True)
class _Grid:
    """Nodes with their weights (which sum to 1) and the standard deviation of the loss there."""

    weights: Floats
    sd: Floats


def chance(evidence: Evidence, belief: Belief, *, beyond: float = 0.0) -> float:
    """Return how often a loss as large is seen when the true one is ``beyond`` (log scale)."""
    grid = _grid(evidence, belief)
    return float(np.sum(grid.weights * ndtr((beyond - evidence.loss) / grid.sd)))


def interval(evidence: Evidence, belief: Belief, level: float = 0.95) -> tuple[float, float]:
    """Return the ends, on the log scale, of the two-sided interval of the true loss, the smaller
    first: below the lower one lies as much as above the upper one.
    """
    tail = (1.0 - level) / 2
    return _beyond(evidence, belief, tail), _beyond(evidence, belief, 1.0 - tail)


def at_least(evidence: Evidence, belief: Belief, sure: float = 0.95) -> float:
    """Return the loss (log scale) that the true one is at least as large as, with ``sure``."""
    return _beyond(evidence, belief, 1.0 - sure)


def turning_pct(evidence: Evidence, limit: float) -> float:
    """Return the scatter of builds, in percent, from which on the chance exceeds ``limit``.

    By that scatter alone, as if it were known, with the run noise as it was estimated; 0 where the
    runs alone exceed it.
    """
    sd = evidence.loss / -float(ndtri(limit))
    left = sd * sd - evidence.run_share * evidence.run_variance
    return 100.0 * sqrt(left / evidence.share) if left > 0 else 0.0


def percent_of(log_change: float) -> float:
    """Return a difference of logarithms in percent."""
    return 100.0 * expm1(min(log_change, MOST_PERCENT_LOG))


def level_of(log_level: float) -> float:
    """Return a level in the metric's unit, drawn in to the range of numbers."""
    return exp(min(max(log_level, -MOST_PERCENT_LOG), MOST_PERCENT_LOG))


def score_of(probability: float) -> float:
    """Return the normal score of a one-sided ``probability``."""
    return -float(ndtri(min(max(probability, 1e-300), 1.0 - 1e-16)))


def _beyond(evidence: Evidence, belief: Belief, probability: float) -> float:
    """The true loss at which what was seen, or more, has a given probability; by bisection."""
    low, high = evidence.loss - MOST_LOSS, evidence.loss + MOST_LOSS
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if chance(evidence, belief, beyond=middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=64)
def _grid(evidence: Evidence, belief: Belief) -> _Grid:
    believed = (belief.median_pct / 100 * np.exp(BELIEF_NODES * log(belief.spread))) ** 2
    factors, run_weights = _run_nodes(evidence.run_freedom)
    build = believed[:, None]
    run = evidence.run_variance * factors[None, :]
    weights = np.exp(-(BELIEF_NODES**2) / 2)[:, None] * run_weights[None, :]
    if evidence.freedom:
        each = np.maximum(build + evidence.unit_share * run, LEAST_SD**2)
        logs = -evidence.freedom / 2 * np.log(each) - evidence.squares / (2 * each)
        weights = weights * np.exp(logs - logs.max())
    sd = np.sqrt(evidence.share * build + evidence.run_share * run)
    return _Grid(weights / weights.sum(), np.maximum(sd, LEAST_SD))


@lru_cache(maxsize=64)
def _run_nodes(freedom: int) -> tuple[Floats, Floats]:
    """What t² may be as a multiple of its estimate, f / chi², and the weight of each.

    The grid is even in y = ln(chi² / f), of density exp(f / 2 · (y - exp(y))).
    """
    f = freedom
    last = log(1.0 + sqrt(4.0 * RUN_TAIL / f) + RUN_TAIL / f)
    y = np.linspace(-(RUN_TAIL / f) - 4.0 / sqrt(f), last, RUN_NODES)
    weights = np.exp(f / 2 * (y - np.exp(y) + 1.0))
    return np.exp(-y), weights / weights.sum()
