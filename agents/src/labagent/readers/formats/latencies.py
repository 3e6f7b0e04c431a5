"""Latencies: HdrHistogram's percentiles, pgbench's log, rtla's histograms, schbench,
cyclictest."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from labagent.model import QUANTILES, Histogram, Metric
from labagent.readers.formats.base import (
    LATENCY,
    RATE,
    Content,
    Format,
    Printed,
    Result,
    UnreadableError,
    amount,
    latency,
    whole,
)
from labagent.readers.formats.json_tables import select, text_of

VALUE = Metric("value", "", "")
KINDS = {"IRQ": "irq", "Thr": "thread", "Usr": "user", "CPU": "noise"}
"""Of rtla's columns: how long an interrupt, a thread, a user's thread waited; osnoise."""
WIDEST = 2.0
"""Of the steps between two percentiles, how much wider one may be than those beside it."""
_HEAD = re.compile(r"\s*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)\s*$")
_FOOT = re.compile(
    r"#\[(\w+)\s*=\s*([^,\s]+), (?:StdDeviation|TotalCount|Total count)\s*=\s*(\S+)\]$"
)
_LOGGED = re.compile(r"\d{1,9} \d{1,12} \d{1,18} \d{1,4} \d{9,12} \d{1,6}(?: \d{1,18}){0,2}$")
_RTLA = re.compile(r"^# RTLA (timerlat|osnoise) histogram", re.MULTILINE)


@dataclass(frozen=True)
class _Row:
    value: float
    percentile: float
    count: int


def claims_hdr(printed: Printed) -> bool:
    """Whether it begins with the heads of the columns."""
    return _HEAD.match(printed.text.lstrip("\n").partition("\n")[0]) is not None


def read_hdr(printed: Printed) -> Content:
    """Mean and histogram, in a unit that the file does not state; what lies between two rows counts
    as the upper one. Raises UnreadableError."""
    if not claims_hdr(printed):
        raise UnreadableError(f"{printed.where} has no percentiles of HdrHistogram")
    rows, foot = [], {}
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _FOOT.match(line):
            foot[match[1]] = (amount(match[2], where), amount(match[3], where))
        elif line.strip() and not line.startswith("#") and not _HEAD.match(line):
            rows.append(_row(line.split(), where))
        elif _HEAD.match(line) and rows:
            raise UnreadableError(f"{where}: a second histogram begins")
    if not rows or not {"Mean", "Max"} <= foot.keys():
        raise UnreadableError(f"{printed.where} has no end of a histogram")
    if any(
        a.value > b.value or a.percentile > b.percentile or a.count > b.count
        for a, b in pairwise(rows)
    ):
        raise UnreadableError(f"{printed.where}: the rows do not rise")
    base = printed.metric or VALUE
    counted = zip(rows, (0, *(row.count for row in rows)), strict=False)
    histogram = Histogram.of((row.value, row.count - before) for row, before in counted)
    if not histogram.values:
        raise UnreadableError(f"{printed.where} counts nothing")
    warnings = [f"{printed.where}: {text}" for text in _hdr_doubts(rows, foot["Max"])]
    mean = replace(base, name=f"{base.name}_mean")
    found = [Result(base, (), "", (histogram,)), Result(mean, (foot["Mean"][0],))]
    return Content(found, warnings)


def _row(columns: list[str], where: str) -> _Row:
    if len(columns) not in (3, 4):
        raise UnreadableError(f"{where} has not the columns of the head")
    value, share = (amount(text, where) for text in columns[:2])
    if share > 1:
        raise UnreadableError(f"{where}: {share:g} is no percentile")
    return _Row(value, share, whole(columns[2], where))


def _hdr_doubts(rows: Sequence[_Row], top: tuple[float, float]) -> Iterator[str]:
    last = rows[-1]
    if last.percentile < 1 or last.count != top[1]:
        yield "the rows do not end with all that was counted"
    if abs(last.value - top[0]) > 1e-3 * top[0]:
        yield "the last row is not the maximum"
    if any(row.count < row.percentile * last.count * (1 - 1e-9) - 1 for row in rows):
        yield "a row counts less than its share"
    steps = [
        (1 - a.percentile) / (1 - b.percentile) - 1
        for a, b in pairwise(rows[:-1])
        if b.percentile < 1
    ]
    if rows[0].percentile > 0 or any(
        step > WIDEST * max(before, after)
        for before, step, after in zip([*steps[1:2], *steps], steps, steps[1:], strict=False)
    ):
        yield "a row may be missing between two percentiles"


def claims_pgbench(printed: Printed) -> bool:
    """Whether each of the first lines is a transaction."""
    lines = printed.text.splitlines()[:20]
    return bool(lines) and all(map(_LOGGED.match, lines))


def read_pgbench(printed: Printed) -> Content:
    """Mean and histogram of the transactions of one `pgbench -l`. Raises UnreadableError."""
    times: list[float] = []
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if not _LOGGED.match(line):
            raise UnreadableError(f"{where} is no transaction of pgbench -l")
        client, transaction, time, *_ = line.split()
        times.append(amount(time, where))
        numbers.setdefault(client, []).append(int(transaction))
    if not times:
        raise UnreadableError(f"{printed.where} holds no transaction")
    whole = all(found == list(range(found[0], found[0] + len(found))) for found in numbers.values())
    doubt = (
        f"{printed.where}: the transactions of a client are not numbered in order; some are missing"
    )
    found = [Result(LATENCY, (), "", (Histogram.of((value, 1) for value in times),))]
    found.append(Result(latency("mean"), (sum(times) / len(times),)))
    begun = {found[0] for found in numbers.values()}
    return Content(found, [] if whole and begun in ({0}, {1}) else [doubt])


def claims_rtla(printed: Printed) -> bool:
    """Whether a line is the title of a histogram."""
    return _RTLA.search(printed.text) is not None


def read_rtla(printed: Printed) -> Content:
    """Of each kind of column the mean and the histogram of all CPUs. Raises UnreadableError."""
    if not claims_rtla(printed) or "# Time unit is microseconds (us)" not in printed.text:
        raise UnreadableError(f"{printed.where} is no histogram of rtla in microseconds")
    rows = list(_rtla_rows(printed))
    head = next((cells for _, label, cells in rows if label == "Index"), [])
    if not head or {name.partition("-")[0] for name in head} - KINDS.keys():
        raise UnreadableError(f"{printed.where} has no head of columns")
    table = _RtlaTable(head, rows[1:], printed.where)
    results: list[Result] = []
    warnings = table.doubts()
    for short, kind in KINDS.items():
        if columns := [at for at, name in enumerate(head) if name.startswith(f"{short}-")]:
            found, doubts = table.of(columns, kind)
            results += found
            warnings += doubts
    return Content(results, warnings)


def _rtla_rows(printed: Printed) -> Iterator[tuple[str, str, list[str]]]:
    """(line, first cell, the others) of the rows for single CPUs."""
    for number, line in enumerate(printed.text.splitlines(), 1):
        cells = line.split()
        if line.startswith("ALL:"):
            return
        if cells and not line.startswith("#"):
            yield f"{printed.where} line {number}", cells[0].rstrip(":"), cells[1:]


class _RtlaTable:
    """Rows of a histogram; `bins` has the counts by bucket."""

    def __init__(
        self, head: Sequence[str], rows: Sequence[tuple[str, str, list[str]]], where: str
    ) -> None:
        self.where = where
        self.bins: list[tuple[float, list[int]]] = []
        self.sums: dict[str, list[int]] = {}
        for line, label, cells in rows:
            if len(cells) != len(head):
                raise UnreadableError(f"{line} has not the columns of the head")
            values = [0 if cell == "-" else whole(cell, line) for cell in cells]
            if label.isdecimal():
                self.bins.append((amount(label, line), values))
            elif label in self.sums or label not in ("over", "count", "min", "avg", "max"):
                raise UnreadableError(f"{line}: {label[:20]!r} is not expected")
            else:
                self.sums[label] = values
        if self.sums.keys() != {"over", "count", "min", "avg", "max"}:
            raise UnreadableError(f"{where} ends before its sums")

    def of(self, columns: Sequence[int], kind: str) -> tuple[list[Result], list[str]]:
        """The results of these columns together, and what they do not hold."""
        pairs = [(value, sum(counts[at] for at in columns)) for value, counts in self.bins]
        over = sum(self.sums["over"][at] for at in columns)
        total = sum(self.sums["count"][at] for at in columns)
        if not total:
            return [], []
        longest = max(self.sums["max"][at] for at in columns)
        top = max((value for value, count in pairs if count), default=0)
        pairs = [(longest if value == top and not over else value, n) for value, n in pairs]
        weighted = sum(self.sums["avg"][at] * self.sums["count"][at] for at in columns)
        found = [Result(latency("mean", kind), (weighted / total,))]
        where = f"{self.where}: {kind} latency"
        histogram, warnings = Histogram.up_to(longest, pairs, over, where)
        if histogram:
            metric = replace(LATENCY, name=f"{kind}_latency")
            return [*found, Result(metric, (), "", (histogram,))], warnings
        return [*found, Result(latency("max", kind), (longest,))], warnings

    def doubts(self) -> list[str]:
        """Where the buckets do not add up to the counts, or are not in order."""
        found = []
        totals = [
            sum(counts[at] for _, counts in self.bins) + self.sums["over"][at]
            for at in range(len(self.sums["count"]))
        ]
        if totals != self.sums["count"]:
            found.append(f"{self.where}: the buckets do not add up to the counts")
        values = [value for value, _ in self.bins]
        if values != sorted(set(values)):
            found.append(f"{self.where}: the buckets are not in order")
        elif not all(map(self._has_mean, range(len(totals)))):
            found.append(f"{self.where}: the buckets have another mean than the file states")
        if any(low > high for low, high in zip(self.sums["min"], self.sums["max"], strict=True)):
            found.append(f"{self.where}: a minimum is above its maximum")
        return found

    def _has_mean(self, at: int) -> bool:
        """Whether the mean of a column is what its buckets can have, but for what rtla rounds."""
        count, over = self.sums["count"][at], self.sums["over"][at]
        if over or not count:
            return True
        width = min((b - a for (a, _), (b, _) in pairwise(self.bins)), default=1.0)
        least = sum(value * counts[at] for value, counts in self.bins) / count
        return least - 1 <= self.sums["avg"][at] <= least + width + 1


# schbench: wakeup and request latencies. It reports again and again; the last report is of all.


_SCHBENCH_HEAD = re.compile(r"(?:(Wakeup|Request) Latencies|RPS) percentiles \((?:usec|requests)\)")
_SHARE = re.compile(r"\s+(?:\*\s*)?(50|90|99|99\.9)(?:\.0)?th:\s+(\S+)")
_RATE = re.compile(r"average rps: (\S+)$")


def claims_schbench(printed: Printed) -> bool:
    """Whether a line heads percentiles of a latency."""
    return (
        re.search(r"^(Wakeup|Request) Latencies percentiles", printed.text, re.MULTILINE)
        is not None
    )


def read_schbench(printed: Printed) -> Content:
    """The last report of each kind, and the rate. Raises UnreadableError."""
    if not claims_schbench(printed):
        raise UnreadableError(f"{printed.where} is no output of schbench")
    reports: dict[str, dict[str, float]] = {}
    rates: list[float] = []
    warnings = []
    kind = ""
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if match := _SCHBENCH_HEAD.match(line):
            kind = (match[1] or "").lower()
            reports[kind] = {}
        elif match := _RATE.match(line):
            rates.append(amount(match[1], where))
        elif kind and (match := _SHARE.match(line)):
            if match[1] in reports[kind]:
                warnings.append(f"{where}: the {kind} latency p{match[1]} is there twice")
            reports[kind][match[1]] = amount(match[2], where)
    reports.pop("", None)
    cut = [kind for kind, report in reports.items() if len(report) < len(QUANTILES)]
    warnings += [f"{printed.where}: the last report of the {kind} latency is cut" for kind in cut]
    found = [
        Result(latency(f"p{share}", kind), (value,))
        for kind, report in reports.items()
        for share, value in report.items()
    ]
    return Content([*found, *(Result(RATE, (rate,)) for rate in rates[-1:])], warnings)


# `cyclictest --json`: the latencies of its threads, over all of them.


def claims_cyclictest(printed: Printed) -> bool:
    """Whether it is a document of cyclictest."""
    document = printed.json
    return isinstance(document, dict) and {"thread", "resolution_in_ns"} <= document.keys()


def read_cyclictest(printed: Printed) -> Content:
    """The longest latency of any thread, the shortest, and the mean over all cycles; with `-h` the
    histogram of all in place of the longest.

    Raises UnreadableError."""
    if not claims_cyclictest(printed):
        raise UnreadableError(f"{printed.where} is no document of cyclictest --json")
    document, where = printed.json, f"{printed.where}: thread"
    resolution = whole(document["resolution_in_ns"], f"{printed.where}: resolution_in_ns")
    threads = whole(document.get("num_threads"), f"{printed.where}: num_threads")
    scale = 1e-3 if resolution else 1.0
    columns = {
        name: _cyclictest_column(document, name, where) for name in ("min", "max", "avg", "cycles")
    }
    counts = {len(column) for column in columns.values()}
    if counts != {threads}:
        raise UnreadableError(f"{where}: not all of num_threads threads have min, max, avg, cycles")
    cycles = sum(columns["cycles"])
    if not cycles:
        raise UnreadableError(f"{where}: no cycles")
    weighted = zip(columns["avg"], columns["cycles"], strict=True)
    mean = sum(one * count for one, count in weighted) / cycles
    values = {"max": max(columns["max"]), "mean": mean, "min": min(columns["min"])}
    histogram, warnings = _cyclictest_histogram(document, where, cycles, scale)
    if histogram:
        del values["max"]
    found = [Result(latency(name), (scale * value,)) for name, value in values.items()]
    found += [Result(LATENCY, (), "", (histogram,))] if histogram else []
    version = text_of(document, "rt_test_version") or text_of(document, "rt_test_version:")
    return Content(found, warnings, {"cyclictest": version} if version else {})


def _cyclictest_histogram(
    document: Any, where: str, cycles: float, scale: float
) -> tuple[Histogram | None, list[str]]:
    """Of all threads. None, with the reason, where too many cycles are above `-h`."""
    pairs = [
        (amount(value, f"{where}{at}"), whole(count, f"{where}{at}"))
        for at, bins in select(document, "thread/*/histogram")
        if isinstance(bins, dict)
        for value, count in bins.items()
    ]
    counted = sum(count for _, count in pairs)
    if not counted:
        return None, []
    longest = max(*(value for value, _ in pairs), *_cyclictest_column(document, "max", where))
    return Histogram.up_to(longest, pairs, int(cycles) - counted, where, scale)


def _cyclictest_column(document: Any, name: str, where: str) -> list[float]:
    return [amount(one, f"{where}{at}") for at, one in select(document, f"thread/*/{name}")]


FORMATS = (
    Format("cyclictest", "cyclictest(8)", claims_cyclictest, read_cyclictest, ends_itself=True),
    Format("schbench", "schbench's README", claims_schbench, read_schbench),
    Format("hdrhistogram", "the user: unit and direction", claims_hdr, read_hdr, ends_itself=True),
    Format("pgbench-log", "pgbench(1), per-transaction logging", claims_pgbench, read_pgbench),
    Format("rtla", "rtla-timerlat-hist(1), rtla-osnoise-hist(1)", claims_rtla, read_rtla),
)
