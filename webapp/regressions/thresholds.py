"""The smallest effect worth an alert: which one is in force for a series, and where it is from."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from django.db.models import Q

from webapp.regressions.models import MinEffect, SeriesSettings
from webapp.results.models import Series


class Threshold(NamedTuple):
    """In percent, and who set it: ``series``, ``mode``, ``hardware``, ``tree`` or ``default``."""

    percent: float
    source: str


DEFAULT = Threshold(SeriesSettings.DEFAULT_MIN_EFFECT_PCT, "default")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Everything that is set for one tree and beyond trees, read once."""

    tree: dict[int, float] = field(default_factory=dict)
    hardware: dict[int, float] = field(default_factory=dict)
    mode: dict[int, float] = field(default_factory=dict)
    series: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, series: Iterable[int], *, tree: int) -> Self:
        """Those that may be in force for ``series`` of one tree, in two queries."""
        found = cls()
        for row in MinEffect.objects.filter(Q(tree=tree) | Q(tree__isnull=True)):
            for part in ("tree", "hardware", "mode"):
                if (pk := getattr(row, f"{part}_id")) is not None:
                    getattr(found, part)[pk] = row.percent
        own = SeriesSettings.objects.filter(series__in=list(series), min_effect_pct__isnull=False)
        for pk, percent in own.values_list("series_id", "min_effect_pct"):
            found.series[pk] = percent or 0.0
        return found

    def for_series(self, series: Series) -> Threshold:
        """The one in force: series before mode before hardware before tree before the default."""
        for source, pk in (
            ("series", series.pk),
            ("mode", series.mode_id),
            ("hardware", series.hardware_id),
            ("tree", series.tree_id),
        ):
            percent = getattr(self, source).get(pk)
            if percent is not None:
                return Threshold(percent, source)
        return DEFAULT
