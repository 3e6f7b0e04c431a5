"""The levels of noise in a set of samples: run in boot in build.

The scatter that counts is that between the largest units which the data separates: builds where
both sides have at least two, else boots, else runs. A unit's value is the mean of what it holds,
so its scatter contains everything below it. With fewer than two builds on a side the noise
between builds comes from the series' history, or is marked as not counted.

`summarize` keeps of a set what any comparison needs: one `Side` for each level and scale. It is
what points store, so that a page that reads points and one that reads samples agree.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from math import copysign, frexp, fsum, inf, isfinite, ldexp, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from webapp.stats import NotFiniteError, OutOfRangeError, TooFewSamplesError
from webapp.stats.arrays import Floats
from webapp.stats.compare.significance import MOST_COUNTED
from webapp.stats.intervals import critical_value

Codes = Sequence[int]
Scale = Literal["log", "linear"]


FINEST = 1e-5
"""The smallest relative deviation that is believed, as in the detector: equal values are rounded
values, and without a floor any last digit would be a change."""


class Level(StrEnum):
    """A level of noise: runs lie in boots, boots in builds."""

    RUN = "run"
    BOOT = "boot"
    BUILD = "build"


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """One side of a comparison: values in the order measured, each with its boot and its build.

    ``boots`` and ``builds`` are as long as ``values``, or None where unknown. One unknown boot
    makes all boots of the side unknown; samples of unknown build count as one build. A boot is
    identified by its label together with its build's.
    Raises `TooFewSamplesError` when empty, `NotFiniteError`, `OutOfRangeError` for lengths.
    """

    values: Sequence[float]
    boots: Sequence[Hashable] | None = None
    builds: Sequence[Hashable] | None = None
    array: Floats = field(init=False, repr=False)
    build_codes: Codes = field(init=False, repr=False)
    boot_codes: Codes | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        array = np.asarray(self.values, dtype=np.float64).ravel()
        if not len(array):
            raise TooFewSamplesError(0, 1)
        if not np.isfinite(array).all():
            raise NotFiniteError(float(array[~np.isfinite(array)][0]))
        for labels in (self.boots, self.builds):
            if labels is not None and len(labels) != len(array):
                raise OutOfRangeError(f"{len(labels)} labels for {len(array)} samples")
        builds = _codes(self.builds) if self.builds is not None else [0] * len(array)
        known = self.boots is not None and None not in self.boots
        boots = _codes(zip(builds, self.boots or (), strict=True)) if known else None
        object.__setattr__(self, "array", array)
        object.__setattr__(self, "build_codes", builds)
        object.__setattr__(self, "boot_codes", boots)

    @property
    def build_count(self) -> int:
        """How many builds, at least one."""
        return max(self.build_codes) + 1

    @property
    def boot_count(self) -> int | None:
        """How many boots, None when unknown."""
        return None if self.boot_codes is None else max(self.boot_codes) + 1


def pool(
    runs: Iterable[tuple[Sequence[float], Sequence[Hashable] | None, Hashable]],
) -> Samples:
    """The samples of several runs as one set: of each its samples, their boots and its build.

    A boot counts within its run: two runs that call a boot by one name had a boot each. One run
    that does not state its boots makes all of them unknown.
    """
    values: list[float] = []
    boots: list[Hashable] = []
    builds: list[Hashable] = []
    for number, (samples, its_boots, build) in enumerate(runs):
        values += samples
        boots += [
            None if one is None else (number, one) for one in its_boots or [None] * len(samples)
        ]
        builds += [build] * len(samples)
    return Samples(values, boots=boots, builds=builds)


@dataclass(frozen=True, slots=True)
class Side:
    """Mean of a side, the standard deviation of its units with its degrees of freedom, and counts.

    The variance of the mean is ``sd`` squared times ``share``. ``df`` is 0 where nothing is known
    of it. ``between`` means that it was taken between builds and so contains their noise.
    """

    mean: float
    sd: float
    share: float
    df: int
    units: int
    between: bool

    @property
    def variance(self) -> float:
        """Of one unit."""
        return self.sd * self.sd

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.sd * sqrt(self.share)


@dataclass(frozen=True, slots=True)
class Summary:
    """What comparisons need of a set of samples, at each level of which it has two units.

    Runs are always there, however few. ``log`` is on natural logarithms, None where a sample is
    zero or negative; ``linear`` is in units of 2 to the power of ``exponent``, so that no square
    leaves the range of a double. ``boots`` is None where not all are known.
    ``digit`` is the value of the last printed digit of equal samples, in the metric's unit, and 0
    where they differ. ``total`` is the sum of samples that may be counts: whole and not negative;
    None of others.
    """

    n: int
    builds: int
    boots: int | None
    exponent: int
    linear: Mapping[Level, Side]
    log: Mapping[Level, Side] | None
    digit: float = 0.0
    total: float | None = None

    def has_two(self, level: Level) -> bool:
        """Whether there are at least two units of that level."""
        counts = {Level.BUILD: self.builds, Level.BOOT: self.boots or 0, Level.RUN: self.n}
        return counts[level] >= 2

    @property
    def unit(self) -> Level:
        """The highest level of which there are two units; runs where there is no such level."""
        return next((level for level in _FROM_ABOVE if self.has_two(level)), Level.RUN)

    @property
    def units(self) -> int:
        """How many units of that level."""
        return self.linear[self.unit].units

    @property
    def mean(self) -> float:
        """The mean over builds of the means over units, in the metric's unit."""
        return ldexp(self.linear[self.unit].mean, self.exponent)

    def interval(self, confidence: float = 95.0) -> tuple[float, float] | None:
        """Student's interval of the mean by its own units, in the metric's unit.

        None where it is unknown, and where squares of its ends leave the range of a double.
        """
        return interval_of(self.linear[self.unit], self.exponent, confidence)

    def floor(self, scale: Scale) -> float:
        """What equal values leave open: half their last printed digit, `FINEST` of them at least.

        On logarithms, or in units of 2 to the power of ``exponent``.
        """
        level = abs(self.linear[Level.RUN].mean)
        floor = max(ldexp(self.digit / 2, -self.exponent), FINEST * level)
        return floor / level if scale == "log" else floor

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON, which `from_data` reads."""
        return {
            "n": self.n,
            "builds": self.builds,
            "boots": self.boots,
            "exponent": self.exponent,
            "digit": self.digit,
            "total": self.total,
            "linear": _sides_to_data(self.linear),
            "log": self.log and _sides_to_data(self.log),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Summary":
        """What `to_data` gave."""
        return cls(
            n=data["n"],
            builds=data["builds"],
            boots=data["boots"],
            exponent=data["exponent"],
            digit=data["digit"],
            total=data.get("total"),  # what was stored before counts were distinguished has none
            linear=_sides_from_data(data["linear"]),
            log=data["log"] and _sides_from_data(data["log"]),
        )


def interval_of(side: Side, exponent: int, confidence: float = 95.0) -> tuple[float, float] | None:
    """The interval of `Summary.interval` by the units of ``side`` alone."""
    if not side.df:
        return None
    half = critical_value(side.df, confidence) * side.error
    low, high = _unscaled(side.mean - half, exponent), _unscaled(side.mean + half, exponent)
    return (low, high) if isfinite(low * low) and isfinite(high * high) else None


class Units(NamedTuple):
    """What the intervals of many points rest on: mean, standard deviation and share of the mean's
    variance, degrees of freedom (0: no interval is known), and the exponents of all these.
    """

    mean: Floats
    sd: Floats
    share: Floats
    df: Floats
    exponent: Floats


def intervals_of(units: Units, confidence: float = 95.0) -> list[tuple[float, float] | None]:
    """`interval_of` of many sides."""
    known = [int(df) for df in units.df.tolist()]
    critical = np.array([critical_value(df, confidence) if df else np.nan for df in known])
    half = critical * (units.sd * np.sqrt(units.share))
    exponent = units.exponent.astype(np.int64)
    with np.errstate(over="ignore"):
        low, high = (np.ldexp(units.mean + end, exponent) for end in (-half, half))
        inside = np.isfinite(low * low) & np.isfinite(high * high)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [one if known else None for one, known in zip(ends, inside.tolist(), strict=True)]


_FROM_ABOVE = (Level.BUILD, Level.BOOT)


def common_unit(a: Summary, b: Summary) -> Level:
    """The highest level of which both sides have at least two."""
    both = (level for level in _FROM_ABOVE if a.has_two(level) and b.has_two(level))
    return next(both, Level.RUN)


def uncounted_levels(unit: Level, *, history: bool) -> tuple[Level, ...]:
    """The levels whose noise is neither between units of this level, below them nor in history."""
    above = {
        Level.RUN: (Level.BOOT, Level.BUILD),
        Level.BOOT: (Level.BUILD,),
        Level.BUILD: (),
    }[unit]
    return tuple(level for level in above if not (history and level is Level.BUILD))


def summarize(samples: Samples) -> Summary:
    """The set's means over builds of means over units, and the scatter of its units.

    Sums are exact before they are rounded, so the order of the samples does not matter.
    """
    values = samples.array.tolist()
    _, exponent = frexp(max(abs(min(values)), abs(max(values))))
    scaled = [ldexp(value, -exponent) for value in values]
    logs = [log(value) for value in values] if min(values) > 0 else None
    return Summary(
        n=len(values),
        builds=samples.build_count,
        boots=samples.boot_count,
        exponent=exponent,
        digit=_last_digit(values[0]) if min(values) == max(values) else 0.0,
        total=_total(values),
        linear=_sides(samples, scaled),
        log=None if logs is None else _sides(samples, logs),
    )


def _last_digit(value: float) -> float:
    """The value of the last digit of the shortest text that reads back as ``value``; 1 at most."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return 1.0 if value.is_integer() or not isinstance(exponent, int) else 10.0**exponent


def _total(values: Sequence[float]) -> float | None:
    """The sum of what may be counts, if a double holds it exactly."""
    if min(values) < 0 or max(values) >= MOST_COUNTED or not all(map(float.is_integer, values)):
        return None
    total = fsum(values)
    return total if total < MOST_COUNTED else None


def _sides(samples: Samples, values: Sequence[float]) -> dict[Level, Side]:
    """The sides of (scaled) ``values`` at the levels that have two units, and that of runs."""
    units, build_of = values, samples.build_codes
    sides = {Level.RUN: _side(units, build_of)}
    if samples.boot_codes is not None:
        is_alike = samples.boot_count == len(values)  # one sample a boot, as labs upload them
        if not is_alike:
            builds = dict(zip(samples.boot_codes, samples.build_codes, strict=True))
            units = _means(values, samples.boot_codes)
            build_of = [builds[boot] for boot in range(len(units))]
        if len(units) > 1:
            sides[Level.BOOT] = sides[Level.RUN] if is_alike else _side(units, build_of)
    if samples.build_count > 1:
        means = _means(units, build_of)
        sides[Level.BUILD] = _side(means, range(len(means)))
    return sides


def _side(units: Sequence[float], build_of: Codes) -> Side:
    """Several builds of one unit each have no scatter but that between builds: then it is used."""
    means, sizes = _means(units, build_of), _sizes(build_of)
    n, k = len(units), len(means)
    mean = fsum(means) / k
    if n == 1:
        return Side(mean, 0.0, 1.0, 0, 1, between=False)
    if n == k:
        return Side(mean, _scatter(means, [mean] * k, k - 1), 1 / k, k - 1, k, between=True)
    within = _scatter(units, [means[build] for build in build_of], n - k)
    share = fsum(1 / size for size in sizes) / k**2
    return Side(mean, within, share, n - k, n, between=False)


def _scatter(values: Sequence[float], around: Sequence[float], df: int) -> float:
    return sqrt(fsum((x - mean) ** 2 for x, mean in zip(values, around, strict=True)) / df)


def _means(values: Sequence[float], codes: Codes) -> list[float]:
    """The mean of each group, by its code."""
    if not any(codes):  # one group, as in nearly every set
        return [fsum(values) / len(values)]
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for value, code in zip(values, codes, strict=True):
        groups[code].append(value)
    return [fsum(groups[code]) / len(groups[code]) for code in range(len(groups))]


def _sizes(codes: Codes) -> list[int]:
    if not any(codes):
        return [len(codes)]
    sizes = Counter(codes)
    return [sizes[code] for code in range(len(sizes))]


def _codes(labels: Iterable[Hashable]) -> Codes:
    """Labels as 0, 1, … in order of appearance."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


def _unscaled(value: float, exponent: int) -> float:
    """Infinite beyond what a double holds."""
    try:
        return ldexp(value, exponent)
    except OverflowError:
        return copysign(inf, value)


def _sides_to_data(sides: Mapping[Level, Side]) -> dict[str, list[Any]]:
    return {
        level.value: [side.mean, side.sd, side.share, side.df, side.units, side.between]
        for level, side in sides.items()
    }


def _sides_from_data(data: Mapping[str, Sequence[Any]]) -> dict[Level, Side]:
    return {Level(level): Side(*columns) for level, columns in data.items()}
