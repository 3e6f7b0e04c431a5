"""Many comparisons in one call, from counts, means and variances instead of samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from webapp.stats.better import Better
from webapp.stats.compare.comparing import Verdict, require_margin
from webapp.stats.compare.relative import NO_SCATTER
from webapp.stats.defaults import MARGIN_PCT
from webapp.stats.errors import NotFiniteError, OutOfRangeError
from webapp.stats.sensitivity import (
    DEFAULT_CONFIDENCE,
    critical_ts,
    require_confidence,
    visible_shifts,
)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

VERDICTS = (Verdict.CANNOT_TELL, Verdict.EQUIVALENT, Verdict.WORSE, Verdict.BETTER)
"""What the codes in `Comparisons.verdict` stand for."""

# A standard deviation this many times the level decides nothing; its fourth power is finite.
_MOST_SCATTER = 1e70

_CANNOT_TELL, _EQUIVALENT, _WORSE, _BETTER = range(len(VERDICTS))


@dataclass(frozen=True, slots=True)
class Comparisons:
    """One row a pair, all arrays of shape (rows,).

    ``percent``, ``low`` and ``high`` are the change from 1 to 2 and its interval, ``visible`` the
    smallest change seen with 80 % power, all in percent; NaN stands for None. ``proven`` is the
    sign of a change whose interval excludes zero, else 0. ``verdict`` indexes `VERDICTS`.
    """

    percent: Floats
    low: Floats
    high: Floats
    df: Floats
    visible: Floats
    proven: NDArray[np.int8]
    negligible: Flags
    verdict: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Moments:
    """Counts of independent samples, means and variances of one side, each a number or (rows,).

    The variance of a single sample is not known: pass 0.
    """

    n: ArrayLike
    mean: ArrayLike
    variance: ArrayLike


@dataclass(frozen=True, slots=True)
class _Rows:
    """One side of every row: counts, locations and variances of the means."""

    n: Floats
    x: Floats
    variance: Floats


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Both sides without units: logarithms where both means are positive (``log``), else shares
    of the largest number of the row. ``extra`` is the variance of noise between builds."""

    log: Flags
    a: _Rows
    b: _Rows
    extra_a: Floats
    extra_b: Floats
    extra_df: Floats


@dataclass(frozen=True, slots=True)
class _Spread:
    """Variances of both means, the degrees of freedom of their sum and the interval's reach."""

    var_a: Floats
    var_b: Floats
    df: Floats
    reach: Floats


@dataclass(frozen=True, slots=True)
class _Noise:
    """NaN in ``df`` where nothing scatters or nothing is known of the scatter."""

    known: Flags
    var_a: Floats
    var_b: Floats
    df: Floats
    reach: Floats

    @property
    def error(self) -> Floats:
        return np.sqrt(self.var_a + self.var_b)


def compare_many(
    a: Moments,
    b: Moments,
    *,
    better: Better | Sequence[Better] = "more",
    margin: float = MARGIN_PCT,
    confidence: float = DEFAULT_CONFIDENCE,
    build_percent: ArrayLike = 0.0,
    build_df: ArrayLike = 1.0,
) -> Comparisons:
    """Compare B with A row by row, with the rules of `webapp.stats.compare.compare`.

    Knowing only moments, the logarithm of the ratio of *means* is used, its variance to first
    order: variance / (n·mean²). Rows with a mean ≤ 0 use Fieller's limits. ``build_percent`` (0
    for unknown) and ``build_df`` are the noise between builds of the series' history, one build a
    side. Everything broadcasts to (rows,). Raises `StatisticsError` for numbers out of range.
    """
    require_confidence(confidence)
    require_margin(margin)
    pairs = _pairs(
        _checked(a.n, a.mean, a.variance, b.n, b.mean, b.variance, build_percent, build_df)
    )
    noise = _noise(pairs, confidence)
    percent, low, high = _intervals(pairs, noise)
    delta = pairs.b.x - pairs.a.x
    apart = noise.known & (np.abs(delta) > np.maximum(noise.reach, NO_SCATTER))
    proven = np.where(apart, np.sign(delta), 0).astype(np.int8)
    with np.errstate(invalid="ignore"):
        inside = noise.known & (low >= -margin) & (high <= margin)
    return Comparisons(
        percent=percent,
        low=low,
        high=high,
        df=noise.df,
        visible=_visible(pairs, noise, low, confidence),
        proven=proven,
        negligible=inside & apart,
        verdict=_verdicts(inside, proven, better),
    )


def _checked(*columns: ArrayLike) -> list[Floats]:
    rows = [np.atleast_1d(np.asarray(column, dtype=np.float64)) for column in columns]
    for column in rows:
        if not np.isfinite(column).all():
            raise NotFiniteError(float(column[~np.isfinite(column)].flat[0]))
    n1, _, var1, n2, _, var2, percent, df = rows
    if min(column.min(initial=1) for column in (n1, n2, df)) < 1:
        raise OutOfRangeError("counts and degrees of freedom must be at least 1")
    if min(column.min(initial=0) for column in (var1, var2, percent)) < 0:
        raise OutOfRangeError("variances and noise between builds cannot be negative")
    return list(np.broadcast_arrays(*rows))


def _pairs(columns: list[Floats]) -> _Pairs:
    n1, mean1, var1, n2, mean2, var2, build_percent, build_df = columns
    sd1, sd2 = np.sqrt(var1), np.sqrt(var2)
    log = (mean1 > 0) & (mean2 > 0)
    largest = np.maximum.reduce([np.abs(mean1), np.abs(mean2), sd1, sd2])
    largest = np.where(largest > 0, largest, 1.0)
    unit1, unit2 = np.where(log, mean1, largest), np.where(log, mean2, largest)
    ratio = np.log(np.where(log, mean2, 1.0)) - np.log(np.where(log, mean1, 1.0))
    with np.errstate(over="ignore"):
        cv1, cv2 = (
            np.minimum(sd / unit, _MOST_SCATTER) for sd, unit in ((sd1, unit1), (sd2, unit2))
        )
    a = _Rows(n1, np.where(log, 0.0, mean1 / largest), cv1**2 / n1)
    b = _Rows(n2, np.where(log, ratio, mean2 / largest), cv2**2 / n2)
    build = np.minimum(build_percent / 100, _MOST_SCATTER)
    extra_a, extra_b = (np.where(log, build, build * side.x) ** 2 for side in (a, b))
    return _Pairs(log, a, b, extra_a, extra_b, build_df)


def _noise(pairs: _Pairs, confidence: float) -> _Noise:
    a, b = pairs.a, pairs.b
    total = a.variance + b.variance + pairs.extra_a + pairs.extra_b
    scattered = total > NO_SCATTER**2
    known = (a.n > 1) & (b.n > 1)
    silent = known & ~scattered
    if silent.any():
        ways = special.binom(a.n[silent] + b.n[silent], a.n[silent])
        known[silent] = 2 / ways <= 1 - confidence / 100
    scattered &= known
    widest = _welch(pairs, scattered, confidence)
    if (a.n != b.n).any():
        pooled = _pooled(pairs, scattered, confidence)
        wider = pooled.reach > widest.reach
        widest = _Spread(
            np.where(wider, pooled.var_a, widest.var_a),
            np.where(wider, pooled.var_b, widest.var_b),
            np.where(wider, pooled.df, widest.df),
            np.where(wider, pooled.reach, widest.reach),
        )
    df = np.where(scattered, widest.df, np.nan)
    reach = np.where(scattered, widest.reach, 0.0)
    return _Noise(known, widest.var_a, widest.var_b, df, reach)


def _welch(pairs: _Pairs, scattered: Flags, confidence: float) -> _Spread:
    a, b, extra = pairs.a, pairs.b, pairs.extra_a + pairs.extra_b
    total = np.where(scattered, a.variance + b.variance + extra, 1.0)
    inverse = (
        (a.variance / total) ** 2 / np.maximum(a.n - 1, 1)
        + (b.variance / total) ** 2 / np.maximum(b.n - 1, 1)
        + (extra / total) ** 2 / pairs.extra_df
    )
    df = 1 / np.where(scattered, inverse, 1.0)
    reach = critical_ts(df, confidence) * np.sqrt(total)
    return _Spread(a.variance + pairs.extra_a, b.variance + pairs.extra_b, df, reach)


def _pooled(pairs: _Pairs, scattered: Flags, confidence: float) -> _Spread:
    """Only ever wider than Welch's where the sides differ in size."""
    a, b, extra = pairs.a, pairs.b, pairs.extra_a + pairs.extra_b
    pooled_df = np.maximum(a.n + b.n - 2, 1)
    pooled = (a.variance * a.n * (a.n - 1) + b.variance * b.n * (b.n - 1)) / pooled_df
    var_a, var_b = pooled / a.n, pooled / b.n
    total = np.where(scattered, var_a + var_b + extra, 1.0)
    inverse = ((var_a + var_b) / total) ** 2 / pooled_df + (extra / total) ** 2 / pairs.extra_df
    df = 1 / np.where(scattered, inverse, 1.0)
    reach = critical_ts(df, confidence) * np.sqrt(total)
    return _Spread(var_a + pairs.extra_a, var_b + pairs.extra_b, df, reach)


def _intervals(pairs: _Pairs, noise: _Noise) -> tuple[Floats, Floats, Floats]:
    delta = np.where(pairs.log, pairs.b.x, 0.0)
    with np.errstate(over="ignore"):
        percent = 100 * np.expm1(delta)
        low = 100 * np.expm1(delta - noise.reach)
        high = 100 * np.expm1(delta + noise.reach)
    linear = ~pairs.log
    if linear.any():
        percent[linear], low[linear], high[linear] = _linear(pairs, noise, linear)
    low[~noise.known] = np.nan
    high[~noise.known] = np.nan
    return percent, low, high


def _linear(pairs: _Pairs, noise: _Noise, which: Flags) -> tuple[Floats, Floats, Floats]:
    """Fieller's limits (1954), as in `webapp.stats.compare.relative`, for the rows ``which``."""
    x1, x2 = pairs.a.x[which], pairs.b.x[which]
    var1, var2 = noise.var_a[which], noise.var_b[which]
    error, reach = noise.error[which], noise.reach[which]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        square = np.where(reach > 0, (reach / error) ** 2, 0.0)
        spare = x1 * x1 - square * var1
        spare[spare <= 0] = np.nan
        half = np.sqrt(square * (var2 * spare + x2 * x2 * var1)) / spare
        centre = np.copysign(1.0, x1) * (x1 * x2 / spare - 1)
        percent = 100 * (x2 - x1) / np.abs(x1)
        low, high = 100 * (centre - half), 100 * (centre + half)
    unbounded = ~(np.isfinite(low) & np.isfinite(high))
    low[unbounded] = high[unbounded] = np.nan
    percent[~np.isfinite(percent)] = np.nan
    percent[x1 == x2] = 0.0
    same = (x1 == x2) & (reach == 0)
    low[same] = high[same] = 0.0
    return percent, low, high


def _visible(pairs: _Pairs, noise: _Noise, low: Floats, confidence: float) -> Floats:
    bounded = np.isfinite(noise.df) & ~np.isnan(low)
    shift = visible_shifts(np.where(bounded, noise.df, 1.0), confidence) * noise.error
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        visible = 100 * np.where(pairs.log, np.expm1(shift), shift / np.abs(pairs.a.x))
    visible[~bounded] = np.nan
    return visible


def _verdicts(
    inside: Flags, proven: NDArray[np.int8], better: Better | Sequence[Better]
) -> NDArray[np.int8]:
    more = np.asarray(better) == "more"
    improved = np.where((proven > 0) == more, _BETTER, _WORSE)
    decided = np.where(proven != 0, improved, _CANNOT_TELL)
    return np.where(inside, _EQUIVALENT, decided).astype(np.int8)
