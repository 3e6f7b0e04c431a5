"""The wall of series on the front page: which of them are drawn, and their tiles.

A wall is thousands of dots and hundreds of links, so its rows are written by these functions and
not by templates in loops.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from html import escape
from itertools import pairwise
from math import inf
from operator import attrgetter
from urllib.parse import quote

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.models import Repeated, SeriesAnalysis
from webapp.analysis.queries import (
    Stamp,
    WallSeries,
    WallTile,
    wall_series,
    wall_stamps,
    wall_tiles,
)
from webapp.analysis.services import FEWEST_REVISIONS
from webapp.charts import around
from webapp.charts.around import Tile
from webapp.charts.text import MARKS, PLUS_MINUS, half_width, percent, short_number
from webapp.charts.trend.series import Level
from webapp.jobs.queries import SILENT_AFTER, Machine
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.pages.parts.components import counted, machine_html

MOST_TILES = 60
REVISIONS_SHOWN = 60
"""The last so many of each series: one pixel in three of a tile holds a dot."""

MOST_ROWS = 60
"""Machines of a tree that have a row each, those with tiles first; the others are counted."""

ONE_REVISION = "1 revision each"
MOST_COLUMNS = 4
ALL, CHANGED, SILENT = "all", "changed", "silent"
FILTERS = (ALL, CHANGED, SILENT)


@dataclass(frozen=True)
class Wall:
    """Every measured series of the plain kernel that has a point, by tree and mode. ``stamp`` is
    another one when any of them was written, ``stamped`` holds them by their own.
    """

    stamp: str
    stamped: Mapping[Stamp, WallSeries]

    @cached_property
    def series(self) -> Sequence[WallSeries]:
        """All of them."""
        return sorted(self.stamped.values(), key=attrgetter("tree", "mode", "metric", "id"))

    @cached_property
    def trees(self) -> set[str]:
        """The names of their trees."""
        return {one.tree for one in self.series}

    @cached_property
    def metrics(self) -> set[tuple[str, str, str]]:
        """What they measure, the unit of that, and which way is better."""
        return {(one.metric, one.unit, one.better) for one in self.series}

    @cached_property
    def machines(self) -> int:
        """On how many machines they were measured."""
        return len({one.hardware_id for one in self.series})

    @cached_property
    def waiting(self) -> int:
        """How many wait to be analysed."""
        return sum(one.is_dirty for one in self.series)

    @cached_property
    def repeated(self) -> Repeated | None:
        """How far the repetition after an upgrade is; one statement, once."""
        return SeriesAnalysis.objects.repeated()

    @cached_property
    def moved(self) -> int:
        """How many ever changed."""
        return sum(one.verdict is not None for one in self.series)

    @cached_property
    def too_few(self) -> int:
        """Of how many nothing is known yet."""
        return sum(one.verdict is None and not would_show(one) for one in self.series)

    @cached_property
    def are_single(self) -> bool:
        """Whether each has one revision."""
        return all(one.revisions <= 1 for one in self.series)

    @cached_property
    def last_change(self) -> WallSeries | None:
        """The one that changed last, within the revisions shown and with a figure."""
        changed = (one for one in self.series if is_changed(one) and one.percent is not None)
        return min(changed, key=lambda one: one.since or 0, default=None)


class Kept:
    """The wall as it was read last: few of thousands of series are written between two looks."""

    wall = Wall("", {})


KEPT: Cache[Kept] = Cache(most=1, seconds=3600.0)
READ: Cache[WallTile] = Cache(most=512, seconds=3600.0)
TILES: Cache[str] = Cache(most=512, seconds=3600.0)
"""What tiles show, by the stamp of their series, and charts, by all that they are drawn from: after
an upload most of a wall is as it was.
"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The series on the wall: ``drawn`` as tiles (ids), all others counted."""

    series: Sequence[WallSeries]
    drawn: frozenset[int]


@dataclass(frozen=True, slots=True)
class Row:
    """One machine in one tree: the tiles of its drawn series, and how many are not drawn."""

    machine: Machine
    tiles: Sequence[WallSeries]
    counted: Sequence[WallSeries]

    @property
    def is_short(self) -> bool:
        """Whether each of its series has one revision: nothing to draw."""
        return not self.tiles and all(one.revisions <= 1 for one in self.counted)


@dataclass(frozen=True, slots=True)
class TreeOnWall:
    """The rows of one tree. ``axis`` are the positions that all its tiles share."""

    name: str
    is_simulated: bool
    rows: Sequence[Row]
    axis: Sequence[int]
    live_at: datetime | None

    @property
    def is_short(self) -> bool:
        """Whether all its rows are."""
        return all(row.is_short for row in self.rows)


def every_series() -> Wall:
    """The wall, in one statement, and another where series were written since the last look."""
    kept = KEPT.get("", Kept)
    known = kept.wall
    stamp, stamped = wall_stamps(known.stamp)
    if stamped is None:
        return known
    missing = [one for one in stamped if one not in known.stamped]
    read = wall_series(missing, counted=REVISIONS_SHOWN) if missing else {}
    found = {one: known.stamped.get(one) or read.get(one) for one in stamped}
    kept.wall = Wall(stamp, {one: series for one, series in found.items() if series})
    return kept.wall


def is_changed(one: WallSeries) -> bool:
    """Whether a proven change lies among the revisions that its tile shows."""
    return one.verdict is not None and one.since is not None and one.since <= REVISIONS_SHOWN


def is_silent(one: WallSeries, now: datetime) -> bool:
    """Whether it was measured live, and not lately; what was imported is not silent."""
    return one.live_at is not None and one.live_at < now - SILENT_AFTER


def choose(series: Sequence[WallSeries], show: str, now: datetime) -> Chosen:
    """The series that ``show`` asks for, and which are drawn: those that changed, the largest
    change first, then those with the longest history, machine by machine.
    """
    kept = [
        one
        for one in series
        if show == ALL
        or (show == CHANGED and is_changed(one))
        or (show == SILENT and is_silent(one, now))
    ]
    first = ranked([one for one in kept if one.revisions > 1])
    return Chosen(kept, frozenset(one.id for one in first[:MOST_TILES]))


def ranked(series: Sequence[WallSeries]) -> list[WallSeries]:
    """Series that changed first; of the others each machine has its turn, whatever it is called."""
    turns: dict[tuple[int, int], int] = defaultdict(int)
    weights = {}
    for one in series:
        changed, row = is_changed(one), (one.hardware_id, one.tree_id)
        size = abs(one.percent) if one.percent is not None else inf
        weights[one.id] = (
            (0, -size, 0, one.id) if changed else (1, -one.revisions, turns[row], one.id)
        )
        turns[row] += not changed
    return sorted(series, key=lambda one: weights[one.id])


def tiles_of(wall: Wall, drawn: Collection[int]) -> dict[int, WallTile]:
    """What each of ``drawn`` (ids) shows, by id; in one statement, none where all is known."""

    def read(missing: Sequence[Stamp]) -> dict[Stamp, WallTile]:
        tiles = wall_tiles(sorted(pk for pk, _ in missing), last=REVISIONS_SHOWN)
        return {stamp: tiles[stamp[0]] for stamp in missing}

    found = READ.get_all([one for one in wall.stamped if one[0] in drawn], read)
    return {pk: tile for (pk, _), tile in found.items()}


def lay_out(
    chosen: Chosen, tiles: Mapping[int, WallTile], machines: Mapping[int, Machine]
) -> list[TreeOnWall]:
    """The wall by tree, real machines before simulated ones, and machine."""
    by_tree: dict[str, dict[int, list[WallSeries]]] = defaultdict(lambda: defaultdict(list))
    for one in chosen.series:
        by_tree[one.tree][one.hardware_id].append(one)
    found = [_tree(name, rows, chosen, tiles, machines) for name, rows in by_tree.items()]
    return sorted(found, key=lambda one: (one.is_simulated, one.name))


def _tree(
    name: str,
    by_machine: Mapping[int, list[WallSeries]],
    chosen: Chosen,
    tiles: Mapping[int, WallTile],
    machines: Mapping[int, Machine],
) -> TreeOnWall:
    rows = [
        Row(
            machines[hardware],
            [one for one in series if one.id in chosen.drawn],
            [one for one in series if one.id not in chosen.drawn],
        )
        for hardware, series in by_machine.items()
    ]
    rows.sort(key=lambda row: (not row.tiles, row.machine.lab, row.machine.name))
    drawn = [tiles[one.id].positions for row in rows for one in row.tiles]
    return TreeOnWall(
        name=name,
        is_simulated=all(row.machine.is_simulated for row in rows),
        rows=rows,
        axis=sorted(set().union(*drawn)),
        live_at=max(
            (one.live_at for series in by_machine.values() for one in series if one.live_at),
            default=None,
        ),
    )


@dataclass(frozen=True, slots=True)
class DrawnTree:
    """A tree of the wall as HTML: its rows, and what stands above them."""

    tree: TreeOnWall
    span: str
    html: SafeString


def columns_of(trees: Iterable[TreeOnWall], metrics: int) -> list[str]:
    """The modes that head the columns, where few enough; else none: each tile names its own."""
    if metrics > 1:
        return []
    found = {one.mode: None for tree in trees for row in tree.rows for one in row.tiles}
    return sorted(found) if 0 < len(found) <= MOST_COLUMNS else []


def draw(
    tree: TreeOnWall, tiles: Mapping[int, WallTile], columns: Sequence[str], *, metrics: int
) -> DrawnTree:
    """The rows of ``tree``, its tiles in ``columns`` where there are any. Where several metrics
    are measured each tile names its own.
    """
    index_of = {position: index for index, position in enumerate(tree.axis)}
    painter = _Painter(tree, tiles, columns, index_of, metrics > 1)
    shown = [tiles[one.id] for row in tree.rows for one in row.tiles]
    span = ""
    if shown:
        first = min(shown, key=lambda one: one.positions[0]).first
        last = max(shown, key=lambda one: one.positions[-1]).last
        span = first if first == last else f"{first} … {last}"
    short = [row for row in tree.rows if row.is_short]
    long = [row for row in tree.rows if not row.is_short]
    rows = [painter.row(row) for row in long[:MOST_ROWS]]
    rows += [_rest(long[MOST_ROWS:])] if long[MOST_ROWS:] else []
    if short:
        rows.append(f'<div class="wall-together">{_named(short)}: {ONE_REVISION}</div>')
    return DrawnTree(tree, span, mark_safe("".join(rows)))  # noqa: S308


def draw_short(trees: Sequence[TreeOnWall]) -> SafeString:
    """The trees whose series have one revision each, in one line; empty without any."""
    named = [f"<b>{escape(tree.name)}</b> {_named(tree.rows)}" for tree in trees if tree.is_short]
    if not named:
        return mark_safe("")
    line = f'<div class="wall-together">{"; ".join(named)}: {ONE_REVISION}</div>'
    return mark_safe(line)  # noqa: S308 (names are escaped)


def _rest(rows: Sequence[Row]) -> str:
    """Machines that have no row, in a line."""
    series = sum(len(row.counted) for row in rows)
    return f'<div class="wall-together">{_more(rows)}: {series:,} series</div>'


def _named(rows: Sequence[Row]) -> str:
    parts = [*map(_short, rows[:MOST_ROWS])]
    return ", ".join(parts + ([_more(rows[MOST_ROWS:])] if rows[MOST_ROWS:] else []))


def _more(rows: Sequence[Row]) -> str:
    machines = "1 more machine" if len(rows) == 1 else f"{len(rows):,} more machines"
    return f'<a href="{escape(reverse("hardware_list"))}">{machines}</a>'


def _short(row: Row) -> str:
    return short_machine(row.machine, len(row.counted))


def short_machine(machine: Machine, modes: int, attributes: str = "") -> str:
    """A machine in a line with others, and how many modes it was measured in."""
    href = escape(reverse("hardware", args=[machine.name]))
    simulated = ' <span class="sim">simulated</span>' if machine.is_simulated else ""
    title = f'title="{escape(machine.name)}"{attributes}'
    name = escape(str(machine.called))
    return f'<a href="{href}" {title}>{name}</a>{simulated} {counted(modes, "mode")}'


@dataclass(frozen=True, slots=True)
class _Painter:
    tree: TreeOnWall
    tiles: Mapping[int, WallTile]
    columns: Sequence[str]
    index_of: Mapping[int, int]
    names_metric: bool

    def row(self, row: Row) -> str:
        machine = row.machine
        href = escape(reverse("hardware", args=[machine.name]))
        name = machine_html(machine.called, machine.name, simulated=machine.is_simulated)
        head = f'<a class="rowhead" href="{href}">{name}</a>'
        return (
            f'<div class="wall-row">{head}<div class="tiles">{self._cells(row, href)}</div></div>'
        )

    def _cells(self, row: Row, href: str) -> str:
        base = (
            f"{reverse('trends')}?tree={quote(self.tree.name)}"
            f"&hardware={quote(row.machine.name)}&mode="
        )
        if not self.columns:
            cells = "".join(self._tile(one, base) for one in row.tiles)
            return cells + self._rest(row.counted, href)
        by_mode = {one.mode: one for one in row.tiles}
        beside = {one.mode: one for one in row.counted}
        cells = "".join(
            self._tile(by_mode[mode], base) if mode in by_mode else _none(beside.get(mode), mode)
            for mode in self.columns
        )
        return cells + self._rest(
            [one for one in row.counted if one.mode not in self.columns], href
        )

    def _tile(self, one: WallSeries, base: str) -> str:
        shown = self.tiles[one.id]
        name = f"{one.mode}, {one.metric}" if self.names_metric else one.mode
        text = escape(name)
        href = escape(f"{base}{quote(one.mode)}&metric={quote(one.metric)}")
        return (
            f'<a class="tile" href="{href}" title="{text}">'
            f'<span class="m">{text}</span>{self._chart(one, shown)}'
            f'<span class="n"><b>{short_number(one.newest)}</b>{news(one, shown)}</span></a>'
        )

    def _chart(self, one: WallSeries, shown: WallTile) -> str:
        return draw_tile(one, shown, self.tree.axis, self.index_of)

    def _rest(self, counted: Sequence[WallSeries], href: str) -> str:
        if not counted:
            return ""
        return f'<a class="tile-rest" href="{href}">{escape(counted_text(counted))}</a>'


def draw_tile(
    one: WallSeries, shown: WallTile, axis: Sequence[int], index_of: Mapping[int, int]
) -> str:
    """The small chart of a series on an axis of positions; ``index_of`` is their place on it."""
    levels = _levels(one, shown, axis)
    tile = Tile(
        indices=[index_of[position] for position in shown.positions],
        values=shown.means,
        length=len(axis),
        levels=levels,
        moved=_moved(levels, shown, axis),
    )
    lines = [(level.first, level.last, level.start, level.end) for level in levels]
    key = fingerprint([tile.indices, tile.values, tile.length, lines, tile.moved])
    return TILES.get(key, lambda: around.draw_tile(tile))


def _levels(one: WallSeries, shown: WallTile, axis: Sequence[int]) -> list[Level]:
    """The levels of a series; None while the series is too young: see `Conclusion.levels`."""
    if one.revisions < FEWEST_REVISIONS:
        return []
    drawn = (
        Level.within(
            axis,
            (each["first"]["position"], each["last"]["position"]),
            (each["level"], each["end_level"]),
            since=shown.positions[0],
        )
        for each in shown.segments
    )
    return [level for level in drawn if level is not None]


def _moved(levels: Sequence[Level], shown: WallTile, axis: Sequence[int]) -> list[str]:
    return [
        next(
            (
                change.verdict
                for change in shown.changes
                if axis[before.last] < change.position <= axis[after.first]
            ),
            "",
        )
        for before, after in pairwise(levels)
    ]


def news(one: WallSeries, shown: WallTile) -> str:
    """The loss that stands, or the last change that the tile shows; without one what it could
    prove, or how short it is. Too little evidence is never called unchanged: how far its
    ends are apart stands there.
    """
    if one.verdict is not None and is_changed(one):
        return _change(one)
    if shown.means[-1] <= 0 < max(shown.means):
        return '<span class="muted">nothing measured</span>'
    if one.revisions < FEWEST_REVISIONS:
        return f'<span class="muted">{one.revisions} rev.</span>'
    apart = _ends_apart(shown.means)
    size = f'<span class="nowrap">{percent(apart)} %</span>'
    moved = "" if apart is None else f"{size} first to last"
    if not would_show(one):
        return f'<span class="muted">cannot tell{moved and f", {moved}"}</span>'
    if apart is not None and abs(apart) > (one.smallest or 0.0):
        return f'<span class="muted">{moved}, not proven</span>'
    return f'<span class="muted nowrap">= {PLUS_MINUS} {half_width(one.smallest or 0.0)} %</span>'


def would_show(one: WallSeries) -> bool:
    """Whether so much is known of it that a change would be seen."""
    return one.revisions >= FEWEST_REVISIONS and one.smallest is not None


def _ends_apart(means: Sequence[float]) -> float | None:
    """How far the last of them lies from the first, in percent; None where that is no figure."""
    first, last = means[0], means[-1]
    return 100 * (last / first - 1) if first > 0 else None


def _change(one: WallSeries) -> str:
    verdict = str(one.verdict)
    size = f"{percent(one.percent)} %" if one.percent is not None else "changed"
    figure = f' data-figure="series:{one.id}:net_loss"' if verdict == "worse" else ""
    return f'<span class="{verdict}"{figure}>{MARKS[verdict]} {size}</span>'


def _none(one: WallSeries | None, mode: str) -> str:
    """The place of a mode that is not drawn."""
    if one is None:
        return '<span class="tile none">–</span>'
    revisions = "1 revision" if one.revisions == 1 else f"{one.revisions} revisions"
    return (
        f'<span class="tile few"><span class="m">{escape(mode)}</span>'
        f"{short_number(one.newest)}, {revisions}</span>"
    )


def counted_text(others: Sequence[WallSeries], drawn: Sequence[WallSeries] = ()) -> str:
    """Series that are not drawn, in words: ``+ 14 modes: 12 of 1 revision, ▾ 1, ▴ 1``; ``series``
    where a mode is among them or those ``drawn`` more than once, as of two trees.
    """
    modes = {one.mode for one in (*others, *drawn)}
    text = counted(len(others), "mode") if len(modes) == len(others) + len(drawn) else ""
    text = text or f"{len(others):,} series"
    single = sum(one.revisions <= 1 for one in others)
    if single == len(others):
        return f"{text}, 1 revision{' each' if single > 1 else ''}"
    parts = [f"{single} of 1 revision"] if single else []
    for verdict in ("worse", "better"):
        moved = sum(is_changed(one) and one.verdict == verdict for one in others)
        parts += [f"{MARKS[verdict]} {moved}"] if moved else []
    return ": ".join(filter(None, (f"+ {text}", ", ".join(parts))))
