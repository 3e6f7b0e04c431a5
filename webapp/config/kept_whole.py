"""Pages that hold a lasting secret are not compressed.

By its size, a compressed page that also shows what a stranger put into its address tells the rest
of it (BREACH). The token of a form is masked anew in each answer; the secret address of a feed, a
webhook's key or a link of a mail is not. `no-transform` keeps Caddy, and any proxy, from it.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver
from django.utils.cache import patch_cache_control

View = Callable[..., HttpResponseBase]
HOLD_SECRETS = (
    *("account", "admin", "feeds/subscription", "mail", "outbox"),
    *("sign-in", "subscriptions", "unsubscribe", "webhooks"),
)


def kept_whole(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The addresses; those that hold secrets are marked."""
    for each in patterns:
        if str(each.pattern).startswith(HOLD_SECRETS):
            _mark(each)
        elif isinstance(each, URLResolver):
            kept_whole(each.url_patterns)
    return list(patterns)


def _mark(address: URLPattern | URLResolver) -> None:
    if isinstance(address, URLResolver):
        for each in address.url_patterns:
            _mark(each)
    else:
        address.callback = _whole(address.callback)


def _whole(view: View) -> View:
    @wraps(view)
    def whole(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        response = view(request, *arguments, **named)
        patch_cache_control(response, no_transform=True)
        return response

    return whole
