"""What tests of signing in do again and again."""

import time
from itertools import count
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.http import HttpResponse
from django.test import Client

from webapp.accounts.models import User

RIGHT = "a long password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
_addresses = count(1)


def new_address() -> str:
    """One that no other test used: counts outlive a test."""
    number = next(_addresses)
    return f"198.18.{number // 250}.{number % 250 + 1}"


def with_app(user: User) -> User:
    """``user`` with an app that shows codes, and with recovery codes."""
    totp.TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def code_of_now(steps: int = 0, secret: str = SECRET) -> str:
    """What the app shows, or showed ``steps`` half minutes later."""
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + steps))


def recovery_codes(user: User) -> list[str]:
    row = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES)
    found: list[str] = row.wrap().get_unused_codes()
    return found


def give_password(client: Client, name: str = "ada", **more: Any) -> HttpResponse:
    form = {"username": name, "password": RIGHT}
    return client.post("/sign-in/", form, **more)  # type: ignore[return-value]


def give_code(client: Client, code: str) -> HttpResponse:
    return client.post("/sign-in/code/", {"code": code})  # type: ignore[return-value]


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200
