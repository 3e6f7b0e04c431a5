"""Turns away whoever is to come later, and remembers browsers in which people signed in."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from webapp.accounts.signing_in.backend import SIGNED_IN
from webapp.accounts.signing_in.browsers import remember
from webapp.accounts.signing_in.errors import NotNow


class SignIn:
    """Remember the browser of who signed in, and answer those who have to wait."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and remember the browser where the request signed somebody in."""
        response = self.get_response(request)
        name = getattr(request, SIGNED_IN, None)
        if name is not None:
            remember(response, name)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page that says how many seconds to wait; None for any other error."""
        if not isinstance(error, NotNow):
            return None
        response = render(request, "not_now.html", {"message": str(error)}, status=error.status)
        response["Retry-After"] = str(error.retry_after)
        return response
