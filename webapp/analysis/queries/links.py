"""Addresses of pages whose state is their query."""

from collections.abc import Iterable
from urllib.parse import urlencode

from django.urls import reverse

from webapp.analysis.models import Finding
from webapp.analysis.queries.sides import Side
from webapp.results.models import Revision, Series

READABLE = "/@:"
"""Characters that may stand in a query as they are; people read and paste these addresses."""

Pairs = Iterable[tuple[str, str]]


def with_query(path: str, pairs: Pairs) -> str:
    """``path?…`` with every pair, in order."""
    query = urlencode(list(pairs), safe=READABLE)
    return f"{path}?{query}" if query else path


def trend_link(series: Series, **more: str) -> str:
    """The trend chart of one series. Needs its parts loaded."""
    parts = {
        "tree": series.tree.name,
        "metric": series.metric.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
    }
    return with_query(reverse("trends"), [*parts.items(), *more.items()])


def side_of(series: Series, revision: Revision) -> Side:
    """The side of a comparison that is one point. Needs the parts of the series loaded."""
    return Side(
        tree=series.tree.name,
        revision=revision.name,
        hardware=series.hardware.name,
        mode=series.mode.name,
        metric=series.metric.name,
        variant=series.variant.name if series.variant else "",
    )


def sides_of(finding: Finding) -> tuple[Side, Side]:
    """The two points around a finding: the last at the old level, the first at the new."""
    series = finding.series
    return side_of(series, finding.previous), side_of(series, finding.revision)


def compare_link(base: Side, *others: Side, page: str = "compare", more: Pairs = ()) -> str:
    """The compare page of two or more sides, or what else is made of them (``compare_text``), with
    ``more`` behind them.
    """
    pairs = [("a", str(base)), *(("b", str(other)) for other in others), *more]
    return with_query(reverse(page), pairs)
