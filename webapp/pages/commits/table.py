"""The heat map of a commit: hardware × mode in one metric, each cell with its change and verdict.

Written by functions, not by a template: a commit of twenty machines has hundreds of cells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import FindingAt
from webapp.analysis import queries
from webapp.analysis.models import Finding
from webapp.charts import bars, text
from webapp.charts.svg import cell_class
from webapp.charts.text import POINTS, cost_interval, cost_points
from webapp.pages.parts.components import hardware_html, mode_name
from webapp.pages.parts.links import job_new_link
from webapp.results.models import Hardware, Metric, Revision
from webapp.stats.compare import MORE_BUILDS

COLUMNS_MOST = 8
"""Modes beside each other; more of them are rows, where there are more modes than machines."""

REACHES = (5.0, 10.0, 25.0)
"""Percent that bars may reach on either side: the least that holds all that is proven."""

BAR_WIDTH = 150.0
"""Pixels of a bar."""


Place = tuple[str, str]
"""Of a cell: the names of its mode and its machine, which are theirs alone."""


class Cell(NamedTuple):
    """One hardware in one mode: its point, and the verdict where there is a point before it.

    ``finding`` is the change that the detector places here, if anything.
    """

    point: queries.CommitPoint
    judged: queries.PointVerdict | None
    finding: FindingAt | None

    @property
    def proven(self) -> FindingAt | None:
        """The finding, where it is one of level against level."""
        is_told = self.finding is not None and self.finding.state in Finding.PROVEN
        return self.finding if is_told else None

    @property
    def css_class(self) -> str:
        """The CSS class of the cell."""
        if self.judged is None:
            return cell_class(queries.RUNS_DISAGREE, None) if self.point.disagrees else "first"
        proven = self.proven
        if proven is not None and not self.judged.runs_disagree:
            return cell_class(proven.verdict, proven.change_pct)
        return cell_class(self.judged.tone, self.judged.percent)

    @property
    def shown(self) -> FindingAt | None:
        """The finding, where the cell shows its size and not that of its two points."""
        disagree = self.judged is not None and self.judged.runs_disagree
        return None if disagree else self.proven

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Of the interval that the cell shows, in percent."""
        if self.shown is not None:
            return self.shown.low_pct, self.shown.high_pct
        return (None, None) if self.judged is None else (self.judged.low, self.judged.high)


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of one metric, as HTML; their bars reach ± ``reach`` percent; 0: there are none."""

    metric: Metric
    better: str
    reach: float
    html: SafeString


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every cell of a commit's tables shares: where "measure more" leads back to (empty: the
    reader may not ask), and the revision that most cells are compared with.
    """

    commit: Revision
    ask_from: str
    previous: queries.Previous | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the cells of one table share."""

    metric: Metric
    links: queries.TableLinks
    around: Surroundings
    reach: float


def tables(
    points: Iterable[queries.CommitPoint],
    judged: Mapping[int, queries.PointVerdict],
    begun: Mapping[int, FindingAt],
    around: Surroundings,
) -> list[Table]:
    """A table for each metric measured."""
    metrics: dict[str, Metric] = {}
    cells: dict[str, dict[Place, Cell]] = {}
    for point in points:
        pk, series = point.series_id, point.series
        metrics[series.metric.name] = series.metric
        its = cells.setdefault(series.metric.name, {})
        its[series.mode.name, series.hardware.name] = Cell(point, judged.get(pk), begun.get(pk))
    return [_table(metrics[name], its, around) for name, its in cells.items()]


def _table(metric: Metric, cells: Mapping[Place, Cell], around: Surroundings) -> Table:
    of = [cell.point.series for cell in cells.values()]
    modes = {one.mode.name: one.mode for one in of}
    machines = {one.hardware.name: one.hardware for one in of}
    down, across = sorted(machines), sorted(modes)
    of_mode: list[tuple[str, list[Place]]]
    of_mode = [(mode_name(modes[mode]), [(mode, one) for one in down]) for mode in across]
    of_machine = [(_machine(machines[one]), [(mode, one) for mode in across]) for one in down]
    corner, rows, columns = "Hardware", of_machine, of_mode
    if len(modes) > max(COLUMNS_MOST, len(machines)):
        corner, rows, columns = "Mode", of_mode, of_machine
    reach = _reach(cells.values())
    sheet = Sheet(metric, queries.TableLinks(around.commit.tree.name, metric.name), around, reach)
    head = "".join(f'<th scope="col">{one}</th>' for one, _ in columns)
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        f"{''.join(_cell(cells.get(place), sheet) for place in its)}</tr>"
        for first, its in rows
    )
    return Table(
        metric,
        text.common(cell.point.series.better for cell in cells.values()),
        reach,
        mark_safe(  # noqa: S308 (the functions below escape every text)
            f'<table class="heat"><thead><tr><th>{corner}</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        ),
    )


def _reach(cells: Iterable[Cell]) -> float:
    """What the bars reach: where nothing is proven, all that is shown counts."""
    known = [
        (cell.css_class.startswith(("worse", "better")), max(abs(low), abs(high)))
        for cell in cells
        for low, high in [cell.ends]
        if low is not None and high is not None
    ]
    shown = [end for is_proven, end in known if is_proven] or [end for _, end in known]
    if not shown:
        return 0.0
    return next((one for one in REACHES if max(shown) <= one), REACHES[-1])


def _machine(one: Hardware) -> str:
    return f'<a href="{escape(one.get_absolute_url())}">{hardware_html(one)}</a>'


def _cell(cell: Cell | None, sheet: Sheet) -> str:
    if cell is None:
        return '<td class="none" title="not measured at this commit">·</td>'
    hardware, mode = cell.point.series.hardware.name, cell.point.series.mode.name
    trend = escape(sheet.links.trend(hardware, mode))
    if cell.judged is None:
        size, state, bar, line = _first(cell, sheet, trend)
    else:
        size, state, bar, line = _compared(cell, cell.judged, sheet)
    excluded = _excluded(cell) if cell.point.left_out else ""
    return (
        f'<td class="cell {cell.css_class}"{_figure(cell, sheet)}><span class="line">{size}'
        f'<span class="base">{state}</span></span>{bar}<span class="line"><span class="base">{line}'
        f'</span><span class="to"><a class="to-trend" href="{trend}" title="Trend" '
        f'aria-label="Trend">⌁</a>{_ask(cell, sheet.around)}</span></span>{excluded}</td>'
    )


def _figure(cell: Cell, sheet: Sheet) -> str:
    """Of what the figures of a cell are: of its finding, or of its two points."""
    if cell.judged is None or cell.judged.runs_disagree:
        return ""
    if cell.shown is not None:
        return f' data-figure="finding:{cell.shown.pk}"'
    pair = f"{cell.point.series_id}:{_previous(cell).name}:{sheet.around.commit.name}"
    return f' data-figure="pair:{escape(pair)}"'


class Lines(NamedTuple):
    """A cell's content as HTML: its size and what it rests on, the bar below, and the interval."""

    size: str
    state: str
    bar: str
    within: str


def _first(cell: Cell, sheet: Sheet, trend: str) -> Lines:
    foreign = cell.point.foreign
    title = f"n = {cell.point.n}" + (f". {foreign.text}" if foreign else "")
    size = (
        f'<a class="size" href="{trend}" title="{escape(title)}"'
        f' data-figure="mean:{cell.point.series_id}:{escape(sheet.around.commit.name)}">'
        f"{text.number(cell.point.mean)}</a>"
    )
    note = "lab? runs disagree" if cell.point.disagrees else "first measurement"
    if foreign:
        note = f"{foreign.pct:+.1f} %, session from elsewhere"
    return Lines(size, escape(sheet.metric.unit), "", note)


def _compared(cell: Cell, judged: queries.PointVerdict, sheet: Sheet) -> Lines:
    previous, shown = _previous(cell), cell.shown
    percent = shown.change_pct if shown else judged.percent
    label, tone = (shown.verdict, shown.verdict) if shown else (judged.label, judged.tone)
    series = cell.point.series
    link = sheet.links.compare(
        previous.name,
        sheet.around.commit.name,
        hardware=series.hardware.name,
        mode=series.mode.name,
    )
    size = "lab?" if judged.runs_disagree else f"{text.percent(percent)}\N{NARROW NO-BREAK SPACE}%"
    if shown and series.is_cost:
        points = cost_points(shown.level_before, percent, series.better)
        size = f"{text.percent(points)} {POINTS}"
    title = escape(_title(cell, judged, sheet))
    bar, line = "", ""
    low, high = cell.ends
    if not judged.runs_disagree and low is not None and high is not None:
        bar = bars.draw_interval(low, high, reach=sheet.reach, verdict=tone, width=BAR_WIDTH)
        line = text.interval(low, high)
        if shown and series.is_cost:
            line = cost_interval(shown.level_before, low, high, series.better)
    if sheet.around.previous is None or previous.pk != sheet.around.previous.pk:
        line += f" vs {escape(previous.name)}"
    return Lines(
        f'<a class="size" href="{escape(link)}" title="{title}">{_mark(label, tone)}{size}</a>',
        _remark(cell, judged, is_proven=shown is not None),
        bar,
        line,
    )


def _previous(cell: Cell) -> queries.Previous:
    if cell.point.previous is None:
        raise ValueError(f"the point of series {cell.point.series_id} is not compared")
    return cell.point.previous


@cache
def _mark(label: str, tone: str) -> str:
    """What stands before a change; there are no more labels, and tones, than `text.MARKS`."""
    css = escape(tone.rstrip("?").replace(" ", "-"))
    return (
        f'<span class="mark {css}" role="img" aria-label="{escape(label)}">'
        f"{text.MARKS.get(label, '')}</span>"
    )


def _remark(cell: Cell, judged: queries.PointVerdict, *, is_proven: bool) -> str:
    """What the size rests on, or what could have been seen; and the state of what is found."""
    notes = []
    if judged.runs_disagree:
        notes.append("runs disagree")
    elif not is_proven and judged.builds_differ:
        notes.append(queries.BUILDS_DIFFER)
    elif not is_proven and judged.rests_on_single_builds and cell.finding is None:
        notes.append(queries.ONE_BUILD)
    elif not is_proven and judged.verdict == "cannot tell" and judged.visible is not None:
        notes.append(f"detects ≥ {text.half_width(judged.visible)} %")
    if cell.finding is not None:
        notes.append(escape(cell.finding.state_text))
    return ", ".join(notes)


def _title(cell: Cell, judged: queries.PointVerdict, sheet: Sheet) -> str:
    """How the two points compare: the text of the cell where nothing is confirmed."""
    negligible = " (different, but negligible)" if judged.negligible else ""
    is_open = judged.builds_differ or judged.rests_on_single_builds
    builds = f"; {MORE_BUILDS} more builds a side would settle it" if is_open else ""
    ends = text.change_within(judged.percent, judged.low, judged.high)
    return (
        f"{judged.label}{negligible}: {text.number(cell.point.mean)} {sheet.metric.unit}, "
        f"n = {cell.point.n}, against {_previous(cell).name}: {ends} %{builds}; "
        f"by {judged.units[1]} against {judged.units[0]} {judged.unit}s; {_noise(judged)}"
    )


def _noise(judged: queries.PointVerdict) -> str:
    if judged.build_noise and judged.build_noise.percent:
        return f"noise between builds {text.half_width(judged.build_noise.percent)} % counted"
    if judged.build_noise:
        return "the history shows no noise between builds"
    return judged.belief_text


def _excluded(cell: Cell) -> str:
    excluded = cell.point.excluded
    return f'<a class="base" href="#marked">{escape(excluded.text)}</a>' if excluded else ""


def _ask(cell: Cell, around: Surroundings) -> str:
    # Nobody measures a cost: it follows from runs of two modes.
    if not around.ask_from or cell.point.series.is_cost:
        return ""
    ask = job_new_link(cell.point.series_id, around.commit.name, around.ask_from)
    return (
        f'<a class="to-trend" href="{escape(ask)}" title="Measure more" '
        'aria-label="Measure more">+</a>'
    )
