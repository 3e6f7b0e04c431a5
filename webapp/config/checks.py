"""System checks of the wiring: what settings alone cannot refuse, because it needs the whole."""

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004

from webapp.config.staticfiles import PlotlyFinder

Apps = Sequence[AppConfig] | None


@register(Tags.staticfiles)
def plotly_is_installed(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """The charts' script comes from the Plotly package: without it every chart page is empty."""
    path = PlotlyFinder().path
    if Path(path).is_file():
        return []
    return [Error(f"{path} is missing.", hint="Run `make setup`.", id="driftline.E001")]


@register(Tags.security, deploy=True)
def passwords_are_not_sent_in_clear(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Sign-in over plain HTTP is for this machine only."""
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https" or _is_local(public.hostname or ""):
        return []
    return [
        Warning(
            f"Passwords and tokens travel unencrypted to {settings.PUBLIC_URL}",
            hint="Put a proxy with TLS in front and set DRIFTLINE_PUBLIC_URL=https://…/",
            id="driftline.W001",
        )
    ]


@register(Tags.security, deploy=True)
def proxy_is_trusted_when_tls_ends_there(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Gunicorn speaks plain HTTP here, so an https address means that there is a proxy."""
    if not settings.PUBLIC_URL.startswith("https:") or settings.TRUSTED_PROXIES:
        return []
    return [
        Warning(
            "DRIFTLINE_PUBLIC_URL is https, but no proxy is trusted to say who the client is.",
            hint="Set DRIFTLINE_TRUSTED_PROXIES=1 (the number of proxies in front).",
            id="driftline.W002",
        )
    ]


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
