"""What stands under the front page's headline: the five cells (losses, runs, machines, bisects),
and the commits tested lately along one tree, from the tiles of its wall.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import OpenLoss
from webapp.analysis.queries import WallSeries, WallTile
from webapp.bisects.queries import RunningBisect
from webapp.charts import bars, timeline
from webapp.charts.timeline import Bar, Mark, Timeline
from webapp.events.queries import Axis, axis_of
from webapp.jobs.queries import MOST_IMPORTED, Machine
from webapp.pages.overview.wall import TreeOnWall
from webapp.pages.parts.components import age

COMMITS = 52
COMMITS_NARROW = 22
WIDTH, WIDTH_NARROW = 1360.0, 350.0
Drawn = tuple[WallSeries, WallTile]


@dataclass(frozen=True)
class Strip:
    """The five cells under the headline."""

    losses: Sequence[OpenLoss]
    machines: Mapping[int, Machine]
    bisects: Sequence[RunningBisect]
    now: datetime

    @property
    def first(self) -> OpenLoss | None:
        """The largest open loss; it also counts all of them."""
        return self.losses[0] if self.losses else None

    @property
    def worst(self) -> OpenLoss | None:
        """The one whose series has lost most today; the first where none of them stands."""
        standing = [one for one in self.losses if one.today.get("stands") and not one.option]
        return max(standing, key=_lost, default=self.first)

    @property
    def worst_percent(self) -> float | None:
        """What its series has lost today; None: beyond all figures."""
        worst = self.worst
        stands = worst.today.get("stands") if worst and not worst.option else None
        return stands["change_pct"] if stands else worst and worst.percent

    @property
    def worst_machine(self) -> Machine | None:
        """Where that is."""
        return self.machines[self.worst.hardware_id] if self.worst else None

    @property
    def real(self) -> int:
        """Open losses of real machines."""
        return self.losses[0].open - self.losses[0].simulated if self.losses else 0

    @cached_property
    def days(self) -> list[int]:
        """Live runs of all machines on each of the last days."""
        return [sum(day) for day in zip(*(one.days for one in self.machines.values()), strict=True)]

    @property
    def runs(self) -> int:
        """Live runs of these days together."""
        return sum(self.days)

    @property
    def imported(self) -> str:
        """Runs received as history in these days, where there are any."""
        count = sum(one.imported for one in self.machines.values())
        more = "+" if any(one.imported == MOST_IMPORTED for one in self.machines.values()) else ""
        return f"{count:,}{more} imported" if count else ""

    @property
    def newest(self) -> str:
        """How old the newest live run is."""
        times = [one.live_at for one in self.machines.values() if one.live_at]
        return f"newest {age(self.now - max(times))} ago" if times else "nothing measured live yet"

    @property
    def chart(self) -> SafeString:
        """A bar a day."""
        text = f"runs a day, the last {len(self.days)} days"
        return mark_safe(bars.draw(self.days, width=92, height=26, described=text))  # noqa: S308

    @property
    def reporting(self) -> list[Machine]:
        """Machines that were ever measured live, or have a worker, by name."""
        return [one for one in self.machines.values() if one.live_at or one.has_worker]

    @property
    def alive(self) -> int:
        """The machines that report now."""
        return sum(one.is_alive for one in self.reporting)

    @property
    def history(self) -> int:
        """Machines of which all was imported."""
        return sum(one.is_history and not one.has_worker for one in self.machines.values())

    @property
    def silence(self) -> str:
        """Who is silent, and for how long, or that nobody is."""
        silent = sorted(
            (one for one in self.reporting if not one.is_alive and one.live_at),
            key=lambda one: one.live_at or self.now,
        )
        if not silent:
            parts = ["all report"] if self.reporting else []
            return ", ".join(parts + ([f"{self.history} imported"] if self.history else []))
        newest = silent[-1]
        text = f"{newest.called} silent for {age(self.now - (newest.live_at or self.now))}"
        return f"{text}, {len(silent) - 1} more" if len(silent) > 1 else text

    @property
    def bisect(self) -> RunningBisect | None:
        """The newest of those that run."""
        return self.bisects[0] if self.bisects else None

    @property
    def bisect_chart(self) -> SafeString:
        """The probability of each of its commits."""
        chances = self.bisects[0].chances if self.bisects else []
        text = "probability of each commit"
        return mark_safe(bars.draw(chances, width=66, height=26, described=text))  # noqa: S308


def _lost(one: OpenLoss) -> float:
    size = one.today["stands"]["change_pct"]
    return inf if size is None else abs(size)


@dataclass(frozen=True, slots=True)
class DrawnTimeline:
    """The chart for wide windows and the one for phones, of the last commits of ``tree``."""

    tree: str
    commits: int
    wide: SafeString
    narrow: SafeString


def tree_of(trees: Sequence[TreeOnWall], asked: str = "") -> TreeOnWall | None:
    """The tree whose commits are drawn: the one ``asked`` for by its name, else that with the
    longest recent history, a real one before a simulated one; None: no tile is drawn.
    """
    drawn = [one for one in trees if one.axis]
    named = [one for one in drawn if one.name == asked]
    return max(
        named or drawn,
        key=lambda one: (min(len(one.axis), COMMITS), not one.is_simulated, _tiles(one)),
        default=None,
    )


def others(trees: Sequence[TreeOnWall]) -> list[str]:
    """The names of the trees to choose from: none where there is no choice."""
    names = [one.name for one in trees if len(one.axis) > 1]
    return names if len(names) > 1 else []


def _tiles(tree: TreeOnWall) -> int:
    return sum(len(row.tiles) for row in tree.rows)


def draw(tree: TreeOnWall, tiles: Mapping[int, WallTile]) -> DrawnTimeline:
    """Both charts of ``tree``, with one statement for the ends and the releases between."""
    shown = [(one, tiles[one.id]) for row in tree.rows for one in row.tiles]
    wide, narrow = tree.axis[-COMMITS:], tree.axis[-COMMITS_NARROW:]
    known = axis_of(tree.name, sorted({wide[0], narrow[0], wide[-1]}))
    return DrawnTimeline(
        tree.name,
        len(wide),
        _chart(tree.name, wide, shown, known, WIDTH),
        _chart(tree.name, narrow, shown, known, WIDTH_NARROW),
    )


def _chart(
    tree: str, axis: Sequence[int], tiles: Sequence[Drawn], known: Axis, width: float
) -> SafeString:
    column = {position: index for index, position in enumerate(axis)}
    dots = [_steps(series, one, axis) for series, one in tiles if len(one.means) > 1]
    bars = _bars(tree, tiles, column)
    first, last = (known.names.get(position, "") for position in (axis[0], axis[-1]))
    releases = [
        Mark(bisect_left(axis, position), release, reverse("commit", args=[tree, name]))
        for position, name, release in known.releases
        if axis[0] <= position
    ]
    drawn = timeline.draw(
        Timeline(len(axis), dots, bars, first, last, releases),
        width=width,
        described=f"The last {len(axis)} tested commits of {tree}, {len(bars)} proven changes",
    )
    return mark_safe(drawn)  # noqa: S308


def _steps(
    series: WallSeries, shown: WallTile, axis: Sequence[int]
) -> tuple[npt.NDArray[np.int_], npt.NDArray[np.float64]]:
    """Columns, and each point against the one before in percent (more is better)."""
    means, positions = np.array(shown.means), np.array(shown.positions[1:])
    kept = (positions >= axis[0]) & (means[:-1] != 0)
    before, after = means[:-1][kept], means[1:][kept]
    factor = -100 if series.better == "less" else 100
    return np.searchsorted(axis, positions[kept]), factor * (after - before) / np.abs(before)


def _bars(tree: str, tiles: Sequence[Drawn], column: Mapping[int, int]) -> list[Bar]:
    """The largest gain and the largest loss at each commit."""
    largest: dict[tuple[int, str], Bar] = {}
    for _, shown in tiles:
        for change in shown.changes:
            if change.position not in column or change.percent is None:
                continue
            key = change.position, change.verdict
            if key not in largest or abs(largest[key].percent) < abs(change.percent):
                href = reverse("commit", args=[tree, change.revision])
                largest[key] = Bar(
                    column[change.position], change.percent, change.verdict, change.revision, href
                )
    return [largest[key] for key in sorted(largest)]
