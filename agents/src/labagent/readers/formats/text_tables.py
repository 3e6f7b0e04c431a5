"""Formats that are lines of text: what marks them, what begins a case, and which lines count."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labagent.model import Metric
from labagent.readers.formats import base

NUMBER = r"(?P<value>[-+0-9.eE]+)"
MOST_LINE = 1000
MILLISECONDS = {"": 1000.0}
MEBIBYTES = {"MiB": 2.0**20}
WRK_LATENCY = r"\s+Latency\s+(?P<value>[0-9.]+)(?P<unit>[a-z]+)\s+\S+\s+\S+\s+\S+%$"
"""Mean, standard deviation, maximum, and the share within one standard deviation."""
UNIXBENCH = r"(?P<case>[A-Z].*?)\s{2,}(?P<value>[0-9.]+)"


@dataclass(frozen=True)
class Line:
    """A line with a `value`, perhaps with its `unit` and `case`. `units` are how many of the
    metric's unit each is worth; a unit that is not among them is refused."""

    pattern: str
    metric: Metric
    units: Mapping[str, float] = field(default_factory=lambda: {"": 1.0})


@dataclass(frozen=True)
class TextTable:
    """`sections` begin a case, each within that of the one before; `cases` name the case of the
    whole text. `is_nested`: a line's own case is within the section's. `failures` are lines with
    counts of what failed."""

    name: str
    source: str
    signature: str
    lines: tuple[Line, ...]
    sections: tuple[str, ...] = ()
    cases: Mapping[str, str] = field(default_factory=dict)
    is_nested: bool = True
    failures: str = ""

    def claims(self, printed: base.Printed) -> bool:
        """Whether a line is that of the signature."""
        return re.search(self.signature, printed.text, re.MULTILINE) is not None

    def read(self, printed: base.Printed) -> base.Content:
        """Each line that counts; a warning of one that is there twice before another test begins,
        and of one outside of any case. Raises UnreadableError."""
        if not self.claims(printed):
            raise base.UnreadableError(f"{printed.where} is no output of {self.name}")
        found: list[base.Result] = []
        warnings: list[str] = []
        seen: set[tuple[str, Metric]] = set()
        named = (case for pattern, case in self.cases.items() if re.search(pattern, printed.text))
        sections, empty = [next(named, "")], None
        for number, line in enumerate(printed.text.splitlines(), 1):
            where = f"{printed.where} line {number}"
            begun = self._begin(line[:MOST_LINE], sections)
            results = list(self._line(line[:MOST_LINE], ".".join(filter(None, sections)), where))
            if begun is not None and not results:
                seen.clear()
                if begun == empty and begun >= 0 and self.is_nested:
                    warnings.append(f"{where}: the case before has no result")
            empty = None if results else empty if begun is None else begun
            if self._has_failures(line[:MOST_LINE]):
                warnings.append(f"{where}: not all succeeded: {line.strip()[:200]}")
            warnings += self._doubts(results, seen, where)
            seen |= {(one.case, one.metric) for one in results}
            found += results
        return base.Content(found, warnings)

    def _has_failures(self, line: str) -> bool:
        match = re.match(self.failures, line) if self.failures else None
        return match is not None and any(int(count) for count in match.groups() if count)

    def _doubts(
        self, results: list[base.Result], seen: set[tuple[str, Metric]], where: str
    ) -> Iterator[str]:
        for one in results:
            if (one.case, one.metric) in seen:
                yield f"{where}: {one.case} {one.metric.name} is there twice"
            if self.sections and not one.case:
                yield f"{where}: {one.metric.name} of no case"

    def _begin(self, line: str, sections: list[str]) -> int | None:
        """The level of the case that begins, whose name replaces the last of ``sections``; -1 of a
        test, None where none begins."""
        found = None if re.match(self.signature, line) is None else -1
        for level, pattern in enumerate(self.sections):
            if match := re.match(pattern, line):
                sections[level:] = [match[1]]
                found = level if match[1] else -1
        return found

    def _line(self, line: str, case: str, where: str) -> Iterator[base.Result]:
        for one in self.lines:
            if match := re.match(one.pattern, line):
                groups = match.groupdict()
                unit = (groups.get("unit") or "").strip()
                if unit not in one.units:
                    raise base.UnreadableError(f"{where}: unit {unit[:20]!r} is not known")
                value = one.units[unit] * base.amount(groups["value"], where)
                own = (groups.get("case") or "").strip()
                nested = ".".join(filter(None, (case, own)))
                yield base.Result(one.metric, (value,), nested if self.is_nested else own or case)

    def format(self) -> base.Format:
        """The format."""
        return base.Format(self.name, self.source, self.claims, self.read)


# A metric of which more is better.
def _named(name: str, unit: str = "ops/s") -> Metric:
    return Metric(name, unit, "more")


TABLES = (
    TextTable(
        "hackbench",
        "hackbench(8)",
        r"^Running in (process|threaded) mode with \d+ groups",
        (Line(r"Time: (?P<value>[0-9]+\.[0-9]{3})$", base.TIME),),
    ),
    TextTable(
        "perf-bench",
        "perf-bench(1); multiples of bytes as in tools/perf/bench/mem-functions.c",
        r"^# Running '\S+' benchmark:",
        (
            Line(rf"\s+Total time: {NUMBER} \[sec\]$", base.TIME),
            Line(rf"\s+{NUMBER} usecs/op$", base.TIME_PER_OP, {"": 1000.0}),
            Line(rf"\s+{NUMBER} ops/sec$", base.RATE),
            Line(rf"Averaged {NUMBER} operations/sec", base.RATE),
            Line(rf"\s+{NUMBER} (?P<unit>[KMG]?B)/sec$", base.BANDWIDTH, base.BINARY),
        ),
        sections=(r"# Running '(\S+)' benchmark:", r"# function\s+'?([^\s']+)"),
    ),
    TextTable(
        "sysbench",
        "sysbench's README; directions as LKP's index-perf-all.yaml has them",
        r"^sysbench \d+\.\d+",
        (
            Line(rf"\s+events per second:\s+{NUMBER}$", base.RATE),
            Line(rf"Total operations: \d+ \(\s*{NUMBER} per second\)", base.RATE),
            Line(
                rf"[\d.]+ MiB transferred \({NUMBER} (?P<unit>MiB)/sec\)", base.BANDWIDTH, MEBIBYTES
            ),
            Line(rf"\s+reads/s:\s+{NUMBER}$", _named("read_iops")),
            Line(rf"\s+writes/s:\s+{NUMBER}$", _named("write_iops")),
            Line(rf"\s+fsyncs/s:\s+{NUMBER}$", _named("fsync_iops")),
            *(
                Line(
                    rf"\s+{text}, (?P<unit>MiB)/s:\s+{NUMBER}$",
                    _named(f"{side}_bandwidth", "B/s"),
                    MEBIBYTES,
                )
                for side, text in (("read", "read"), ("write", "written"))
            ),
            Line(rf"\s+transactions:\s+\d+\s+\({NUMBER} per sec\.\)", base.RATE),
            Line(rf"\s+avg:\s+{NUMBER}$", base.latency("mean"), MILLISECONDS),
            Line(rf"\s+95th percentile:\s+{NUMBER}$", base.latency("p95"), MILLISECONDS),
            Line(rf"\s+max:\s+{NUMBER}$", base.latency("max"), MILLISECONDS),
        ),
        cases={
            r"Prime numbers limit": "cpu",
            r"Running memory speed test": "memory",
            r"total file size": "fileio",
            r"SQL statistics": "oltp",
        },
        failures=r"\s+ignored errors:\s+(\d+)",
    ),
    TextTable(
        "stress-ng",
        "stress-ng(1), --yaml; more is better as in LKP's index-perf-all.yaml",
        r"^\s+- stressor: \S",
        (
            Line(
                rf"\s+bogo-ops-per-second-real-time: {NUMBER}$",
                Metric("bogo_rate", "bogo-ops/s", "more"),
            ),
        ),
        sections=(r"\s+- stressor: *(\S*)",),
    ),
    TextTable(
        "wrk",
        "wrk's README; multiples of bytes as in its units.c",
        r"^Running \S+ test @ ",
        (
            Line(rf"Requests/sec:\s+{NUMBER}$", base.RATE),
            Line(
                r"Transfer/sec:\s+(?P<value>[0-9.]+)(?P<unit>[KMGT]?B)$",
                base.BANDWIDTH,
                base.BINARY,
            ),
            Line(WRK_LATENCY, base.latency("mean"), base.MICROSECONDS),
            *(
                Line(
                    rf"\s+{share}%\s+(?P<value>[0-9.]+)(?P<unit>[a-z]+)$",
                    base.latency(name),
                    base.MICROSECONDS,
                )
                for share, name in (
                    (r"50(?:\.000)?", "p50"),
                    (r"90(?:\.000)?", "p90"),
                    (r"99(?:\.000)?", "p99"),
                    (r"99\.9(?:00)?", "p99.9"),
                )
            ),
        ),
        failures=r"\s+(?:Non-2xx or 3xx responses: (\d+)"
        r"|Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+))",
    ),
    TextTable(
        "pgbench",
        "pgbench(1)",
        r"^(transaction type: |number of transactions actually processed: )",
        (
            Line(rf"tps = {NUMBER} \((?:without|excluding|including reconnection)", base.RATE),
            Line(rf"latency average = {NUMBER} ms$", base.latency("mean"), MILLISECONDS),
        ),
        failures=r"number of failed transactions: (\d+)",
    ),
    TextTable(
        "criterion",
        "Criterion.rs's book, command-line output",
        r"^(.*\S)?\s+time:   \[",
        (
            Line(
                r"(?P<case>.*?)\s+time:   \[\S+ \S+ (?P<value>[0-9.]+) (?P<unit>\w+) [^\]]+\]",
                base.TIME_PER_OP,
                base.NANOSECONDS,
            ),
        ),
        sections=(r"(?!Found |Benchmarking |Warning)(\S.{22,})$",),
        is_nested=False,
    ),
    TextTable(
        "unixbench",
        "UnixBench's USAGE file",
        r"^System Benchmarks Index|BYTE UNIX Benchmarks",
        (
            Line(
                rf"{UNIXBENCH} (?P<unit>lps|lpm)\s+\([0-9.]+ s,",
                base.RATE,
                {"lps": 1.0, "lpm": 1 / 60},
            ),
            Line(rf"{UNIXBENCH} MWIPS\s+\([0-9.]+ s,", _named("whetstone", "MWIPS")),
            Line(rf"{UNIXBENCH} KBps\s+\([0-9.]+ s,", _named("copy_rate", "KB/s")),
            Line(rf"System Benchmarks Index Score\s+{NUMBER}$", Metric("score", "points", "more")),
        ),
        sections=(r"(?:Benchmark Run:.*|.*running (?=\d+ parallel cop))(\d+ parallel|$)",),
    ),
    TextTable(
        "lmbench",
        "lmbench's manual pages",
        r"^(Simple syscall|Select on \d+ fd's|Signal handler|Process fork|Pipe latency|AF_UNIX)",
        (
            Line(
                rf"(?P<case>[A-Z][^:]*): {NUMBER} (?P<unit>microseconds|nanoseconds)$",
                base.TIME_PER_OP,
                {"microseconds": 1000.0, "nanoseconds": 1.0},
            ),
            Line(rf"(?P<case>[A-Z][^:]*): {NUMBER} (?P<unit>MB)/sec$", base.BANDWIDTH, {"MB": 1e6}),
        ),
    ),
)
FORMATS = tuple(table.format() for table in TABLES)
