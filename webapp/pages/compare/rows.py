"""The rows of a comparison as HTML, and a small panel for each mode with all its machines on the
page's one scale. Rows come in hundreds: format strings, not templates in a loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.queries import (
    BUILDS_DIFFER,
    ONE_BUILD,
    OTHER_EPOCH,
    READABLE,
    RUNS_DISAGREE,
    PointRow,
    PointTable,
    PointVerdict,
    Side,
    lost_between,
)
from webapp.charts import forest, text
from webapp.charts.forest import Reach
from webapp.charts.text import short_beside, small_share
from webapp.pages.compare.answer import Cell, Group
from webapp.pages.parts.components import machine_html, mode_name
from webapp.pages.parts.summaries import direction_texts
from webapp.stats.compare import Outcome, Verdict
from webapp.stats.metrics import MARGIN_PCT

KINDS = {
    Verdict.WORSE: "worse",
    Verdict.BETTER: "better",
    Verdict.EQUIVALENT: "equivalent",
    Verdict.CANNOT_TELL: "unsure",
}
CHIPS = {"equivalent": "same", "unsure": "unsure", "differ": "differ"}
ORDERS = ("loss", "mode", "hardware")
ORDER = tuple(Outcome)

ROWS_AT_ONCE = 60
"""Rows of either kind that a page begins with; the others come when they are asked for."""

ROWS_DRAWN = 40
"""Rows of a picture."""

PANELS = 6
MACHINES = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the page with its pairs. It stands where the first of them does."""

    row: PointRow
    cells: Sequence[Cell]

    @property
    def outcome(self) -> Outcome:
        """Under which heading it stands."""
        return min((cell.outcome for cell in self.cells), key=ORDER.index)

    @property
    def differs(self) -> bool:
        """Whether any pair differs, over the whole table or by itself."""
        return self.outcome in (Outcome.PROVEN, Outcome.BY_ITSELF)

    @property
    def rank(self) -> tuple[int, float]:
        """The largest loss first, then gains, then the rest."""
        return min(_rank(cell.judged) for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Section:
    """The rows under one heading: as HTML, how many ``comparisons`` stand there, whether they are
    folded away, and which verdicts they have.
    """

    title: str
    comparisons: int
    is_folded: bool
    rows: SafeString
    labels: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the rows of one page share: its scale, the names of its sides, whether metrics are
    named, ``more`` parts of the queries of a row alone, and by series what stands lost ``today``.
    """

    table: PointTable
    titles: Sequence[str]
    reach: Reach
    with_metric: bool
    more: Sequence[tuple[str, str]] = ()
    today: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_of_two(self) -> bool:
        """Whether there is one set against the base."""
        return len(self.titles) == 2


def lines_of(cells: Iterable[Cell], order: str = ORDERS[0]) -> list[Line]:
    """The rows in their order: as asked for, within it the largest loss first."""
    found: dict[int, list[Cell]] = {}
    rows: dict[int, PointRow] = {}
    for cell in cells:
        found.setdefault(id(cell.row), []).append(cell)
        rows[id(cell.row)] = cell.row
    lines = [Line(rows[key], its) for key, its in found.items()]
    first = {"mode": _by_mode, "hardware": _by_hardware}.get(order, _by_nothing)
    return sorted(lines, key=lambda line: (ORDER.index(line.outcome), first(line), line.rank))


def kind_of(judged: PointVerdict) -> str:
    """How a pair is drawn: its verdict; ``differ`` of single builds that noise does not explain."""
    if judged.builds_differ or judged.is_doubtful:
        return "differ"
    return KINDS[judged.verdict]


def rows_html(lines: Iterable[Line], drawing: Drawing, evidence: str = "") -> SafeString:
    """The closed rows, each with the address of its evidence; a lone one open with ``evidence``."""
    rows = (_row(line, drawing, evidence) for line in lines)
    return mark_safe("".join(rows))  # noqa: S308 (escaped below)


@cache
def _addresses() -> tuple[str, str]:
    """Where a row stands alone, and where its evidence is fetched from."""
    return reverse("compare"), reverse("compare_row")


def opening(summary: str, pairs: Sequence[tuple[str, str]], evidence: str) -> str:
    """A row that opens to its ``evidence``, open where that is at hand. Else it is fetched, and
    stands on a page for who has no script, with ``pairs`` as its query.
    """
    if evidence:
        return (
            f'<details class="compared" open><summary>{summary}</summary>'
            f'<div class="evidence">{evidence}</div></details>'
        )
    query = escape(urlencode(pairs, safe=READABLE))
    path, fragment = _addresses()
    return (
        f'<details class="compared"><summary>{summary}</summary>'
        f'<div class="evidence" hx-get="{fragment}?{query}" '
        'hx-trigger="toggle from:closest details once">'
        f'<a href="{path}?{query}">This row alone, with its evidence</a></div></details>'
    )


def sides_of_row(table: PointTable, row: PointRow) -> list[Side]:
    """The sides that mean this row alone."""
    return [
        replace(
            side,
            # As it was asked for: by a release, an alias or the start of a hash.
            revision=side.revision if point.revision == revision else point.revision.name,
            hardware=point.hardware.name,
            # A former name of the mode is what was asked for, and stays.
            mode=side.mode_name or point.mode,
            metric=point.metric,
        )
        for side, revision, point in zip(table.sides, table.revisions, row.points, strict=True)
    ]


def chip(judged: PointVerdict, row: PointRow) -> str:
    """The verdict in the metric's words, with its glyph."""
    kind = kind_of(judged)
    if judged.runs_disagree:
        return f'<span class="chip unsure">{text.MARKS[RUNS_DISAGREE]} runs disagree</span>'
    if judged.builds_differ:
        return f'<span class="chip differ">{text.MARKS[BUILDS_DIFFER]} {BUILDS_DIFFER}</span>'
    word = judged.verdict.value
    if judged.verdict in {Verdict.WORSE, Verdict.BETTER} and judged.percent is not None:
        word = direction_texts(row.base.better, row.base.unit)[judged.verdict]
    elif judged.negligible:
        word = "negligible"
    mark = text.MARKS[judged.verdict.value]
    single = f' <span class="tag">{ONE_BUILD}</span>' if judged.rests_on_single_builds else ""
    return f'<span class="chip {CHIPS.get(kind, kind)}">{mark} {word}</span>{single}'


def _row(line: Line, drawing: Drawing, evidence: str) -> str:
    summary = "".join(
        _pair(cell, drawing, is_first=number == 0) for number, cell in enumerate(line.cells)
    )
    a, *others = map(str, sides_of_row(drawing.table, line.row))
    pairs = [("a", a), *(("b", other) for other in others), *drawing.more]
    return opening(summary, pairs, evidence)


def _pair(cell: Cell, drawing: Drawing, *, is_first: bool) -> str:
    row, judged = cell.row, cell.judged
    base = row.base
    metric = f' <span class="muted">{escape(base.metric)}</span>' if drawing.with_metric else ""
    mode = f"{mode_name(row.mode)}{metric}"
    named = f'{_hardware_of(cell)}</span><span class="mode">{mode}' if is_first else ""
    named = named or '</span><span class="mode">'
    title = f'<span class="set">{escape(drawing.titles[cell.index + 1])}</span>'
    title = "" if drawing.is_of_two else title
    kind = kind_of(judged)
    coloured = kind if kind in {"worse", "better"} else "even"
    interval = text.interval(judged.low, judged.high) or text.UNKNOWN
    seen = "" if judged.visible is None else f"{text.half_width(judged.visible)} %"
    change = text.percent(judged.percent)
    return (
        f'<span class="row"{_figure(cell, drawing)}><span class="what">{named}{title}</span>'
        f'<span class="plot">'
        f"{forest.row(drawing.reach, judged.percent, judged.low, judged.high, kind=kind)}</span>"
        f'<span class="number {coloured}"><b>{change}{" %" if judged.percent is not None else ""}'
        f'</b></span><span class="number ci">{interval}</span>'
        f'<span class="verdict">{chip(judged, row)}{_tags(cell, drawing)}'
        f"{_today(cell, drawing)}</span>"
        f'<span class="number detect">{seen}</span></span>'
    )


def _figure(cell: Cell, drawing: Drawing) -> str:
    """Of what the figures of a row are, where both points are of one series."""
    base, other = cell.row.base, cell.row.points[cell.index + 1]
    if base.series_id != other.series_id:
        return ""
    a, b = base.revision.name, other.revision.name
    return f' data-figure="pair:{base.series_id}:{escape(a)}:{escape(b)}"'


def _today(cell: Cell, drawing: Drawing) -> str:
    """What its series has lost today, where that loss begins between the two points."""
    base, judged = cell.row.base, cell.judged
    stands = lost_between(drawing.today, base, cell.row.points[cell.index + 1])
    if stands is None:
        return ""
    change = judged.percent, judged.low, judged.high
    return today_html(base.series_id, short_beside(change, stands))


def today_html(series: int, short: str) -> str:
    """What a series has lost today, linked from an open row; empty where beyond all figures."""
    if not short:
        return ""
    return f' <span class="tag" data-figure="series:{series}:net_loss">{escape(short)}</span>'


def _hardware_of(cell: Cell) -> str:
    """The machine of the row; where machines are compared, of the base."""
    base = cell.row.base
    simulated = any(one.simulated for one in cell.row.points)
    return machine_html(base.hardware.called, base.hardware.name, simulated=simulated, line=True)


def revisions_of(row: PointRow) -> str:
    """What a row compares: ``r299108 → r310736``."""
    return " → ".join(one.revision.name for one in row.points)


def _tags(cell: Cell, drawing: Drawing) -> str:
    is_other = any(
        point.revision != revision
        for point, revision in zip(cell.row.points, drawing.table.revisions, strict=True)
    )
    epoch = f' <span class="tag">{OTHER_EPOCH}</span>' if cell.row.parted[cell.index] else ""
    points = (cell.row.base, cell.row.points[cell.index + 1])
    remarks = [revisions_of(cell.row)] if is_other else []
    remarks += [one.left_out.text for one in points if one.left_out]
    return epoch + "".join(f' <span class="tag remark">{escape(one)}</span>' for one in remarks)


def _rank(judged: PointVerdict) -> tuple[int, float]:
    size = abs(judged.percent or 0.0)
    if judged.runs_disagree:
        return 3, 0.0
    if judged.builds_differ:
        return 1, -size
    order = {Verdict.WORSE: 0, Verdict.BETTER: 2, Verdict.EQUIVALENT: 3, Verdict.CANNOT_TELL: 4}
    place = order[judged.verdict]
    return place, -size if place == 0 else judged.visible or 1e9 if place == 4 else size


def _by_mode(line: Line) -> str:
    return line.row.mode


def _by_hardware(line: Line) -> str:
    return str(line.row.base.hardware)


def _by_nothing(_line: Line) -> str:
    return ""


def reach_of(lines: Sequence[Line]) -> forest.Reach:
    """A scale for what is proven, else for all: wide intervals without evidence leave it."""
    proven = [line for line in lines if line.differs] or lines
    intervals = ((cell.judged.low, cell.judged.high) for line in proven for cell in line.cells)
    return forest.reach_of(intervals, margin=MARGIN_PCT)


def axis_of(lines: Sequence[Line], drawing: Drawing) -> str:
    """The head of the plots, with the metric's words where all rows have the same."""
    bases = [line.row.base for line in lines]
    ways = {tuple(direction_texts(one.better, one.unit).items()) for one in bases}
    better = {one.better for one in bases}
    if len(ways) != 1 or len(better) != 1:
        return forest.axis(drawing.reach, less="muted:less", more="muted:more")
    words = dict(ways.pop())
    ends = f"worse:{words[Verdict.WORSE]}", f"better:{words[Verdict.BETTER]}"
    less, more = ends if better.pop() == "more" else ends[::-1]
    return forest.axis(drawing.reach, less=less, more=more)


@dataclass(frozen=True, slots=True)
class Panel:
    """One mode: what it shows over its machines, ``chance`` that they differ as much without a
    cause (empty where there is no test), its picture, and how many machines that leaves out.
    """

    title: str
    sentence: str
    chance: str
    image: SafeString
    more: int


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels that are drawn, and how many modes are not."""

    drawn: Sequence[Panel]
    more: int


def panels_of(groups: Sequence[Group], reach: forest.Reach) -> Panels | None:
    """The modes with most evidence; None where no mode was measured on two machines."""
    wide = [group for group in groups if len(group.cells) > 1]
    if not wide:
        return None
    drawn = [_panel(group, reach) for group in wide[:PANELS]]
    return Panels(drawn, len(groups) - len(drawn))


def _panel(group: Group, reach: forest.Reach) -> Panel:
    by_name = sorted(group.cells, key=lambda cell: str(cell.row.base.hardware))
    rows = "".join(
        f'<span class="name" title="{escape(cell.row.base.hardware.name)}">'
        f"{escape(str(cell.row.base.hardware))}</span>"
        + forest.row(
            reach, cell.judged.percent, cell.judged.low, cell.judged.high, kind=kind_of(cell.judged)
        )
        for cell in by_name[:MACHINES]
    )
    test = group.across.test
    return Panel(
        title=group.title,
        sentence=group.sentence,
        chance=f"p {small_share(test.p)}" if test else "",
        image=mark_safe(rows),  # noqa: S308 (escaped above)
        more=max(len(by_name) - MACHINES, 0),
    )
