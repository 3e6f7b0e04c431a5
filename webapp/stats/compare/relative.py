"""The relative change between two sets of samples, with the noise that the data separates; and
whether a change is the same on every machine: the test of heterogeneity of several changes.

Cochran's Q takes standard errors for known, and calls equal changes different in 9 to 31 of 100
cases where each was estimated from three units a side. The test of Alexander and Govern
(1994) counts their degrees of freedom: each change's distance from the weighted mean, in standard
errors, is Student's t; made a normal deviate, its squares sum to chi-squared. At 5 %, five of a
hundred equal ones are called different at most (`tests/stats/compare/test_across.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import copysign, fsum, isfinite, ldexp, log1p, sqrt
from typing import Literal

import numpy as np
from scipy import special

from webapp.stats.compare import levels
from webapp.stats.compare.significance import (
    DEFAULT_CONFIDENCE,
    counts_limits,
    counts_p,
    critical_t,
    smallest_p,
    two_sided_p,
    visible_shift,
)
from webapp.stats.single_build.chance import BuildNoise

NO_SCATTER = 1e-12
"""A standard error below this share of the level is rounding: it carries no estimate of noise."""

Test = Literal["Welch", "Student", "ranks", "belief"]
Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Change:
    """How far B is from A, percent of A; positive is more.

    ``percent`` is None where A's mean is zero, or so near that a double does not hold the figure.
    ``low`` and ``high`` are None where no interval exists: with nothing known of a side's scatter,
    with no scatter at all in sets too small for ranks to decide, or relative to a mean that is
    itself not clearly different from zero.
    ``known`` means that the difference, if not the percentage, has an interval, and ``proven`` is
    the sign of the change where that excludes zero, else 0; ``p`` is the two-sided chance of a
    difference as large where there is none, 1 where nothing is known. ``visible`` is the smallest
    change, percent, seen with 80 % power; None without an interval or without scatter. ``test``
    gave the interval, and ``counts`` is the p-value of the exact test of counts, None where the
    samples are none: its limits lie in the interval too. ``unit`` is the level whose scatter was
    used, ``units`` how many of them A and B have, ``uncounted`` the levels whose noise is not in
    the interval and ``history`` the noise between builds that was added.
    """

    percent: float | None
    low: float | None
    high: float | None
    proven: Literal[-1, 0, 1]
    p: float
    known: bool
    visible: float | None
    df: float | None
    test: Test | None
    counts: float | None
    scale: levels.Scale
    unit: levels.Level
    units: tuple[int, int]
    uncounted: tuple[levels.Level, ...]
    history: BuildNoise | None


@dataclass(frozen=True, slots=True)
class _Set:
    """One side at the common unit, in numbers of moderate size, how many builds it has, and what
    equal values leave open.
    """

    side: levels.Side
    builds: int
    floor: float

    @property
    def mean(self) -> float:
        return self.side.mean

    @property
    def variance(self) -> float:
        """Of the mean, by its own units."""
        return self.side.variance * self.side.share


@dataclass(frozen=True, slots=True)
class _Noise:
    """Variances of the means of A and B with all that counts; df of their sum, None for none."""

    a: float
    b: float
    df: float | None
    t: float
    test: Test
    floor: float = 0.0

    @property
    def error(self) -> float:
        return sqrt(self.a + self.b)

    @property
    def reach(self) -> float:
        return max(self.t * self.error, self.floor)


def estimate_change(
    a: levels.Summary,
    b: levels.Summary,
    *,
    confidence: float,
    build_noise: BuildNoise | None = None,
) -> Change:
    """The change from A to B with its interval at ``confidence`` percent.

    All samples positive: the difference of mean logarithms, as a percentage. Otherwise: the
    difference of means, its percentage by Fieller's limits (1954). The interval is the wider of
    Welch's and Student's pooled one: Welch's alone covers too little where a side has two or
    three units and the other many. Without any scatter the interval is what rounding leaves
    open around the change (`Summary.floor`, of the coarser side), and exists only where the sets
    are large enough for ranks alone to reach the level.
    """
    unit = levels.common_unit(a, b)
    history = build_noise if unit is not levels.Level.BUILD else None
    scale: levels.Scale = "linear" if a.log is None or b.log is None else "log"
    first, second = _at(a, b, unit)
    noise = _noise(first, second, history, scale, confidence)
    delta = second.mean - first.mean
    low, high = (None, None) if noise is None else _limits(first, second, noise, scale)
    counts = _counts(a, b, confidence) if noise is not None and scale == "linear" else None
    if counts is not None:
        low, high = counts.around(low, high)
    return Change(
        percent=_percent(first, second, scale),
        low=low,
        high=high,
        proven=0 if noise is None or (counts and not counts.proven) else _proven(delta, noise),
        p=1.0 if noise is None else max(_p_value(first, second, noise), counts.p if counts else 0),
        known=noise is not None,
        visible=None if low is None else _visible(first, noise, scale, confidence),
        df=noise.df if noise else None,
        test=noise.test if noise else None,
        counts=counts.p if counts else None,
        scale=scale,
        unit=unit,
        units=(first.side.units, second.side.units),
        uncounted=levels.uncounted_levels(unit, history=history is not None),
        history=history,
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    """The result of the exact test of counts; ``high`` is infinite where A counts none."""

    p: float
    low: float
    high: float
    proven: bool

    def around(self, low: float | None, high: float | None) -> Limits:
        """The limits that hold these as well as ``low`` and ``high``."""
        if low is None or high is None or not isfinite(self.high):
            return None, None
        return min(low, self.low), max(high, self.high)


def _counts(a: levels.Summary, b: levels.Summary, confidence: float) -> _Counts | None:
    if a.total is None or b.total is None:
        return None
    first, n1, second, n2 = np.array([[a.total], [a.n], [b.total], [b.n]], np.float64)
    p = float(counts_p(first, n1, second, n2)[0])
    low, high = (float(end[0]) for end in counts_limits(first, n1, second, n2, confidence))
    return _Counts(p, low, high, p <= 1 - confidence / 100)


def _at(a: levels.Summary, b: levels.Summary, unit: levels.Level) -> tuple[_Set, _Set]:
    """Both at the same unit and on the same scale: logarithms where both have them."""
    if a.log is not None and b.log is not None:
        return (
            _Set(a.log[unit], a.builds, a.floor("log")),
            _Set(b.log[unit], b.builds, b.floor("log")),
        )
    exponent = max(a.exponent, b.exponent)
    return _scaled(a, unit, exponent), _scaled(b, unit, exponent)


def _scaled(one: levels.Summary, unit: levels.Level, exponent: int) -> _Set:
    side, by = one.linear[unit], one.exponent - exponent
    scaled = replace(side, mean=ldexp(side.mean, by), sd=ldexp(side.sd, by))
    return _Set(scaled, one.builds, ldexp(one.floor("linear"), by))


def _noise(
    a: _Set, b: _Set, history: BuildNoise | None, scale: levels.Scale, confidence: float
) -> _Noise | None:
    if a.side.df == 0 or b.side.df == 0:
        return None
    extra = _between_builds(a, history, scale), _between_builds(b, history, scale)
    extra_df = history.df if history else 1.0
    if sqrt(a.variance + b.variance + sum(extra)) <= NO_SCATTER:
        by_ranks = smallest_p(a.side.units, b.side.units) <= 1 - confidence / 100
        floor = max(a.floor, b.floor)
        return _Noise(0.0, 0.0, None, 0.0, "ranks", floor) if by_ranks else None
    welch = _welch(a, b, extra, extra_df, confidence)
    if a.side.between is not b.side.between:
        return welch
    return max(welch, _pooled(a, b, extra, extra_df, confidence), key=lambda noise: noise.reach)


def _welch(
    a: _Set, b: _Set, extra: tuple[float, float], extra_df: float, confidence: float
) -> _Noise:
    df = satterthwaite([(a.variance, a.side.df), (b.variance, b.side.df), (sum(extra), extra_df)])
    t = critical_t(df, confidence)
    return _Noise(a.variance + extra[0], b.variance + extra[1], df, t, "Welch")


def _pooled(
    a: _Set, b: _Set, extra: tuple[float, float], extra_df: float, confidence: float
) -> _Noise:
    pooled_df = a.side.df + b.side.df
    pooled = (a.side.df * a.side.variance + b.side.df * b.side.variance) / pooled_df
    var_a, var_b = pooled * a.side.share, pooled * b.side.share
    df = satterthwaite([(var_a + var_b, pooled_df), (sum(extra), extra_df)])
    t = critical_t(df, confidence)
    return _Noise(var_a + extra[0], var_b + extra[1], df, t, "Student")


def satterthwaite(parts: Iterable[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent (variance, df) parts (Satterthwaite, 1946)."""
    known = list(parts)
    total = sum(variance for variance, _ in known)
    return 1 / sum((variance / total) ** 2 / df for variance, df in known)


def _between_builds(one: _Set, history: BuildNoise | None, scale: levels.Scale) -> float:
    if history is None or one.side.between:
        return 0.0
    deviation = history.percent / 100 * (1 if scale == "log" else one.mean)
    return deviation * deviation / one.builds


def _p_value(a: _Set, b: _Set, noise: _Noise) -> float:
    """Of Student's t as the interval has it; without scatter the smallest that ranks can reach."""
    delta = abs(b.mean - a.mean)
    if noise.df is not None:
        return two_sided_p(delta / noise.error, noise.df)
    return smallest_p(a.side.units, b.side.units) if delta > noise.reach else 1.0


def _proven(delta: float, noise: _Noise) -> Literal[-1, 0, 1]:
    if abs(delta) <= max(noise.reach, NO_SCATTER):
        return 0
    return 1 if delta > 0 else -1


def _percent(a: _Set, b: _Set, scale: levels.Scale) -> float | None:
    if scale == "log":
        return percent_of_log(b.mean - a.mean)
    if a.mean == 0:
        return 0.0 if b.mean == 0 else None
    percent = 100 * (b.mean - a.mean) / abs(a.mean)
    return percent if isfinite(percent) else None


def _limits(a: _Set, b: _Set, noise: _Noise, scale: levels.Scale) -> Limits:
    if scale == "log":
        delta, reach = b.mean - a.mean, noise.reach
        return percent_of_log(delta - reach), percent_of_log(delta + reach)
    if noise.df is None:
        return _without_scatter(a.mean, b.mean, noise.floor)
    return _fieller(a.mean, b.mean, noise)


def _without_scatter(a: float, b: float, floor: float) -> Limits:
    """Limits of (b − a)/|a| in percent where only rounding is left; none of a level of zero."""
    if abs(a) <= floor:
        return None, None
    return 100 * (b - a - floor) / abs(a), 100 * (b - a + floor) / abs(a)


def _fieller(a: float, b: float, noise: _Noise) -> Limits:
    """Limits of (b − a)/|a| in percent; none when a is not clearly different from zero."""
    spare = a * a - noise.t * noise.t * noise.a
    if spare <= 0:
        return None, None
    # (r ± t/|a|·sqrt(var(b)·(1 − g) + r²·var(a))) / (1 − g) with r = b/a and g = t²·var(a)/a²
    half = noise.t * sqrt(noise.b * spare + b * b * noise.a) / spare
    centre = copysign(1, a) * (a * b / spare - 1)
    low, high = 100 * (centre - half), 100 * (centre + half)
    return (low, high) if isfinite(low) and isfinite(high) else (None, None)


def _visible(a: _Set, noise: _Noise | None, scale: levels.Scale, confidence: float) -> float | None:
    if noise is None or noise.df is None:
        return None
    shift = visible_shift(noise.df, confidence) * noise.error
    if scale == "log":
        return percent_of_log(shift)
    return 100 * shift / abs(a.mean)


def percent_of_log(difference: float) -> float:
    """A difference of natural logarithms as a percentage; infinite beyond what a double holds."""
    with np.errstate(over="ignore"):
        return 100 * float(np.expm1(difference))


LEAST_CHANGES = 2
OFF_THE_MIDDLE = 1e-6
"""Of half the width of an interval: what rounding may move the middle of one on logarithms."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A change on natural logarithms, its standard error and the degrees of freedom of that."""

    change: float
    error: float
    df: float


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How likely ``changes`` differ as much by chance where all are the same: ``p``.

    ``statistic`` is chi-squared with one degree of freedom less than there are changes, ``common``
    their mean, weighted by their errors, in percent.
    """

    changes: int
    common: float
    statistic: float
    p: float


def estimate_of(
    percent: float | None,
    low: float | None,
    high: float | None,
    df: float | None,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Estimate | None:
    """The estimate behind a change with its interval, in percent.

    None where there is no interval or no scatter, and where it was not computed on logarithms, so
    that the change is not in the middle: of sets with zeros.
    """
    if percent is None or low is None or high is None or df is None or df < 1:
        return None
    if not (low > -100 and percent > -100 and isfinite(high)):
        return None
    bottom, top = log1p(low / 100), log1p(high / 100)
    half, change = (top - bottom) / 2, log1p(percent / 100)
    if half <= 0 or abs((top + bottom) / 2 - change) > OFF_THE_MIDDLE * half:
        return None
    return Estimate(change, half / critical_t(df, confidence), df)


def heterogeneity(estimates: Sequence[Estimate]) -> Heterogeneity | None:
    """The test of Alexander and Govern on two or more independent changes; None for fewer."""
    if len(estimates) < LEAST_CHANGES:
        return None
    least = min(one.error for one in estimates)
    weights = [(least / one.error) ** 2 for one in estimates]
    total = fsum(weights)
    pairs = list(zip(weights, estimates, strict=True))
    mean = fsum(weight * one.change for weight, one in pairs) / total
    statistic = fsum(_normal((one.change - mean) / one.error, one.df) ** 2 for one in estimates)
    return Heterogeneity(
        changes=len(estimates),
        common=100 * float(special.expm1(mean)),
        statistic=statistic,
        p=float(special.chdtrc(len(estimates) - 1, statistic)),
    )


def _normal(t: float, df: float) -> float:
    """Student's ``t`` as the normal deviate of the same chance: the approximation of Hill (1970)
    that the test is defined by.
    """
    a = df - 0.5
    b = 48 * a * a
    c = sqrt(a * log1p(t * t / df))
    above = 4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c
    below = 10 * b * b + 8 * b * c**4 + 1000 * b
    return c + (c**3 + 3 * c) / b - above / below
