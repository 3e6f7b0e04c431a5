"""Times as labs' shells print them, made aware.

A zone is known by its name only, and names are ambiguous (`CST`, `IST`, `BST`). Those below mean
one offset wherever such logs are written; any other leaves the time unknown rather than wrong.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
}  # fmt: skip

FIRST_YEAR, LAST_YEAR = 1990, 2099
"""A clock that was never set says 1970; no lab measured before there was a kernel to measure."""

_UNIX = re.compile(r"^\w{3} (\w{3}) +([0-9]+) ([0-9]+:[0-9]+:[0-9]+) (\S+) ([0-9]{4})$")
_SPOKEN = re.compile(r"^(\w+) +([0-9]+), ([0-9]{4}) at ([0-9]+:[0-9]+:[0-9]+ [AP]M) (\S+)$")


def parse_time(text: str) -> datetime | None:
    """`Thu Sep 10 08:11:48 CEST 2015` or `May  8, 2016 at 06:43:48 PM CEST`, else None."""
    if match := _UNIX.match(text):
        month, day, clock, zone, year = match.groups()
        return _aware(f"{month} {day} {year} {clock}", "%b %d %Y %H:%M:%S", zone)
    if match := _SPOKEN.match(text):
        month, day, year, clock, zone = match.groups()
        return _aware(f"{month[:3]} {day} {year} {clock}", "%b %d %Y %I:%M:%S %p", zone)
    return None


def _aware(text: str, layout: str, zone: str) -> datetime | None:
    if zone not in ZONE_HOURS:
        return None
    try:
        naive = datetime.strptime(text, layout)  # noqa: DTZ007 (the zone follows)
    except ValueError:
        return None
    if not FIRST_YEAR <= naive.year <= LAST_YEAR:
        return None
    return naive.replace(tzinfo=timezone(timedelta(hours=ZONE_HOURS[zone])))
