"""The levels of noise in a set of samples: run in boot in build.

The scatter that counts is that between the largest units which the data separates: builds where
both sides have at least two, else boots, else runs. A unit's value is the mean of what it holds,
so its scatter contains everything below it. With fewer than two builds on a side the noise
between builds comes from the series' history, or is said not to be counted.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from webapp.stats.errors import NotFiniteError, OutOfRangeError, TooFewSamplesError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


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
    told from others by its label together with its build's.
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
        builds = _codes(self.builds) if self.builds is not None else np.zeros(len(array), np.intp)
        known = self.boots is not None and None not in self.boots
        boots = _codes(zip(builds.tolist(), self.boots or (), strict=True)) if known else None
        object.__setattr__(self, "array", array)
        object.__setattr__(self, "build_codes", builds)
        object.__setattr__(self, "boot_codes", boots)

    @property
    def build_count(self) -> int:
        """How many builds, at least one."""
        return int(self.build_codes.max()) + 1

    @property
    def boot_count(self) -> int | None:
        """How many boots, None when unknown."""
        return None if self.boot_codes is None else int(self.boot_codes.max()) + 1


@dataclass(frozen=True, slots=True)
class BuildNoise:
    """Standard deviation between builds, percent of the level, and its degrees of freedom."""

    percent: float
    df: float

    def __post_init__(self) -> None:
        if not (isfinite(self.percent) and self.percent >= 0 and self.df >= 1):
            raise OutOfRangeError("noise between builds needs percent ≥ 0 and df ≥ 1")


@dataclass(frozen=True, slots=True)
class Side:
    """Mean of a side, the variance of its units with its degrees of freedom, and counts.

    The variance of the mean is ``variance`` times ``share``. ``df`` is 0 where nothing is known
    of it. ``between`` says that it was taken between builds and so contains their noise.
    """

    mean: float
    variance: float
    share: float
    df: int
    units: int
    builds: int
    between: bool


def common_unit(a: Samples, b: Samples) -> Level:
    """The highest level of which both sides have at least two."""
    if min(a.build_count, b.build_count) >= 2:
        return Level.BUILD
    if min(a.boot_count or 0, b.boot_count or 0) >= 2:
        return Level.BOOT
    return Level.RUN


def uncounted_levels(unit: Level, *, history: bool) -> tuple[Level, ...]:
    """The levels whose noise is neither between units of this level, below them nor in history."""
    above = {
        Level.RUN: (Level.BOOT, Level.BUILD),
        Level.BOOT: (Level.BUILD,),
        Level.BUILD: (),
    }[unit]
    return tuple(level for level in above if not (history and level is Level.BUILD))


def summarize_side(samples: Samples, values: Floats, unit: Level) -> Side:
    """The side's mean over builds of means over units, for its (transformed) ``values``.

    Several builds of one unit each have no scatter but that between builds, which is then used.
    """
    units, build_of = _units(samples, values, boots=unit is not Level.RUN)
    means, sizes = _means(units, build_of)
    n, k = len(units), len(means)
    mean = float(means.mean())
    if unit is Level.BUILD or n == k > 1:
        return Side(mean, float(means.var(ddof=1)), 1 / k, k - 1, k, k, between=True)
    if n == 1:
        return Side(mean, 0.0, 1.0, 0, 1, 1, between=False)
    within = float(((units - means[build_of]) ** 2).sum()) / (n - k)
    share = float((1 / sizes).sum()) / k**2
    return Side(mean, within, share, n - k, n, k, between=False)


def _units(samples: Samples, values: Floats, *, boots: bool) -> tuple[Floats, Codes]:
    """The means of the boots where these are known and wanted, else the values; their builds."""
    if not boots or samples.boot_codes is None:
        return values, samples.build_codes
    means, _ = _means(values, samples.boot_codes)
    build_of = np.zeros(len(means), np.intp)
    build_of[samples.boot_codes] = samples.build_codes
    return means, build_of


def _means(values: Floats, codes: Codes) -> tuple[Floats, Floats]:
    sizes = np.bincount(codes).astype(np.float64)
    return np.bincount(codes, weights=values) / sizes, sizes


def _codes(labels: Iterable[Hashable]) -> Codes:
    """Labels as 0, 1, … in order of appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in labels], np.intp)
