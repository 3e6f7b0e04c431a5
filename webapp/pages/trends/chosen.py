"""`/trends/chosen/`: what the page of a trend shows of the points A and B and of the marked range
of its chart. The answer has each part of the page that changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.analysis.models import Finding
from webapp.analysis.queries import Side
from webapp.charts.trend import Found, Trend, TrendSeries
from webapp.pages.parts.figures import OverRevisions, over_revisions
from webapp.pages.parts.links import commit_link, compare_link, side_of, with_query
from webapp.pages.trends import data as trend_data
from webapp.pages.trends.data import Loaded, Selection
from webapp.pages.trends.offer import NotOffered
from webapp.pages.trends.points import all_points
from webapp.pages.trends.query import TrendQuery
from webapp.results.models import Revision

WITHOUT_RANGE = ("range", "a", "b")


class Chosen(NamedTuple):
    """A point of a series, at the revision with the index ``at``."""

    series: TrendSeries
    at: int


@dataclass(frozen=True, slots=True)
class Card:
    """B: what is measured there (``index`` counts the points of its series; None: nothing), found
    there in any series, and where it leads: names and addresses.
    """

    trend: Trend
    series: TrendSeries
    at: int
    links: Sequence[tuple[str, str]]

    @property
    def name(self) -> str:
        """The name of the revision."""
        return self.trend.revisions.names[self.at]

    @property
    def subject(self) -> str:
        """The subject of that."""
        return self.trend.revisions.subjects[self.at]

    @property
    def index(self) -> int | None:
        """Which point of its series it is."""
        return index_in(self.series, self.at)

    @property
    def value(self) -> float | None:
        """What was measured."""
        return None if self.index is None else self.series.centres[self.index]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of its whisker."""
        if self.index is None:
            return None
        low, high = self.series.lows[self.index], self.series.highs[self.index]
        return None if low is None or high is None else (low, high)

    @property
    def count(self) -> int:
        """How many samples it has."""
        return 0 if self.index is None else self.series.counts[self.index]

    @property
    def change(self) -> float | None:
        """In percent of the point before."""
        before = self.series.centres[self.index - 1] if self.index else 0.0
        return 100 * (self.value - before) / before if before and self.value is not None else None

    @property
    def runs(self) -> Sequence[float]:
        """The mean of each run, where they disagree."""
        return next((one.means for one in self.series.apart if one.at == self.index), ())

    @property
    def left_out(self) -> str:
        """How many samples do not count, and why."""
        return "" if self.index is None else self.series.left_out.get(self.index, "")

    @property
    def foreign(self) -> str:
        """What becomes of its session, where that is one from elsewhere."""
        return "" if self.index is None else self.series.foreign.get(self.index, "")

    @property
    def found(self) -> Iterator[tuple[str, str, Found]]:
        """The findings at its revision, each with its series and its kind; a change of level has
        no word for that.
        """
        for one in self.trend.series:
            for found in (*one.found, *one.marks):
                if found.index == self.at:
                    is_level = found.kind == Finding.Kind.LEVEL
                    kind = "" if is_level else Finding.Kind(found.kind).label.lower()
                    yield self.trend.short_name(one), kind, found


@dataclass(frozen=True, slots=True)
class RangeRow:
    """All points of one series between the ends of the range, drawn or not; percentages are None
    where the mean (or the first value) is nought.
    """

    series: TrendSeries
    values: npt.NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Of the values."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float | None:
        """Standard deviation in percent of the mean."""
        if len(self.values) < 2 or not self.mean:
            return None
        return abs(100 * float(self.values.std(ddof=1)) / self.mean)

    @property
    def least(self) -> float:
        """The smallest value."""
        return float(self.values.min())

    @property
    def most(self) -> float:
        """The largest value."""
        return float(self.values.max())

    @property
    def moved(self) -> float | None:
        """From the first to the last value, in percent."""
        first, last = map(float, self.values[[0, -1]])
        return 100 * (last - first) / first if first else None


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The card of B, both sides, the distributions up to B, and the range, where chosen."""
    query = TrendQuery.parse(request.GET)
    try:
        selection = trend_data.select(query)
    except NotOffered as error:
        raise Http404(str(error)) from error
    if selection is None:
        raise Http404("Nothing is measured.")
    loaded = trend_data.load(selection)
    trend = loaded.trend
    a, b = (chosen(trend, query.beside(side)) for side in "ab")
    can_ask = is_triager(request.user)
    context = {
        "selection": selection,
        "trend": trend,
        "a": a and trend.revisions.names[a.at],
        "b": b and trend.revisions.names[b.at],
        "compare": comparison(trend, a, b) if a and b else "",
        "card": card(selection, trend, b, can_note=can_ask) if b else None,
        "can_ask": can_ask,
        "over_revisions": over_revisions_to(selection, loaded, b) if b else None,
        **range_of(selection, loaded),
    }
    return render(request, "pages/trends/_chosen.html", context)


def chosen(trend: Trend, text: str) -> Chosen | None:
    """``<series>@<revision>`` of an address; None where either is not drawn."""
    key, _, name = text.partition("@")
    series = next((one for one in trend.series if str(one.id) == key), None)
    if series is None or name not in trend.revisions.names:
        return None
    return Chosen(series, trend.revisions.names.index(name))


def index_in(series: TrendSeries, at: int) -> int | None:
    """Which point of ``series`` is that of the revision ``at``."""
    return series.indices.index(at) if at in series.indices else None


def card(selection: Selection, trend: Trend, b: Chosen, *, can_note: bool) -> Card:
    """What is known of B."""
    names, index = trend.revisions.names, index_in(b.series, b.at)
    series = next(one for one in selection.series if one.pk == b.series.id)
    commit = commit_link(trend.tree, names[b.at])
    links = [("Open commit", commit)]
    if index:
        before = names[b.series.indices[index - 1]]
        ends = (side_of(series, Revision(name=name)) for name in (before, names[b.at]))
        links.append((f"Compare with {before}", compare_link(*ends)))
    if index is not None:
        pairs = {"part": "runs", "hardware": series.hardware.name, "mode": series.mode.name}
        links.append(("Its runs", f"{with_query(commit, pairs.items())}#runs"))
        here = [("a", selection.query.beside("b"))]
        rest = tuple(one for one in selection.query.extra if one[0] != "a")
        links.append(("Make it A", selection.query.link(extra=(*here, *rest))))
    if can_note:
        note = {"kind": "note", "tree": trend.tree, "hardware": series.hardware.name}
        pairs = note | {"first": names[b.at]}
        links.append(("Add a note", with_query(reverse("event_new"), pairs.items())))
    return Card(trend, b.series, b.at, links)


def over_revisions_to(selection: Selection, loaded: Loaded, b: Chosen) -> OverRevisions | None:
    """The distributions of the series of B up to it; None where its metric is no quantile."""
    if selection.histograms is None:
        return None
    position, asof = loaded.positions[b.at], selection.query.moment
    unit = selection.metric.unit
    return over_revisions(selection.histograms, b.series.id, position, asof, unit=unit)


def comparison(trend: Trend, a: Chosen, b: Chosen) -> str:
    """Where A and B are compared: in all that is drawn, as narrow as the series have in common."""
    drawn = trend.drawn
    machines, modes = {one.hardware for one in drawn}, {one.mode for one in drawn}
    hardware = next(iter(machines)) if len(machines) == 1 else ""
    mode = next(iter(modes)) if hardware and len(modes) == 1 else ""
    rest = (hardware, mode, trend.metric if mode else "")
    return compare_link(*(Side(trend.tree, trend.revisions.names[one.at], *rest) for one in (a, b)))


def range_of(selection: Selection, loaded: Loaded) -> dict[str, object]:
    """The ends of the marked range, the statistics of each series in it, and where it leads; empty
    where none is marked, and where its ends are not shown what is ``missing``.
    """
    trend, query = loaded.trend, selection.query
    names, ends = trend.revisions.names, query.beside("range").split("..")
    missing = [end for end in ends if end not in names]
    if len(ends) != 2 or missing:
        return {"ends": None, "missing": [end for end in missing if end]}
    first, last = sorted(names.index(end) for end in ends)
    shown = [one for one in trend.series if one.id not in trend.hidden]
    values = values_between(selection, loaded, first, last)
    extra = tuple(one for one in query.extra if one[0] not in WITHOUT_RANGE)
    return {
        "ends": (names[first], names[last]),
        "rows": [RangeRow(one, values[one.id]) for one in shown if len(values[one.id])],
        "only": query.link(start=names[first], end=names[last], view="", heights=(), extra=extra),
        "compared": compare_link(*(Side(trend.tree, names[at]) for at in (first, last))),
    }


def values_between(
    selection: Selection, loaded: Loaded, first: int, last: int
) -> Mapping[int, npt.NDArray[np.float64]]:
    """By series the values of all points, drawn or not, between two revisions of the chart."""
    if loaded.trend.revisions.is_thinned:
        low, high = loaded.positions[first], loaded.positions[last]
        columns = all_points(selection.everything, selection.query, tree=selection.tree)
        return columns.between(low, high)
    return {
        one.id: np.array(one.centres)[slice(*np.searchsorted(one.indices, [first, last + 1]))]
        for one in loaded.trend.series
    }
