"""The smallest effect worth an alert: what it can be set for (one tree, hardware, mode or series),
which one is in force for a series, and which would have silenced series whose findings came to
nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import floor
from typing import Any, Literal, NamedTuple, Self, get_args

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Abs

from webapp.alerts.models import Alert, MinEffect
from webapp.alerts.models.decisions import MOST_PERCENT
from webapp.analysis.models import Finding, SeriesSettings
from webapp.results.models import Hardware, Mode, Series, Tree


class EffectInForce(NamedTuple):
    """In percent, and who set it: ``series``, ``mode``, ``hardware``, ``tree`` or ``default``."""

    percent: float
    source: str


DEFAULT = EffectInForce(SeriesSettings.DEFAULT_MIN_EFFECT_PCT, "default")
Part = Literal["tree", "hardware", "mode", "series"]
Thing = Tree | Hardware | Mode | Series
NAMED: dict[str, type[Tree | Hardware | Mode]] = {"tree": Tree, "hardware": Hardware, "mode": Mode}
REMEDY = "write it as tree:NAME, hardware:NAME, mode:NAME or series:NUMBER"
ID_MAX = 2**63 - 1
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
class MinEffects:
    """Everything that is set for one tree and beyond trees, read once."""

    tree: dict[int, float] = field(default_factory=dict)
    hardware: dict[int, float] = field(default_factory=dict)
    mode: dict[int, float] = field(default_factory=dict)
    series: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, series: Iterable[int], *, tree: int | None = None) -> Self:
        """Thresholds that may be in force for ``series``, all of one tree if given; two queries."""
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


class ScopeError(Exception):
    """The scope is not known; the message shows how to write one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """``part`` is which kind of thing ``of`` is."""

    part: Part
    of: Thing

    @classmethod
    def around(cls, thing: Thing) -> Self:
        """The scope of a series, mode, machine or tree. Raises TypeError for anything else."""
        for part in get_args(Part):
            if type(thing).__name__.lower() == part:
                return cls(part, thing)
        raise TypeError(f"no threshold is set for a {type(thing).__name__}")

    @classmethod
    def named(cls, text: str) -> Self:
        """The scope that is written ``hardware:NAME``. Raises ScopeError."""
        part, _, name = text.replace("\0", "").partition(":")
        thing: Thing | None = None
        if part in NAMED:
            thing = NAMED[part].objects.filter(name=name).first()
        elif part == "series" and name.isascii() and name.isdigit():
            thing = Series.objects.named().filter(pk=min(int(name[:19]), ID_MAX)).first()
        if thing is None:
            raise ScopeError(f"scope: nothing is called “{text[:200]}”; {REMEDY}.")
        return cls.around(thing)

    def __str__(self) -> str:
        return f"{self.part}:{self.of.pk if isinstance(self.of, Series) else self.of.name}"

    @property
    def text(self) -> str:
        """``hardware Atom_C2758/T540-CR``."""
        return f"{self.part} {self.of}"

    def holds(self, series: Series) -> bool:
        """Whether the series lies in it."""
        pk = series.pk if self.part == "series" else getattr(series, f"{self.part}_id")
        return bool(pk == self.of.pk)

    def trees(self) -> list[int]:
        """Ids of the trees with series in it, in order."""
        if self.part == "series":
            return list(Series.objects.filter(pk=self.of.pk).values_list("tree_id", flat=True))
        of_it = Series.objects.filter(**{self.part: self.of}).order_by("tree_id")
        return list(of_it.values_list("tree_id", flat=True).distinct())

    def percent(self) -> float | None:
        """What is set for the thing itself; None when nothing is."""
        if self.part == "series":
            own = SeriesSettings.objects.filter(series=self.of.pk)
            return own.values_list("min_effect_pct", flat=True).first()
        rows = MinEffect.objects.filter(**{self.part: self.of})
        return rows.values_list("percent", flat=True).first()


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


def _sources(series: Series) -> list[tuple[str, int]]:
    """What may have a threshold for the series, the most specific first: kind and id."""
    return [
        ("series", series.pk),
        ("mode", series.mode_id),
        ("hardware", series.hardware_id),
        ("tree", series.tree_id),
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


def _between(sizes: Sequence[float], least: float, most: float) -> int:
    return sum(least <= size < most for size in sizes)
