"""Histograms of many values, as a latency benchmark leaves: sparse buckets, each 0.4 to 0.8 % wide;
and the metrics of quantiles that follow from those of a run.

The buckets are log-linear, as those of HdrHistogram and fio: each power of two is divided into 128
equal parts, and 0 has a bucket of its own.
"""

import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil, frexp, ldexp, log10
from struct import Struct, error
from typing import Final, Self

PARTS: Final = 128
ZERO: Final = -(1 << 15)
"""The index of the bucket of 0, below that of any sample."""

QUANTILES: Final[Mapping[str, float]] = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
BEYOND: Final = 10
"""Values that must lie above a quantile: the number of those above it then scatters by a third."""

MOST_NINES: Final = 7
POINTS_A_DECADE: Final = 24
LOWEST: Final = 1e-9
"""How far a curve reaches, of how many points a decade it is, and the share where it begins."""

LARGEST: Final = "max"
DERIVED: Final = (*QUANTILES, LARGEST)
_HEAD = Struct("<d")
_ONE_BYTE = [bytes([number]) for number in range(0x80)]


def index_of(value: float) -> int:
    """The bucket of ``value`` ≥ 0."""
    if value == 0:
        return ZERO
    fraction, exponent = frexp(value)
    return exponent * PARTS + int((fraction - 0.5) * 2 * PARTS)


def bounds_of(index: int) -> tuple[float, float]:
    """Where a bucket begins, and where the next one does."""
    if index == ZERO:
        return 0.0, 0.0
    exponent, part = divmod(index, PARTS)
    low, high = (ldexp(0.5 + one / (2 * PARTS), exponent) for one in (part, part + 1))
    return low, high


def least_values(quantile: str) -> int:
    """How many values a histogram needs for one of `QUANTILES`."""
    return round(BEYOND / (1 - QUANTILES[quantile]))


@dataclass(frozen=True)
class Histogram:
    """How many values lie in each bucket; ``indices`` ascend. ``largest`` is the largest value."""

    indices: tuple[int, ...]
    counts: tuple[int, ...]
    largest: float

    @classmethod
    def of(cls, values: Sequence[float], counts: Sequence[int]) -> Self:
        """Of values ≥ 0, each with how often it was there."""
        return cls._of(zip(map(index_of, values), counts, strict=True), max(values))

    @classmethod
    def together(cls, histograms: Sequence[Self]) -> Self:
        """All values of several."""
        if len(histograms) == 1:
            return histograms[0]
        pairs = (pair for one in histograms for pair in zip(one.indices, one.counts, strict=True))
        return cls._of(pairs, max(one.largest for one in histograms))

    @classmethod
    def _of(cls, pairs: Iterable[tuple[int, int]], largest: float) -> Self:
        found: Counter[int] = Counter()
        for index, count in pairs:
            found[index] += count
        indices = tuple(sorted(found))
        return cls(indices, tuple(found[index] for index in indices), largest)

    @cached_property
    def below(self) -> list[int]:
        """How many values lie in each bucket and those before it."""
        return list(accumulate(self.counts))

    @property
    def total(self) -> int:
        """How many values there are."""
        return self.below[-1]

    def quantile(self, share: float) -> float:
        """The value below which ``share`` of the values lie, those of a bucket spread evenly."""
        rank = min(share * self.total, self.total)  # a float may round up
        at = bisect_left(self.below, rank)
        low, high = bounds_of(self.indices[at])
        within = 1 - (self.below[at] - rank) / self.counts[at]
        return min(low + within * (high - low), self.largest)

    def derived(self) -> dict[str, float]:
        """The quantiles that it has enough values for, and the largest value."""
        supported = (name for name in QUANTILES if self.total >= least_values(name))
        found = {name: self.quantile(QUANTILES[name]) for name in supported}
        return found | {LARGEST: self.largest}

    def curve(self) -> list[tuple[float, float]]:
        """The quantiles as −log₁₀(1 − share) and value, up to where one value is above."""
        most = min(log10(self.total), MOST_NINES)
        count = max(ceil(most * POINTS_A_DECADE), 1)
        nines = [most * step / count for step in range(count + 1)]
        return [(one, self.quantile(max(1 - 10**-one, LOWEST))) for one in nines]

    def middles(self) -> list[tuple[float, int]]:
        """The middle of each bucket, with how many values are in it."""
        middles = (sum(bounds_of(index)) / 2 for index in self.indices)
        return list(zip(middles, self.counts, strict=True))

    @cached_property
    def packed(self) -> bytes:
        """As it is stored: two bytes a bucket, where few have more than 127 values."""
        steps = (b - a for a, b in zip((ZERO, *self.indices), self.indices, strict=False))
        pairs = zip(steps, self.counts, strict=True)
        numbers = (len(self.indices), *(number for pair in pairs for number in pair))
        return _HEAD.pack(self.largest) + b"".join(map(_varint, numbers))


def unpack(data: bytes) -> list[Histogram]:
    """The histograms of which ``data`` is what `Histogram.packed` is, one after the other.

    Raises ValueError for data that it did not write.
    """
    found = []
    at = 0
    while at < len(data):
        try:
            (largest,) = _HEAD.unpack_from(data, at)
            numbers = _varints(data, at + _HEAD.size)
            at, size = next(numbers)
            pairs = [(next(numbers)[1], *next(numbers)) for _ in range(size)]
        except (error, StopIteration) as fault:
            raise ValueError("the data of a histogram end before it does") from fault
        indices = accumulate((step for step, _, _ in pairs), initial=ZERO)
        next(indices)
        found.append(Histogram(tuple(indices), tuple(count for _, _, count in pairs), largest))
        at = pairs[-1][1] if pairs else at
    return found


def _varint(number: int) -> bytes:
    """LEB128: seven bits a byte, the lowest first."""
    if number <= 0x7F:
        return _ONE_BYTE[number]
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _varints(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """The numbers from ``at`` on, each with where it ends."""
    number = shift = 0
    for end, byte in enumerate(data[at:], at + 1):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield end, number
            number = shift = 0


def derived_name(name: str, quantile: str) -> str:
    """The metric of a quantile of the histograms called ``name``."""
    return f"{name}_{quantile}"


def histogram_name(metric: str) -> str | None:
    """The name of the histograms that a metric would be a quantile of; None: of none."""
    name, _, quantile = metric.rpartition("_")
    return name if quantile in DERIVED and name else None


@dataclass(frozen=True, slots=True)
class Histograms:
    """Of one run in the metric ``name``: one a boot, or one an iteration where ``boots`` (the index
    of each) is None because they are unknown."""

    name: str
    histograms: Sequence[Histogram]
    boots: list[int] | None

    @classmethod
    def of(cls, name: str, histograms: Sequence[Histogram], boots: list[int] | None) -> Self:
        """The histograms of one boot together: a boot is one observation of a quantile."""
        if boots is None:
            return cls(name, histograms, None)
        grouped: dict[int, list[Histogram]] = {}
        for boot, histogram in zip(boots, histograms, strict=True):
            grouped.setdefault(boot, []).append(histogram)
        together = [Histogram.together(grouped[boot]) for boot in sorted(grouped)]
        return cls(name, together, sorted(grouped))

    def samples(self) -> dict[str, tuple[list[float], list[int] | None]]:
        """Derived metric → its samples and their boots."""
        found: dict[str, tuple[list[float], list[int]]] = {}
        for at, histogram in enumerate(self.histograms):
            for quantile, value in histogram.derived().items():
                samples, places = found.setdefault(derived_name(self.name, quantile), ([], []))
                samples.append(value)
                places.append(at)
        boots = self.boots
        return {
            name: (samples, None if boots is None else [boots[at] for at in places])
            for name, (samples, places) in found.items()
        }

    def remarks(self) -> Iterator[str]:
        """Which quantiles are not derived of some boots, and why."""
        totals = [one.total for one in self.histograms]
        for quantile in QUANTILES:
            needed = least_values(quantile)
            short = [total for total in totals if total < needed]
            if short:
                yield (
                    f"{derived_name(self.name, quantile)} is not derived for {len(short)} of "
                    f"{len(totals)} histograms: it needs {needed:,} values, the smallest has "
                    f"{min(short):,}; measure longer"
                )

    @property
    def packed(self) -> bytes:
        """The histograms, one after the other."""
        return b"".join(one.packed for one in self.histograms)

    def stored(self) -> bytes:
        """The same as it is stored."""
        return zlib.compress(self.packed)

    @classmethod
    def read(cls, name: str, data: bytes, boots: list[int] | None) -> Self:
        """The histograms of which ``data`` is stored."""
        return cls(name, unpack(zlib.decompress(data)), boots)
