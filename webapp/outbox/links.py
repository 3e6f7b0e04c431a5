"""Addresses for what leaves the house."""

from urllib.parse import urljoin

from django.conf import settings


def absolute(path: str) -> str:
    """The address under which people outside find the page at ``path``."""
    return urljoin(settings.PUBLIC_URL, path)
