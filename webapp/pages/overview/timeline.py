"""The commits tested lately along one tree, for the front page: from the tiles of its wall."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.queries import WallSeries, WallTile
from webapp.charts import timeline
from webapp.charts.timeline import Bar, Mark, Timeline
from webapp.events.queries import Axis, axis_of
from webapp.pages.overview.wall import TreeOnWall

COMMITS = 52
COMMITS_NARROW = 22
WIDTH, WIDTH_NARROW = 1360.0, 350.0
Drawn = tuple[WallSeries, WallTile]


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
    """Columns, and each point against the one before in percent; more is better. A point after a
    mean of 0 is left out.
    """
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
