"""The relative change between two sets of samples, with the noise that the data separates."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import copysign, isfinite, sqrt
from typing import Literal

import numpy as np

from webapp.stats.compare.levels import (
    BuildNoise,
    Floats,
    Level,
    Samples,
    Side,
    common_unit,
    summarize_side,
    uncounted_levels,
)
from webapp.stats.compare.ranks import smallest_p
from webapp.stats.sensitivity import critical_t, visible_shift

NO_SCATTER = 1e-12
"""A standard error below this share of the level is rounding: it carries no estimate of noise."""

Scale = Literal["log", "linear"]
Test = Literal["Welch", "Student", "ranks"]
Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Change:
    """How far B is from A, percent of A; positive is more.

    ``percent`` is None where A's mean is zero. ``low`` and ``high`` are None where no interval
    exists: with nothing known of a side's scatter, with no scatter at all in sets too small for
    ranks to decide, or relative to a mean that is itself not clearly different from zero.
    ``known`` says that the difference, if not the percentage, has an interval, and ``proven`` is
    the sign of the change where that excludes zero, else 0. ``visible`` is the smallest change,
    percent, seen with 80 % power; None without an interval or without scatter. ``test`` gave the
    interval. ``unit`` is the level whose scatter was used, ``units`` how many of them A and B
    have, ``uncounted`` the levels whose noise is not in the interval and ``history`` the noise
    between builds that was added.
    """

    percent: float | None
    low: float | None
    high: float | None
    proven: Literal[-1, 0, 1]
    known: bool
    visible: float | None
    df: float | None
    test: Test | None
    scale: Scale
    unit: Level
    units: tuple[int, int]
    uncounted: tuple[Level, ...]
    history: BuildNoise | None


@dataclass(frozen=True, slots=True)
class _Noise:
    """Variances of the means of A and B with all that counts; df of their sum, None for none."""

    a: float
    b: float
    df: float | None
    t: float
    test: Test

    @property
    def error(self) -> float:
        return sqrt(self.a + self.b)

    @property
    def reach(self) -> float:
        return self.t * self.error


def estimate_change(
    a: Samples, b: Samples, *, confidence: float, build_noise: BuildNoise | None = None
) -> Change:
    """The change from A to B with its interval at ``confidence`` percent.

    All samples positive: the difference of mean logarithms, as a percentage. Otherwise: the
    difference of means, its percentage by Fieller's limits (1954). The interval is the wider of
    Welch's and Student's pooled one: Welch's alone covers too little where a side has two or
    three units and the other many. Without any scatter the interval is the change itself, and
    exists only where the sets are large enough for ranks alone to reach the level.
    """
    unit = common_unit(a, b)
    history = build_noise if unit is not Level.BUILD else None
    scale: Scale = "log" if min(a.array.min(), b.array.min()) > 0 else "linear"
    first, second = (
        summarize_side(side, values, unit)
        for side, values in zip((a, b), _transformed(a.array, b.array, scale), strict=True)
    )
    noise = _noise(first, second, history, scale, confidence)
    delta = second.mean - first.mean
    low, high = (None, None) if noise is None else _limits(first, second, noise, scale)
    return Change(
        percent=_percent(first, second, scale),
        low=low,
        high=high,
        proven=0 if noise is None else _proven(delta, noise),
        known=noise is not None,
        visible=None if low is None else _visible(first, noise, scale, confidence),
        df=noise.df if noise else None,
        test=noise.test if noise else None,
        scale=scale,
        unit=unit,
        units=(first.units, second.units),
        uncounted=uncounted_levels(unit, history=history is not None),
        history=history,
    )


def _transformed(a: Floats, b: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Numbers of moderate size, the same for every unit of the metric."""
    if scale == "log":
        reference = np.log(a[0])
        return np.log(a) - reference, np.log(b) - reference
    _, exponent = np.frexp(max(np.abs(a).max(), np.abs(b).max()))
    return np.ldexp(a, -exponent), np.ldexp(b, -exponent)


def _noise(
    a: Side, b: Side, history: BuildNoise | None, scale: Scale, confidence: float
) -> _Noise | None:
    if a.df == 0 or b.df == 0:
        return None
    extra = _between_builds(a, history, scale), _between_builds(b, history, scale)
    extra_df = history.df if history else 1.0
    if sqrt(a.variance * a.share + b.variance * b.share + sum(extra)) <= NO_SCATTER:
        by_ranks = smallest_p(a.units, b.units) <= 1 - confidence / 100
        return _Noise(0.0, 0.0, None, 0.0, "ranks") if by_ranks else None
    welch = _welch(a, b, extra, extra_df, confidence)
    if a.between is not b.between:
        return welch
    return max(welch, _pooled(a, b, extra, extra_df, confidence), key=lambda noise: noise.reach)


def _welch(
    a: Side, b: Side, extra: tuple[float, float], extra_df: float, confidence: float
) -> _Noise:
    var_a, var_b = a.variance * a.share, b.variance * b.share
    df = satterthwaite([(var_a, a.df), (var_b, b.df), (sum(extra), extra_df)])
    t = critical_t(df, confidence)
    return _Noise(var_a + extra[0], var_b + extra[1], df, t, "Welch")


def _pooled(
    a: Side, b: Side, extra: tuple[float, float], extra_df: float, confidence: float
) -> _Noise:
    pooled_df = a.df + b.df
    pooled = (a.df * a.variance + b.df * b.variance) / pooled_df
    var_a, var_b = pooled * a.share, pooled * b.share
    df = satterthwaite([(var_a + var_b, pooled_df), (sum(extra), extra_df)])
    t = critical_t(df, confidence)
    return _Noise(var_a + extra[0], var_b + extra[1], df, t, "Student")


def satterthwaite(parts: Iterable[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent (variance, df) parts (Satterthwaite, 1946)."""
    known = list(parts)
    total = sum(variance for variance, _ in known)
    return 1 / sum((variance / total) ** 2 / df for variance, df in known)


def _between_builds(side: Side, history: BuildNoise | None, scale: Scale) -> float:
    if history is None or side.between:
        return 0.0
    deviation = history.percent / 100 * (1 if scale == "log" else side.mean)
    return deviation * deviation / side.builds


def _proven(delta: float, noise: _Noise) -> Literal[-1, 0, 1]:
    if abs(delta) <= max(noise.reach, NO_SCATTER):
        return 0
    return 1 if delta > 0 else -1


def _percent(a: Side, b: Side, scale: Scale) -> float | None:
    if scale == "log":
        return percent_of_log(b.mean - a.mean)
    if a.mean == 0:
        return 0.0 if b.mean == 0 else None
    return 100 * (b.mean - a.mean) / abs(a.mean)


def _limits(a: Side, b: Side, noise: _Noise, scale: Scale) -> Limits:
    if scale == "log":
        delta, reach = b.mean - a.mean, noise.reach
        return percent_of_log(delta - reach), percent_of_log(delta + reach)
    if noise.df is None and a.mean == b.mean:
        return 0.0, 0.0
    return _fieller(a.mean, b.mean, noise)


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


def _visible(a: Side, noise: _Noise | None, scale: Scale, confidence: float) -> float | None:
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
