"""Addresses of pages. Those of `webapp.analysis.queries.links` stand in mails and feeds, too."""

from functools import cache

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.analysis.queries import (
    READABLE,
    compare_link,
    side_of,
    sides_of,
    trend_link,
    with_query,
)

__all__ = [
    "READABLE",
    "compare_link",
    "job_new_link",
    "local_page",
    "side_of",
    "sides_of",
    "trend_link",
    "with_query",
]


@cache
def _asking() -> str:
    """Asked for by each of a page's cells: it stays where it is while the process runs."""
    return reverse("job_new")


def job_new_link(series: int, revision: str, back: str) -> str:
    """The jobs that can be asked for about a point of a series (by id), from the page ``back``."""
    return with_query(_asking(), [("series", str(series)), ("revision", revision), ("next", back)])


def local_page(request: HttpRequest, address: str, *, otherwise: str) -> str:
    """``address`` when it is one of this instance's pages, else that of the page ``otherwise``."""
    local = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if local else reverse(otherwise)
