"""Numbers as benchmarks print them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from labagent.limits import LARGEST_SAMPLE
from labagent.readers.formats.base import UnreadableError

_NUMBER = re.compile(
    r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?"
)


def finite(value: Any, where: str) -> float:
    """`value` as a number that can be compared; `where` names its place in the error."""
    number = _number(value)
    if number is None:
        raise UnreadableError(f"{where}: {_shown(value)} is no number")
    if abs(number) > LARGEST_SAMPLE:
        raise UnreadableError(f"{where}: {_shown(value)} is more than anything measured")
    return number


def amount(value: Any, where: str) -> float:
    """The same for what cannot be negative: a time, a rate, a count."""
    number = finite(value, where)
    if number < 0:
        raise UnreadableError(f"{where}: {number:g} is less than nothing")
    return number


def whole(value: Any, where: str) -> int:
    """The same of what is counted one by one."""
    number = amount(value, where)
    if not number.is_integer():
        raise UnreadableError(f"{where}: {_shown(value)} is no whole number")
    return int(number)


def is_number(text: str) -> bool:
    """Whether the text is one number."""
    return _NUMBER.fullmatch(text) is not None


def _number(value: Any) -> float | None:
    """NaN is none; what is too large for a float is infinite."""
    if isinstance(value, str):
        return float(value) if is_number(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > LARGEST_SAMPLE:
        return math.inf
    return None if math.isnan(value) else float(value)


def _shown(value: Any) -> str:
    """The start of it: an integer of a thousand digits cannot even be printed."""
    if isinstance(value, int) and abs(value) > LARGEST_SAMPLE:
        return "an integer"
    return repr(str(value)[:80])


def numbered_lines(text: str, where: str) -> Iterator[tuple[str, str]]:
    """The lines that are not empty, each after its place."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{where} line {number}", line.strip()


def parse_json(text: str, where: str, remedy: str = "") -> dict[str, Any]:
    """One JSON object; `UnreadableError` for anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError(f"{where} is no JSON: {reason}", remedy) from error
    if not isinstance(document, dict):
        raise UnreadableError(f"{where} is no JSON object", remedy)
    return document
