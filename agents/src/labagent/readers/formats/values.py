"""Numbers, one a line, as ministat(1) reads them: what they measure has to be named beside."""

from __future__ import annotations

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result
from labagent.readers.formats.numbers import finite, is_number, numbered_lines

UNNAMED = Metric("value", "1", "")


def claims(printed: Printed) -> bool:
    """Whether there are lines and each is one number; `#` begins a comment."""
    lines = [line for _, line in _lines(printed)]
    return bool(lines) and all(is_number(line) for line in lines)


def read(printed: Printed) -> Content:
    """The numbers as samples of the metric that was named. Raises UnreadableError."""
    found = tuple(finite(line, where) for where, line in _lines(printed))
    return Content([Result(printed.metric or UNNAMED, found)])


def _lines(printed: Printed) -> list[tuple[str, str]]:
    lines = numbered_lines(printed.text, printed.where)
    return [(where, line) for where, line in lines if not line.startswith("#")]


FORMAT = Format("values", "the user", claims, read, needs_metric=True)
