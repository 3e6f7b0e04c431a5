"""The one way in by a password: the page to sign in and the admin's come through here."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

from webapp.accounts.models import User
from webapp.accounts.signing_in.limits import Attempt

SIGNED_IN = "signed_in_now"


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
