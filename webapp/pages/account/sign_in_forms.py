"""The forms with a password, and that of who forgot it."""

import unicodedata
from typing import Any

from allauth.account.forms import LoginForm, ReauthenticateForm, ResetPasswordForm

from webapp.accounts.models import User


class SignInForm(LoginForm):
    """Name and password; what it posts is named as scripts and password managers know it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)

    def add_prefix(self, field_name: str) -> str:
        """``username`` for the field that allauth names ``login``."""
        name: str = super().add_prefix("username" if field_name == "login" else field_name)
        return name


class PasswordAgainForm(ReauthenticateForm):
    """The password, before something about signing in is changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs.pop("placeholder", None)


class ForgottenForm(ResetPasswordForm):
    """The address of an account. What comes of it is not shown."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "E-mail"
        self.fields["email"].widget.attrs.pop("placeholder", None)

    def clean_email(self) -> str:
        """The address. The mails go to that of the account as it is stored, never to this one:
        two addresses may be the same to the database and reach two people.
        """
        given: str = self.cleaned_data["email"]
        found = User.objects.filter(email__iexact=given, is_active=True).order_by("pk")
        self.users = [
            one for one in found if _plain(one.email) == _plain(given) and one.has_usable_password()
        ]
        return given


def _plain(address: str) -> str:
    return unicodedata.normalize("NFKC", address).casefold()
