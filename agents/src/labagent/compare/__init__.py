"""Two sets of samples compared without a server, by its own rules and in plain Python.

`tests/stats/test_agent_compares_alike.py` holds both to the same numbers. The rules are in
docs/statistics.md#the-verdict-of-a-comparison.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import copysign, expm1, frexp, fsum, isfinite, ldexp, log, sqrt
from typing import Literal, TypeVar

from labagent.compare.ministat import counts_limits, counts_p, critical_t, smallest_p, two_sided_p

__all__ = ["MARGIN_PCT", "Comparison", "Side", "compare"]


MARGIN_PCT = 2.0
"""Changes that surely lie within it to both sides are equivalent."""

LEVEL = 0.05
NO_SCATTER = 1e-12
FINEST = 1e-5
MOST_COUNT = 2.0**53

Verdict = Literal["better", "worse", "equivalent", "cannot tell", "differs"]
Limits = tuple[float, float] | None
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class Side:
    """Samples in the order measured, with the boot and the build of each; None: not known."""

    values: Sequence[float]
    boots: Sequence[Hashable] | None = None
    builds: Sequence[Hashable] | None = None


@dataclass(frozen=True)
class Comparison:
    """The change from A to B, percent of A, with its limits at 95 %; None where there are none.

    ``differs`` where nothing shows which way is better. ``units`` are what the scatter was taken
    between (runs, boots or builds), ``counts`` how many of them A and B have.
    """

    verdict: Verdict
    percent: float | None
    limits: Limits
    p: float
    units: str
    counts: tuple[int, int]


@dataclass(frozen=True)
class _Level:
    """Mean of a side, variance of one unit, the share of it that the mean has, and the df."""

    mean: float
    variance: float
    share: float
    df: int
    units: int
    between: bool

    @property
    def error(self) -> float:
        """The variance of the mean."""
        return self.variance * self.share


@dataclass(frozen=True)
class _Noise:
    """Variances of the means, df of their sum (None: no scatter), t, and what rounding leaves."""

    a: float
    b: float
    df: float | None
    t: float
    floor: float = 0.0

    @property
    def reach(self) -> float:
        return max(self.t * sqrt(self.a + self.b), self.floor)


def compare(a: Side, b: Side, better: str = "", margin: float = MARGIN_PCT) -> Comparison:
    """Compare B with A; ``better`` is more, less or unknown, ``margin`` percent.

    Positive samples are compared by mean logarithms, others by means with Fieller's limits; the
    interval is the wider of Welch's and Student's pooled one. Neither side may be empty.
    """
    is_log = min(*a.values, *b.values) > 0
    scale = 0 if is_log else frexp(max(map(abs, (*a.values, *b.values))))[1]
    unit = _common_unit(a, b)
    first, second = (_level(side, unit, scale, is_log=is_log) for side in (a, b))
    floor = max(_floor(side, scale, is_log=is_log) for side in (a, b))
    noise = _noise(first, second, floor)
    delta = second.mean - first.mean
    sign, limits, p = 0, None, 1.0
    if noise is not None:
        sign = 0 if abs(delta) <= max(noise.reach, NO_SCATTER) else int(copysign(1, delta))
        p = _p_value(first, second, noise)
        limits = _log_limits(delta, noise) if is_log else _limits(first.mean, second.mean, noise)
        if not is_log:
            sign, limits, p = _with_counts(a, b, sign, limits, p)
    percent = percent_of_log(delta) if is_log else _percent(first.mean, second.mean)
    verdict = _verdict(sign, limits, better, margin)
    return Comparison(verdict, percent, limits, p, unit, (first.units, second.units))


def gated(found: Sequence[Comparison]) -> list[Verdict]:
    """The verdicts that pass the procedure of Benjamini and Hochberg (1995) over all of them."""
    order = sorted(range(len(found)), key=lambda at: found[at].p)
    passing = [rank for rank, at in enumerate(order, 1) if found[at].p * len(found) / rank <= LEVEL]
    kept = set(order[: max(passing, default=0)])
    quiet = ("equivalent", "cannot tell")
    return [
        one.verdict if at in kept or one.verdict in quiet else "cannot tell"
        for at, one in enumerate(found)
    ]


def _verdict(sign: int, limits: Limits, better: str, margin: float) -> Verdict:
    if limits is not None and -margin <= limits[0] and limits[1] <= margin:
        return "equivalent"
    if not sign:
        return "cannot tell"
    if not better:
        return "differs"
    return "better" if (sign > 0) == (better == "more") else "worse"


def _common_unit(a: Side, b: Side) -> str:
    """The highest level of which both sides have two."""
    counts = [(_count(side.builds), _boot_count(side)) for side in (a, b)]
    if min(builds for builds, _ in counts) > 1:
        return "builds"
    return "boots" if min(boots for _, boots in counts) > 1 else "runs"


def _count(labels: Iterable[Hashable] | None) -> int:
    return 1 if labels is None else len(set(labels))


def _boot_count(side: Side) -> int:
    return 0 if side.boots is None else len(set(zip(_builds(side), side.boots, strict=True)))


def _builds(side: Side) -> Sequence[Hashable]:
    return side.builds if side.builds is not None else [0] * len(side.values)


def _level(side: Side, unit: str, scale: int, *, is_log: bool) -> _Level:
    values = [log(value) if is_log else ldexp(value, -scale) for value in side.values]
    builds = list(_builds(side))
    if unit != "runs" and side.boots is not None:
        groups = _grouped(zip(builds, side.boots, strict=True), values)
        values, builds = list(groups.values()), [build for build, _ in groups]
    if unit == "builds":
        values = list(_grouped(builds, values).values())
        builds = list(range(len(values)))
    return _scattered(values, builds)


def _grouped(keys: Iterable[_Key], values: Sequence[float]) -> dict[_Key, float]:
    """The mean of each group, in the order of appearance."""
    groups: dict[_Key, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    return {key: fsum(found) / len(found) for key, found in groups.items()}


def _scattered(units: Sequence[float], builds: Sequence[Hashable]) -> _Level:
    means = _grouped(builds, units)
    n, k = len(units), len(means)
    mean = fsum(means.values()) / k
    if n == 1:
        return _Level(mean, 0.0, 1.0, 0, 1, between=False)
    if n == k:
        return _Level(mean, _variance(units, [mean] * k, k - 1), 1 / k, k - 1, k, between=True)
    within = _variance(units, [means[build] for build in builds], n - k)
    share = fsum(1 / builds.count(build) for build in means) / k**2
    return _Level(mean, within, share, n - k, n, between=False)


def _variance(values: Sequence[float], around: Sequence[float], df: int) -> float:
    return fsum((x - mean) ** 2 for x, mean in zip(values, around, strict=True)) / df


def _floor(side: Side, scale: int, *, is_log: bool) -> float:
    """What equal values leave open: half the last printed digit, `FINEST` of them at least."""
    level = abs(ldexp(fsum(side.values) / len(side.values), -scale))
    value = side.values[0]
    digit = 0.0
    if min(side.values) == max(side.values):
        exponent = Decimal(repr(value)).as_tuple().exponent
        whole = float(value).is_integer() or not isinstance(exponent, int)
        digit = 1.0 if whole else 10.0 ** int(exponent)
    floor = max(ldexp(digit / 2, -scale), FINEST * level)
    return floor / level if is_log else floor


def _noise(a: _Level, b: _Level, floor: float) -> _Noise | None:
    """The wider of Welch's and Student's; without scatter what ranks allow; None: not known."""
    if not a.df or not b.df:
        return None
    if sqrt(a.error + b.error) <= NO_SCATTER:
        return _Noise(0, 0, None, 0, floor) if smallest_p(a.units, b.units) <= LEVEL else None
    total = a.error + b.error
    df = 1 / sum((one.error / total) ** 2 / one.df for one in (a, b))
    welch = _Noise(a.error, b.error, df, critical_t(df))
    if a.between is not b.between:
        return welch
    df = a.df + b.df
    pooled = (a.df * a.variance + b.df * b.variance) / df
    student = _Noise(pooled * a.share, pooled * b.share, df, critical_t(df))
    return max(welch, student, key=lambda noise: noise.reach)


def _p_value(a: _Level, b: _Level, noise: _Noise) -> float:
    delta = abs(b.mean - a.mean)
    if noise.df is not None:
        return two_sided_p(delta / sqrt(noise.a + noise.b), noise.df)
    return smallest_p(a.units, b.units) if delta > noise.reach else 1.0


def _with_counts(
    a: Side, b: Side, sign: int, limits: Limits, p: float
) -> tuple[int, Limits, float]:
    """The same, where the samples may be counts held to the exact test of counts as well."""
    totals = [_total(side.values) for side in (a, b)]
    if totals[0] is None or totals[1] is None:
        return sign, limits, p
    counted = totals[0], len(a.values), totals[1], len(b.values)
    exact = counts_p(*counted)
    low, high = counts_limits(*counted)
    both = limits and isfinite(high)
    around = (min(limits[0], low), max(limits[1], high)) if limits and both else None
    return sign if exact <= LEVEL else 0, around, max(p, exact)


def _total(values: Sequence[float]) -> float | None:
    whole = all(float(value).is_integer() for value in values)
    if min(values) < 0 or max(values) >= MOST_COUNT or not whole:
        return None
    total = fsum(values)
    return total if total < MOST_COUNT else None


def _percent(a: float, b: float) -> float | None:
    if a == 0:
        return 0.0 if b == 0 else None
    percent = 100 * (b - a) / abs(a)
    return percent if isfinite(percent) else None


def _log_limits(delta: float, noise: _Noise) -> Limits:
    return percent_of_log(delta - noise.reach), percent_of_log(delta + noise.reach)


def _limits(a: float, b: float, noise: _Noise) -> Limits:
    """Fieller's limits (1954) of (b − a)/|a| in percent; none where a may be zero."""
    if noise.df is None:
        if abs(a) <= noise.floor:
            return None
        low, high = (100 * (b - a + side * noise.floor) / abs(a) for side in (-1, 1))
        return low, high
    spare = a * a - noise.t * noise.t * noise.a
    if spare <= 0:
        return None
    half = noise.t * sqrt(noise.b * spare + b * b * noise.a) / spare
    centre = copysign(1, a) * (a * b / spare - 1)
    low, high = 100 * (centre - half), 100 * (centre + half)
    return (low, high) if isfinite(low) and isfinite(high) else None


def percent_of_log(difference: float) -> float:
    """A difference of natural logarithms as a percentage; infinite beyond what a double holds."""
    try:
        return 100 * expm1(difference)
    except OverflowError:
        return float("inf")
