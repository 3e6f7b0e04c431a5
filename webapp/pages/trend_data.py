"""Loads what the trend chart shows, in a fixed number of queries; samples are never read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.http import Http404

from webapp.analysis.models import Comparison
from webapp.analysis.queries import RUNS_DISAGREE
from webapp.charts.text import common, one_revision
from webapp.charts.theme import style_of
from webapp.charts.trend import Apart, Revisions, Trend, TrendSeries, Whiskers, distinct
from webapp.pages.conclusions import Conclusion, conclusions_of
from webapp.pages.trend_markers import markers_along
from webapp.pages.trend_query import TrendQuery
from webapp.pages.trend_unknown import NotOffered, Part, Unknown, unknown
from webapp.results.models import LeftOut, Metric, Point, Revision, Series, Tree
from webapp.stats.compare import Summary

MOST_SERIES = 24
SUBJECT_LENGTH = 80
MOST_UNKNOWN = 3
"""Names that are not offered are looked at so far: each costs a look at all that are."""


class Offer(NamedTuple):
    """What there is to choose from in one tree and metric."""

    hardware: list[str]
    modes: list[str]
    metrics: list[Metric]


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen series, at most `MOST_SERIES` of ``matching``, and the query as understood.

    ``unknown`` are names in the query that this tree and metric do not have.
    """

    query: TrendQuery
    tree: Tree
    metric: Metric
    series: Sequence[Series]
    matching: int
    offer: Offer
    unknown: Sequence[Unknown]

    @property
    def better(self) -> str:
        """Which way is better, empty where the chosen series differ."""
        return common(one.better for one in self.series) if self.series else self.metric.better


def select(query: TrendQuery) -> Selection | None:
    """The series that ``query`` means; None when nothing is measured in its tree.

    Raises Http404 for a tree or a metric that does not exist.
    """
    tree = _tree(query)
    if tree is None:
        return None
    metrics = list(Metric.objects.filter(series__tree=tree, series__variant=None).distinct())
    metric = _metric(query, metrics)
    if metric is None:
        return None
    measured = list(
        Series.objects.plain()
        .filter(tree=tree, metric=metric)
        .order_by("hardware__name", "mode__name")
        .values_list("pk", "hardware__name", "mode__name")
    )
    offer = Offer(
        hardware=sorted({hardware for _, hardware, _ in measured}),
        modes=sorted({mode for _, _, mode in measured}),
        metrics=metrics,
    )
    query = replace(query, tree=tree.name, metric=metric.name)
    missing = _unknown(query, offer)
    query = _known(query, offer)
    chosen = [pk for pk, hardware, mode in measured if query.takes(hardware, mode)]
    series = _windows(chosen, query.last)
    return Selection(query, tree, metric, series, len(chosen), offer, missing)


def _known(query: TrendQuery, offer: Offer) -> TrendQuery:
    """``query`` with the names that are offered; where none is given, the first hardware. Where all
    that are given are unknown they stay, and so nothing is drawn: never another machine instead.
    """
    hardware = tuple(name for name in query.hardware if name in offer.hardware)
    modes = tuple(name for name in query.modes if name in offer.modes)
    if not query.hardware and not query.modes:
        hardware = tuple(offer.hardware[:1])
    return replace(query, hardware=hardware or query.hardware, modes=modes or query.modes)


def _unknown(query: TrendQuery, offer: Offer) -> list[Unknown]:
    """The names in ``query`` that are not offered, the first ones with those that are near."""
    parts: list[tuple[Part, Sequence[str], list[str]]] = [
        ("hardware", query.hardware, offer.hardware),
        ("mode", query.modes, offer.modes),
    ]
    missing = [
        (part, name, offered)
        for part, given, offered in parts
        for name in given
        if name not in offered
    ]
    return [unknown(query, *one) for one in missing[:MOST_UNKNOWN]]


def _windows(ids: Sequence[int], last: int) -> list[Series]:
    """The first `MOST_SERIES` of them, each with where its window starts."""
    shown = ids[:MOST_SERIES]
    found = Series.objects.named().with_window(last).in_bulk(shown)
    return [found[pk] for pk in shown]


def _tree(query: TrendQuery) -> Tree | None:
    name = query.tree
    if not name:
        return Tree.objects.filter(series__isnull=False, series__variant=None).first()
    found = Tree.objects.filter(name=name).first()
    if found is None:
        names = list(Tree.objects.values_list("name", flat=True))
        raise NotOffered(query, unknown(query, "tree", name, names))
    return found


def _metric(query: TrendQuery, offered: Sequence[Metric]) -> Metric | None:
    name = query.metric
    if not name:
        return offered[0] if offered else None
    for metric in offered:
        if metric.name == name:
            return metric
    raise NotOffered(query, unknown(query, "metric", name, [one.name for one in offered]))


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
    levels: dict[str, Any]
    disagrees: bool
    uploads: dict[str, Any] | None
    left_out: dict[str, Any] | None


class Judged(NamedTuple):
    """The columns of a comparison that the chart needs."""

    percent: float | None
    percent_error: float | None
    verdict: str
    flag: str


UNJUDGED = Judged(None, None, "", "")


class RevisionRow(NamedTuple):
    """As much of a revision as a chart shows."""

    id: int
    position: int
    name: str
    subject: str
    committed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The chart, and what is concluded about each series (by id) whether drawn or not."""

    trend: Trend
    conclusions: Mapping[int, Conclusion]


def load(selection: Selection) -> Loaded:
    """The chart of ``selection``: seven queries, events and releases are one each."""
    points = _points(selection)
    positions = [point.position for point in points]
    conclusions = conclusions_of(
        selection.series, since=min(positions, default=0), until=max(positions, default=0)
    )
    return Loaded(_trend(selection, points, conclusions), conclusions)


def _trend(
    selection: Selection, points: Sequence[PointRow], conclusions: Mapping[int, Conclusion]
) -> Trend:
    query = selection.query
    judged = _judged(selection.series, points)
    rows = _revisions(point.revision_id for point in points)
    index_of = {row.id: index for index, row in enumerate(rows)}
    positions = [row.position for row in rows]
    by_series: dict[int, list[PointRow]] = defaultdict(list)
    for point in points:
        by_series[point.series_id].append(point)
    return Trend(
        tree=selection.tree.name,
        metric=selection.metric.name,
        unit=selection.metric.unit,
        better=selection.better,
        revisions=_columns(rows),
        series=[
            replace(
                _series(series, its, judged, index_of, query.whiskers),
                single=_single(its, conclusions[series.pk]),
                levels=conclusions[series.pk].levels(positions),
                found=conclusions[series.pk].found(positions, [point.position for point in its]),
            )
            for series in selection.series
            if (its := by_series[series.pk])
        ],
        axis=query.axis,
        values=query.values,
        whiskers=query.whiskers,
        alerts=distinct(mark for one in conclusions.values() for mark in one.alerts(positions)),
        markers=markers_along(
            selection.tree,
            hardware={series.hardware_id for series in selection.series},
            revisions=index_of.keys(),
            positions=positions,
            findings=[
                (series, row)
                for series in selection.series
                for row in conclusions[series.pk].others
            ],
        ),
    )


def _points(selection: Selection) -> list[PointRow]:
    query = selection.query
    found = Point.objects.in_windows(selection.series)
    if query.start or query.end:
        since = _position(selection, query.start) if query.start else 0
        found = Point.objects.of_all(selection.series, since=since)
    if query.end:
        found = found.filter(position__lte=_position(selection, query.end))
    return [PointRow(*row) for row in found.values_list(*PointRow._fields)]


def _position(selection: Selection, name: str) -> int:
    revision = Revision.objects.placed().named(tree=selection.tree, name=name)
    if revision is None:
        raise Http404(f"There is no revision {name} in {selection.tree}.")
    return revision.position


def _judged(series: Sequence[Series], points: Sequence[PointRow]) -> dict[tuple[int, int], Judged]:
    positions = [point.position for point in points]
    rows = Comparison.objects.of_all(
        series, since=min(positions, default=0), until=max(positions, default=0)
    ).values_list("series_id", "revision_id", *Judged._fields)
    return {(row[0], row[1]): Judged(*row[2:]) for row in rows}


def _revisions(ids: Iterable[int]) -> list[RevisionRow]:
    rows = Revision.objects.filter(pk__in=set(ids)).order_by("position")
    return [RevisionRow(*row) for row in rows.values_list(*RevisionRow._fields)]


def _columns(rows: Sequence[RevisionRow]) -> Revisions:
    return Revisions(
        names=[row.name for row in rows],
        subjects=[row.subject[:SUBJECT_LENGTH] for row in rows],
        times=[_milliseconds(row.committed_at) for row in rows],
    )


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _series(
    series: Series,
    points: Sequence[PointRow],
    judged: dict[tuple[int, int], Judged],
    index_of: dict[int, int],
    whiskers: Whiskers,
) -> TrendSeries:
    verdicts = [judged.get((series.pk, point.revision_id), UNJUDGED) for point in points]
    bars = [_whisker(point, whiskers) for point in points]
    return TrendSeries(
        id=series.pk,
        hardware=series.hardware.name,
        mode=series.mode.name,
        simulated=series.hardware.lab.simulated,
        style=style_of(mode_id=series.mode_id, hardware_id=series.hardware_id),
        indices=[index_of[point.revision_id] for point in points],
        counts=[point.n for point in points],
        centres=[_centre(point, whiskers) for point in points],
        lows=[low for low, _ in bars],
        highs=[high for _, high in bars],
        percents=[one.percent for one in verdicts],
        errors=[one.percent_error for one in verdicts],
        verdicts=[
            RUNS_DISAGREE if point.disagrees else one.verdict
            for point, one in zip(points, verdicts, strict=True)
        ],
        flags=[one.flag for one in verdicts],
        apart=[
            Apart(at, [run["mean"] for run in point.uploads["runs"]])
            for at, point in enumerate(points)
            if point.disagrees and point.uploads
        ],
        left_out={
            at: excluded.text
            for at, point in enumerate(points)
            if (excluded := LeftOut.from_data(point.left_out))
        },
    )


def _single(points: Sequence[PointRow], conclusion: Conclusion) -> str:
    """What a series of one revision tells; empty where it has, or may have, more."""
    if len(points) != 1 or conclusion.summary.get("count", 1) > 1:
        return ""
    only = points[0]
    return one_revision(only.n, only.mean, only.minimum, only.maximum)


def _centre(point: PointRow, whiskers: Whiskers) -> float:
    return point.median if whiskers == Whiskers.RANGE else point.mean


def _whisker(point: PointRow, whiskers: Whiskers) -> tuple[float | None, float | None]:
    """The ends of a point's whisker: of the 95 % interval of the mean, or smallest and largest.

    The interval is that of the point's own units: builds, else boots, else runs. One unit has none,
    and runs that disagree have no mean.
    """
    if point.disagrees:
        return None, None
    if whiskers == Whiskers.RANGE:
        return point.minimum, point.maximum
    if whiskers == Whiskers.NONE:
        return None, None
    return Summary.from_data(point.levels).interval() or (None, None)
