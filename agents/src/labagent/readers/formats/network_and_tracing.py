"""What tools of the system print: `iperf3` and `netperf`, `perf stat`, `perf sched latency`,
histograms of bpftrace."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from labagent.model import MAX_NAME, Histogram, Metric, clean, safe_name
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


# `perf stat -j` and `-x`: events with their counts, on standard error unless `-o` names a file.

TIMES = {
    "task-clock": (Metric("task_clock", "s", "less"), {"msec": 1e-3}),
    "cpu-clock": (Metric("cpu_clock", "s", "less"), {"msec": 1e-3}),
    "duration_time": (Metric("wall_time", "s", "less"), {"ns": 1e-9}),
    "user_time": (base.USER_TIME, {"ns": 1e-9}),
    "system_time": (base.SYSTEM_TIME, {"ns": 1e-9}),
}
"""Times of the command. Whether more of any other event is better depends on what is measured."""

NOTHING = frozenset({"<not supported>", "<not counted>"})
# A unit is no number: with a decimal comma and `-x,` columns shift.
_COLUMNS = re.compile(
    r"([0-9.]+|<not (?:supported|counted)>)([,;|\t])((?![0-9])[^,;|\t]*)\2([^,;|\t]+)\2"
)


def claims_stat(printed: base.Printed) -> bool:
    """Whether each line is an event."""
    if printed.json_lines:
        return all({"counter-value", "event"} <= one.keys() for one in printed.json_lines)
    lines = _stat_lines(printed.text)
    return bool(lines) and all(_COLUMNS.match(line) for line in lines)


def read_stat(printed: base.Printed) -> base.Content:
    """The counts that were counted. Raises UnreadableError."""
    results = []
    warnings = []
    for where, count, unit, event in _events(printed):
        if count in NOTHING:
            continue
        metric, units = TIMES.get(event) or _other(event, unit, where)
        if unit not in units:
            raise base.UnreadableError(f"{where}: {event} in {unit[:20]!r} is not known")
        results.append(base.Result(metric, (units[unit] * base.amount(count, where),)))
    names = [one.metric.name for one in results]
    doubled = {name for name in names if names.count(name) > 1}
    warnings += [f"{printed.where}: {name} is there twice" for name in sorted(doubled)]
    return base.Content(results, warnings)


def _events(printed: base.Printed) -> Iterator[tuple[str, str, str, str]]:
    if printed.json_lines:
        for number, one in enumerate(printed.json_lines, 1):
            values = (str(one.get(key, "")) for key in ("counter-value", "unit", "event"))
            count, unit, event = values
            yield f"{printed.where} event {number}", count, unit, event
        return
    for number, line in enumerate(_stat_lines(printed.text), 1):
        where = f"{printed.where} event {number}"
        if not (match := _COLUMNS.match(line)):
            raise base.UnreadableError(f"{where} is none that perf stat -x prints")
        yield where, match[1], match[3], match[4]


def _stat_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _other(event: str, unit: str, where: str) -> tuple[Metric, Mapping[str, float]]:
    if not event or len(event) > MAX_NAME:
        raise base.UnreadableError(f"{where}: an event's name has 1 to {MAX_NAME} characters")
    name = re.sub(r"[\s:/?#&]", "_", clean(event))
    return Metric(name, unit or "events", ""), {unit: 1.0}


# `perf sched latency`: how long each task was ready and waited for a CPU.

_SCHED_HEAD = re.compile(r"^\s*Task\s+\|\s+Runtime ms\s+\|\s+Switches\s+\|", re.MULTILINE)
_SCHED = re.compile(
    r"\s+(\S.*?)(?::\(?\d+\)?)?\s*\|\s*(\S+) ms \|\s*(\d+) \| avg:\s*(\S+) ms \| max:\s*(\S+) ms \|"
)
_SCHED_TOTAL = re.compile(r"\s+TOTAL:\s+\|\s*(\S+) ms \|\s*(\d+) \|")
ROUNDED = 0.0005
"""Milliseconds of a figure with three decimals."""


def claims_sched(printed: base.Printed) -> bool:
    """Whether it has the head of the table."""
    return _SCHED_HEAD.search(printed.text) is not None


def read_sched(printed: base.Printed) -> base.Content:
    """Mean and longest delay of each task that waited. Raises UnreadableError."""
    if not claims_sched(printed):
        raise base.UnreadableError(f"{printed.where} is no table of perf sched latency")
    results: list[base.Result] = []
    runtimes: list[float] = []
    switches, total = 0, None
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _SCHED_TOTAL.match(line):
            total = (base.amount(match[1], where), int(match[2]))
        elif match := _SCHED.match(line):
            runtime, mean, longest = (base.amount(match[at], where) for at in (2, 4, 5))
            runtimes.append(runtime)
            switches += int(match[3])
            if mean > longest:
                raise base.UnreadableError(f"{where}: the mean delay is above the longest")
            if longest:
                found = (
                    (base.latency("mean", "sched"), mean),
                    (base.latency("max", "sched"), longest),
                )
                results += [base.Result(metric, (1e3 * one,), match[1]) for metric, one in found]
        elif line.count("|") > 2 and not _SCHED_HEAD.match(line):
            raise base.UnreadableError(f"{where} is no row of perf sched latency")
    rounding = ROUNDED * (len(runtimes) + 1)
    if total and abs(sum(runtimes) - total[0]) <= rounding and switches == total[1]:
        return base.Content(results)
    return base.Content(results, [f"{printed.where}: the rows do not add up to the total"])


# bpftrace: maps of `hist()` and `lhist()`, with a key or without.

_MAP = re.compile(r"@(\w*)(?:\[(.*)\])?:\s*$")
_BUCKET = re.compile(
    r"(?:\[(-?\w+), (-?\w+)\)|\[(-?\w+)\]|\[(-?\w+), (\.\.\.)\)|(\(\.\.\.), (-?\w+)\))"
    r"\s+(\d{1,18}) \|(@*) *\|$"
)
_BOUND = re.compile(r"(\d{1,18})([KMGTPE]?)")
BAR = 52
"""Characters of the bar of the largest count."""
NARROW = 0.01
"""Of its lower bound: the width of a bucket in which values need not be spread."""
PARTS = 64
"""Values that the counts of a wider bucket are spread over, evenly."""


@dataclass
class _Map:
    """(low, high, count) of each bucket; what lies below and above them; warnings."""

    name: str
    key: str
    buckets: list[tuple[float, float, int]] = field(default_factory=list)
    below: int = 0
    above: int = 0
    bars: list[tuple[int, int]] = field(default_factory=list)

    def add(self, match: re.Match[str], where: str) -> None:
        """A bucket. Raises UnreadableError."""
        count = int(match[8])
        self.bars.append((count, len(match[9])))
        if match[6]:
            self.below += count
        elif match[5]:
            self.above += count
        else:
            low = _bound(match[1] or match[3], where)
            self.buckets.append((low, _bound(match[2], where) if match[2] else low + 1, count))

    def doubts(self) -> Iterator[str]:
        """Where buckets are missing, or bars contradict counts."""
        if any(high != low for (_, high, _), (low, _, _) in pairwise(self.buckets)):
            yield "the buckets do not follow each other; some may be missing"
        most = max((count for count, _ in self.bars), default=0)
        if any(abs(count * BAR / most - bar) > 1 for count, bar in self.bars if most):
            yield "a bar has not the length of its count"
        if any(high - low > max(1, NARROW * low) for low, high, count in self.buckets if count):
            yield "the buckets are wide; quantiles are no finer than these"

    def spread(self) -> Iterator[tuple[float, int]]:
        """Values with their counts; those of a bucket of whole numbers evenly over its width."""
        for low, high, count in self.buckets:
            width = high - low
            is_narrow = width <= max(1, NARROW * low)
            parts = 1 if is_narrow else max(1, min(PARTS, int(width), count))
            each, more = divmod(count, parts)
            for at in range(parts):
                yield low + (width * (2 * at + 1) / parts - 1) / 2, each + (at < more)


def _bound(text: str, where: str) -> float:
    match = _BOUND.fullmatch(text)
    if not match:
        raise base.UnreadableError(f"{where}: {text[:20]!r} is no bound that is read")
    return float(int(match[1]) << 10 * " KMGTPE".index(match[2] or " "))


def claims_bpftrace(printed: base.Printed) -> bool:
    """Whether a bucket follows the head of a map."""
    lines = printed.text.splitlines()
    return any(_MAP.match(a) and _BUCKET.match(b) for a, b in pairwise(lines))


def read_bpftrace(printed: base.Printed) -> base.Content:
    """A metric a map, in a unit that bpftrace does not state; the key is the case. Raises
    UnreadableError."""
    maps: list[_Map] = []
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _MAP.match(line):
            maps.append(_Map(match[1] or "value", match[2] or ""))
        elif match := _BUCKET.match(line):
            if not maps:
                raise base.UnreadableError(f"{where}: a bucket before any map")
            maps[-1].add(match, where)
        elif line.startswith(("[", "(")) or line.rstrip().endswith("|"):
            raise base.UnreadableError(f"{where} is no bucket of bpftrace")
    results, warnings = [], []
    names = [(one.name, one.key) for one in maps]
    for one in maps:
        where = f"{printed.where}: @{one.name}" + (f"[{one.key}]" if one.key else "")
        warnings += [f"{where}: {text}" for text in one.doubts()]
        warnings += [f"{where} is there twice"] * (names.count((one.name, one.key)) > 1)
        if one.below:
            warnings.append(f"{where}: {one.below} values lie below the buckets; left out")
            continue
        top = max((high for _, high, _ in one.buckets), default=0.0)
        histogram, doubts = Histogram.up_to(top, list(one.spread()), one.above, where)
        warnings += doubts
        if histogram and histogram.values:
            metric = Metric(safe_name(clean(one.name))[:MAX_NAME], "", "")
            results.append(base.Result(metric, (), one.key, (histogram,)))
    return base.Content(results, warnings)


NETWORK = (
    base.Format("iperf3", "iperf3(1)", claims_iperf3, read_iperf3, ends_itself=True),
    base.Format("netperf", "netperf's manual, omni output selectors", claims_netperf, read_netperf),
)
TRACING = (
    base.Format("perf-stat", "perf-stat(1)", claims_stat, read_stat),
    base.Format("perf-sched", "perf-sched(1), latency", claims_sched, read_sched),
    base.Format("bpftrace", "the user: unit and direction", claims_bpftrace, read_bpftrace),
)
