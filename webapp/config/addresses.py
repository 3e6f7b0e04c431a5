"""Addresses that can name nothing."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase


class RejectNulBytes:
    """The database holds no NUL, and refuses to look for one: such an address leads nowhere."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer as without this."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Raises Http404 for a path with a NUL."""
        if "\0" in request.path:
            raise Http404
