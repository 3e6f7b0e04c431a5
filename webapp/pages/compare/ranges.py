"""Release against release: two ranges of revisions by their levels, as a page and in Markdown."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from webapp.analysis.queries import RangeRow, RangeTable, compare_written_ranges
from webapp.charts.text import change_within, number
from webapp.pages.parts.links import with_query
from webapp.stats.markdown import inline

HEAD = (
    "| mode | hardware | before | after | n | Δ % [95 %] | verdict |\n|---|---|--:|--:|--:|--:|---|"
)
GATED = (
    "Better and worse pass one gate over all rows: on average at most 5 % of them are false. The "
    "intervals count how builds scatter, and that neighbouring revisions may resemble one another."
)


def page(request: HttpRequest, texts: Sequence[str]) -> HttpResponse:
    """The table. Raises SideError for ranges that cannot be read, found or compared."""
    table = compare_written_ranges(texts)
    pairs = list(zip("ab", texts, strict=True))
    context = {
        "table": table,
        "headline": headline(table),
        "gated": GATED,
        "rows": [(row, _figures(row)) for row in _ordered(table.rows)],
        "markdown_link": with_query(reverse("compare_markdown"), pairs),
        "data_link": with_query(reverse("api:compare_ranges"), pairs),
        "swapped": with_query(reverse("compare"), list(zip("ab", reversed(texts), strict=True))),
        "simulated": any(row.series.hardware.lab.simulated for row in table.rows),
    }
    return render(request, "pages/compare_ranges.html", context)


def headline(table: RangeTable) -> str:
    """``r1..r9 against r10..r20: 2 worse, 1 better, 5 equivalent``."""
    told = ", ".join(f"{count} {verdict}" for verdict, count in table.counts.items() if count)
    a, b = table.a.side.revision, table.b.side.revision
    return f"{b} against {a}: {told or 'no series was measured in both'}"


def as_markdown(texts: Sequence[str]) -> str:
    """The same as a report. Raises SideError as `page` does."""
    table = compare_written_ranges(texts)
    lines = [_line(row) for row in _ordered(table.rows)]
    ends = [f"- {inline(one.text)}: {one.first} to {one.last}" for one in (table.a, table.b)]
    parts = [f"# {inline(headline(table))}", "\n".join(ends), GATED]
    return "\n\n".join([*parts, "\n".join([HEAD, *lines])]) + "\n"


def _ordered(rows: Sequence[RangeRow]) -> list[RangeRow]:
    """What is proven first, the worst before the best."""
    rank = {"worse": 0, "better": 1, "equivalent": 2, "cannot tell": 3}
    return sorted(
        rows, key=lambda row: (rank[row.verdict], -abs(row.change.pct) if row.change else 0)
    )


def _figures(row: RangeRow) -> dict[str, str]:
    one = row.change
    if one is None:
        return {"before": "", "after": "", "n": f"{row.counts[0]} / {row.counts[1]}", "change": ""}
    left_out = one.a.left_out + one.b.left_out
    more = f", {left_out} left out" if left_out else ""
    return {
        "before": number(one.a.level),
        "after": number(one.b.level),
        "n": f"{one.a.count} / {one.b.count}{more}",
        "change": change_within(one.pct, one.low_pct, one.high_pct),
    }


def _line(row: RangeRow) -> str:
    its = _figures(row)
    named = inline(str(row.series.mode)), inline(row.series.hardware.name)
    verdict = f"{row.verdict}: {row.reason}" if row.reason else row.verdict
    cells = [*named, its["before"], its["after"], its["n"], its["change"], verdict]
    return f"| {' | '.join(cells)} |"
