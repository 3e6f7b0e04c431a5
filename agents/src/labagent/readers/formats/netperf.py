"""netperf's omni tests with `-- -k`: one KEY=VALUE a line."""

from __future__ import annotations

import re

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.iperf3 import THROUGHPUT
from labagent.readers.formats.metrics import RATE, latency
from labagent.readers.formats.numbers import amount

UNITS: dict[str, tuple[Metric, float]] = {
    **{f"10^{power}bits/s": (THROUGHPUT, 10.0**power) for power in (3, 6, 9)},
    "Trans/s": (RATE, 1.0),
}
LATENCIES = {"MEAN": "mean", "P50": "p50", "P90": "p90", "P99": "p99", "MAX": "max"}


def claims(printed: Printed) -> bool:
    """Whether the unit of a throughput is there."""
    return re.search(r"^THROUGHPUT_UNITS=", printed.text, re.MULTILINE) is not None


def read(printed: Printed) -> Content:
    """Throughput in its unit, and latencies. Raises UnreadableError."""
    pairs = re.findall(r"^([A-Z0-9_]+)=(.*?)\r?$", printed.text, re.MULTILINE)
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableError(f"{printed.where} holds a key twice", "one test a file")
    unit = found.get("THROUGHPUT_UNITS", "")
    if unit not in UNITS:
        raise UnreadableError(f"{printed.where}: THROUGHPUT_UNITS {unit[:20]!r} is not known")
    metric, scale = UNITS[unit]
    value = scale * amount(found.get("THROUGHPUT"), f"{printed.where}: THROUGHPUT")
    results = [Result(metric, (value,))]
    for key, name in LATENCIES.items():
        if (text := found.get(f"{key}_LATENCY")) is not None:
            value = amount(text, f"{printed.where}: {key}_LATENCY")
            results.append(Result(latency(name), (value,)))
    return Content(results)


FORMAT = Format("netperf", "netperf's manual, omni output selectors", claims, read)
