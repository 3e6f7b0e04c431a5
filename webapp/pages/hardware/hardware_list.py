"""`/hardware/`: which machines work, and what can they see?"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import groupby
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from webapp.alerts.queries import open_losses_by_hardware
from webapp.analysis.queries import WallSeries, WallTile, wall_tiles
from webapp.charts import bars
from webapp.charts.text import MARKS
from webapp.jobs.queries import SILENT_AFTER, Machine, machines
from webapp.pages.overview import wall
from webapp.pages.parts.cache import Cache
from webapp.pages.parts.components import age, counted, machine_html

DAYS = 45
TILES_EACH = 3
ALL = "all"


@dataclass(frozen=True, slots=True)
class Known:
    """What the rows are drawn from, by hardware or series (ids)."""

    series: Mapping[int, Sequence[WallSeries]]
    tiles: Mapping[int, str]
    losses: Mapping[int, int]
    now: datetime


TILES: Cache[Mapping[int, str]] = Cache(most=8, seconds=60.0)
"""Drawn tiles, as `overview.WALLS` keeps them: by the versions of their points and conclusions.
What changes without a sign of it there shows late, by a minute at most."""


@dataclass(frozen=True, slots=True)
class Lab:
    """The machines of one lab as HTML rows."""

    name: str
    summary: str
    rows: SafeString


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """All machines by lab: runs a day, the series with the largest changes, what they detect."""
    now = timezone.now()
    found = machines(now=now, days=DAYS)
    kinds = {ALL: found} | _kinds(found)
    asked = request.GET.get("show", "")
    show = asked if asked in kinds else ALL
    context = {
        "machines": found,
        "headline": _headline(found, now),
        "filters": [(name, len(rows)) for name, rows in kinds.items() if name == ALL or rows],
        "show": show,
        "labs": _labs(kinds[show], _known(kinds[show], now)),
        "axis": mark_safe(bars.detectable_axis()),  # noqa: S308 (figures only)
        "days": DAYS,
    }
    return render(request, "pages/hardware/hardware_list.html", context)


def _kinds(found: Sequence[Machine]) -> dict[str, list[Machine]]:
    return {
        "reporting": [one for one in found if one.is_alive],
        "silent": [one for one in found if one.is_silent and not one.is_alive],
        "imported": [one for one in found if one.is_history and not one.has_worker],
    }


def _known(found: Sequence[Machine], now: datetime) -> Known:
    """Three statements for everything that the rows show, one less where tiles are kept."""
    series: dict[int, list[WallSeries]] = defaultdict(list)
    wanted = {one.id for one in found}
    for one in wall.every_series().series:
        if one.hardware_id in wanted:
            series[one.hardware_id].append(one)
    drawn = [
        one
        for rows in series.values()
        for one in wall.ranked([row for row in rows if row.revisions > 1])[:TILES_EACH]
    ]
    names = {one.id: one.name for one in found}
    shown = tuple(
        (one._replace(live_at=None, is_dirty=False), names[one.hardware_id])
        for one in wall.ranked(drawn)[: wall.MOST_TILES]
    )
    tiles = TILES.get(shown, lambda: _tiles(shown))
    return Known(series, tiles, open_losses_by_hardware(), now)


def _tiles(wanted: Sequence[tuple[WallSeries, str]]) -> dict[int, str]:
    """The tile of each series (by id), which is on the machine of that name; one statement."""
    found = wall_tiles([one.id for one, _ in wanted], last=wall.REVISIONS_SHOWN)
    drawn = [(one, name) for one, name in wanted if one.id in found]
    modes = Counter((name, one.tree, one.mode) for one, name in drawn)
    return {
        one.id: _tile(one, found[one.id], name, is_one=modes[name, one.tree, one.mode] == 1)
        for one, name in drawn
    }


def _tile(one: WallSeries, shown: WallTile, hardware: str, *, is_one: bool) -> str:
    """Named by the mode; unless it ``is_one`` of the mode by the metric before that."""
    called = one.mode if is_one else f"{one.metric}, {one.mode}"
    href = (
        f"{reverse('trends')}?tree={quote(one.tree)}&hardware={quote(hardware)}"
        f"&mode={quote(one.mode)}&metric={quote(one.metric)}"
    )
    index_of = {position: index for index, position in enumerate(shown.positions)}
    chart = wall.draw_tile(one, shown, shown.positions, index_of)
    return (
        f'<a class="small-tile" href="{escape(href)}"><span class="m">{escape(called)}</span>'
        f"{wall.news(one, shown)}{chart}</a>"
    )


def _headline(found: Sequence[Machine], now: datetime) -> str:
    runs = sum(sum(one.days[-SILENT_AFTER.days :]) for one in found)
    alive = sum(one.is_alive for one in found)
    if not any(one.live_at or one.has_worker for one in found):
        return f"{counted(len(found), 'machine')}, none measured live"
    title = f"{counted(runs, 'run')} in two weeks on {counted(alive, 'machine')}"
    silent = [one for one in found if one.is_silent and not one.is_alive and one.live_at]
    if not silent:
        return title
    newest = max(silent, key=lambda one: one.live_at or now)
    length = age(now - (newest.live_at or now))
    if len(silent) == 1:
        return f"{title}; {newest.called} has been silent for {length}"
    return f"{title}; {len(silent)} are silent, {newest.called} for {length}"


def _labs(found: Sequence[Machine], known: Known) -> list[Lab]:
    labs = []
    for name, group in groupby(found, key=lambda one: one.lab):
        rows = list(group)
        silent = sum(one.is_silent and not one.is_alive for one in rows)
        workers = sum(one.has_worker for one in rows)
        parts = [counted(len(rows), "machine")]
        parts += [f"{silent} silent"] if silent else []
        parts += [f"{workers} with an agent that takes jobs"] if workers else []
        html = _rows_html([_Row(one, known) for one in rows])
        labs.append(Lab(name, ", ".join(parts), mark_safe(html)))  # noqa: S308
    return labs


def _rows_html(rows: Sequence["_Row"]) -> str:
    """Machines that have nothing to draw take one line together."""
    short = [row for row in rows if row.is_short]
    named = ", ".join(row.in_short for row in short)
    line = f'<tr class="together"><td colspan="5">{named}: {wall.ONE_REVISION}</td></tr>'
    return "".join([*(row.html for row in rows if not row.is_short), *([line] if short else [])])


@dataclass(frozen=True, slots=True)
class _Row:
    machine: Machine
    known: Known

    @property
    def is_short(self) -> bool:
        """Whether all of it was imported, and each of its series has one revision."""
        series = self._series
        is_imported = self.machine.live_at is None and not self.machine.has_worker
        return is_imported and bool(series) and all(one.revisions <= 1 for one in series)

    @property
    def in_short(self) -> str:
        """In a line with others."""
        return wall.short_machine(self.machine, len(self._series), " data-item")

    @property
    def html(self) -> str:
        return (
            f'<tr><th scope="row"><a data-item href="{self._href}">{self._name}</a>'
            f'</th><td class="runs-a-day">{self._reports}</td>'
            f'<td class="modes-with-a-trend">{self._tiles}</td>'
            f'<td class="spare">{self._detects}</td><td class="number">{self._losses}</td></tr>'
        )

    @property
    def _name(self) -> str:
        one = self.machine
        return machine_html(one.called, one.name, simulated=one.is_simulated)

    @property
    def _href(self) -> str:
        return escape(reverse("hardware", args=[self.machine.name]))

    @property
    def _series(self) -> Sequence[WallSeries]:
        return self.known.series.get(self.machine.id, ())

    @property
    def _reports(self) -> str:
        chart = bars.draw(self.machine.days, width=150, height=20, described=self._described)
        return (
            f'<span class="nowrap">{self._newest}</span>{chart if any(self.machine.days) else ""}'
        )

    @property
    def _described(self) -> str:
        return f"{sum(self.machine.days):,} runs in {len(self.machine.days)} days"

    @property
    def _newest(self) -> str:
        machine = self.machine
        if machine.measuring:
            return f'<span class="pill live">measuring {escape(machine.measuring)}</span>'
        if machine.live_at is None:
            if machine.has_worker:
                return '<span class="pill live">an agent waits for jobs</span>'
            return "imported" if machine.has_runs else "nothing measured yet"
        length = age(self.known.now - machine.live_at)
        if machine.is_silent and not machine.has_worker:
            return f'<span class="pill">silent {length}</span>'
        return f"{length} ago"

    @property
    def _tiles(self) -> str:
        drawn = [one for one in self._series if one.id in self.known.tiles]
        left = [one for one in self._series if one.id not in self.known.tiles]
        tiles = "".join(self.known.tiles[one.id] for one in wall.ranked(drawn))
        rest = (
            f'<span class="muted">{escape(wall.counted_text(left, drawn))}</span>' if left else ""
        )
        return f'<div class="tiles">{tiles}{rest}</div>'

    @property
    def _detects(self) -> str:
        found = [one.smallest for one in self._series if one.smallest is not None]
        return bars.draw_detectable(found)

    @property
    def _losses(self) -> str:
        count = self.known.losses.get(self.machine.id, 0)
        if not count:
            return '<span class="muted">–</span>'
        href = f"{reverse('alerts')}?hardware={quote(self.machine.name)}"
        mark = MARKS["worse"]
        return f'<a class="worse" href="{escape(href)}"><b>{mark} {count:,}</b></a>'
