"""Pages whose question the database cut off, or never got: 503, and when to come again."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from webapp.api.wiring import explain_loss


class DatabaseLost:
    """Answer 503 with Retry-After while the database is away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer as without this."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The API translates its own (`webapp.api.errors`)."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        kind, retry_after = explain_loss(request, error)
        message = f"{kind.message} Nothing was stored. Try again in {retry_after} seconds."
        response = render(request, "not_now.html", {"message": message}, status=kind.status)
        response["Retry-After"] = str(retry_after)
        return response
