"""Many comparisons in one call, from what is kept of samples instead of the samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from webapp.stats.arrays import Bools, Floats, Indices, Ints
from webapp.stats.compare import significance
from webapp.stats.compare.comparing import Verdict
from webapp.stats.compare.levels import Level
from webapp.stats.compare.relative import NO_SCATTER
from webapp.stats.compare.significance import counts_limits, counts_p
from webapp.stats.compare.single_builds import believed
from webapp.stats.compare.summaries import LEVELS, Summaries
from webapp.stats.metrics import MARGIN_PCT, Better
from webapp.stats.single_build.chance import BuildNoise, NoisePrior

VERDICTS = (Verdict.CANNOT_TELL, Verdict.EQUIVALENT, Verdict.WORSE, Verdict.BETTER)
"""What the codes in `Comparisons.verdict` stand for."""

_MOST_EXACT = 4000
"""Rows for which critical values are computed; beyond, a table is right to a millionth."""

_CANNOT_TELL, _EQUIVALENT, _WORSE, _BETTER = range(len(VERDICTS))


@dataclass(frozen=True, slots=True)
class Comparisons:
    """One row a pair, all arrays of shape (rows,).

    ``percent``, ``low`` and ``high`` are the change from 1 to 2 and its interval, ``visible`` the
    smallest change seen with 80 % power, all in percent; NaN stands for None. ``p`` is the chance
    of a difference as large where there is none. ``proven`` is the sign of a change whose interval
    excludes zero, else 0; ``inside``: whether it lies within the margin. ``verdict`` indexes
    `VERDICTS`, ``unit`` `LEVELS`. ``one_build`` rows hold different builds of unknown noise, of
    which a side has but one: there the interval has what is believed of that noise, ``p`` may be
    larger than it shows (`webapp.stats.compare.single_builds`), and where the runs alone exclude
    zero but the interval does not, ``builds_differ``.
    """

    percent: Floats
    low: Floats
    high: Floats
    df: Floats
    p: Floats
    visible: Floats
    proven: NDArray[np.int8]
    inside: Bools
    negligible: Bools
    verdict: NDArray[np.int8]
    unit: NDArray[np.int8]
    one_build: Bools
    builds_differ: Bools


@dataclass(frozen=True, slots=True)
class _Rows:
    """One side of every row at the row's unit: `Side` and its builds, in numbers of moderate size.

    ``variance`` is that of a unit, ``own`` that of the mean by its units alone, and ``extra`` that
    of the noise between builds; ``floor`` is what equal values leave open.
    """

    x: Floats
    variance: Floats
    share: Floats
    df: Floats
    units: Floats
    between: Bools
    own: Floats
    extra: Floats
    floor: Floats


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Both sides of every row: logarithms where both have them (``log``)."""

    log: Bools
    a: _Rows
    b: _Rows
    extra_df: Floats

    @property
    def delta(self) -> Floats:
        return self.b.x - self.a.x

    @property
    def extra(self) -> Floats:
        return self.a.extra + self.b.extra


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

    known: Bools
    var_a: Floats
    var_b: Floats
    df: Floats
    reach: Floats

    @property
    def error(self) -> Floats:
        return np.sqrt(self.var_a + self.var_b)


def compare_many(
    a: Summaries,
    b: Summaries,
    *,
    better: Better | Sequence[Better] = "more",
    margin: float = MARGIN_PCT,
    confidence: float = significance.DEFAULT_CONFIDENCE,
    build_noise: Sequence[BuildNoise | None] | None = None,
    same_build: Sequence[bool | None] | None = None,
    beliefs: Sequence[NoisePrior | None] | None = None,
) -> Comparisons:
    """Compare B with A row by row, with the rules of `webapp.stats.compare.compare`.

    ``build_noise`` is the noise between builds of the series' history for each row, None where it
    is not known; ``same_build`` whether both sides hold the very same builds; ``beliefs`` what to
    believe where single builds stand against one another (None: the guess). Raises
    `StatisticsError` for settings out of range, ValueError for sides that differ in length.
    """
    significance.require_confidence(confidence)
    significance.require_margin(margin)
    same = [None] * len(a) if same_build is None else same_build
    given = [None] * len(a) if build_noise is None else build_noise
    if not len(a) == len(b) == len(given) == len(same):
        lengths = ", ".join(str(len(column)) for column in (a, b, given, same))
        raise ValueError(f"{lengths} rows: they must be as many")
    noises = [None if is_same else one for one, is_same in zip(given, same, strict=True)]
    unit = _common_unit(a, b)
    one_build = _one_build(unit, noises, same)
    pairs = _pairs(a, b, unit, noises)
    noise = _noise(pairs, confidence)
    percent, low, high = _intervals(pairs, noise)
    p, delta = _p_values(pairs, noise), pairs.delta
    apart = noise.known & (np.abs(delta) > np.maximum(noise.reach, NO_SCATTER))
    counts = noise.known & ~pairs.log & np.isfinite(a.totals + b.totals)
    if counts.any():
        exact, lowest, highest = _of_counts(a, b, counts, confidence)
        p[counts] = np.maximum(p[counts], exact)
        apart[counts] &= exact <= 1 - confidence / 100
        low[counts], high[counts] = _around(low[counts], high[counts], lowest, highest)
    visible, df = _visible(pairs, noise, low, confidence), noise.df
    runs_differ, single = apart.copy(), one_build & pairs.log & noise.known
    apart &= ~one_build
    if single.any():
        held = [
            (beliefs[row] if beliefs else None) or NoisePrior()
            for row in single.nonzero()[0].tolist()
        ]
        its = believed(a.only(single), b.only(single), delta[single], held, confidence)
        ends = [delta[single] - its.reach, delta[single] + its.reach, its.visible]
        low[single], high[single], visible[single] = 100 * np.expm1(ends)
        p[single], df[single] = its.p, np.nan
        apart[single] = np.abs(delta[single]) > its.reach
    proven = np.where(apart, np.sign(delta), 0).astype(np.int8)
    with np.errstate(invalid="ignore"):
        inside = noise.known & (low >= -margin) & (high <= margin)
    return Comparisons(
        percent=percent,
        low=low,
        high=high,
        df=df,
        p=p,
        visible=visible,
        proven=proven,
        inside=inside,
        negligible=inside & apart,
        verdict=_verdicts(inside, proven, better),
        unit=unit.astype(np.int8),
        one_build=one_build,
        builds_differ=one_build & runs_differ & ~apart & ~inside,
    )


def _of_counts(
    a: Summaries, b: Summaries, rows: Bools, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """The p-values and limits of the exact test of counts for ``rows``."""
    sums = a.totals[rows], a.n[rows], b.totals[rows], b.n[rows]
    return counts_p(*sums), *counts_limits(*sums, confidence)


def _around(low: Floats, high: Floats, lowest: Floats, highest: Floats) -> tuple[Floats, Floats]:
    """Limits that hold both intervals; NaN where one of them has no end."""
    low, high = np.minimum(low, lowest), np.maximum(high, highest)
    unbounded = ~(np.isfinite(low) & np.isfinite(high))
    low[unbounded] = high[unbounded] = np.nan
    return low, high


def _common_unit(a: Summaries, b: Summaries) -> Indices:
    """The index in `LEVELS` of the highest level of which both sides have two."""
    boots = np.minimum(a.boots, b.boots) >= 2
    builds = np.minimum(a.builds, b.builds) >= 2
    return np.where(builds, LEVELS.index(Level.BUILD), np.where(boots, 1, 0)).astype(np.intp)


def _one_build(
    unit: Indices, noises: Sequence[BuildNoise | None], same: Sequence[bool | None]
) -> Bools:
    """The rows of different builds of whose noise nothing is known."""
    unknown = [
        noise is None and is_same is False for noise, is_same in zip(noises, same, strict=True)
    ]
    rows: Bools = np.array(unknown, np.bool_)
    rows[unit == LEVELS.index(Level.BUILD)] = False
    return rows


def _pairs(
    a: Summaries, b: Summaries, unit: Indices, noises: Sequence[BuildNoise | None]
) -> _Pairs:
    log = a.log & b.log
    percent = np.array([noise.percent if noise else 0.0 for noise in noises], np.float64)
    extra_df = np.array([noise.df if noise else 1.0 for noise in noises], np.float64)
    percent[unit == LEVELS.index(Level.BUILD)] = 0.0
    exponent = np.maximum(a.exponent, b.exponent)
    first, second = (_rows(side, unit, log, exponent, percent) for side in (a, b))
    return _Pairs(log, first, second, extra_df)


def _rows(side: Summaries, unit: Indices, log: Bools, exponent: Ints, percent: Floats) -> _Rows:
    rows = np.arange(len(side))
    mean, sd, share, df, units, between = side.sides[log.astype(np.intp), unit, :, rows].T
    by = np.where(log, 0, side.exponent - exponent)
    x, variance = np.ldexp(mean, by), np.ldexp(sd, by) ** 2
    build = np.where(between > 0, 0.0, percent / 100 * np.where(log, 1.0, x))
    extra = build * build / side.builds
    floor = np.ldexp(side.floors[rows, log.astype(np.intp)], by)
    return _Rows(x, variance, share, df, units, between > 0, variance * share, extra, floor)


def _noise(pairs: _Pairs, confidence: float) -> _Noise:
    a, b = pairs.a, pairs.b
    total = a.own + b.own + pairs.extra
    scattered = np.sqrt(total) > NO_SCATTER
    known = (a.df > 0) & (b.df > 0)
    silent = known & ~scattered
    known[silent] = _smallest_p(a.units[silent], b.units[silent]) <= 1 - confidence / 100
    scattered &= known
    widest = _welch(pairs, scattered, confidence)
    if (a.df != b.df).any() or (a.share != b.share).any():
        pooled = _pooled(pairs, scattered, confidence)
        wider = (a.between == b.between) & (pooled.reach > widest.reach)
        widest = _Spread(
            np.where(wider, pooled.var_a, widest.var_a),
            np.where(wider, pooled.var_b, widest.var_b),
            np.where(wider, pooled.df, widest.df),
            np.where(wider, pooled.reach, widest.reach),
        )
    df = np.where(scattered, widest.df, np.nan)
    reach = np.where(scattered, widest.reach, np.maximum(a.floor, b.floor))
    return _Noise(known, widest.var_a, widest.var_b, df, reach)


def _smallest_p(n1: Floats, n2: Floats) -> Floats:
    """`webapp.stats.compare.significance.smallest_p` for arrays."""
    smallest: Floats = np.minimum(1.0, 2 / special.binom(n1 + n2, n1))
    return smallest


def _welch(pairs: _Pairs, scattered: Bools, confidence: float) -> _Spread:
    a, b, extra = pairs.a, pairs.b, pairs.extra
    total = np.where(scattered, a.own + b.own + extra, 1.0)
    inverse = (
        (a.own / total) ** 2 / np.maximum(a.df, 1)
        + (b.own / total) ** 2 / np.maximum(b.df, 1)
        + (extra / total) ** 2 / pairs.extra_df
    )
    df = 1 / np.where(scattered, inverse, 1.0)
    reach = _critical(df, confidence) * np.sqrt(total)
    return _Spread(a.own + a.extra, b.own + b.extra, df, reach)


def _pooled(pairs: _Pairs, scattered: Bools, confidence: float) -> _Spread:
    """Only ever wider than Welch's where the sides differ in size."""
    a, b, extra = pairs.a, pairs.b, pairs.extra
    pooled_df = np.maximum(a.df + b.df, 1)
    pooled = (a.variance * a.df + b.variance * b.df) / pooled_df
    var_a, var_b = pooled * a.share, pooled * b.share
    total = np.where(scattered, var_a + var_b + extra, 1.0)
    inverse = ((var_a + var_b) / total) ** 2 / pooled_df + (extra / total) ** 2 / pairs.extra_df
    df = 1 / np.where(scattered & (inverse > 0), inverse, 1.0)
    reach = _critical(df, confidence) * np.sqrt(total)
    return _Spread(var_a + a.extra, var_b + b.extra, df, reach)


def _critical(df: Floats, confidence: float) -> Floats:
    """To the last digit where a page shows them, from a table where there are very many."""
    if len(df) > _MOST_EXACT:
        return significance.critical_ts(df, confidence)
    return np.asarray(special.stdtrit(df, 0.5 + confidence / 200), np.float64)


def _p_values(pairs: _Pairs, noise: _Noise) -> Floats:
    delta = np.abs(pairs.delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * special.stdtr(noise.df, -delta / noise.error)
    ranks = noise.known & np.isnan(noise.df)
    by_ranks = _smallest_p(pairs.a.units, pairs.b.units)
    p[ranks] = np.where(delta > noise.reach, by_ranks, 1.0)[ranks]
    p[~noise.known] = 1.0
    return np.asarray(p, np.float64)


def _intervals(pairs: _Pairs, noise: _Noise) -> tuple[Floats, Floats, Floats]:
    delta = np.where(pairs.log, pairs.delta, 0.0)
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


def _linear(pairs: _Pairs, noise: _Noise, which: Bools) -> tuple[Floats, Floats, Floats]:
    """Fieller's limits (1954), as in `webapp.stats.compare.relative`, for the rows ``which``."""
    x1, x2 = pairs.a.x[which], pairs.b.x[which]
    var1, var2 = noise.var_a[which], noise.var_b[which]
    error, reach = noise.error[which], noise.reach[which]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        square = np.where(error > 0, (reach / error) ** 2, 0.0)
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
    silent = np.isnan(noise.df[which])
    low[silent], high[silent] = _without_scatter(x1[silent], x2[silent], reach[silent])
    return percent, low, high


def _without_scatter(a: Floats, b: Floats, floor: Floats) -> tuple[Floats, Floats]:
    """As in `webapp.stats.compare.relative`: what rounding leaves open; NaN of a level of zero."""
    level = np.where(np.abs(a) > floor, np.abs(a), np.nan)
    return 100 * (b - a - floor) / level, 100 * (b - a + floor) / level


def _visible(pairs: _Pairs, noise: _Noise, low: Floats, confidence: float) -> Floats:
    bounded = np.isfinite(noise.df) & ~np.isnan(low)
    shift = significance.visible_shifts(np.where(bounded, noise.df, 1.0), confidence) * noise.error
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        visible = 100 * np.where(pairs.log, np.expm1(shift), shift / np.abs(pairs.a.x))
    visible[~bounded] = np.nan
    return visible


def _verdicts(
    inside: Bools, proven: NDArray[np.int8], better: Better | Sequence[Better]
) -> NDArray[np.int8]:
    more = np.asarray(better) == "more"
    improved = np.where((proven > 0) == more, _BETTER, _WORSE)
    decided = np.where(proven != 0, improved, _CANNOT_TELL)
    return np.where(inside, _EQUIVALENT, decided).astype(np.int8)
