"""The state of the trend chart, which is everything that its address holds, and what is drawn
beside the points: events of labs, releases and branch points, and findings that are no change of
level.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from django.http import QueryDict
from django.urls import reverse

from webapp.alerts.queries import FindingRow
from webapp.analysis.models import Finding
from webapp.analysis.queries import moment_of
from webapp.charts.text import with_minus
from webapp.charts.trend import Axis, Marker, MarkerKind, Split, Values, Whiskers
from webapp.events.models import LabEvent, Release
from webapp.events.queries import LocatedEvent, events_along, recorded_along
from webapp.pages.parts.links import with_query
from webapp.results.models import Revision, Series, Tree

DEFAULT_LAST = 200
MOST_LAST = 200_000
"""Points of one series read at most; what is sent of them fits the window's pixels."""

MOST_HIDDEN = 100
BESIDE = ("a", "b", "range", "sort")
"""What no drawing of the server depends on."""

MOST_NAMES = 50
_NUMBER = r"-?\d{1,24}(?:\.\d{1,24})?(?:e[+-]?\d{1,2})?"
HEIGHT = re.compile(rf"\d{{1,2}}:{_NUMBER}\.\.{_NUMBER}", re.ASCII)
Choice = TypeVar("Choice", bound=StrEnum)

TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class TrendQuery:
    """What to show and how. Empty names mean: what there is.

    ``start`` and ``end`` name revisions or days; without them the ``last`` points of each series
    show. ``view`` is the part in sight, ``<revision>..<revision>``, ``heights`` the ends of
    vertical axes there, ``<lane>:<low>..<high>`` each; ``hidden`` are ids of series that are
    listed and not drawn; ``asof`` a time. ``extra`` holds what stands beside the chart:
    the points A and B, the marked range, the order of the list.
    """

    tree: str = ""
    metric: str = ""
    hardware: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    axis: Axis = Axis.COMMIT
    values: Values = Values.RAW
    whiskers: Whiskers = Whiskers.CONFIDENCE
    last: int = DEFAULT_LAST
    start: str = ""
    end: str = ""
    split: Split = Split.SCALE
    view: str = ""
    heights: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    asof: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def parse(cls, query: QueryDict) -> Self:
        """From an address. What means nothing there falls back to the default."""
        query = _without_nul(query)
        return cls(
            tree=query.get("tree", ""),
            metric=query.get("metric", ""),
            hardware=_names(query, "hardware"),
            modes=_names(query, "mode"),
            axis=_choice(query, "x", Axis.COMMIT),
            values=_choice(query, "y", Values.RAW),
            whiskers=_choice(query, "whiskers", Whiskers.CONFIDENCE),
            last=_whole(query, "last"),
            start=query.get("from", ""),
            end=query.get("to", ""),
            split=_choice(query, "split", Split.SCALE),
            view=query.get("view", ""),
            heights=tuple(one for one in query.getlist("height") if HEIGHT.fullmatch(one))[
                :MOST_NAMES
            ],
            hidden=tuple(dict.fromkeys(filter(str.isdecimal, query.getlist("hide"))))[:MOST_HIDDEN],
            asof=query.get("asof", "") if moment_of(query.get("asof", "")) else "",
            extra=_beside(query),
        )

    def beside(self, key: str) -> str:
        """The value of one of `BESIDE`, empty without."""
        return dict(self.extra).get(key, "")

    @property
    def window(self) -> tuple[str, str] | None:
        """The names of the revisions at the ends of ``view``."""
        first, dots, last = self.view.partition("..")
        return (first, last) if dots and first and last else None

    @property
    def chosen(self) -> list[str]:
        """The names of the revisions of A and B and of the ends of the marked range."""
        points = [self.beside(key).partition("@")[2] for key in ("a", "b")]
        return [name for name in (*points, *self.beside("range").split("..")) if name]

    @property
    def lane_heights(self) -> dict[int, tuple[float, float]]:
        """The ends of ``heights`` by the number of the lane, without those that are no range."""
        found = {}
        for one in self.heights:
            lane, _, ends = one.partition(":")
            low, high = map(float, ends.split(".."))
            if low < high and isfinite(high - low):
                found[int(lane)] = (low, high)
        return found

    @property
    def moment(self) -> datetime | None:
        """The time of ``asof``."""
        return moment_of(self.asof)

    def takes(self, hardware: str, mode: str) -> bool:
        """Whether a series of that hardware and mode is meant."""
        return (not self.hardware or hardware in self.hardware) and (
            not self.modes or mode in self.modes
        )

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of an address, defaults left out."""
        optional: Mapping[str, tuple[str, str]] = {
            "x": (self.axis, Axis.COMMIT),
            "y": (self.values, Values.RAW),
            "whiskers": (self.whiskers, Whiskers.CONFIDENCE),
            "last": (str(self.last), str(DEFAULT_LAST)),
            "from": (self.start, ""),
            "to": (self.end, ""),
            "split": (self.split, Split.SCALE),
            "view": (self.view, ""),
            "asof": (self.asof, ""),
        }
        return [
            *((key, name) for key, name in (("tree", self.tree), ("metric", self.metric)) if name),
            *(("hardware", name) for name in self.hardware),
            *(("mode", name) for name in self.modes),
            *((key, value) for key, (value, default) in optional.items() if value != default),
            *(("height", one) for one in self.heights),
            *(("hide", one) for one in self.hidden),
            *self.extra,
        ]

    def link(self, **changes: Any) -> str:
        """The address of the page with some parts changed."""
        return with_query(reverse("trends"), replace(self, **changes).pairs())

    def figure_link(self) -> str:
        """The address of the figure as JSON."""
        return with_query(reverse("trends_figure"), replace(self, extra=()).pairs())

    def picture_links(self) -> list[tuple[str, str]]:
        """What the chart can be taken away as, and the address of each."""
        pairs = replace(self, extra=()).pairs()
        names = (("JSON", "trends_figure"), ("SVG", "trends_svg"), ("PNG", "trends_png"))
        return [(title, with_query(reverse(name), pairs)) for title, name in names]

    @property
    def whole_link(self) -> str:
        """The address of the page with as much of the history as is shown at once."""
        return self.link(last=MOST_LAST, start="", end="", view="", heights=())


def _without_nul(query: QueryDict) -> QueryDict:
    """PostgreSQL looks for no NUL."""
    kept = QueryDict(mutable=True)
    for key, values in query.lists():
        kept.setlist(key, [value.replace("\0", "") for value in values])
    return kept


def _beside(query: QueryDict) -> tuple[tuple[str, str], ...]:
    """Pairs of `BESIDE`; older addresses name A and B by ``pin``, the later one is B."""
    pins = ["", "", *query.getlist("pin")]
    older = {"a": pins[-2], "b": pins[-1]}
    given = {key: query.get(key, "") or older.get(key, "") for key in BESIDE}
    return tuple((key, value) for key, value in given.items() if value)


def _names(query: QueryDict, key: str) -> tuple[str, ...]:
    given = [name for name in query.getlist(key) if name]
    return tuple(dict.fromkeys(given))[:MOST_NAMES]


def _choice(query: QueryDict, key: str, default: Choice) -> Choice:
    try:
        return type(default)(query.get(key, default))
    except ValueError:
        return default


def _whole(query: QueryDict, key: str) -> int:
    text = query.get(key, "")
    if not text.isascii() or not text.isdigit():
        return DEFAULT_LAST
    return min(max(int(text[:9]), 1), MOST_LAST)


class End(NamedTuple):
    """One end of a view: the name in the address, and its position; None where that is unknown."""

    name: str
    position: int | None


class View(NamedTuple):
    """The revisions (names) at the ends of what is in sight; None: everything is. ``notes`` state
    where that is not what was asked for.
    """

    window: tuple[str, str] | None = None
    notes: Sequence[str] = ()


def ends_of(query: TrendQuery, tree: Tree) -> list[End]:
    """The ends of the query's view along ``tree``; none, and no statement, without one. A revision
    that was never measured has the position that its own name gives, if any.
    """
    revisions = Revision.objects.placed()
    return [
        End(name, revisions.position_named(tree=tree, name=name)) for name in query.window or ()
    ]


def nearest(positions: Sequence[int] | npt.NDArray[np.int64], position: int) -> int:
    """The index of the one of ``positions`` (in order, not empty) that is nearest to ``position``;
    of two as near the earlier.
    """
    after = bisect_left(positions, position)
    near = range(max(after - 1, 0), min(after + 1, len(positions)))
    return min(near, key=lambda index: abs(positions[index] - position))


def view_of(
    ends: Sequence[End], *, names: Sequence[str], positions: Sequence[int], tree: Tree
) -> View:
    """What is in sight of the revisions shown, which have these ``names`` and ``positions``."""
    if not ends or not names:
        return View()
    placed = [(end.position, end.name) for end in ends if end.position is not None]
    if len(placed) < len(ends):
        missing = [f"No revision {one.name} in {tree}" for one in ends if one.position is None]
        return View(notes=[f"{'. '.join(missing)}. All revisions are in view."])
    placed.sort()
    shown = [nearest(positions, position) for position, _ in placed]
    notes = [
        f"The view {verb} at {names[at]}, the nearest: {name} is not among the revisions shown."
        for verb, at, (position, name) in zip(("begins", "ends"), shown, placed, strict=True)
        if positions[at] != position
    ]
    return View((names[shown[0]], names[shown[-1]]), notes)


def markers_along(
    tree: Tree,
    *,
    hardware: Collection[int],
    revisions: Collection[int],
    positions: Sequence[int],
    findings: Iterable[tuple[Series, FindingRow]] = (),
) -> list[Marker]:
    """The markers of a chart that shows ``revisions`` (ids) at ``positions`` of what was measured
    on ``hardware`` (ids), along the tree, in one query, and one more where there are events;
    ``findings`` are read already.
    """
    if not positions:
        return []
    releases, has_events = recorded_along(tree, positions[0], positions[-1])
    events = events_along(tree, hardware=hardware, revisions=revisions) if has_events else []
    found = [
        *_of_events(events, positions),
        *_of_releases(releases, positions),
        *_of_findings(tree, findings, positions),
    ]
    return sorted(found, key=lambda one: (one.at, one.short))


def _of_events(events: Iterable[LocatedEvent], positions: Sequence[int]) -> Iterator[Marker]:
    """Before the first revision shown that each shows at; none outside what is shown."""
    for one in events:
        is_past = one.until is not None and one.until < positions[0]
        is_ahead = one.until is not None and one.after >= positions[-1]
        if not is_past and not is_ahead:
            yield _of_event(one, bisect_right(positions, one.after) - 0.5)


def _of_event(located: LocatedEvent, at: float) -> Marker:
    event = located.event
    return Marker(
        kind=_kind(event),
        at=at,
        text=event.text.split("\n", 1)[0][:TEXT_LENGTH],
        short=f"e{event.pk}",
        what=_what(event),
        when=located.when,
        subject=located.subject,
        href=event.get_absolute_url(),
    )


def _kind(event: LabEvent) -> MarkerKind:
    if event.kind == LabEvent.Kind.NOTE:
        return "note"
    return "epoch" if event.begins_epoch else "event"


def _what(event: LabEvent) -> str:
    kind = event.get_kind_display()
    return f"{kind}, begins an epoch" if event.begins_epoch else kind


def _of_releases(releases: Iterable[Release], positions: Sequence[int]) -> Iterator[Marker]:
    """At their revision, or before the next one shown."""
    for one in releases:
        position = one.revision.position
        at = bisect_left(positions, position)
        yield Marker(
            kind="release",
            at=at if positions[at] == position else at - 0.5,
            text=one.name,
            short=one.name[:12],
            what=one.get_kind_display(),
            when=one.revision.name,
            subject=one.revision.tree.name,
            href=one.get_absolute_url(),
        )


def _of_findings(
    tree: Tree, findings: Iterable[tuple[Series, FindingRow]], positions: Sequence[int]
) -> Iterator[Marker]:
    """At their revision; what goes on slowly where it begins, or at the edge."""
    for series, row in findings:
        is_slow = row.kind == Finding.Kind.SLOW
        alert, begin = row.membership__alert_id, row.after__position if is_slow else row.position
        commit = reverse("commit", args=[tree.name, row.revision__name])
        yield Marker(
            kind="finding",
            at=min(bisect_left(positions, begin), len(positions) - 1),
            text=f"{series.subject}: {with_minus(row.why)}"[:TEXT_LENGTH],
            short=row.kind,
            what=Finding.Kind(row.kind).label,
            when=f"{row.after__name} to {row.revision__name}" if is_slow else row.revision__name,
            subject=str(series.hardware),
            href=reverse("alert", args=[alert]) if alert else commit,
        )
