"""Addresses of pages. Those of `webapp.analysis.queries.links` stand in mails and feeds, too."""

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
    "local_page",
    "side_of",
    "sides_of",
    "trend_link",
    "with_query",
]


def local_page(request: HttpRequest, address: str, *, otherwise: str) -> str:
    """``address`` when it is one of this instance's pages, else that of the page ``otherwise``."""
    local = url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())
    return address if local else reverse(otherwise)
