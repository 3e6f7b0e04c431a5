"""How often a loss as large is seen without any change, as far as noise is believed or measured.

One build a side shows nothing of how builds scatter. What is known is how builds scatter elsewhere:
the standard deviation is believed to be lognormal around a median. It starts from what one-year
series of a real lab showed, and moves as series of the instance show their own.

The evidence is builds of a few revisions, all on the log scale: a build is the mean of its units,
which are boots where they are known, else samples.

For a standard deviation s between builds and t of one unit within its build the loss is normal
around the true one, with variance s² (1/old + 1/new) + t² (its share). Neither is known. s is
integrated over the belief, t over what the units show of it (t² = its estimate times f / chi² with
f degrees of freedom, which alone gives Student's t); where there are several builds of a side, both
are weighed by how well they explain their scatter. By the trapezoid rule on fixed grids, which for
such densities is as exact as the arithmetic: the same figures always, and no random numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, expm1, fsum, isfinite, log, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Floats
from webapp.stats.metrics import Better

MEDIAN_PCT = 1.8
"""Median over series, in percent of the level: fourteen one-year series of a real lab."""

SPREAD = 1.5
"""Two series in three lie within this factor of the median. Those of the lab show 1.6; what is
guessed is never narrower than this, however alike the series of an instance are."""

GUESS_WEIGHT = 4.0
"""Series that the guess counts for when an instance has its own."""

LEAST_FREEDOM = 8.0
"""Degrees of freedom from which on a series shows its build noise well enough to be learned from
(its standard deviation is then known within about a quarter)."""

LEAST_PCT = 0.3
"""What an estimate of less counts as: an estimate of 0 % has no logarithm, and is not believed."""

HALF_ALIKE = 0.5
"""Weight of a series that shares the hardware or the workload only; one that shares both has 1."""

LEAST_SERIES = 8
"""Series of a machine whose build noise is known, from which on they alone count."""

MEDIAN_STEP, SPREAD_STEP = 1.2, 1.1
"""The belief moves in steps of these factors: a belief that followed every upload would change
what was concluded of other series with each of them."""


BELIEF_NODES = np.linspace(-5.0, 6.0, 89)
"""Standard deviations of the logarithm of s around its median."""

RUN_NODES = 41
RUN_TAIL = 27.6
"""2 ln(10⁶): beyond the grid lies less than a millionth of the likelihood of f degrees of freedom.
"""

LEAST_SD = 1e-9
"""Of a loss, on the log scale, so that units that agree to the last digit divide by something."""

MOST_LOSS = 20.0
"""On the log scale: 2·10⁻⁹ of the level is left. A larger loss is not looked for."""

MOST_PERCENT_LOG = 700.0
"""A hundred times exp() of more than this is no number any more."""

BISECTIONS = 60


@dataclass(frozen=True, slots=True)
class BuildNoise:
    """Standard deviation between builds, percent of the level, and its degrees of freedom."""

    percent: float
    df: float

    def __post_init__(self) -> None:
        if not (isfinite(self.percent) and self.percent >= 0 and self.df >= 1):
            raise OutOfRangeError("noise between builds needs percent ≥ 0 and df ≥ 1")


@dataclass(frozen=True, slots=True)
class NoisePrior:
    """The standard deviation between builds is lognormal: ``median_pct`` times or divided by
    ``spread`` in two cases of three. ``of_machine``: it comes from the machine's own series.
    """

    median_pct: float = MEDIAN_PCT
    spread: float = SPREAD
    of_machine: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A series whose build noise is known, in percent, with its degrees of freedom."""

    build_pct: float
    freedom: float
    same_hardware: bool = True
    same_workload: bool = True

    @property
    def weight(self) -> float:
        """Its weight as evidence on the series in question."""
        if self.freedom < LEAST_FREEDOM or not (self.same_hardware or self.same_workload):
            return 0.0
        return 1.0 if self.same_hardware and self.same_workload else HALF_ALIKE


def learn(known: Iterable[Known]) -> NoisePrior:
    """Return the guess, moved by what is ``known``: the order does not matter. From `LEAST_SERIES`
    of the same hardware on these take its place.

    The logarithms are averaged, the guess among them with `GUESS_WEIGHT`; the spread is that of
    the same weighted logarithms around their mean, at least `SPREAD`. Both are then rounded: the
    median to the nearest step, the spread up to the next.
    """
    counted = [one for one in known if one.weight]
    own = [one for one in counted if one.same_hardware]
    of_machine = len(own) >= LEAST_SERIES
    rows = sorted((_log(one), one.weight) for one in (own if of_machine else counted))
    if not of_machine:
        rows.append((log(MEDIAN_PCT), GUESS_WEIGHT))
    total = sum(weight for _, weight in rows)
    mean = sum(weight * one for one, weight in rows) / total
    squares = sum(weight * (one - mean) ** 2 for one, weight in rows)
    if not of_machine:
        squares += GUESS_WEIGHT * log(SPREAD) ** 2
    steps = round((mean - log(MEDIAN_PCT)) / log(MEDIAN_STEP))
    wider = ceil(round((sqrt(squares / total) - log(SPREAD)) / log(SPREAD_STEP), 9))
    return NoisePrior(
        median_pct=round(MEDIAN_PCT * MEDIAN_STEP**steps, 6),
        spread=round(SPREAD * exp(max(wider, 0) * log(SPREAD_STEP)), 6),
        of_machine=of_machine,
    )


def _log(one: Known) -> float:
    return log(max(one.build_pct, LEAST_PCT))


@dataclass(frozen=True, slots=True)
class Build:
    """The mean of one build's units, the sum of their squared deviations, and how many they are."""

    mean: float
    squares: float
    units: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One revision with its builds, in any order; ``label`` names it."""

    position: int
    builds: tuple[Build, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Builds at the old level against builds at the new one.

    ``loss`` is how far the mean of the new ones lies below that of the old ones (above, where less
    is better), ``newest`` the same for the newest revision alone; of ``old`` and ``new`` builds.
    ``squares`` are those of the builds around the mean of their side. ``run_variance`` is that of
    one unit within its build, by ``run_freedom`` degrees of freedom; it counts ``run_share`` times
    in the variance of ``loss``, and ``unit_share`` times in that of a typical build.
    """

    loss: float
    newest: float
    old: int
    new: int
    squares: float
    run_variance: float
    run_freedom: int
    run_share: float
    unit_share: float

    @property
    def share(self) -> float:
        """How many times the variance of one build counts in that of ``loss``."""
        return 1.0 / self.old + 1.0 / self.new

    @property
    def freedom(self) -> int:
        """Degrees of freedom that the builds themselves have."""
        return self.old + self.new - 2


def build_of(samples: Sequence[float], boots: Sequence[object] | None = None) -> Build | None:
    """Return one build's summary; None where no sample is positive. Unknown boots are None."""
    units = _units(samples, boots)
    if not units:
        return None
    mean = fsum(units) / len(units)
    return Build(mean, fsum((unit - mean) ** 2 for unit in units), len(units))


def weigh(
    old: Sequence[Measured], new: Sequence[Measured], better: Better = "more"
) -> Evidence | None:
    """Return the evidence of ``new`` revisions against ``old`` ones.

    None where runs do not show their scatter: no build has two units.
    """
    before = [build for one in old for build in one.builds]
    after = [build for one in new for build in one.builds]
    both = [*before, *after]
    run_freedom = sum(build.units - 1 for build in both)
    if not before or not after or not run_freedom:
        return None
    sign = 1.0 if better == "more" else -1.0
    level, new_level = _mean(before), _mean(after)
    squares = fsum((build.mean - level) ** 2 for build in before)
    squares += fsum((build.mean - new_level) ** 2 for build in after)
    return Evidence(
        loss=sign * (level - new_level),
        newest=sign * (level - _mean(new[-1].builds)),
        old=len(before),
        new=len(after),
        squares=squares,
        run_variance=fsum(build.squares for build in both) / run_freedom,
        run_freedom=run_freedom,
        run_share=_shares(before) / len(before) ** 2 + _shares(after) / len(after) ** 2,
        unit_share=_shares(both) / len(both),
    )


def _units(samples: Sequence[float], boots: Sequence[object] | None) -> list[float]:
    """The logarithms of samples; where every boot is known, their means by boot."""
    if boots is None or any(boot is None for boot in boots):
        return [log(sample) for sample in samples if sample > 0]
    by_boot: dict[object, list[float]] = {}
    for sample, boot in zip(samples, boots, strict=True):
        if sample > 0:
            by_boot.setdefault(boot, []).append(log(sample))
    return [fsum(logs) / len(logs) for logs in by_boot.values()]


def _mean(builds: Sequence[Build]) -> float:
    return fsum(build.mean for build in builds) / len(builds)


def _shares(builds: Sequence[Build]) -> float:
    return fsum(1.0 / build.units for build in builds)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Nodes with their weights (which sum to 1) and the standard deviation of the loss there."""

    weights: Floats
    sd: Floats


def chance(evidence: Evidence, belief: NoisePrior, *, beyond: float = 0.0) -> float:
    """Return how often a loss as large is seen when the true one is ``beyond`` (log scale)."""
    grid = _grid(evidence, belief)
    return float(np.sum(grid.weights * ndtr((beyond - evidence.loss) / grid.sd)))


def interval(evidence: Evidence, belief: NoisePrior, level: float = 0.95) -> tuple[float, float]:
    """Return the ends, on the log scale, of the two-sided interval of the true loss, the smaller
    first: below the lower one lies as much as above the upper one.
    """
    tail = (1.0 - level) / 2
    return _beyond(evidence, belief, tail), _beyond(evidence, belief, 1.0 - tail)


def at_least(evidence: Evidence, belief: NoisePrior, sure: float = 0.95) -> float:
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


def _beyond(evidence: Evidence, belief: NoisePrior, probability: float) -> float:
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
def _grid(evidence: Evidence, belief: NoisePrior) -> _Grid:
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
