"""`/hardware/` and the trend wall of one machine."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis.models import Comparison, Flag
from webapp.charts import sparkline
from webapp.charts.sparkline import Spark
from webapp.charts.text import common, number
from webapp.charts.theme import style_of
from webapp.charts.trend import AlertMark, distinct
from webapp.events.models import Canary, LabEvent
from webapp.pages.alert_summaries import open_by_severity
from webapp.pages.canaries import canary_lines
from webapp.pages.conclusions import Conclusion, SeriesText, conclusions_of
from webapp.pages.links import with_query
from webapp.results.models import Hardware, Metric, Point, Series, Tree

REVISIONS_SHOWN = 200
ALERTS_SHOWN = 12
EVENTS_SHOWN = 10

PointRow = tuple[int, int, float]
"""Position, revision id, mean."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What the charts draw: points and conclusions by series, flags by (series, revision)."""

    points: Mapping[int, Sequence[PointRow]]
    flags: Mapping[tuple[int, int], str]
    conclusions: Mapping[int, Conclusion]


@dataclass(frozen=True, slots=True)
class Tile:
    """One series on the wall."""

    series: Series
    image: str
    latest: float
    regressed: int
    improved: int
    text: SeriesText
    alerts: Sequence[AlertMark]


@dataclass(frozen=True, slots=True)
class Wall:
    """The tiles of one tree and metric; all their charts share one axis of revisions."""

    tree: Tree
    metric: Metric
    revisions: int
    tiles: Sequence[Tile]

    @property
    def better(self) -> str:
        """Which way is better, empty where its series differ."""
        return common(tile.series.better for tile in self.tiles)

    @property
    def all_modes(self) -> str:
        """The trend chart of everything on this wall, indexed: levels of modes differ."""
        pairs = {
            "tree": self.tree.name,
            "metric": self.metric.name,
            "hardware": self.tiles[0].series.hardware.name,
            "y": "indexed",
        }
        return with_query(reverse("trends"), pairs.items())


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """All machines, when each was measured last, and how many series it has."""
    rows = Hardware.objects.select_related("lab").with_last_run().with_series_count()
    return render(request, "pages/hardware_list.html", {"hardware": rows})


@require_safe
def wall(request: HttpRequest, name: str) -> HttpResponse:
    """One machine: its alerts, and a small chart of each series."""
    machine = get_object_or_404(Hardware.objects.select_related("lab").with_last_run(), name=name)
    series = Series.objects.named().filter(hardware=machine).with_window(REVISIONS_SHOWN)
    ordered = series.order_by("tree__name", "metric__name", "mode__name")
    context = {
        "machine": machine,
        "alerts": open_by_severity(ALERTS_SHOWN, hardware=machine.name),
        "walls": _walls(ordered),
        "shown": REVISIONS_SHOWN,
        "events": LabEvent.objects.in_force().on_hardware(machine).named()[:EVENTS_SHOWN],
        "canaries": canary_lines(list(Canary.objects.filter(hardware=machine).named())),
    }
    return render(request, "pages/hardware.html", context)


def _walls(found: QuerySet[Series]) -> list[Wall]:
    """Four queries for everything that is drawn, however many series there are."""
    groups: dict[tuple[Tree, Metric], list[Series]] = defaultdict(list)
    for series in found:
        groups[series.tree, series.metric].append(series)
    everything = [series for group in groups.values() for series in group]
    points = _points(everything)
    known = _Known(points, _flags(everything), _conclusions(everything, points))
    walls = [_wall(tree, metric, group, known) for (tree, metric), group in groups.items()]
    return [wall for wall in walls if wall.tiles]


def _points(series: Sequence[Series]) -> dict[int, list[PointRow]]:
    """The points of each series in its window."""
    points: dict[int, list[PointRow]] = defaultdict(list)
    rows = Point.objects.in_windows(series).values_list(
        "series_id", "position", "revision_id", "mean"
    )
    for series_id, position, revision_id, mean in rows:
        points[series_id].append((position, revision_id, mean))
    return points


def _flags(series: Iterable[Series]) -> dict[tuple[int, int], str]:
    rows = Comparison.objects.of_all(series).flagged()
    return {
        (series_id, revision_id): flag
        for series_id, revision_id, flag in rows.values_list("series_id", "revision_id", "flag")
    }


def _conclusions(
    series: Sequence[Series], points: Mapping[int, Sequence[PointRow]]
) -> Mapping[int, Conclusion]:
    positions = [row[0] for rows in points.values() for row in rows]
    return conclusions_of(series, since=min(positions, default=0), until=max(positions, default=0))


def _wall(
    tree: Tree,
    metric: Metric,
    group: Sequence[Series],
    known: _Known,
) -> Wall:
    positions = sorted({row[0] for series in group for row in known.points[series.pk]})
    tiles = [_tile(series, positions, known) for series in group if known.points[series.pk]]
    return Wall(tree, metric, len(positions), tiles)


def _tile(series: Series, positions: Sequence[int], known: _Known) -> Tile:
    rows, concluded = known.points[series.pk], known.conclusions[series.pk]
    marks = [known.flags.get((series.pk, revision_id), "") for _, revision_id, _ in rows]
    found = concluded.found(positions, [position for position, _, _ in rows])
    latest = rows[-1][2]
    alerts = distinct(concluded.alerts(positions))
    spark = Spark(
        indices=[bisect_left(positions, position) for position, _, _ in rows],
        values=[mean for _, _, mean in rows],
        flags=marks,
        style=style_of(mode_id=series.mode_id),
        levels=concluded.levels(positions),
        confirmed={one.at for one in found if one.is_confirmed},
        alerts=alerts,
    )
    described = f"{series.mode}: {len(rows)} revisions, latest {number(latest)}"
    return Tile(
        series=series,
        image=sparkline.draw(spark, length=len(positions), described=described),
        latest=latest,
        regressed=marks.count(Flag.REGRESSED),
        improved=marks.count(Flag.IMPROVED),
        text=concluded.text,
        alerts=alerts,
    )
