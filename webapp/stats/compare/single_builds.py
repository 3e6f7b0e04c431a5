"""Single builds a side: intervals by what is believed of the noise between builds, row by row.

What an alert about such a pair rests on (`webapp.stats.single_build.chance`), for many pairs in one
call. The deviation of the mean difference is a mixture of normals: the standard deviation between
builds is integrated over the belief, that of units over what they show of it. So the interval lies
as far to either side; its ends are found by Newton's method, on a tail that is convex.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from webapp.stats.arrays import Floats
from webapp.stats.compare.summaries import LEVELS, Summaries
from webapp.stats.single_build.chance import LEAST_SD, RUN_TAIL, NoisePrior

CAUTIOUS_PCT = 6.4
"""Builds of the noisiest of a real lab's year series: 4.9 % as estimated, of 25 degrees of freedom
at most 4.9 · √(25 / 14.6) (the 95 % limit by χ²). Where a machine's own noise is not known, a
difference is claimed only if builds that scatter so would hardly ever show it."""

BUILD_NODES = np.linspace(-5.0, 5.5, 15)
RUN_NODES = 25
"""Coarser than those of an alert, whose ends differ from these by less than 0.001 %."""
KNOWN_NODE = np.zeros(1)
POWER = 0.8
STEPS = 40
ACCURACY = 1e-9
LEAST_UNITS = 2
RUN, BOOT, BUILD = range(len(LEVELS))


@dataclass(frozen=True, slots=True)
class Believed:
    """For each row, on logarithms: how far the interval reaches to either side, and the smallest
    difference seen with 80 % power. ``p`` is the chance of a difference as large where there is
    none, for a machine of unknown noise with builds of `CAUTIOUS_PCT` at least.
    """

    reach: Floats
    visible: Floats
    p: Floats


@dataclass(frozen=True, slots=True)
class _Rows:
    """`webapp.stats.single_build.Evidence` of every row, as columns of shape (rows, 1, 1)."""

    share: Floats
    freedom: Floats
    squares: Floats
    run_variance: Floats
    run_freedom: Floats
    run_share: Floats
    unit_share: Floats


@dataclass(frozen=True, slots=True)
class _Mixture:
    """Standard deviations of the difference, and the weight of each: shape (rows, nodes)."""

    sd: Floats
    weights: Floats

    def below(self, x: Floats) -> Floats:
        """The chance to lie below ``x``, one a row."""
        return np.asarray((self.weights * ndtr(x[:, None] / self.sd)).sum(axis=1), np.float64)

    def quantile(self, upper: float) -> Floats:
        """Where so much of the distribution lies above, less than half."""
        x = float(-ndtri(upper)) * (self.weights * self.sd).sum(axis=1)
        for _ in range(STEPS):
            density = np.exp(-((x[:, None] / self.sd) ** 2) / 2) / self.sd
            slope = (self.weights * density).sum(axis=1) / np.sqrt(2 * np.pi)
            moved = np.maximum(x + (self.below(-x) - upper) / slope, x / 2)
            if (np.abs(moved - x) <= ACCURACY).all():
                break
            x = moved
        return np.asarray(moved, np.float64)


def believed(
    a: Summaries, b: Summaries, delta: Floats, beliefs: Sequence[NoisePrior], confidence: float
) -> Believed:
    """Of rows with logarithms and scatter of runs, of which a side has but one build."""
    rows, upper = _rows(a, b), (1 - confidence / 100) / 2
    own, far = _mixture(rows, beliefs), -np.abs(delta)
    reach, p = own.quantile(upper), 2 * own.below(far)
    unknown = np.array([not one.of_machine for one in beliefs], np.bool_)
    if unknown.any():
        cautious = _mixture(rows, [NoisePrior(CAUTIOUS_PCT, 1.0)] * len(beliefs), KNOWN_NODE)
        p = np.where(unknown, np.maximum(p, 2 * cautious.below(far)), p)
    return Believed(reach, reach + own.quantile(1 - POWER), p)


def _mixture(
    rows: _Rows, beliefs: Sequence[NoisePrior], deviations: Floats = BUILD_NODES
) -> _Mixture:
    median = np.array([one.median_pct for one in beliefs], np.float64)[:, None, None] / 100
    spread = np.array([log(one.spread) for one in beliefs], np.float64)[:, None, None]
    nodes = deviations[None, :, None]
    build = (median * np.exp(nodes * spread)) ** 2
    factors, run_weights = _run_nodes(rows.run_freedom)
    run = rows.run_variance * factors
    weights = np.exp(-(nodes**2) / 2) * run_weights
    several = rows.freedom > 0
    if several.any():
        each = np.maximum(build + rows.unit_share * run, LEAST_SD**2)
        logs = np.where(several, -rows.freedom / 2 * np.log(each) - rows.squares / (2 * each), 0.0)
        weights = weights * np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
    sd = np.maximum(np.sqrt(rows.share * build + rows.run_share * run), LEAST_SD)
    flat = (len(beliefs), -1)
    weights = np.broadcast_to(weights, sd.shape).reshape(flat)
    return _Mixture(sd.reshape(flat), weights / weights.sum(axis=1, keepdims=True))


def _run_nodes(freedom: Floats) -> tuple[Floats, Floats]:
    """What the variance of runs may be as a multiple of its estimate, and the weight of each."""
    last = np.log(1.0 + np.sqrt(4.0 * RUN_TAIL / freedom) + RUN_TAIL / freedom)
    first = -(RUN_TAIL / freedom) - 4.0 / np.sqrt(freedom)
    y = first + (last - first) * np.linspace(0.0, 1.0, RUN_NODES)[None, None, :]
    weights = np.exp(freedom / 2 * (y - np.exp(y) + 1.0))
    return np.exp(-y), weights


def _rows(a: Summaries, b: Summaries) -> _Rows:
    """Boots are the units where all are known, unless none of them has the scatter of runs."""
    first, second = _units(a, by_boots=True), _units(b, by_boots=True)
    blind = first.freedom + second.freedom <= 0
    if blind.any():
        others = _units(a, by_boots=False), _units(b, by_boots=False)
        first, second = (
            _Units(*(np.where(blind, theirs, its) for its, theirs in zip(x, y, strict=True)))
            for x, y in zip((first, second), others, strict=True)
        )
    builds = a.builds, b.builds
    freedom = np.maximum(first.freedom + second.freedom, 1)
    shares = first.share * builds[0] ** 2 + second.share * builds[1] ** 2
    columns = (
        1 / builds[0] + 1 / builds[1],
        builds[0] + builds[1] - 2,
        _between(a) + _between(b),
        (first.squares + second.squares) / freedom,
        freedom,
        first.share + second.share,
        shares / (builds[0] + builds[1]),
    )
    return _Rows(*(np.asarray(one, np.float64)[:, None, None] for one in columns))


class _Units(NamedTuple):
    """Of one side: squares of units within their builds, their degrees of freedom, and how many
    times the variance of a unit counts in that of the mean.
    """

    squares: Floats
    freedom: Floats
    share: Floats


def _units(side: Summaries, *, by_boots: bool) -> _Units:
    level = np.where(by_boots & (side.boots >= LEAST_UNITS), BOOT, RUN)
    rows = np.arange(len(side))
    _, sd, share, df, _, between = side.sides[1, level, :, rows].T
    within = (between == 0) & ~(by_boots & (side.boots == 1))
    share = np.where(by_boots & (side.boots == 1), 1.0, share)
    return _Units(np.where(within, sd**2 * df, 0.0), np.where(within, df, 0.0), share)


def _between(side: Summaries) -> Floats:
    """The squares of several builds around their mean."""
    _, sd, _, df, _, _ = side.sides[1, BUILD, :, np.arange(len(side))].T
    return np.asarray(sd**2 * df, np.float64)
