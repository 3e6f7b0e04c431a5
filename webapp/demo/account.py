"""The demonstration account: a superuser whose password everybody knows."""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings

from webapp.accounts.models import User
from webapp.notifications.models import Subscription
from webapp.notifications.services import save_subscription

NAME = "demo"
PASSWORD = "driftline-demo"  # noqa: S105 (published on purpose, see ensure_account)
ADDRESS = "demo@example.org"


def ensure_account(public_url: str) -> str:
    """Make the account unless it is there, and return the line to print about it.

    Only where pages are served to this machine alone: anywhere else a known password would hand
    the instance to strangers. An account whose password was changed is left alone. A new one is
    subscribed to everything, so that the mails of the demonstration go to it.
    """
    account = User.objects.filter(username=NAME).first()
    if account is None and not is_local(public_url):
        return (
            f"no demonstration account, because others can reach {public_url}: "
            f"make your own with `{settings.COMMANDS}python manage.py createsuperuser`"
        )
    if account is None:
        account = User.objects.create_superuser(NAME, email=ADDRESS, password=PASSWORD)
        save_subscription(subscription=Subscription(user=account, name="everything"))
    if not account.check_password(PASSWORD):
        return f"demonstration account: {NAME}, with the password that it was given since"
    return f"demonstration account: {NAME}, password {PASSWORD}"


def is_local(url: str) -> bool:
    """Whether only this machine can follow `url`."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
