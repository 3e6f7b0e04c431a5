"""The smallest effect worth an alert: which one is in force for a series, and where it is from."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from django.db.models import Q

from webapp.alerts.models import MinEffect
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Series


class EffectInForce(NamedTuple):
    """In percent, and who set it: ``series``, ``mode``, ``hardware``, ``tree`` or ``default``."""

    percent: float
    source: str


DEFAULT = EffectInForce(SeriesSettings.DEFAULT_MIN_EFFECT_PCT, "default")


@dataclass(frozen=True, slots=True)
class MinEffects:
    """Everything that is set for one tree and beyond trees, read once."""

    tree: dict[int, float] = field(default_factory=dict)
    hardware: dict[int, float] = field(default_factory=dict)
    mode: dict[int, float] = field(default_factory=dict)
    series: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, series: Iterable[int], *, tree: int | None = None) -> Self:
        """Those that may be in force for ``series``, all of one tree if given, in two queries."""
        found = cls()
        of_tree = Q() if tree is None else Q(tree=tree) | Q(tree__isnull=True)
        for row in MinEffect.objects.filter(of_tree):
            for part in ("tree", "hardware", "mode"):
                if (pk := getattr(row, f"{part}_id")) is not None:
                    getattr(found, part)[pk] = row.percent
        own = SeriesSettings.objects.filter(series__in=list(series), min_effect_pct__isnull=False)
        for pk, percent in own.values_list("series_id", "min_effect_pct"):
            found.series[pk] = percent or 0.0
        return found

    def having(self, part: str, pk: int, percent: float | None) -> Self:
        """The same but for one: as if ``percent`` were set there, or nothing (None)."""
        kept = {key: value for key, value in getattr(self, part).items() if key != pk}
        return replace(self, **{part: kept if percent is None else {**kept, pk: percent}})

    def is_overruled(self, series: Series, part: str) -> bool:
        """Whether something more specific than ``part`` is set for the series."""
        order = [source for source, _ in _sources(series)]
        return self.for_series(series).source in order[: order.index(part)]

    def for_series(self, series: Series) -> EffectInForce:
        """The one in force: series before mode before hardware before tree before the default."""
        return self.chain(series)[0]

    def chain(self, series: Series) -> list[EffectInForce]:
        """All that are set, the one in force first: each hides those after it."""
        found = []
        for source, pk in _sources(series):
            percent = getattr(self, source).get(pk)
            if percent is not None:
                found.append(EffectInForce(percent, source))
        return [*found, DEFAULT]


def _sources(series: Series) -> list[tuple[str, int]]:
    """What may have a threshold for the series, the most specific first: kind and id."""
    return [
        ("series", series.pk),
        ("mode", series.mode_id),
        ("hardware", series.hardware_id),
        ("tree", series.tree_id),
    ]
