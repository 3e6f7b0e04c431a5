"""`/compare/?a=…&b=…`: A against B along one axis, over everything both have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.accounts.services import is_triager
from webapp.analysis import queries
from webapp.charts import forest
from webapp.charts.svg import Part, stacked
from webapp.pages.compare import answer as compare_answer
from webapp.pages.compare import pickers as compare_pickers
from webapp.pages.compare import range_report
from webapp.pages.compare import ranges as compare_ranges
from webapp.pages.compare import report as compare_report
from webapp.pages.compare.answer import for_people, titles_of
from webapp.pages.compare.drawn import Asked, drawn
from webapp.pages.compare.evidence import evidence_of
from webapp.pages.compare.pickers import readable, start
from webapp.pages.compare.report import not_compared
from webapp.pages.compare.rows import (
    ORDERS,
    ROWS_AT_ONCE,
    ROWS_DRAWN,
    kind_of,
    lines_of,
    reach_of,
    revisions_of,
)
from webapp.pages.parts.cache import Cache, fingerprint
from webapp.pages.parts.figures import rendered_with_plotly
from webapp.pages.parts.links import with_query
from webapp.pages.parts.summaries import variants_beside
from webapp.results.models import Revision, Run
from webapp.stats.metrics import MARGIN_PCT

FEWEST_SIDES = 2

MATCHED: Cache[queries.Matched] = Cache(most=16, seconds=600.0)
"""Never too old: its keys are all that it is made of. The age frees what nobody reads."""

BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Box:
    """One side above the table: its name, its parts, its commit; of a release its name."""

    name: str
    side: queries.Side
    revision: Revision
    release: str = ""


@require_safe
def page(request: HttpRequest) -> HttpResponseBase:
    """Two to seven sides, or two ranges of revisions, compared; 400 and why where unreadable."""
    texts = _texts(request)
    try:
        if compare_pickers.PICK in request.GET and not texts:
            return redirect(compare_pickers.picked_address(request.GET))
        if not texts or "change" in request.GET:
            return start(request, [queries.Side.parse(text) for text in texts])
        if any(queries.is_range(text) for text in texts):
            return compare_ranges.page(request, texts)
        return _compared(request, [queries.Side.parse(text) for text in texts])
    except queries.SideError as error:
        return start(request, readable(texts), str(error))


@require_safe
def row(request: HttpRequest) -> HttpResponse:
    """The evidence of a comparison that has one row: what opens under it."""
    try:
        texts = _texts(request)
        if any(queries.is_range(text) for text in texts):
            return compare_ranges.row(request, texts)
        sides = [queries.Side.parse(text) for text in texts]
        options = queries.BlockOptions.read(request.GET.dict())
        table = queries.compare_sides(sides, queries.moment_of(request.GET.get("asof", "")))
    except queries.SideError as error:
        return _refused(str(error))
    if len(table.rows) != 1:
        return _refused(f"{len(table.rows)} rows: name hardware, mode and metric of one")
    return HttpResponse(_evidence(request, table, options, queries.compare_link(*table.sides)))


@require_safe
def suggestions(request: HttpRequest) -> HttpResponse:
    """Names for one field of the form, as options of its list."""
    part = request.GET.get("part", "")
    text = (request.GET.getlist(request.GET.get("field", part)) or [""])[0]
    tree = "" if part == "tree" else request.GET.get("of", "")
    found = compare_pickers.suggestions(part, text, tree)
    return render(request, "pages/parts/compare_suggestions.html", {"suggestions": found})


@require_safe
def text(request: HttpRequest) -> HttpResponse:
    """The ministat block of every row, as plain text."""
    return _report(request, (compare_report.as_text, range_report.as_text), "text/plain")


@require_safe
def markdown(request: HttpRequest) -> HttpResponse:
    """The comparison as a report in Markdown."""
    is_of_now = queries.moment_of(request.GET.get("asof", "")) is None
    of_sides = partial(compare_report.as_markdown, is_of_now=is_of_now)
    of_ranges = partial(range_report.as_markdown, is_of_now=is_of_now)
    return _report(request, (of_sides, of_ranges), "text/markdown")


def drawing(request: HttpRequest) -> str:
    """The comparison as one picture: its answer, and the interval of each row, the proven ones
    first. Raises SideError for sides that cannot be read or found.
    """
    texts, asof = _texts(request), queries.moment_of(request.GET.get("asof", ""))
    sides_asked = list(zip(["a", *"b" * len(texts)], texts, strict=False))
    here = request.build_absolute_uri(with_query(reverse("compare"), sides_asked))
    if any(queries.is_range(text) for text in texts):
        return compare_ranges.drawing(texts, asof, here)
    sides = [queries.Side.parse(text) for text in texts]
    if len(sides) < FEWEST_SIDES:
        raise queries.SideError("Two sides are needed: a=… and b=…")
    table, _ = _tables(sides, asof)
    return picture_of(table, compare_answer.answer_of(table), [" against ".join(texts), here])


def picture_of(table: queries.PointTable, answer: str, foot: Sequence[str]) -> str:
    """The ``answer`` and the interval of each row, the proven ones first, over the lines ``foot``,
    the first of which is completed with the newest run.
    """
    lines = lines_of(compare_answer.cells_of(table))
    rows = [
        forest.Row(
            name=" · ".join([line.row.mode, str(cell.row.base.hardware), *_nearest(table, cell)]),
            percent=cell.judged.percent,
            low=cell.judged.low,
            high=cell.judged.high,
            kind=kind_of(cell.judged),
        )
        for line in lines
        for cell in line.cells
    ]
    image = forest.draw(reach_of(lines), rows[:ROWS_DRAWN], described=answer)
    more = len(rows) - ROWS_DRAWN
    newest = Run.objects.filter(revision__in=table.revisions).newest_text()
    foot = [f"{foot[0]}; {newest}", *foot[1:]]
    return stacked(answer, [Part(f"and {more} more rows" if more > 0 else "", image)], foot=foot)


def _nearest(table: queries.PointTable, cell: compare_answer.Cell) -> list[str]:
    """The revisions of a row where they are not those of the table."""
    own = tuple(one.revision for one in cell.row.points)
    return [revisions_of(cell.row)] if own != table.revisions else []


def _refused(reason: str, content_type: str = "text/plain; charset=utf-8") -> HttpResponse:
    return HttpResponse(f"{reason}\n", content_type=content_type, status=BAD_REQUEST)


def _report(
    request: HttpRequest,
    writers: tuple[compare_report.Writer, range_report.Writer],
    content_type: str,
) -> HttpResponse:
    """What one of ``writers`` makes of sides, and the other of ranges of revisions."""
    content_type = f"{content_type}; charset=utf-8"
    of_sides, of_ranges = writers
    texts, asof = _texts(request), queries.moment_of(request.GET.get("asof", ""))
    try:
        options = queries.BlockOptions.read(request.GET.dict())
        if any(queries.is_range(text) for text in texts):
            ranges = queries.compare_written_ranges(texts, asof)
            return HttpResponse(of_ranges(ranges, options), content_type=content_type)
        table = queries.compare_sides([queries.Side.parse(text) for text in texts], asof)
    except queries.SideError as error:
        return _refused(str(error), content_type)
    return HttpResponse(of_sides(table, options), content_type=content_type)


def _texts(request: HttpRequest) -> list[str]:
    given = [*request.GET.getlist("a")[:1], *request.GET.getlist("b")]
    return [text.strip().replace("\0", "") for text in given if text.strip()]


def _compared(request: HttpRequest, sides: Sequence[queries.Side]) -> HttpResponseBase:
    options = queries.BlockOptions.read(request.GET.dict())
    asof = queries.moment_of(request.GET.get("asof", ""))
    table, by_samples = _tables(sides, asof)
    evidence = ""
    if by_samples is not None and len(by_samples.rows) == 1:
        evidence = _evidence(request, by_samples, options, request.get_full_path())
    context = context_of(request, table, asof, evidence=evidence)
    return rendered(request, "pages/compare/compare.html", context)


def rendered(
    request: HttpRequest, template: str, context: Mapping[str, object]
) -> HttpResponseBase:
    """A page of `context_of`; where a row may open to distributions, Plotly may draw them."""
    if context["has_histograms"]:
        return rendered_with_plotly(request, template, context)
    return render(request, template, context)


def _tables(
    sides: Sequence[queries.Side], asof: datetime | None
) -> tuple[queries.PointTable, queries.ComparedTable | None]:
    """The table from points; that from samples where it is asked of a time or has but one row."""
    by_points = not asof and not _is_one_row(sides)
    table = queries.compare_points(sides, keep=_keep) if by_points else None
    if table is None:
        by_samples = queries.compare_sides(sides, asof)
        return queries.as_points(by_samples), by_samples
    return table, queries.compare_sides(sides) if len(table.rows) == 1 else None


def _keep(of: object, match: Callable[[bytes], queries.Matched]) -> queries.Matched:
    key = fingerprint(of)
    return MATCHED.get(key, lambda: match(key))


def _is_one_row(sides: Sequence[queries.Side]) -> bool:
    return all(side.hardware and side.mode and side.metric for side in sides)


def _evidence(
    request: HttpRequest, table: queries.ComparedTable, options: queries.BlockOptions, back: str
) -> str:
    context = {
        "evidence": evidence_of(request, table, options),
        "options": options,
        "flavours": queries.FLAVOURS,
        "levels": queries.LEVELS,
        "confidence": f"{options.confidence:g}",
        "back": back,
        "sides": [str(side) for side in table.sides],
        "asof": request.GET.get("asof", ""),
    }
    return render_to_string("pages/compare/_evidence.html", context, request)


def context_of(
    request: HttpRequest,
    table: queries.PointTable,
    asof: datetime | None,
    *,
    titles: Sequence[str] = (),
    evidence: str = "",
) -> dict[str, object]:
    """What a page shows of ``table``, whose sides are called ``titles``, or by what
    distinguishes them.
    """
    order = request.GET.get("order", "")
    order = order if order in ORDERS else ORDERS[0]
    sides = for_people(table.sides)
    titles = titles or titles_of(sides)
    more = [("asof", asof.isoformat())] if asof else []
    series = {row.base.series_id for row in table.rows}
    asked = Asked(
        titles=tuple(titles),
        order=order,
        most=None if "all" in request.GET else ROWS_AT_ONCE,
        more=more,
        today={} if asof else queries.stands_by_series(series),
    )
    return {
        "table": table,
        "asof": asof,
        "boxes": _boxes(table, sides),
        "common": _common(sides),
        **drawn(table, asked, evidence),
        "margin": MARGIN_PCT,
        "orders": [(name, _ordered(request, name), name == order) for name in ORDERS],
        "all_link": _ordered(request, order, everything=True),
        "choices": variants_beside(table.revisions),
        "side_texts": [str(side) for side in table.sides],
        "can_keep": bool(table.rows) and is_triager(request.user),
        "unmatched": not_compared(table.unmatched, "ABCDEFG"),
        **_links(table, more),
    }


def _links(table: queries.PointTable, more: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The same comparison elsewhere, and others beside it."""
    return {
        "text_link": queries.compare_link(*table.sides, page="compare_text", more=more),
        "markdown_link": queries.compare_link(*table.sides, page="compare_markdown", more=more),
        "picture_links": [
            (title, queries.compare_link(*table.sides, page=page, more=more))
            for title, page in (("SVG", "compare_svg"), ("PNG", "compare_png"))
        ],
        "data_link": queries.compare_link(*table.sides, page="api:compare", more=more),
        "change_link": f"{queries.compare_link(*table.sides)}&change=1",
        "swapped": queries.compare_link(*reversed(table.sides)) if len(table.sides) == 2 else "",
    }


def _ordered(request: HttpRequest, order: str, *, everything: bool = False) -> str:
    pairs = [("a", one) for one in request.GET.getlist("a")[:1]]
    pairs += [("b", one) for one in request.GET.getlist("b")]
    pairs += [("asof", one) for one in request.GET.getlist("asof")[:1]]
    pairs += [("order", order)] if order in ORDERS[1:] else []
    pairs += [("all", "1")] if everything else []
    return with_query(request.path, pairs)


def _boxes(table: queries.PointTable, sides: Sequence[queries.Side]) -> list[Box]:
    return [
        Box(name, side, revision)
        for name, side, revision in zip("ABCDEFG", sides, table.revisions, strict=False)
    ]


def _common(sides: Sequence[queries.Side]) -> str:
    """What all sides have in common, the particular before the general."""
    values = {
        part: {getattr(side, part) for side in sides} for part in reversed(queries.SHOWN_PARTS)
    }
    return " · ".join(alike.pop() for alike in values.values() if len(alike) == 1 and alike != {""})
