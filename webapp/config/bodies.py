"""Requests with a body that is too large."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase


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


API = "/api/v1/"


class RefuseLargeBodies:
    """413 for pages. The API asks first who sends, and refuses in its own form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer 413 for a body over the limit; the API refuses its own, as JSON."""
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > settings.UPLOAD_MAX_BYTES and not request.path_info.startswith(API):
            return HttpResponse("The request is too large.\n", "text/plain", status=413)
        return self.get_response(request)
