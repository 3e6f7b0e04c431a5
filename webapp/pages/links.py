"""Addresses of pages whose state is their query."""

from collections.abc import Iterable
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.regressions.compare import Side
from webapp.results.models import Revision, Series

READABLE = "/@:"
"""Characters that may stand in a query as they are; people read and paste these addresses."""

Pairs = Iterable[tuple[str, str]]


def with_query(path: str, pairs: Pairs) -> str:
    """``path?…`` with every pair, in order."""
    query = urlencode(list(pairs), safe=READABLE)
    return f"{path}?{query}" if query else path


def local_page(request: HttpRequest, address: str, *, otherwise: str) -> str:
    """``address`` when it is one of this instance's pages, else that of the page ``otherwise``."""
    local = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if local else reverse(otherwise)


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
    """The side of a comparison that is one point."""
    return Side(
        tree=series.tree.name,
        revision=revision.name,
        hardware=series.hardware.name,
        mode=series.mode.name,
        metric=series.metric.name,
    )


def compare_link(base: Side, *others: Side) -> str:
    """The compare page of two or more sides."""
    pairs = [("a", str(base)), *(("b", str(other)) for other in others)]
    return with_query(reverse("compare"), pairs)
