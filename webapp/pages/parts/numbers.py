"""Numbers that stand in an address or a form."""

from datetime import datetime, timedelta

from django.http import HttpRequest

DAYS = 90
MOST_DAYS = 3650

NUMBER_MAX = 2**63 - 1  # of a bigint


def read_number(text: str) -> int:
    """A number of an alert or a version; 0, which none has, for anything else."""
    return min(int(text[:19]), NUMBER_MAX) if text.isascii() and text.isdigit() else 0


def days_of(request: HttpRequest) -> int:
    """From 1 to ten years; 90 when nothing, or no such number, is asked for."""
    text = request.GET.get("days", "")
    days = int(text[:6]) if text.isascii() and text.isdigit() else DAYS
    return min(days, MOST_DAYS) or DAYS


def days_before(now: datetime, days: int) -> datetime:
    """The moment so many days before ``now``."""
    return now - timedelta(days=days)
