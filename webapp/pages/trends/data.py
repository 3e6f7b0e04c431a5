"""Loads what the trend chart shows, in a fixed number of queries; samples are never read."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from webapp.analysis.models import Finding, SeriesSettings
from webapp.charts.svg import style_of
from webapp.charts.text import common, one_revision
from webapp.charts.trend import Apart, Trend, TrendSeries, Whiskers, distinct
from webapp.events.queries import stamps
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.conclusions import NOT_KNOWN, Concluded, Conclusion, concluded
from webapp.pages.parts.links import read_number
from webapp.pages.trends import offer as offers
from webapp.pages.trends.offer import Measured, Offer, Unknown
from webapp.pages.trends.points import (
    OwnPoints,
    PointRow,
    Points,
    is_thinned,
    read_points,
    read_revisions,
)
from webapp.pages.trends.query import End, TrendQuery, ends_of, markers_along, view_of
from webapp.results.models import LeftOut, Metric, Series, Tree
from webapp.results.queries import series_in_windows
from webapp.stats.histograms import histogram_name
from webapp.stats.sessions import ForeignSession

MOST_SERIES = 24
OPENED = 6
"""Series that the page opens on, where its address names none."""

MOST_COSTS = 4
"""Lanes of what options cost: with more the levels themselves would be out of sight."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen series, at most `MOST_SERIES` of ``matching``, and the query as understood.

    ``costs`` are what options cost that they have. ``unknown`` are names in the query that this
    tree and metric do not have. ``stamp`` is that of what surrounds the series.
    """

    query: TrendQuery
    tree: Tree
    metric: Metric
    series: Sequence[Series]
    costs: Sequence[Series]
    matching: int
    offer: Offer
    unknown: Sequence[Unknown]
    trees: Sequence[Tree]
    stamp: str

    @property
    def everything(self) -> list[Series]:
        """What is read: the series, and what options cost in them."""
        return [*self.series, *self.costs]

    @property
    def machines(self) -> offers.Menu:
        """The machines to choose from, as people call them."""
        return offers.menu("hardware", self.offer.hardware, self.query.hardware)

    @property
    def modes(self) -> offers.Menu:
        """The modes to choose from."""
        return offers.menu("mode", {one: one for one in self.offer.modes}, self.query.modes)

    @property
    def histograms(self) -> str | None:
        """The name of the histograms that the metric would be a quantile of."""
        return histogram_name(self.metric.name)

    @property
    def better(self) -> str:
        """Which way is better, empty where the chosen series differ."""
        return common(one.better for one in self.series) if self.series else self.metric.better


def select(query: TrendQuery) -> Selection | None:
    """The series that ``query`` means; None when nothing is measured in its tree.

    Raises Http404 for a tree or a metric that does not exist.
    """
    query, may_have_changed = _opened(query)
    offered, chart = stamps()
    trees = offers.trees(offered)
    tree = offers.tree_asked(query, trees)
    if tree is None:
        return None
    metric = offers.metric_asked(query, tree, offers.metrics(offered, tree))
    if metric is None:
        return None
    offer = offers.offer(offered, tree, metric)
    query = replace(query, tree=tree.name, metric=metric.name)
    missing = offers.unknown_names(query, offer)
    query, chosen = _chosen(_known(query, offer), offer.measured, may_have_changed=may_have_changed)
    series, costs = _windows(chosen[:MOST_SERIES], offer, query.last)
    return Selection(query, tree, metric, series, costs, len(chosen), offer, missing, trees, chart)


def _opened(query: TrendQuery) -> tuple[TrendQuery, bool]:
    """``query``, else of the last change, and whether any series may have changed."""
    if query.tree or query.metric or query.hardware or query.modes:
        return query, True
    changed = Finding.objects.last_changed()
    if changed is None:
        return query, False
    return replace(query, tree=changed[0], metric=changed[1]), True


def _known(query: TrendQuery, offer: Offer) -> TrendQuery:
    """``query`` with the names that are offered. Where all that are given are unknown they stay,
    and so nothing is drawn: never another machine instead.
    """
    hardware = tuple(name for name in query.hardware if name in offer.hardware)
    modes = tuple(name for name in query.modes if name in offer.modes)
    return replace(query, hardware=hardware or query.hardware, modes=modes or query.modes)


def _chosen(
    query: TrendQuery, measured: Sequence[Measured], *, may_have_changed: bool
) -> tuple[TrendQuery, list[int]]:
    """The ids of the series that ``query`` takes: those that changed last first, where not all can
    be drawn. Where it names none, the machine that changed last, in the modes that changed.
    """
    is_open = not query.hardware and not query.modes
    taken = [one for one in measured if query.takes(one.hardware, one.mode)]
    if not is_open and len(taken) <= MOST_SERIES:
        return query, [one.pk for one in taken]
    taken_ids = [one.pk for one in taken]
    changes = Finding.objects.last_changes(taken_ids) if may_have_changed else {}
    ranked = sorted(
        taken, key=lambda one: (one.pk not in changes, one.simulated, *_rank(changes, one))
    )
    if not is_open or not ranked:
        return query, [one.pk for one in ranked]
    here = [one for one in ranked if one.hardware == ranked[0].hardware]
    changed = [one.mode for one in here if one.pk in changes][:OPENED]
    query = replace(query, hardware=(ranked[0].hardware,), modes=tuple(changed))
    return query, [one.pk for one in here if not changed or one.mode in changed]


def _rank(changes: Mapping[int, tuple[int, float]], one: Measured) -> tuple[bool, float, float]:
    """What changed by less than an alert asks for comes after what changed by more."""
    last, size = changes.get(one.pk, (0, 0.0))
    return size < SeriesSettings.DEFAULT_MIN_EFFECT_PCT, -last, -size


def _windows(shown: Sequence[int], offer: Offer, last: int) -> tuple[list[Series], list[Series]]:
    """The series, each with its window's start; a cost's is that of the series with the option."""
    names = {one.pk: (one.hardware, one.mode) for one in offer.measured}
    wanted = {pk: one for one in shown for pk in offer.costs.get(names[one], ())}
    costs = list(wanted)[:MOST_COSTS]
    found = series_in_windows([*shown, *costs], last)
    for pk in costs:
        found[pk].window_start = found[wanted[pk]].window_start  # type: ignore[attr-defined]
    return [found[pk] for pk in shown], [found[pk] for pk in costs]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The chart, and what is concluded about each series (by id) whether drawn or not.
    ``positions`` are those of the revisions shown.
    """

    trend: Trend
    conclusions: Mapping[int, Conclusion]
    positions: Sequence[int]

    def seen_by(self, selection: Selection, sight: Sequence[End]) -> "Loaded":
        """The same with what the query hides, and the part with these ends in sight."""
        query, tree = selection.query, selection.tree
        names = list(self.trend.revisions.names)
        view = view_of(sight, names=names, positions=self.positions, tree=tree)
        trend = replace(
            self.trend,
            window=view.window,
            notes=view.notes,
            hidden=frozenset(map(read_number, query.hidden)),
            heights=query.lane_heights,
        )
        return replace(self, trend=trend)


LOADED: Cache[Loaded] = Cache(most=32, seconds=60.0)
"""Charts without a view: another view of the same is another figure, and no other statement."""


def known(selection: Selection) -> Concluded:
    """What is concluded about the series of ``selection``: two queries."""
    return concluded(selection.everything, asof=selection.query.moment)


def key_of(selection: Selection, found: Concluded) -> Hashable:
    """Equal where the chart and the text beside it are: what they are made from, by versions."""
    windows = [(one.pk, one.version, one.window_start) for one in selection.everything]  # type: ignore[attr-defined]
    return selection.query, selection.matching, selection.stamp, tuple(windows), found


def load(selection: Selection, found: Concluded | None = None) -> Loaded:
    """The chart of ``selection``, read in six queries (events and releases are one each) unless it
    is kept. Of a long history each view, and what is chosen there, has points of its own. ``found``
    is what is concluded, where it is known already.
    """
    found = known(selection) if found is None else found
    query, tree, everything = selection.query, selection.tree, selection.everything
    sight = ends_of(query, tree)
    if (sight or query.chosen) and is_thinned(everything, query, tree=tree):
        return _read(selection, found, sight).seen_by(selection, sight)
    whole = replace(query, view="", heights=(), hidden=(), extra=())
    unseen = replace(selection, query=whole)
    loaded = LOADED.get(key_of(unseen, found), lambda: _read(unseen, found))
    return loaded.seen_by(selection, sight)


def _read(selection: Selection, found: Concluded, sight: Sequence[End] = ()) -> Loaded:
    rows = read_points(
        selection.everything,
        selection.query,
        tree=selection.tree,
        sight=sight,
        named=found.positions,
    )
    ends = [its[end].position for its in rows.by_series.values() if its for end in (0, -1)]
    conclusions = found.between(min(ends, default=0), max(ends, default=0))
    return _loaded(selection, rows, conclusions)


def _loaded(selection: Selection, rows: Points, conclusions: Mapping[int, Conclusion]) -> Loaded:
    query = selection.query
    revisions = read_revisions(rows)
    index_of = {row.id: index for index, row in enumerate(revisions)}
    positions = [row.position for row in revisions]
    drawn = _drawn_series(selection, rows, conclusions, index_of, positions)
    costs = {one.pk for one in selection.costs}
    trend = Trend(
        tree=selection.tree.name,
        metric=selection.metric.name,
        unit=selection.metric.unit,
        better=selection.better,
        revisions=rows.axis(revisions),
        series=[one for one in drawn if one.id not in costs],
        axis=query.axis,
        values=query.values,
        whiskers=query.whiskers,
        split=query.split,
        alerts=distinct(mark for one in conclusions.values() for mark in one.alerts(positions)),
        markers=markers_along(
            selection.tree,
            hardware={one.hardware_id for one in selection.series},
            revisions=index_of.keys(),
            positions=positions,
            findings=[
                (series, row)
                for series in selection.everything
                for row in conclusions[series.pk].others
            ],
        ),
        costs=[one for one in drawn if one.id in costs],
    )
    return Loaded(trend, conclusions, positions)


def _drawn_series(
    selection: Selection,
    points: Points,
    conclusions: Mapping[int, Conclusion],
    index_of: dict[int, int],
    positions: Sequence[int],
) -> list[TrendSeries]:
    """Series of the selection that have a point, with what is concluded about them."""
    machines = list(dict.fromkeys(one.hardware_id for one in selection.everything))
    return [
        replace(
            _series(
                one,
                its,
                index_of,
                whiskers=selection.query.whiskers,
                machine=machines.index(one.hardware_id),
            ),
            single=_single(its, conclusion),
            levels=conclusion.levels(positions),
            count=points.counts.get(one.pk, len(its)),
            stands=conclusion.summary.get("net_loss"),
            found=conclusion.found(positions, own),
            marks=conclusion.marks(positions, own),
            detects=_known_figure(conclusion.text.smallest),
            noise=_known_figure(conclusion.text.run_noise),
        )
        for one in selection.everything
        for conclusion in (conclusions[one.pk],)
        if (its := points.by_series.get(one.pk))
        for own in (its.columns["position"],)
    ]


def _known_figure(text: str) -> str:
    return "" if text == NOT_KNOWN else text


def _series(
    series: Series, points: OwnPoints, index_of: dict[int, int], *, whiskers: Whiskers, machine: int
) -> TrendSeries:
    ends = points.whiskers(whiskers)
    begun = series.begun_sessions
    own = points.columns
    centres = own["median" if whiskers == Whiskers.RANGE else "mean"]
    is_any_foreign = any(own["beside"]) or not begun.keys().isdisjoint(own["position"])
    return TrendSeries(
        id=series.pk,
        hardware=series.hardware.name,
        machine=str(series.hardware),
        mode=series.mode_text,
        option=series.metric.option,
        better=series.better,
        simulated=series.hardware.lab.simulated,
        style=style_of(mode_id=series.mode_id, machine=machine),
        indices=[index_of[pk] for pk in own["revision_id"]],
        counts=own["n"],
        centres=centres,
        lows=[low for low, _ in ends],
        highs=[high for _, high in ends],
        apart=[
            Apart(at, [run["mean"] for run in point.uploads["runs"]])
            for at, point in enumerate(points if any(own["disagrees"]) else ())
            if point.disagrees and point.uploads
        ],
        left_out={
            at: excluded.text
            for at, point in enumerate(points if any(own["left_out"]) else ())
            if point.left_out and (excluded := LeftOut.from_data(point.left_out))
        },
        foreign={
            at: found.text
            for at, point in enumerate(points if is_any_foreign else ())
            if (point.beside or point.position in begun) and (found := _foreign(point, begun))
        },
        beside=[at for at, one in enumerate(own["beside"]) if one],
    )


def _foreign(point: PointRow, begun: Mapping[int, ForeignSession]) -> ForeignSession | None:
    """The session from elsewhere that it stands beside its series with, or that begins there."""
    return ForeignSession.from_data(point.beside) if point.beside else begun.get(point.position)


def _single(points: Sequence[PointRow], conclusion: Conclusion) -> str:
    """The figures of a series of one revision; empty where it has, or may have, more."""
    if len(points) != 1 or conclusion.summary.get("count", 1) > 1:
        return ""
    only = points[0]
    return one_revision(only.n, only.mean, only.minimum, only.maximum)
