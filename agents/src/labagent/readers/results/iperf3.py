"""`result = "iperf3"`: what `iperf3 --json` prints, one document an iteration.

The value is what arrived: `end.sum_received` in newer releases and for TCP, else for UDP the rate
sent less the share of datagrams lost (`end.sum`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labagent.job import Job
from labagent.model import Metric
from labagent.readers.results.base import Measurement, Output, Reader, UnreadableError
from labagent.readers.results.numbers import finite, parse_json, printed

THROUGHPUT = Metric("throughput", "bit/s", "more")


def read(output: Output, _job: Job, metric: Metric | None) -> Measurement:
    """The received throughput of each file, as samples of ``metric``, else of
    ``THROUGHPUT``. Raises UnreadableError.
    """
    return Measurement({metric or THROUGHPUT: [_received(path) for path in output.printed]})


def _received(path: Path) -> float:
    """bit/s at the receiver."""
    document = parse_json(printed(path), path.name, "pass --json to iperf3")
    if error := document.get("error"):
        raise UnreadableError(f"{path.name}: iperf3 says: {str(error)[:500]}")
    end = document.get("end")
    received = end.get("sum_received") if isinstance(end, dict) else None
    if isinstance(received, dict):
        return _rate(received, f"{path.name}: end.sum_received")
    if isinstance(end, dict) and isinstance(end.get("sum"), dict):
        return _less_lost(end["sum"], f"{path.name}: end.sum")
    raise UnreadableError(f"{path.name}: iperf3 has no end.sum_received")


def _less_lost(total: dict[str, Any], where: str) -> float:
    lost = finite(total.get("lost_percent"), f"{where}.lost_percent")
    if not 0 <= lost <= 100:
        raise UnreadableError(f"{where}.lost_percent: {lost:g} is no share")
    return _rate(total, where) * (1 - lost / 100)


def _rate(total: dict[str, Any], where: str) -> float:
    rate = finite(total.get("bits_per_second"), where)
    if rate < 0:
        raise UnreadableError(f"{where}: {rate:g} bit/s is no rate")
    return rate


READER = Reader("iperf3", read, ends_itself=True)
