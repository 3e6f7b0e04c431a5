"""Reading sets of samples as ``ministat(1)`` reads them: one column of a text, in C's sense."""

import re
from collections.abc import Iterable
from math import isfinite
from typing import Final

from webapp.stats.errors import StatisticsError

# What `isspace` and the leading part of `strtod` accept in the C locale.
_SPACE: Final = b" \t\n\v\f\r"
_DECIMAL = re.compile(rb"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_HEXADECIMAL = re.compile(
    rb"[ \t\n\v\f\r]*([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
)


class InvalidDataError(StatisticsError):
    """A line whose wanted column is not a finite number."""

    def __init__(self, line: int, name: str) -> None:
        super().__init__(f"Invalid data on line {line} in {name}")
        self.line = line
        self.name = name


def number(token: bytes) -> float | None:
    """``token`` as a finite number when C's ``strtod`` takes all of it, else None."""
    if match := _DECIMAL.fullmatch(token):
        value = float(match[1])
    elif match := _HEXADECIMAL.fullmatch(token):
        value = _from_hexadecimal(match[1].decode())
    else:
        return None
    return value if isfinite(value) else None


def read_column(
    lines: Iterable[bytes], *, name: str, column: int = 1, delimiters: bytes = b" \t"
) -> list[float]:
    """The numbers in the 1-based ``column`` of ``lines``, in order.

    A line without that column, or with a token starting with ``#`` at or before it, is ignored.
    Raises `InvalidDataError` with the line's number.
    """
    token = re.compile(b"[^" + re.escape(delimiters) + b"]+")
    values = []
    for line_number, line in enumerate(lines, start=1):
        tokens = token.findall(line.rstrip(_SPACE))[:column]
        if len(tokens) < column or any(found.startswith(b"#") for found in tokens):
            continue
        value = number(tokens[-1])
        if value is None:
            raise InvalidDataError(line_number, name)
        values.append(value)
    return values


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("inf")
