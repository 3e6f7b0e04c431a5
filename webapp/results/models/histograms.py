"""Histograms of a run in a metric, and the series of quantiles that follow from them."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from webapp.results.models.subjects import derived_name
from webapp.stats.histograms import QUANTILES, Histogram, least_values, unpack


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
