"""Whether a log itself says that a processor or a network card was slowed down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from labagent.model import Finding, clean
from labagent.reading import numbered_lines

THROTTLED = "throttled"

_SAID = re.compile(
    rb"\bthrottl(?:ed|ing)\b|\bcritical temperature\b|\btemperature above threshold\b|\bPROCHOT\b",
    re.IGNORECASE,
)
_HINTS = (b"throttl", b"temperature", b"prochot")
"""One of them is in any text that `_SAID` finds; looking for them is quick."""

_LONGEST = 120
"""Characters of the line that are quoted."""


def find_throttling(logs: Mapping[str, bytes]) -> Iterator[Finding]:
    """The first line that says so, of the iteration's logs by their kind. What the lab typed as a
    command says nothing about the machine."""
    for kind, data in logs.items():
        small = data.lower()
        if not any(hint in small for hint in _HINTS):
            continue
        for number, line in numbered_lines(data):
            if _SAID.search(line) and not line.startswith((b"CMD", b"+ ")):
                said = clean(line.decode("utf-8", "replace")).strip()[:_LONGEST]
                yield Finding(THROTTLED, f"line {number} of the {kind}'s log says: {said}")
                return
