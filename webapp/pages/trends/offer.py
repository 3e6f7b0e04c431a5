"""What there is to choose from on the trend page, kept while the instance has the same series."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from html import escape
from typing import Literal, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.safestring import SafeString, mark_safe

from webapp.pages.parts.cache import Cache
from webapp.pages.trends.query import TrendQuery
from webapp.results.models import Hardware, Metric, Series, Tree
from webapp.results.queries import machine_of

Part = Literal["tree", "metric", "hardware", "mode"]
MOST_SUGGESTED = 3
LONGEST = 100
"""Characters of a name that are compared: the time grows with their square."""

CUTOFF = 0.4
"""Of difflib: below it two names have little in common."""


MOST_UNKNOWN = 3
"""Names that are not offered are looked at so far: each costs a look at all that are."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """``name`` is no ``part`` that is measured here; ``links`` lead to the nearest that are, or
    where none is near (``is_near``) to the first.
    """

    part: Part
    name: str
    links: Sequence[tuple[str, str]]
    is_near: bool


class NotOffered(Http404):
    """The tree or the metric of a query does not exist."""

    def __init__(self, query: TrendQuery, unknown: Unknown) -> None:
        super().__init__(f"There is no {unknown.part} {unknown.name}.")
        self.query = query
        self.unknown = unknown


SECONDS = 60.0
MACHINE = [
    f"hardware__{part}"
    for part in ("pk", "name", "display_name", "cpu", "nic", "agreed_cpu", "agreed_nic")
]
"""Of a series what `machine_of` makes its machine of."""


class Measured(NamedTuple):
    """A series that can be chosen."""

    pk: int
    hardware: str
    mode: str
    simulated: bool


Subject = tuple[str, str]
"""The names of hardware and mode."""


class Menu(NamedTuple):
    """A menu of check boxes for ``name`` of an address: values, each with its text, of which some
    are ``chosen`` (none: all); and a ``summary``.
    """

    name: str
    texts: Mapping[str, str]
    chosen: Sequence[str]
    summary: str

    @property
    def boxes(self) -> SafeString:
        """As HTML, written here: a large lab has a thousand machines."""
        begun = f'<label><input type="checkbox" class="live" name="{escape(self.name)}" value='
        found = (
            f'{begun}"{escape(value)}"{" checked" if value in self.chosen else ""}>'
            f" {escape(text)}</label>"
            for value, text in self.texts.items()
        )
        return mark_safe("\n".join(found))  # noqa: S308 (every text is escaped)


class Offer(NamedTuple):
    """What there is to choose from in one tree and metric. ``hardware`` has what people call each
    machine by its name, ``costs`` the series (ids) of what options cost, by hardware and the mode
    with the option.
    """

    hardware: Mapping[str, str]
    modes: list[str]
    metrics: Sequence[Metric]
    measured: Sequence[Measured]
    costs: Mapping[Subject, Sequence[int]]


TREES: Cache[list[Tree]] = Cache(most=2, seconds=SECONDS)
METRICS: Cache[list[Metric]] = Cache(most=16, seconds=SECONDS)
OFFERS: Cache[Offer] = Cache(most=16, seconds=SECONDS)
"""By the stamp of what is offered (`webapp.events.queries.Stamps`), and what they are of."""


def trees(stamp: str) -> list[Tree]:
    """All trees, each with ``is_measured``."""
    series = Series.objects.plain().filter(tree=OuterRef("pk"))
    return TREES.get(stamp, lambda: list(Tree.objects.annotate(is_measured=Exists(series))))


def metrics(stamp: str, tree: Tree) -> list[Metric]:
    """Metrics measured along ``tree``, and behind them what options cost."""
    found = Metric.objects.filter(series__tree=tree, series__variant=None).distinct()
    found = found.order_by(F("of").asc(nulls_first=True), "name")
    return METRICS.get((stamp, tree.pk), lambda: list(found))


def offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    """The plain series of ``metric`` along ``tree``, and the names that they have."""
    return OFFERS.get((stamp, tree.pk, metric.pk), lambda: _offer(stamp, tree, metric))


def _offer(stamp: str, tree: Tree, metric: Metric) -> Offer:
    rows = (
        Series.objects.plain()
        .filter(Q(metric=metric) | Q(metric__of=metric), tree=tree)
        .order_by("hardware__name", "mode__name", "pk")
        .values_list("pk", "mode__name", "hardware__lab__simulated", "metric", *MACHINE)
    )
    measured: list[Measured] = []
    machines: dict[int, Hardware] = {}
    costs: dict[Subject, list[int]] = defaultdict(list)
    for pk, mode, simulated, of, *machine in rows:
        if machine[0] not in machines:
            machines[machine[0]] = machine_of(machine)
        one = Measured(pk, machines[machine[0]].name, mode, simulated)
        if of == metric.pk:
            measured.append(one)
        else:
            costs[one.hardware, one.mode].append(one.pk)
    own = {one.hardware for one in measured}
    return Offer(
        hardware={one.name: str(one) for one in machines.values() if one.name in own},
        modes=sorted({one.mode for one in measured}),
        metrics=metrics(stamp, tree),
        measured=measured,
        costs=costs,
    )


def unknown(query: TrendQuery, part: Part, name: str, offered: Sequence[str]) -> Unknown:
    """``name`` of ``query`` with the nearest of those ``offered``, each as another query."""
    found = nearest(name, offered)
    links = [(one, _with(query, part, name, one).link()) for one in found or offered]
    return Unknown(part, name, links[:MOST_SUGGESTED], bool(found))


def nearest(name: str, offered: Sequence[str]) -> list[str]:
    """The names that look most like ``name``, whatever the case."""
    by_lower = {one.lower()[:LONGEST]: one for one in reversed(offered)}
    close = get_close_matches(name.lower()[:LONGEST], by_lower, n=MOST_SUGGESTED, cutoff=CUTOFF)
    return [by_lower[one] for one in close]


def _with(query: TrendQuery, part: Part, name: str, other: str) -> TrendQuery:
    """``query`` with ``other`` in place of ``name``."""
    if part == "tree":
        return replace(query, tree=other)
    if part == "metric":
        return replace(query, metric=other)
    given = query.hardware if part == "hardware" else query.modes
    names = tuple(dict.fromkeys(other if one == name else one for one in given))
    return replace(query, hardware=names) if part == "hardware" else replace(query, modes=names)


def menu(name: str, names: Mapping[str, str], chosen: Sequence[str]) -> Menu:
    """The menu of ``names``, of which some are ``chosen``."""
    if not chosen:
        summary = f"all {len(names)}"
    elif len(chosen) == 1:
        summary = names.get(chosen[0], chosen[0])
    else:
        summary = f"{len(chosen)} of {len(names)}"
    return Menu(name, names, chosen, summary)


def unknown_names(query: TrendQuery, offer: Offer) -> list[Unknown]:
    """The names in ``query`` that are not offered, the first ones with those that are near."""
    parts: list[tuple[Part, Sequence[str], list[str]]] = [
        ("hardware", query.hardware, list(offer.hardware)),
        ("mode", query.modes, offer.modes),
    ]
    missing = [
        (part, name, offered)
        for part, given, offered in parts
        for name in given
        if name not in offered
    ]
    return [unknown(query, *one) for one in missing[:MOST_UNKNOWN]]


def tree_asked(query: TrendQuery, trees: Sequence[Tree]) -> Tree | None:
    """The tree of ``query``; where it names none, that of most series that it asks for. Raises
    NotOffered: there is no tree of this name.
    """
    name = query.tree
    if not name:
        measured = [one for one in trees if one.is_measured]  # type: ignore[attr-defined]
        return _tree_of(query, measured) or next(iter(measured), None)
    for one in trees:
        if one.name == name:
            return one
    raise NotOffered(query, unknown(query, "tree", name, [one.name for one in trees]))


def _tree_of(query: TrendQuery, measured: Sequence[Tree]) -> Tree | None:
    """The tree with most series of the machines and modes asked for; no query without a choice."""
    if len(measured) < 2 or not (query.hardware or query.modes):
        return None
    counts = Counter(_asked(query).values_list("tree_id", flat=True))
    return max(measured, key=lambda one: counts[one.pk]) if counts else None


def _asked(query: TrendQuery) -> QuerySet[Series]:
    """The series of the machines and modes that are asked for."""
    asked = Series.objects.all()
    if query.hardware:
        asked = asked.filter(hardware__name__in=query.hardware)
    return asked.filter(mode__name__in=query.modes) if query.modes else asked


def metric_asked(query: TrendQuery, tree: Tree, offered: Sequence[Metric]) -> Metric | None:
    """The metric of ``query``; where it names none, that of most series of the machines and modes
    that are asked for, else the first that is offered. Raises NotOffered: there is no metric of
    this name.
    """
    name = query.metric
    if not name:
        return _metric_of(query, tree, offered) or next(iter(offered), None)
    for metric in offered:
        if metric.name == name:
            return metric
    raise NotOffered(query, unknown(query, "metric", name, [one.name for one in offered]))


def _metric_of(query: TrendQuery, tree: Tree, offered: Sequence[Metric]) -> Metric | None:
    """As `_tree_of`, among the metrics offered along ``tree``."""
    if len(offered) < 2 or not (query.hardware or query.modes):
        return None
    series = _asked(query).filter(tree=tree, variant=None)
    counts = Counter(series.values_list("metric_id", flat=True))
    return max(offered, key=lambda one: counts[one.pk]) if counts else None
