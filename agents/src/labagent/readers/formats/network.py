"""What generators of network traffic print: iperf3 and netperf."""

import re
from collections.abc import Iterator
from typing import Any

from labagent.model import Metric
from labagent.readers.formats import base

# What `iperf3 --json` prints.
#
# Throughput is what arrived: `end.sum_received` for TCP and in releases that have `end.sum_sent`
# for UDP too, else the rate sent less the share of datagrams lost (`end.sum`).


THROUGHPUT = Metric("throughput", "bit/s", "more")
RETRANSMITS = Metric("retransmits", "segments", "less")
JITTER = Metric("jitter", "ms", "less")
LOST = Metric("lost", "%", "less")
_TOLERANCE = 0.01


def claims_iperf3(printed: base.Printed) -> bool:
    """Whether it is a document of iperf3, or its error."""
    document = printed.json
    return isinstance(document, dict) and {"start", "intervals"} <= document.keys()


def read_iperf3(printed: base.Printed) -> base.Content:
    """What arrived, and what TCP sent again or UDP lost. Raises UnreadableError."""
    document = base.parse_json(printed.text, printed.where, "pass --json to iperf3")
    if error := document.get("error"):
        raise base.UnreadableError(f"{printed.where}: iperf3 reports: {str(error)[:500]}")
    end = document.get("end")
    members = end.items() if isinstance(end, dict) else ()
    sums = {name: one for name, one in members if isinstance(one, dict)}
    if not ("sum_received" in sums or ("sum" in sums and "sum_sent" not in dict(members))):
        raise base.UnreadableError(f"{printed.where}: iperf3 has no end.sum_received")
    rate, warnings = _received(sums, f"{printed.where}: end")
    others = [base.Result(*one) for one in _others(sums, f"{printed.where}: end")]
    return base.Content([base.Result(printed.metric or THROUGHPUT, (rate,)), *others], warnings)


def _received(sums: dict[str, Any], where: str) -> tuple[float, list[str]]:
    """bit/s at the receiver, and a warning where bytes and seconds give another rate."""
    if "sum_received" in sums:
        received = sums["sum_received"]
        rate = base.amount(received.get("bits_per_second"), f"{where}.sum_received")
        return rate, list(_doubts(received, rate, f"{where}.sum_received"))
    lost = _share(sums["sum"], f"{where}.sum")
    rate = base.amount(sums["sum"].get("bits_per_second"), f"{where}.sum")
    return rate * (1 - lost / 100), list(_doubts(sums["sum"], rate, f"{where}.sum"))


def _doubts(total: dict[str, Any], rate: float, where: str) -> Iterator[str]:
    if {"bytes", "seconds"} <= total.keys():
        count, seconds = (
            base.amount(total[name], f"{where}.{name}") for name in ("bytes", "seconds")
        )
        if abs(count * 8 - rate * seconds) > _TOLERANCE * max(count * 8, rate * seconds):
            yield f"{where}: bits_per_second is not that of its bytes and seconds"


def _share(total: dict[str, Any], where: str) -> float:
    lost = base.amount(total.get("lost_percent"), f"{where}.lost_percent")
    if lost > 100:
        raise base.UnreadableError(f"{where}.lost_percent: {lost:g} is no share")
    return lost


def _others(sums: dict[str, Any], where: str) -> Iterator[tuple[Metric, tuple[float, ...]]]:
    for name, metric in (("retransmits", RETRANSMITS), ("jitter_ms", JITTER)):
        one = sums.get("sum_sent" if name == "retransmits" else "sum", {})
        if name in one:
            yield metric, (base.amount(one[name], f"{where}.{name}"),)
    if "lost_percent" in sums.get("sum", {}):
        yield LOST, (_share(sums["sum"], f"{where}.sum"),)


# netperf's omni tests with `-- -k`: one KEY=VALUE a line.


UNITS: dict[str, tuple[Metric, float]] = {
    **{f"10^{power}bits/s": (THROUGHPUT, 10.0**power) for power in (3, 6, 9)},
    "Trans/s": (base.RATE, 1.0),
}
LATENCIES = {"MEAN": "mean", "P50": "p50", "P90": "p90", "P99": "p99", "MAX": "max"}


def claims_netperf(printed: base.Printed) -> bool:
    """Whether the unit of a throughput is there."""
    return re.search(r"^THROUGHPUT_UNITS=", printed.text, re.MULTILINE) is not None


def read_netperf(printed: base.Printed) -> base.Content:
    """Throughput in its unit, and latencies. Raises UnreadableError."""
    pairs = re.findall(r"^([A-Z0-9_]+)=(.*?)\r?$", printed.text, re.MULTILINE)
    found = dict(pairs)
    if len(found) < len(pairs):
        raise base.UnreadableError(f"{printed.where} holds a key twice", "one test a file")
    unit = found.get("THROUGHPUT_UNITS", "")
    if unit not in UNITS:
        raise base.UnreadableError(f"{printed.where}: THROUGHPUT_UNITS {unit[:20]!r} is not known")
    metric, scale = UNITS[unit]
    value = scale * base.amount(found.get("THROUGHPUT"), f"{printed.where}: THROUGHPUT")
    results = [base.Result(metric, (value,))]
    for key, name in LATENCIES.items():
        if (text := found.get(f"{key}_LATENCY")) is not None:
            value = base.amount(text, f"{printed.where}: {key}_LATENCY")
            results.append(base.Result(base.latency(name), (value,)))
    return base.Content(results)


FORMATS = (
    base.Format("iperf3", "iperf3(1)", claims_iperf3, read_iperf3, ends_itself=True),
    base.Format("netperf", "netperf's manual, omni output selectors", claims_netperf, read_netperf),
)
