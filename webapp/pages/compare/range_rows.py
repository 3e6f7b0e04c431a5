"""The rows of two ranges as HTML, and what opens under them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from statistics import fmean
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis.queries import BlockOptions, RangeRow, RangeTable, RevisionRange, Side
from webapp.charts import forest, strip, text
from webapp.charts.strip import Strip
from webapp.charts.today import short_beside
from webapp.pages.compare.range_report import (
    BLOCK_IGNORES,
    TOO_FEW,
    figures,
    moved,
    sentence_of,
    with_unit,
)
from webapp.pages.compare.rows import mode_html, opening, today_html
from webapp.pages.parts.links import with_query
from webapp.pages.parts.names import hardware_html
from webapp.stats.defaults import MARGIN_PCT
from webapp.stats.errors import TooFewSamplesError

KINDS = {"worse": "worse", "better": "better", "equivalent": "equivalent"}
CHIPS = {"equivalent": "same", "cannot tell": "unsure"}


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the rows of one page share: the two sides, the scale, whether metrics are said, the
    paths of a row alone and of its evidence, ``more`` parts of their queries, and by series what
    stands lost ``today`` where that begins between the two.
    """

    sides: tuple[Side, Side]
    reach: forest.Reach
    with_metric: bool
    path: str
    fragment: str
    more: Sequence[tuple[str, str]] = ()
    today: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RangeSet:
    """One range of an open row: ``count`` measured revisions, of which some may be ``left_out``,
    and the text of its ``level`` where it has one.
    """

    label: str
    range: RevisionRange
    count: int
    left_out: str
    level: str


@dataclass(frozen=True, slots=True)
class RangeEvidence:
    """What an open row shows. ``ministat`` is empty where a range has too few revisions for it."""

    row: RangeRow
    table: RangeTable
    labels: Sequence[str]
    ministat: str
    block_ignores = BLOCK_IGNORES
    too_few = TOO_FEW

    @property
    def sides(self) -> tuple[Side, Side]:
        """The sides that mean this row alone."""
        return sides_of_row((self.table.a.side, self.table.b.side), self.row)

    @property
    def image(self) -> str:
        """The mean of each revision as an SVG of strips, with the level of either range."""
        change = self.row.change
        levels = (change.a.level, change.b.level) if change else map(fmean, self.row.values)
        strips = [
            Strip(label, values, level, None)
            for label, values, level in zip(self.labels, self.row.values, levels, strict=True)
        ]
        return strip.draw(strips, unit=self.row.series.metric.unit)

    @property
    def sets(self) -> list[RangeSet]:
        """Either range."""
        its = figures(self.row)
        return [
            RangeSet(label, one, len(values), left_out, level)
            for label, one, values, left_out, level in zip(
                self.labels,
                (self.table.a, self.table.b),
                self.row.values,
                self.row.left_out,
                (its["before"], its["after"]),
                strict=True,
            )
        ]

    @property
    def sentence(self) -> str:
        """What the verdict rests on."""
        return sentence_of(self.row)

    @property
    def trend(self) -> str:
        """The chart of both series; empty for variants, which have none."""
        if any(side.variant for side in self.sides):
            return ""
        base, series = self.row.base, self.row.series
        parts = [("tree", self.table.a.side.tree), ("metric", series.metric.name)]
        parts += [("hardware", one) for one in {base.hardware.name: 0, series.hardware.name: 0}]
        parts += [("mode", one) for one in {base.mode.name: 0, series.mode.name: 0}]
        return with_query(reverse("trends"), parts)


def evidence_of(table: RangeTable, options: BlockOptions, labels: Sequence[str]) -> RangeEvidence:
    """The evidence of the one row of ``table``."""
    (row,) = table.rows
    try:
        block = options.render(list(zip(labels, row.values, strict=True)))
    except TooFewSamplesError:
        block = ""
    return RangeEvidence(row, table, labels, block)


def sides_of_row(sides: tuple[Side, Side], row: RangeRow) -> tuple[Side, Side]:
    """The sides that mean this row alone."""
    a, b = (
        replace(
            side,
            hardware=series.hardware.name,
            # A former name of the mode is what was asked for, and stays.
            mode=side.mode_name or series.mode.name,
            metric=series.metric.name,
        )
        for side, series in zip(sides, (row.base, row.series), strict=True)
    )
    return a, b


def is_proven(row: RangeRow) -> bool:
    """Whether it passed the gate."""
    return row.verdict in {"worse", "better"}


def kind_of(row: RangeRow) -> str:
    """How its interval is drawn."""
    return KINDS.get(row.verdict, "unsure")


def reach_of(rows: Sequence[RangeRow]) -> forest.Reach:
    """A scale for what is proven, else for all: wide intervals that tell nothing leave it."""
    told = [row.change for row in rows if row.change and is_proven(row)]
    told = told or [row.change for row in rows if row.change]
    return forest.reach_of(((one.low_pct, one.high_pct) for one in told), margin=MARGIN_PCT)


def rows_html(rows: Iterable[RangeRow], drawing: Drawing, evidence: str = "") -> SafeString:
    """The rows, closed, each with the address of its evidence; of a table of one row open, with the
    ``evidence`` in it.
    """
    parts = (_row(row, drawing, evidence) for row in rows)
    return mark_safe("".join(parts))  # noqa: S308 (escaped below)


def _row(row: RangeRow, drawing: Drawing, evidence: str) -> str:
    a, b = sides_of_row(drawing.sides, row)
    pairs = [("a", str(a)), ("b", str(b)), *drawing.more]
    return opening(_summary(row, drawing), pairs, drawing.path, drawing.fragment, evidence)


def _summary(row: RangeRow, drawing: Drawing) -> str:
    series, its, change = row.series, figures(row), row.change
    metric = f' <span class="muted">{escape(series.metric.name)}</span>'
    percent, low, high = (change.pct, change.low_pct, change.high_pct) if change else (None,) * 3
    kind = kind_of(row)
    coloured = kind if kind in {"worse", "better"} else "even"
    chip = CHIPS.get(row.verdict, row.verdict)
    mark = text.MARKS[row.verdict]
    size, unit, within = moved(row)
    shown = with_unit(row)
    plot = forest.row(drawing.reach, percent, low, high, kind=kind, figures=shown)
    return (
        '<span class="row"><span class="what">'
        f"{hardware_html(series.hardware, line=True)}</span>"
        f'<span class="mode">{mode_html(row.mode)}{metric if drawing.with_metric else ""}</span>'
        f'<span class="plot">{plot}</span>'
        f'<span class="number {coloured}"><b>{size} {unit}</b></span>'
        f'<span class="number ci">{within or text.UNKNOWN}</span>'
        f'<span class="verdict"><span class="chip {chip}">{mark} {escape(row.verdict)}</span>'
        f"{_note(row)}{_today(row, drawing)}</span>"
        f'<span class="number detect">{escape(its["n"])}</span></span>'
    )


def _today(row: RangeRow, drawing: Drawing) -> str:
    """What its series has lost today, where either range is of the same series."""
    series, change = row.series, row.change
    stands = drawing.today.get(series.pk)
    if stands is None or change is None:
        return ""
    ends = change.low_pct, change.high_pct
    short = short_beside((change.pct, *ends), stands, is_cost=series.is_cost)
    return today_html(series.pk, short)


def _note(row: RangeRow) -> str:
    return f' <span class="note">{escape(row.reason)}</span>' if row.reason else ""
