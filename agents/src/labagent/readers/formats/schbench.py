"""schbench: wakeup and request latencies. It reports again and again; the last report is of all."""

from __future__ import annotations

import re

from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.metrics import RATE, latency
from labagent.readers.formats.numbers import amount

_HEAD = re.compile(r"(?:(Wakeup|Request) Latencies|RPS) percentiles \((?:usec|requests)\)")
_SHARE = re.compile(r"\s+\*?\s*(50|90|99|99\.9)(?:\.0)?th:\s+(\S+)")
_RATE = re.compile(r"average rps: (\S+)$")


def claims(printed: Printed) -> bool:
    """Whether a line heads percentiles of a latency."""
    return (
        re.search(r"^(Wakeup|Request) Latencies percentiles", printed.text, re.MULTILINE)
        is not None
    )


def read(printed: Printed) -> Content:
    """The last report of each kind, and the rate. Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} is no output of schbench")
    found: dict[str, Result] = {}
    warnings = []
    kind = ""
    seen: set[str] = set()
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _HEAD.match(line):
            kind, seen = (match[1] or "").lower(), set()
        elif match := _RATE.match(line):
            found["rate"] = Result(RATE, (amount(match[1], where),))
        elif kind and (match := _SHARE.match(line)):
            metric = latency(f"p{match[1]}", kind)
            if match[1] in seen:
                warnings.append(f"{where}: {metric.name} is there twice")
            seen.add(match[1])
            found[metric.name] = Result(metric, (amount(match[2], where),))
    return Content(list(found.values()), warnings)


FORMAT = Format("schbench", "schbench's README", claims, read)
