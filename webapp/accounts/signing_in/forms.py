"""The form that asks for one's present password."""

from typing import Any

from django.contrib.auth.forms import PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from webapp.accounts.signing_in.limits import Attempt


class LimitedPasswordChange(PasswordChangeForm):
    """Whoever found somebody's browser open does not get to guess the password there."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_old_password(self) -> str:
        """The old password. Raises ValidationError for a wrong one, TooManyFailures after many."""
        attempt = Attempt(self._request, self.user.get_username())
        attempt.ensure_allowed()
        try:
            return super().clean_old_password()
        except ValidationError:
            attempt.note_failure()
            raise
