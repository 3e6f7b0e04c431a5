"""Series whose findings came to nothing, and the smallest effect that would have silenced them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Abs

from webapp.alerts.models import Alert
from webapp.alerts.models.min_effects import MOST_PERCENT
from webapp.alerts.queries.min_effects import EffectInForce, MinEffects
from webapp.alerts.queries.scopes import Scope
from webapp.analysis.models import Finding
from webapp.results.models import Series

SHOWN = 20
STEP_PCT = 0.5
"""Proposed thresholds are multiples of it: nobody means 7.31 %."""

NOT_REAL = Q(membership__alert__resolution=Alert.Resolution.NOT_REAL)
RETRACTED = Q(state=Finding.State.RETRACTED)
CAME_TO_NOTHING = NOT_REAL | RETRACTED
OPENS = Q(kind__in=[Finding.Kind.LEVEL, Finding.Kind.SLOW]) | Q(membership__isnull=False)
"""Findings on which a threshold decides: an excursion opens an alert only with others of its
machine, and a change of noise or modes opens none.
"""


@dataclass(frozen=True, slots=True)
class Noisy:
    """A series with its findings of the period: in alerts that were ``not_real``, ``retracted``,
    and the ``others``. What is ``proposed`` is None when no threshold would help."""

    series: Series
    not_real: int
    retracted: int
    others: int
    in_force: EffectInForce
    proposed: "Proposal | None"

    @property
    def scope(self) -> Scope:
        """What a threshold of this series alone is set for."""
        return Scope.around(self.series)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A threshold in percent: of the findings that reach the one in force it would have silenced
    so many that came to nothing (``suppressed``) and so many others (``lost``)."""

    percent: float
    suppressed: int
    lost: int


@dataclass(slots=True)
class _Sizes:
    """Sizes of findings in percent, without signs; one beyond all figures has none."""

    nothing: list[float]
    others: list[float]


def noisiest(since: datetime, *, tree: str = "") -> list[Noisy]:
    """The series with most findings in alerts that were not real, then with most retracted ones."""
    counted = (
        _findings(since, tree)
        .order_by()
        .values("series")
        .annotate(
            not_real=Count("pk", filter=NOT_REAL),
            retracted=Count("pk", filter=RETRACTED),
            others=Count("pk", filter=~CAME_TO_NOTHING),
        )
        .filter(Q(not_real__gt=0) | Q(retracted__gt=0))
        .order_by("-not_real", "-retracted", "series")[:SHOWN]
    )
    rows = {row["series"]: row for row in counted}
    series = Series.objects.named().in_bulk(rows)
    min_effects, sizes = MinEffects.of(rows), _sizes(since, rows)
    return [
        _noisy(dict(row) | {"series": series[pk]}, min_effects.for_series(series[pk]), sizes[pk])
        for pk, row in rows.items()
    ]


def _findings(since: datetime, tree: str) -> QuerySet[Finding]:
    found = Finding.all_kinds.filter(OPENS).exclude(state=Finding.State.CANDIDATE)
    return found.filter(
        first_detected_at__gte=since, **{"series__tree__name": tree} if tree else {}
    )


def _sizes(since: datetime, series: Iterable[int]) -> dict[int, _Sizes]:
    found: dict[int, _Sizes] = defaultdict(lambda: _Sizes([], []))
    rows = _findings(since, "").filter(series__in=list(series), change_pct__isnull=False)
    sized = rows.annotate(size=Abs("change_pct"), resolution=F("membership__alert__resolution"))
    for pk, size, state, resolution in sized.values_list("series", "size", "state", "resolution"):
        nothing = state == Finding.State.RETRACTED or resolution == Alert.Resolution.NOT_REAL
        (found[pk].nothing if nothing else found[pk].others).append(size)
    return found


def _noisy(counted: Mapping[str, Any], in_force: EffectInForce, sizes: _Sizes) -> Noisy:
    proposed = propose(in_force.percent, sizes.nothing, sizes.others)
    return Noisy(**counted, in_force=in_force, proposed=proposed)


def propose(in_force: float, nothing: Sequence[float], others: Sequence[float]) -> Proposal | None:
    """The next multiple of 0.5 % above all findings that came to ``nothing``.

    None when these are all smaller than the threshold ``in_force`` already, or no threshold reaches
    them. Sizes and thresholds are in percent.
    """
    if not nothing or max(nothing) < in_force:
        return None
    percent = (floor(max(nothing) / STEP_PCT) + 1) * STEP_PCT
    if percent > MOST_PERCENT:
        return None
    return Proposal(
        percent, _between(nothing, in_force, percent), _between(others, in_force, percent)
    )


def _between(sizes: Sequence[float], least: float, most: float) -> int:
    return sum(least <= size < most for size in sizes)
