"""Whose request it is, for counting."""

from django.conf import settings
from django.http import HttpRequest

from webapp.accounts.addresses import client_address, counted_as


def client_network(request: HttpRequest) -> str:
    """The IPv4 address or the IPv6 network of the client."""
    address = client_address(
        request.META.get("REMOTE_ADDR", ""),
        request.headers.get("X-Forwarded-For", ""),
        proxies=settings.PROXIES,
    )
    return counted_as(address) or "unknown"
