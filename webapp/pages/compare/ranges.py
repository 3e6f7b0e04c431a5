"""Release against release on the compare page: two ranges of revisions by their levels, their rows,
and what opens under a row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from statistics import fmean
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.analysis import queries
from webapp.charts import forest, small, text
from webapp.charts.small import Strip
from webapp.charts.svg import Part, stacked
from webapp.charts.text import short_beside
from webapp.pages.compare import range_report
from webapp.pages.compare.answer import for_people, titles_of
from webapp.pages.compare.rows import ROWS_AT_ONCE, ROWS_DRAWN, Section, opening, today_html
from webapp.pages.parts.components import hardware_html, mode_name
from webapp.pages.parts.links import with_query
from webapp.stats import TooFewSamplesError
from webapp.stats.metrics import MARGIN_PCT

KINDS = {"worse": "worse", "better": "better", "equivalent": "equivalent"}
CHIPS = {"equivalent": "same", "cannot tell": "unsure"}

PROVEN, NOT_PROVEN = "Proven, largest loss first", "Not proven"


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the rows of one page share: the two sides, the scale, whether metrics are named,
    ``more`` parts of the queries of a row alone, and by series what stands lost ``today`` where
    that begins between the two.
    """

    sides: tuple[queries.Side, queries.Side]
    reach: forest.Reach
    with_metric: bool
    more: Sequence[tuple[str, str]] = ()
    today: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RangeSet:
    """One range of an open row: ``count`` measured revisions, of which some may be ``left_out``,
    and the text of its ``level`` where it has one.
    """

    label: str
    range: queries.RevisionRange
    count: int
    left_out: str
    level: str


@dataclass(frozen=True, slots=True)
class RangeEvidence:
    """What an open row shows. ``ministat`` is empty where a range has too few revisions for it."""

    row: queries.RangeRow
    table: queries.RangeTable
    labels: Sequence[str]
    ministat: str
    block_ignores = range_report.BLOCK_IGNORES
    too_few = range_report.TOO_FEW

    @property
    def sides(self) -> tuple[queries.Side, queries.Side]:
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
        return small.draw_strips(strips, unit=self.row.series.metric.unit)

    @property
    def sets(self) -> list[RangeSet]:
        """Either range."""
        its = range_report.figures(self.row)
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
        return range_report.sentence_of(self.row)

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


def evidence_of(
    table: queries.RangeTable, options: queries.BlockOptions, labels: Sequence[str]
) -> RangeEvidence:
    """The evidence of the one row of ``table``."""
    (row,) = table.rows
    try:
        block = options.render(list(zip(labels, row.values, strict=True)))
    except TooFewSamplesError:
        block = ""
    return RangeEvidence(row, table, labels, block)


def sides_of_row(
    sides: tuple[queries.Side, queries.Side], row: queries.RangeRow
) -> tuple[queries.Side, queries.Side]:
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


def is_proven(row: queries.RangeRow) -> bool:
    """Whether it passed the gate."""
    return row.verdict in {"worse", "better"}


def kind_of(row: queries.RangeRow) -> str:
    """How its interval is drawn."""
    return KINDS.get(row.verdict, "unsure")


def reach_of(rows: Sequence[queries.RangeRow]) -> forest.Reach:
    """A scale for what is proven, else for all: wide intervals without evidence leave it."""
    changes = [row.change for row in rows if row.change and is_proven(row)]
    changes = changes or [row.change for row in rows if row.change]
    return forest.reach_of(((one.low_pct, one.high_pct) for one in changes), margin=MARGIN_PCT)


def rows_html(rows: Iterable[queries.RangeRow], drawing: Drawing, evidence: str = "") -> SafeString:
    """The closed rows, each with the address of its evidence; a lone one open with ``evidence``."""
    parts = (_row(row, drawing, evidence) for row in rows)
    return mark_safe("".join(parts))  # noqa: S308 (escaped below)


def _row(row: queries.RangeRow, drawing: Drawing, evidence: str) -> str:
    a, b = sides_of_row(drawing.sides, row)
    pairs = [("a", str(a)), ("b", str(b)), *drawing.more]
    return opening(_summary(row, drawing), pairs, evidence)


def _summary(row: queries.RangeRow, drawing: Drawing) -> str:
    series, its, change = row.series, range_report.figures(row), row.change
    metric = f' <span class="muted">{escape(series.metric.name)}</span>'
    percent, low, high = (change.pct, change.low_pct, change.high_pct) if change else (None,) * 3
    kind = kind_of(row)
    coloured = kind if kind in {"worse", "better"} else "even"
    chip = CHIPS.get(row.verdict, row.verdict)
    mark = text.MARKS[row.verdict]
    size, unit, within = range_report.moved(row)
    shown = range_report.with_unit(row)
    plot = forest.row(drawing.reach, percent, low, high, kind=kind, figures=shown)
    return (
        '<span class="row"><span class="what">'
        f"{hardware_html(series.hardware, line=True)}</span>"
        f'<span class="mode">{mode_name(row.mode)}{metric if drawing.with_metric else ""}</span>'
        f'<span class="plot">{plot}</span>'
        f'<span class="number {coloured}"><b>{size} {unit}</b></span>'
        f'<span class="number ci">{within or text.UNKNOWN}</span>'
        f'<span class="verdict"><span class="chip {chip}">{mark} {escape(row.verdict)}</span>'
        f"{_note(row)}{_today(row, drawing)}</span>"
        f'<span class="number detect">{escape(its["n"])}</span></span>'
    )


def _today(row: queries.RangeRow, drawing: Drawing) -> str:
    """What its series has lost today, where either range is of the same series."""
    series, change = row.series, row.change
    stands = drawing.today.get(series.pk)
    if stands is None or change is None:
        return ""
    ends = change.low_pct, change.high_pct
    short = short_beside((change.pct, *ends), stands, is_cost=series.is_cost)
    return today_html(series.pk, short)


def _note(row: queries.RangeRow) -> str:
    return f' <span class="note">{escape(row.reason)}</span>' if row.reason else ""


def page(request: HttpRequest, texts: Sequence[str]) -> HttpResponse:
    """The table. Raises SideError for ranges that cannot be read, found or compared."""
    asof = queries.moment_of(request.GET.get("asof", ""))
    table = queries.compare_written_ranges(texts, asof)
    more = [("asof", asof.isoformat())] if asof else []
    drawing = _drawing(table, more)
    evidence = ""
    if len(table.rows) == 1:
        evidence = _evidence(request, table, queries.BlockOptions.read(request.GET.dict()))
    sides = for_people([table.a.side, table.b.side])
    context = {
        "table": table,
        "asof": asof,
        "headline": range_report.headline(table),
        "boxes": list(zip("AB", (table.a, table.b), sides, strict=True)),
        "gated": range_report.GATED,
        "definitions": forest.definitions(drawing.reach),
        "axis": forest.axis(drawing.reach, less="muted:less", more="muted:more"),
        "margin": MARGIN_PCT,
        "simulated": range_report.is_simulated(table),
        **_rows(table, drawing, evidence, most=len(table.rows) if "all" in request.GET else None),
        **_links(texts, more),
    }
    return render(request, "pages/compare/ranges.html", context)


def row(request: HttpRequest, texts: Sequence[str]) -> HttpResponse:
    """The evidence of a table of one row. Raises SideError where it has another number of rows, and
    for ranges that cannot be read, found or compared.
    """
    options = queries.BlockOptions.read(request.GET.dict())
    table = queries.compare_written_ranges(texts, queries.moment_of(request.GET.get("asof", "")))
    if len(table.rows) != 1:
        raise queries.SideError(f"{len(table.rows)} rows: name hardware, mode and metric of one")
    return HttpResponse(_evidence(request, table, options))


def drawing(texts: Sequence[str], asof: datetime | None, here: str) -> str:
    """The comparison as one picture, with the address ``here``. Raises SideError as `page` does."""
    table = queries.compare_written_ranges(texts, asof)
    lines = range_report.ordered(table.rows)
    rows = [
        forest.Row(
            name=f"{range_report.subject(line, table)} · {line.series.hardware}",
            percent=line.change.pct if line.change else None,
            low=line.change.low_pct if line.change else None,
            high=line.change.high_pct if line.change else None,
            kind=kind_of(line),
            figures=range_report.with_unit(line),
        )
        for line in lines[:ROWS_DRAWN]
    ]
    answer = range_report.headline(table)
    image = forest.draw(reach_of(table.rows), rows, described=answer)
    left = len(lines) - len(rows)
    foot = [" against ".join(texts), here]
    return stacked(answer, [Part(f"and {left} more rows" if left else "", image)], foot=foot)


def _drawing(table: queries.RangeTable, more: Sequence[tuple[str, str]]) -> Drawing:
    return Drawing(
        sides=(table.a.side, table.b.side),
        reach=reach_of(table.rows),
        with_metric=range_report.has_metrics(table),
        more=more,
        today={} if more else queries.lost_between_ranges(table),
    )


def _rows(
    table: queries.RangeTable, drawing: Drawing, evidence: str, *, most: int | None
) -> dict[str, object]:
    """What is proven, and folded below it what is not; of each ``most`` rows."""
    most = ROWS_AT_ONCE if most is None else most
    rows, sections, left_out = range_report.ordered(table.rows), [], 0
    any_proven = any(map(is_proven, rows))
    for title, proven in ((PROVEN, True), (NOT_PROVEN, False)):
        its = [row for row in rows if is_proven(row) == proven]
        verdicts = [row.verdict for row in its]
        labels = [(one, verdicts.count(one)) for one in dict.fromkeys(verdicts)]
        if its:
            html = rows_html(its[:most], drawing, evidence)
            sections.append(Section(title, len(its), any_proven and not proven, html, labels))
            left_out += max(len(its) - most, 0)
    return {"sections": sections, "left_out": left_out}


def _links(texts: Sequence[str], more: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The same comparison elsewhere."""
    pairs = [*zip("ab", texts, strict=True), *more]
    swapped = [*zip("ab", reversed(texts), strict=True), *more]
    return {
        "change_link": with_query(reverse("compare"), [*pairs, ("change", "1")]),
        "markdown_link": with_query(reverse("compare_markdown"), pairs),
        "text_link": with_query(reverse("compare_text"), pairs),
        "svg_link": with_query(reverse("compare_svg"), pairs),
        "png_link": with_query(reverse("compare_png"), pairs),
        "data_link": with_query(reverse("api:compare_ranges"), pairs),
        "all_link": with_query(reverse("compare"), [*pairs, ("all", "1")]),
        "swapped": with_query(reverse("compare"), swapped),
    }


def _evidence(
    request: HttpRequest, table: queries.RangeTable, options: queries.BlockOptions
) -> str:
    evidence = evidence_of(table, options, titles_of([table.a.side, table.b.side]))
    asof = request.GET.get("asof", "")
    context = {
        "evidence": evidence,
        "alone": queries.compare_link(*evidence.sides, more=[("asof", asof)] if asof else []),
        "gated": range_report.GATED,
        "options": options,
        "flavours": queries.FLAVOURS,
        "levels": queries.LEVELS,
        "confidence": f"{options.confidence:g}",
        "sides": [str(side) for side in evidence.sides],
        "asof": asof,
    }
    return render_to_string("pages/compare/_range_evidence.html", context, request)
