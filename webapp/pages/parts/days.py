"""`?days=` of a page: how far back it looks."""

from datetime import datetime, timedelta

from django.http import HttpRequest

DAYS = 90
MOST_DAYS = 3650


def days_of(request: HttpRequest) -> int:
    """From 1 to ten years; 90 when nothing, or no such number, is asked for."""
    text = request.GET.get("days", "")
    days = int(text[:6]) if text.isascii() and text.isdigit() else DAYS
    return min(days, MOST_DAYS) or DAYS


def days_before(now: datetime, days: int) -> datetime:
    """The moment so many days before ``now``."""
    return now - timedelta(days=days)
