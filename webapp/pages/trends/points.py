"""The points of a trend chart: all of a short history, of a long one what its pixels can show."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.contrib.postgres.aggregates import ArrayAgg
from django.http import Http404

from webapp.charts.scale import Indices, extremes
from webapp.charts.trend import Revisions, Whiskers
from webapp.pages.parts.cache import Cache
from webapp.pages.trends.query import End, TrendQuery, nearest
from webapp.pages.trends.rows import POINTS_SHOWN
from webapp.results.models import Point, PointQuerySet, Revision, Series, Tree
from webapp.results.queries import received_by, rows_of
from webapp.stats.compare import intervals_of, own_units

SUBJECT_LENGTH = 80
MOST_WHOLE = 5_000
"""Points of a chart that are sent one and all; of more, the extremes of each pixel."""
PIXELS = 500
"""Columns in which the part in sight is drawn: a point is about as wide as two on a wide screen."""
PIXELS_BESIDE = 100
"""And the rest, which is in sight while a gesture moves the window."""
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Number = float | None
NO_ENDS = None, None
OwnKey = tuple[int, int, int]
"""Of a series: its id, its version, and where its window starts."""
Places = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


class PointRow(NamedTuple):
    """The columns of a point that the chart needs, in the order they are read."""

    series_id: int
    revision_id: int
    position: int
    n: int
    mean: float
    median: float
    minimum: float
    maximum: float
    levels: bytes
    disagrees: bool
    beside: dict[str, Any] | None
    uploads: dict[str, Any] | None
    left_out: dict[str, Any] | None


class RevisionRow(NamedTuple):
    """As much of a revision as a chart shows."""

    id: int
    position: int
    name: str
    subject: str
    author_name: str
    committed_at: datetime | None


JSON = ("beside", "uploads", "left_out")
COLUMNS = (
    *PointRow._fields[:8],
    *("packed_levels", "disagrees", *(f"{one}_text" for one in JSON)),
)
"""The same as they are read: levels packed, the last three JSON as it is written."""


# First looks ask these: composing them from QuerySets takes longer than answering them.
IN_WINDOWS = f"""
SELECT {", ".join(PointRow._fields)}
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (id, since)
 CROSS JOIN LATERAL (
       SELECT {", ".join(PointRow._fields[:8])}, levels::bytea, disagrees,
              {", ".join(f"{one}::text" for one in JSON)}
         FROM results_point
        WHERE series_id = wanted.id AND position >= wanted.since OFFSET 0) AS point
 ORDER BY series_id, position
"""  # noqa: S608 (names of columns; no value of a request is in this text)
# A plan kept from when there were few revisions compares each of them with each id of an array.
REVISIONS = f"""
SELECT {", ".join(RevisionRow._fields)} FROM results_revision
 WHERE id IN (SELECT unnest(%s::bigint[])) ORDER BY position
"""  # noqa: S608 (as above)


class OwnPoints(list[PointRow]):
    """The points of one series along the tree."""

    @cached_property
    def columns(self) -> Mapping[str, list[Any]]:
        """The same by the names of columns; of no points each is empty."""
        values = map(list, zip(*self, strict=True)) if self else [[] for _ in PointRow._fields]
        return dict(zip(PointRow._fields, values, strict=True))

    @cached_property
    def within_confidence(self) -> Sequence[tuple[Number, Number]]:
        """The ends of the 95 % interval of each mean, of the point's own units: builds, else boots,
        else runs. One unit has none, and runs that disagree have no mean.
        """
        found = intervals_of(own_units([one.levels for one in self]))
        return [
            one if one and not point.disagrees else NO_ENDS
            for one, point in zip(found, self, strict=True)
        ]

    def whiskers(self, whiskers: Whiskers) -> Sequence[tuple[Number, Number]]:
        """Lower and upper ends of the whiskers: of the mean's 95 % interval, or the extremes."""
        if whiskers == Whiskers.RANGE:
            return [NO_ENDS if one.disagrees else (one.minimum, one.maximum) for one in self]
        return self.within_confidence if whiskers != Whiskers.NONE else [NO_ENDS] * len(self)


OWN: Cache[OwnPoints] = Cache(most=128, seconds=60.0)
"""Points by the versions of their series and where the window starts: after an upload those of the
other series are as they were. A tree that was renumbered shows in a minute."""


@dataclass(frozen=True, slots=True)
class Points:
    """The points to draw, by series (id), each along the tree. ``along`` are the positions of all
    revisions of the chart where it ``is_thinned``, and empty where every point is here; ``counts``
    is then how many points each series has.
    """

    by_series: Mapping[int, "OwnPoints"]
    along: Places = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_thinned(self) -> bool:
        """Whether some points of the history are left out."""
        return len(self.along) > 0

    def axis(self, rows: Sequence[RevisionRow]) -> Revisions:
        """The revisions of the points as the chart has them."""
        return Revisions(
            names=[row.name for row in rows],
            subjects=[row.subject[:SUBJECT_LENGTH] for row in rows],
            times=[_milliseconds(row.committed_at) for row in rows],
            slots=self._slots(rows) if self.is_thinned else [],
            total=len(self.along),
            authors=[row.author_name[:SUBJECT_LENGTH] for row in rows],
        )

    def _slots(self, rows: Sequence[RevisionRow]) -> list[int]:
        return [int(at) for at in np.searchsorted(self.along, [row.position for row in rows])]


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def read_revisions(points: Points) -> list[RevisionRow]:
    """The revisions of ``points`` along the tree, in one query."""
    ids = {pk for its in points.by_series.values() for pk in its.columns["revision_id"]}
    return [RevisionRow(*row) for row in rows_of(REVISIONS, [list(ids)])]


class Column(NamedTuple):
    """All points of a series along the tree: positions, values, and their ``slots`` of the axis.
    ``coarse`` are the indices of those that are drawn beside the part in sight.
    """

    positions: Places
    values: Values
    slots: Places
    coarse: Indices


@dataclass(frozen=True, slots=True)
class Columns:
    """Where every point of a history lies, by series, and all positions."""

    by_series: Mapping[int, Column]
    along: Places

    @property
    def count(self) -> int:
        """How many points there are."""
        return sum(len(one.positions) for one in self.by_series.values())

    def between(self, low: int, high: int) -> dict[int, Values]:
        """By series the values of all points from one position to another."""
        found = {}
        for pk, own in self.by_series.items():
            start, end = np.searchsorted(own.positions, [low, high + 1])
            found[pk] = own.values[start:end]
        return found


COLUMNS_READ: Cache[Columns] = Cache(most=4, seconds=60.0)
"""Long histories: a part of one is thinned from here, without reading all of it again."""


def read_points(
    series: Sequence[Series],
    query: TrendQuery,
    *,
    tree: Tree,
    sight: Sequence[End] = (),
    named: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Points:
    """The points of the window that ``query`` names, in one query unless they are kept; where they
    may be more than `MOST_WHOLE` in two or three: position and value of all, unless they are kept,
    then the rest of those that are drawn, finer between the ends of ``sight``. Those that are
    chosen are always drawn, and those of a series at the positions that are ``named``, by its id.
    """
    if not is_thinned(series, query, tree=tree):
        return Points(_whole(series, query, tree))
    columns = all_points(series, query, tree=tree)
    ends = _in_sight(columns.along, sight)
    chosen = Revision.objects.placed().positions_of(tree=tree, names=query.chosen)
    kept = {
        pk: picked(own, ends, [*chosen, *named.get(pk, ())])
        for pk, own in columns.by_series.items()
    }
    counts = {pk: len(own.positions) for pk, own in columns.by_series.items()}
    return Points(_own(Point.objects.at_places(kept)), columns.along, counts)


def _whole(series: Sequence[Series], query: TrendQuery, tree: Tree) -> dict[int, OwnPoints]:
    """All points of each series (by id) in the window, those that are kept without a query."""
    if query.start or query.end or query.moment is not None:
        return _own(_in_window(series, query, tree))
    of_keys = {(one.pk, one.version, one.window_start): one for one in series}  # type: ignore[attr-defined]

    def read(keys: Sequence[OwnKey]) -> dict[OwnKey, OwnPoints]:
        found = _by_series(
            rows_of(IN_WINDOWS, [[pk for pk, *_ in keys], [at or 0 for *_, at in keys]])
        )
        return {key: found.get(key[0], OwnPoints()) for key in keys}

    return {key[0]: own for key, own in OWN.get_all(of_keys, read).items()}


def is_thinned(series: Sequence[Series], query: TrendQuery, *, tree: Tree) -> bool:
    """Whether some points of the window of ``query`` are left out."""
    is_bounded = not query.start and not query.end
    if is_bounded and len(series) * query.last <= MOST_WHOLE:
        return False
    return all_points(series, query, tree=tree).count > MOST_WHOLE


def all_points(series: Sequence[Series], query: TrendQuery, *, tree: Tree) -> Columns:
    """Where all points of the window of ``query`` lie, in one query unless that is kept."""
    windows = tuple((one.pk, one.version, one.window_start) for one in series)  # type: ignore[attr-defined]
    value = "median" if query.whiskers == Whiskers.RANGE else "mean"
    key = (tree.pk, query.start, query.end, query.asof, value, windows)
    return COLUMNS_READ.get(key, lambda: _columns(_in_window(series, query, tree), value))


def _columns(found: PointQuerySet, value: str) -> Columns:
    """As arrays that PostgreSQL makes: half the time of a row for each point."""
    arrays = {f"all_{name}": ArrayAgg(name, order_by="position") for name in ("position", value)}
    rows = found.order_by().values_list("series_id").annotate(**arrays)
    read = {pk: (np.array(places), np.array(values, float)) for pk, places, values in rows}
    nothing = np.empty(0, np.int64)
    places = np.sort(np.concatenate([nothing, *(own for own, _ in read.values())]), kind="stable")
    along = places[np.flatnonzero(np.diff(places, prepend=-1))]  # np.unique takes 50 ms of 100,000
    by_series = {pk: _column(*own, along) for pk, own in read.items()}
    return Columns(by_series, along)


def _column(positions: Places, values: Values, along: Places) -> Column:
    slots = np.searchsorted(along, positions)
    coarse = extremes(slots, values, bounds=(0, len(along)), columns=PIXELS_BESIDE)
    return Column(positions, values, slots, coarse)


def picked(own: Column, sight: tuple[int, int], chosen: Sequence[int] = ()) -> list[int]:
    """The positions of the points of one series that are drawn: smallest and largest of each column
    of pixels, narrow ones for the part ``sight`` of the axis, wider ones beside it; both ends of
    that part, which have to be named; those at ``chosen`` positions, each with the one before; and
    the newest, which are listed.
    """
    first, last = sight
    start, end = np.searchsorted(own.slots, [first, last + 1])
    inside = slice(start, end)
    fine = extremes(own.slots[inside], own.values[inside], bounds=(first, last + 1), columns=PIXELS)
    beside = own.coarse[(own.coarse < start) | (own.coarse >= end)]
    ends = np.flatnonzero(np.isin(own.slots, sight))
    named = np.flatnonzero(np.isin(own.positions, chosen))
    before = np.maximum(named - 1, 0)
    newest = np.arange(max(len(own.slots) - POINTS_SHOWN, 0), len(own.slots))
    drawn = np.unique(np.concatenate([fine + start, beside, ends, named, before, newest]))
    return [int(at) for at in own.positions[drawn]]


def _in_window(series: Sequence[Series], query: TrendQuery, tree: Tree) -> PointQuerySet:
    if not query.start and not query.end:
        return _then(Point.objects.in_windows(series), query)
    since = _position(tree, query.start, is_end=False) if query.start else 0
    found = Point.objects.of_all(series, since=since)
    if query.end:
        found = found.filter(position__lte=_position(tree, query.end, is_end=True))
    return _then(found, query)


def _then(found: PointQuerySet, query: TrendQuery) -> PointQuerySet:
    """The points that had been received at the time of ``asof``."""
    return found if query.moment is None else received_by(found, query.moment)


def _in_sight(along: Places, sight: Sequence[End]) -> tuple[int, int]:
    """The slots of the axis nearest to the ends of ``sight``; all without them."""
    known = [one.position for one in sight if one.position is not None]
    if not sight or len(known) < len(sight):
        return 0, len(along) - 1
    ends = sorted(nearest(along, position) for position in known)
    return ends[0], ends[-1]


def _own(found: PointQuerySet) -> dict[int, OwnPoints]:
    return _by_series(found.with_own_units().values_list(*COLUMNS))


def _by_series(rows: Iterable[tuple[Any, ...]]) -> dict[int, OwnPoints]:
    by_series: defaultdict[int, OwnPoints] = defaultdict(OwnPoints)
    for row in rows:
        point = PointRow._make(row)
        if any(row[-len(JSON) :]):
            point = point._replace(
                **{one: json.loads(text) for one in JSON if (text := getattr(point, one))}
            )
        by_series[point.series_id].append(point)
    return dict(by_series)


def _position(tree: Tree, name: str, *, is_end: bool) -> int:
    """Of the revision that ``name`` means in ``tree``; of a day the first revision committed since,
    or the last by its end.
    """
    placed = Revision.objects.placed()
    revision = placed.named(tree=tree, name=name)
    day = _day(name) if revision is None else None
    if day is not None:
        start = datetime.combine(day, time.min, UTC)
        dated = placed.of_tree(tree).order_by("position")
        revision = (
            dated.filter(committed_at__lt=start + timedelta(days=1)).last()
            if is_end
            else dated.filter(committed_at__gte=start).first()
        )
    if revision is None:
        raise Http404(f"There is no revision {name} in {tree}.")
    return revision.position


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        return None
