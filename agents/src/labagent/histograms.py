"""How often each value was there, and the quantiles that the server derives of that."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import frexp, ldexp
from typing import Any

PARTS = 128
"""Of a power of two: the server keeps values in buckets of 0.4 to 0.8 %."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
BEYOND = 10
"""Values above a quantile, without which it is not derived."""

LARGEST = "max"
MOST_ABOVE = 1e-3
"""Of all values, those that may lie above the buckets."""


@dataclass(frozen=True)
class Histogram:
    """The values, ascending, and how often each was there."""

    values: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, int]], scale: float = 1.0) -> "Histogram":
        """Of values times ``scale``, in any order; those without a count are left out."""
        found: dict[float, int] = {}
        for value, count in pairs:
            if count:
                found[value * scale] = found.get(value * scale, 0) + count
        values = tuple(sorted(found))
        return cls(values, tuple(found[value] for value in values))

    @classmethod
    def up_to(
        cls,
        longest: float,
        pairs: Sequence[tuple[float, int]],
        above: int,
        where: str,
        scale: float = 1.0,
    ) -> "tuple[Histogram | None, list[str]]":
        """Of buckets, with ``above`` values beyond them: these count as the longest, which moves no
        quantile up to 99.9 % as long as they are a thousandth. None, with the reason, where they
        are more, or less than none."""
        counted = sum(count for _, count in pairs)
        if not 0 <= above <= (counted + above) * MOST_ABOVE:
            lost = f"{where}: the histogram holds {counted} of {counted + above} values"
            return None, [f"{lost}: it is left out; measure it up to a higher latency"]
        text = f"{where}: {above} of {counted + above} values lie above the histogram and count as"
        found = cls.of([*pairs, (longest, above)], scale)
        return found, [f"{text} the longest, {longest:g}"] if above else []

    def document(self) -> dict[str, Any]:
        """As the server takes it."""
        return {"values": list(self.values), "counts": list(self.counts)}

    def derived(self) -> dict[str, float]:
        """The quantiles that there are enough values for, and the largest value."""
        buckets: dict[tuple[float, float], int] = {}
        for value, count in zip(self.values, self.counts, strict=True):
            bounds = _bounds(value)
            buckets[bounds] = buckets.get(bounds, 0) + count
        total = sum(self.counts)
        found = {
            name: min(_quantile(buckets, min(share * total, total)), self.values[-1])
            for name, share in QUANTILES.items()
            if total >= round(BEYOND / (1 - share))
        }
        return found | {LARGEST: self.values[-1]}


def derived_names(name: str) -> set[str]:
    """The metrics that the server derives of histograms called ``name``."""
    return {f"{name}_{quantile}" for quantile in (*QUANTILES, LARGEST)}


def _bounds(value: float) -> tuple[float, float]:
    """Of the bucket of a value."""
    if value == 0:
        return 0.0, 0.0
    fraction, exponent = frexp(value)
    part = int((fraction - 0.5) * 2 * PARTS)
    low, high = (ldexp(0.5 + one / (2 * PARTS), exponent) for one in (part, part + 1))
    return low, high


def _quantile(buckets: Mapping[tuple[float, float], int], rank: float) -> float:
    """The value of a rank, those of a bucket spread evenly."""
    below = accumulate(buckets.values())
    (low, high), count, upto = next(
        one for one in zip(buckets, buckets.values(), below, strict=True) if one[2] >= rank
    )
    return low + (1 - (upto - rank) / count) * (high - low)
