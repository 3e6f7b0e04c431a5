"""The one way in by a password, which the page to sign in and the admin's take, and what a request
meets there: whoever is to come later is turned away, browsers in which people signed in are
remembered.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.accounts.signing_in.factors import NotNow
from webapp.accounts.signing_in.limits import Attempt, remember

SIGNED_IN = "signed_in_now"


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


class LimitedBackend(ModelBackend):
    """Django's own backend, within the limits of failures. A name that does not exist costs as
    much time and counts as much as one that does."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **rest: Any,
    ) -> Any:
        """Raises TooManyFailures or HashingBusy; a shell, which has no request, is not limited."""
        if request is None or username is None:
            return super().authenticate(request, username, password, **rest)
        attempt = Attempt(request, username)
        attempt.ensure_allowed()
        user = super().authenticate(request, username, password, **rest)
        if user is None:
            attempt.note_failure()
        return user


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    """The answer tells the browser (`webapp.accounts.signing_in.middleware`)."""
    if request is not None:
        setattr(request, SIGNED_IN, user.get_username())
