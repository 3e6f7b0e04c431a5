"""`?asof=`: a page as it was at a moment."""

from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware


def moment_of(text: str) -> datetime | None:
    """When ``asof`` means; None where it is no time, so that the page shows now."""
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        return make_aware(moment, UTC) if is_naive(moment) else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC the year 1 may be the year 0
        return None
