"""Release against release: two ranges of revisions by their levels, on the compare page."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from webapp.analysis.queries import (
    FLAVOURS,
    LEVELS,
    BlockOptions,
    RangeTable,
    SideError,
    compare_link,
    compare_written_ranges,
    lost_between_ranges,
    moment_of,
)
from webapp.charts import forest
from webapp.charts.standalone import Part, stacked
from webapp.pages.compare.range_report import (
    GATED,
    has_metrics,
    headline,
    is_simulated,
    ordered,
    subject,
    with_unit,
)
from webapp.pages.compare.range_rows import (
    Drawing,
    evidence_of,
    is_proven,
    kind_of,
    reach_of,
    rows_html,
)
from webapp.pages.compare.rows import ROWS_AT_ONCE, ROWS_DRAWN, Section
from webapp.pages.compare.titles import for_people, titles_of
from webapp.pages.parts.links import with_query
from webapp.stats.defaults import MARGIN_PCT

PROVEN, NOT_PROVEN = "Proven, largest loss first", "Not proven"


def page(request: HttpRequest, texts: Sequence[str]) -> HttpResponse:
    """The table. Raises SideError for ranges that cannot be read, found or compared."""
    asof = moment_of(request.GET.get("asof", ""))
    table = compare_written_ranges(texts, asof)
    more = [("asof", asof.isoformat())] if asof else []
    drawing = _drawing(table, more)
    evidence = ""
    if len(table.rows) == 1:
        evidence = _evidence(request, table, BlockOptions.read(request.GET.dict()))
    sides = for_people([table.a.side, table.b.side])
    context = {
        "table": table,
        "asof": asof,
        "headline": headline(table),
        "boxes": list(zip("AB", (table.a, table.b), sides, strict=True)),
        "gated": GATED,
        "definitions": forest.definitions(drawing.reach),
        "axis": forest.axis(drawing.reach, less="muted:less", more="muted:more"),
        "margin": MARGIN_PCT,
        "simulated": is_simulated(table),
        **_rows(table, drawing, evidence, most=len(table.rows) if "all" in request.GET else None),
        **_links(texts, more),
    }
    return render(request, "pages/compare/ranges.html", context)


def row(request: HttpRequest, texts: Sequence[str]) -> HttpResponse:
    """The evidence of a table of one row. Raises SideError where it has another number of rows, and
    for ranges that cannot be read, found or compared.
    """
    options = BlockOptions.read(request.GET.dict())
    table = compare_written_ranges(texts, moment_of(request.GET.get("asof", "")))
    if len(table.rows) != 1:
        raise SideError(f"{len(table.rows)} rows: name hardware, mode and metric of one")
    return HttpResponse(_evidence(request, table, options))


def drawing(texts: Sequence[str], asof: datetime | None, here: str) -> str:
    """The comparison as one picture, with the address ``here``. Raises SideError as `page` does."""
    table = compare_written_ranges(texts, asof)
    lines = ordered(table.rows)
    rows = [
        forest.Row(
            name=f"{subject(line, table)} · {line.series.hardware}",
            percent=line.change.pct if line.change else None,
            low=line.change.low_pct if line.change else None,
            high=line.change.high_pct if line.change else None,
            kind=kind_of(line),
            figures=with_unit(line),
        )
        for line in lines[:ROWS_DRAWN]
    ]
    answer = headline(table)
    image = forest.draw(reach_of(table.rows), rows, described=answer)
    left = len(lines) - len(rows)
    foot = [" against ".join(texts), here]
    return stacked(answer, [Part(f"and {left} more rows" if left else "", image)], foot=foot)


def _drawing(table: RangeTable, more: Sequence[tuple[str, str]]) -> Drawing:
    return Drawing(
        sides=(table.a.side, table.b.side),
        reach=reach_of(table.rows),
        with_metric=has_metrics(table),
        path=reverse("compare"),
        fragment=reverse("compare_row"),
        more=more,
        today={} if more else lost_between_ranges(table),
    )


def _rows(
    table: RangeTable, drawing: Drawing, evidence: str, *, most: int | None
) -> dict[str, object]:
    """What is proven, and folded below it what is not; of each ``most`` rows."""
    most = ROWS_AT_ONCE if most is None else most
    rows, sections, left_out = ordered(table.rows), [], 0
    any_proven = any(map(is_proven, rows))
    for title, proven in ((PROVEN, True), (NOT_PROVEN, False)):
        its = [row for row in rows if is_proven(row) == proven]
        told = [row.verdict for row in its]
        labels = [(one, told.count(one)) for one in dict.fromkeys(told)]
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


def _evidence(request: HttpRequest, table: RangeTable, options: BlockOptions) -> str:
    evidence = evidence_of(table, options, titles_of([table.a.side, table.b.side]))
    asof = request.GET.get("asof", "")
    context = {
        "evidence": evidence,
        "alone": compare_link(*evidence.sides, more=[("asof", asof)] if asof else []),
        "gated": GATED,
        "options": options,
        "flavours": FLAVOURS,
        "levels": LEVELS,
        "confidence": f"{options.confidence:g}",
        "sides": [str(side) for side in evidence.sides],
        "asof": asof,
    }
    return render_to_string("pages/compare/_range_evidence.html", context, request)
