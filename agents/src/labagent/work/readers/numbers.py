"""Numbers as benchmarks print them."""

from __future__ import annotations

import math
from typing import Any

from labagent.work.readers.base import UnreadableError


def finite(value: Any, where: str) -> float:
    """`value` as a number that can be compared; `where` names its place in the error."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise UnreadableError(f"{where}: {str(value)[:80]!r} is no number")
    return number
