"""Forms of the pages of accounts: to sign in, to ask for a new password, and of second factors,
whose codes have limits and whose keys may answer anything.
"""

import unicodedata
from typing import Any

from allauth.account.forms import LoginForm, ResetPasswordForm
from allauth.account.forms import ReauthenticateForm as PasswordReauthenticateForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator

from webapp import encryption
from webapp.accounts.models import User
from webapp.accounts.services import CodeAttempt, FactorUnreadable, take_code

NAME_MAX = 100
UNREADABLE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""What reading the answer of a key raises where no browser wrote it."""


class LimitedCode:
    """A code of the app or one of the recovery codes, each taken once."""

    user: Any
    fields: dict[str, Any]
    cleaned_data: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attrs = self.fields["code"].widget.attrs
        attrs.pop("placeholder", None)
        attrs.update(inputmode="numeric", autofocus=True)

    def clean_code(self) -> str:
        """The code. Raises ValidationError for a wrong one, TooManyFailures after many."""
        attempt = CodeAttempt(context.request, self.user.get_username())
        attempt.ensure_allowed()
        code: str = self.cleaned_data["code"]
        try:
            found = take_code(user=self.user, code=code)
        except FactorUnreadable as error:
            attempt.note_failure()
            raise ValidationError(str(error)) from error
        if found is None:
            attempt.note_failure()
            raise get_adapter().validation_error("incorrect_code")
        self.authenticator = found
        return code


class CodeForm(LimitedCode, AuthenticateForm):
    """To sign in."""


class CodeAgainForm(LimitedCode, ReauthenticateForm):
    """Before something about signing in is changed."""


class NewAppForm(ActivateTOTPForm):
    """The first code of a new app, which shows that the app has the secret. Until then the secret
    lies in the session, encrypted as those that are stored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        session = context.request.session
        if encrypted := session.pop(totp.SECRET_SESSION_KEY, None):
            session[totp.SECRET_SESSION_KEY] = encryption.decrypt(encrypted)
        super().__init__(*args, **kwargs)
        session[totp.SECRET_SESSION_KEY] = encryption.encrypt(self.secret)
        self.fields["code"].label = "Code of the app"
        attrs = self.fields["code"].widget.attrs
        attrs.pop("placeholder", None)
        attrs.update(inputmode="numeric")


class ReadableKey:
    """The answer of a key. One that was written by hand gets an error."""

    def clean_credential(self) -> Any:
        """The authenticator that answered. Raises ValidationError."""
        try:
            return super().clean_credential()  # type: ignore[misc]
        except ValidationError:
            raise
        except UNREADABLE as error:
            raise get_adapter().validation_error("incorrect_code") from error


class KeyForm(ReadableKey, AuthenticateWebAuthnForm):
    """To sign in, after the password."""


class PasskeyForm(ReadableKey, LoginWebAuthnForm):
    """To sign in without a password."""


class KeyAgainForm(ReadableKey, ReauthenticateWebAuthnForm):
    """Before something about signing in is changed."""


class NewKeyForm(AddWebAuthnForm):
    """A new key, and whether it is a passkey, which signs in without a password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = "Name"
        self.fields["name"].validators.append(MaxLengthValidator(NAME_MAX))
        self.fields["name"].widget.attrs["maxlength"] = NAME_MAX
        self.fields["passwordless"].label = "Passkey"
        self.fields[
            "passwordless"
        ].help_text = "Signs in without a password; the key asks for a PIN or a finger."

    def clean(self) -> dict[str, Any]:
        """With what is kept of the key's answer. Raises ValidationError for what no key gave."""
        try:
            cleaned: dict[str, Any] = super().clean()
            if "credential" in cleaned:
                cleaned["credential"] = _kept(cleaned["credential"])
        except ValidationError:
            raise
        except UNREADABLE as error:
            raise get_adapter().validation_error("incorrect_code") from error
        return cleaned


def _kept(answer: dict[str, Any]) -> dict[str, Any]:
    """What the checks have read of the answer; anything may stand beside that."""
    response = {name: answer["response"][name] for name in ("clientDataJSON", "attestationObject")}
    properties = (answer.get("clientExtensionResults") or {}).get("credProps") or {}
    return {
        **{name: answer[name] for name in ("id", "rawId", "type")},
        "response": response,
        "clientExtensionResults": {"credProps": {"rk": bool(properties.get("rk"))}},
    }


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


class PasswordAgainForm(PasswordReauthenticateForm):
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
