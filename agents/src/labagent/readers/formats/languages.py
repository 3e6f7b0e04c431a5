"""What the benchmarks of languages and suites of benchmarks write."""

import re
from collections.abc import Iterator
from math import fsum
from typing import Any
from xml.etree import ElementTree

from labagent.model import MAX_NAME, Histogram, Metric, clean, safe_name
from labagent.readers.formats import base
from labagent.readers.formats.json_tables import mean_doubts, select

# Go's benchmarks, `go test -bench`: one line a repetition, pairs of value and unit.


_LINE = re.compile(r"Benchmark(\S*)\s+(\d+)((?:\s+\S+ \S+)+)\s*$")
_PROCESSORS = re.compile(r"-\d+$")
_GO_UNIT = re.compile(r"Unit (\S+) (?:\S+ )*?better=(higher|lower)\b")
_PAIR = re.compile(r"\s+(\S+) (\S+)")
KNOWN: dict[str, tuple[Metric, float]] = {
    "ns/op": (base.TIME_PER_OP, 1.0),
    "MB/s": (base.BANDWIDTH, 1e6),
    "B/op": (Metric("allocated", "B/op", "less"), 1.0),
    "allocs/op": (Metric("allocations", "allocs/op", "less"), 1.0),
}


def claims_go(printed: base.Printed) -> bool:
    """Whether a line is a benchmark's."""
    return any(_LINE.match(line) for line in printed.text.splitlines())


def read_go(printed: base.Printed) -> base.Content:
    """All pairs; a unit of the user has a direction where a line `Unit` states it. The number of
    processors that Go appends to names is left out where all have the same: with `-cpu 1,4` each
    is a case, and the end of `size-64` is no such number.

    Raises UnreadableError."""
    directions = {
        match[1]: "more" if match[2] == "higher" else "less"
        for match in map(_GO_UNIT.match, printed.text.splitlines())
        if match
    }
    results = []
    warnings = []
    names = {match[1] for match in map(_LINE.match, printed.text.splitlines()) if match}
    ends = {_PROCESSORS.search(name) for name in names}
    shared = len({end and end[0] for end in ends}) == 1
    before = ""
    for number, line in enumerate(printed.text.splitlines(), 1):
        where = f"{printed.where} line {number}"
        if line == before and line.startswith("Benchmark"):
            warnings.append(f"{where}: the line before is the same; one may be a copy")
        before = line
        if match := _LINE.match(line):
            case = _PROCESSORS.sub("", match[1]) if shared else match[1]
            results += list(_pairs(case, match[3], where, directions))
        elif line.startswith("Benchmark") and len(line.split()) > 1:
            warnings.append(f"{where} is no whole line of a benchmark; left out")
    return base.Content(results, warnings)


def _pairs(case: str, text: str, where: str, directions: dict[str, str]) -> Iterator[base.Result]:
    for value, unit in _PAIR.findall(text):
        if len(unit) > MAX_NAME:
            raise base.UnreadableError(f"{where}: a unit of {len(unit)} characters")
        name = re.sub(r"[\s:/?#&]", "_", unit)
        metric, scale = KNOWN.get(unit, (Metric(name, unit, directions.get(unit, "")), 1.0))
        yield base.Result(metric, (scale * base.finite(value, where),), case)


# Google Benchmark's `--benchmark_format=json`: each repetition is a sample.


CPU = Metric("cpu_time_per_op", "ns", "less")
_DESCRIBED = frozenset(
    {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads"}
    | {"iterations", "real_time", "cpu_time", "bytes_per_second", "items_per_second"}
)


def claims_google(printed: base.Printed) -> bool:
    """Whether there are benchmarks with a time unit."""
    return any(True for _ in select(printed.json, "benchmarks/*/time_unit"))


def read_google(printed: base.Printed) -> base.Content:
    """Times and rates; counters of the user have no direction. Raises UnreadableError."""
    results: list[base.Result] = []
    warnings: list[str] = []
    for at, one in select(printed.json, "benchmarks/*"):
        where = f"{printed.where}{at}"
        if (
            not isinstance(one, dict)
            or one.get("run_type") == "aggregate"
            or "aggregate_name" in one
        ):
            continue
        name = str(one.get("run_name", one.get("name", "")))
        for key, text in (("error_occurred", "error_message"), ("skipped", "skip_message")):
            if one.get(key):
                warnings.append(f"{where}: {name}: {key}: {str(one.get(text))[:200]}")
        if one.get("error_occurred") or one.get("skipped"):
            continue
        results += (base.Result(metric, (value,), name) for metric, value in _values(one, where))
    return base.Content(results, warnings)


def _values(one: dict[str, Any], where: str) -> Iterator[tuple[Metric, float]]:
    unit = one.get("time_unit")
    if not isinstance(unit, str) or unit not in base.NANOSECONDS:
        raise base.UnreadableError(f"{where}: time_unit {str(unit)[:20]!r} is not known")
    for metric, key, scale in (
        (base.TIME_PER_OP, "real_time", base.NANOSECONDS[unit]),
        (CPU, "cpu_time", base.NANOSECONDS[unit]),
        (base.BANDWIDTH, "bytes_per_second", 1.0),
        (base.RATE, "items_per_second", 1.0),
    ):
        if key in one:
            yield metric, scale * base.amount(one[key], f"{where} {key}")
    for key, value in one.items():
        if key not in _DESCRIBED and isinstance(value, float) and len(key) <= MAX_NAME:
            yield Metric(clean(key), "1", ""), base.finite(value, f"{where} {key[:50]}")


# JMH's `-rf json`: the raw data of all forks.


_JMH_UNIT = re.compile(r"(?:ops/(?P<rate>ns|us|ms|s))|(?:(?P<time>ns|us|ms|s)/op)")


def claims_jmh(printed: base.Printed) -> bool:
    """Whether it is a list of benchmarks with a primary metric."""
    return any(True for _ in select(printed.json, "*/primaryMetric/scoreUnit"))


def read_jmh(printed: base.Printed) -> base.Content:
    """Throughput as operations/s, every other mode as time an operation, that of sampled ones also
    as a histogram of latencies. Raises UnreadableError."""
    results: list[base.Result] = []
    warnings: list[str] = []
    for at, one in select(printed.json, "*"):
        where = f"{printed.where}{at}"
        if not isinstance(one, dict):
            raise base.UnreadableError(f"{where} is no benchmark")
        metric, scale = _jmh_metric(one, where)
        score = [
            base.amount(value, f"{where} score") for _, value in select(one, "primaryMetric/score")
        ]
        raw = select(one, "primaryMetric/rawData/*/*")
        data = [base.amount(value, f"{where} rawData") for _, value in raw]
        counts = list(_jmh_counts(one, where))
        histogram = Histogram.of(counts, scale / base.NANOSECONDS["us"])
        if histogram.values:
            results.append(base.Result(base.LATENCY, (), _name(one), (histogram,)))
            total = sum(count for _, count in counts)
            mean = fsum(value * count for value, count in counts) / total
            warnings += mean_doubts([mean], score, where)
        elif data:
            warnings += mean_doubts(data, score, where)
        else:
            warnings.append(f"{where}: no rawData, so the score counts")
        values = tuple(scale * value for value in data or score)
        results.append(base.Result(metric, values, _name(one)))
    return base.Content(results, warnings)


def _jmh_counts(one: dict[str, Any], where: str) -> Iterator[tuple[float, int]]:
    """Values with their counts, of all iterations of all forks."""
    for at, pair in select(one, "primaryMetric/rawDataHistogram/*/*/*"):
        place = f"{where} rawDataHistogram{at}"
        if not isinstance(pair, list) or len(pair) != 2:
            raise base.UnreadableError(f"{place} is no value with its count")
        yield base.amount(pair[0], place), base.whole(pair[1], place)


def _name(one: dict[str, Any]) -> str:
    parameters = one.get("params")
    listed = sorted(parameters.items()) if isinstance(parameters, dict) else []
    return ".".join([str(one.get("benchmark", "")), *(f"{key}-{value}" for key, value in listed)])


def _jmh_metric(one: dict[str, Any], where: str) -> tuple[Metric, float]:
    units = [unit for _, unit in select(one, "primaryMetric/scoreUnit")]
    match = _JMH_UNIT.fullmatch(str(units[0])[:20]) if units else None
    if not match or (match["rate"] is not None) != (one.get("mode") == "thrpt"):
        raise base.UnreadableError(f"{where}: scoreUnit is not one of mode {one.get('mode')!r:.20}")
    if match["rate"]:
        return base.RATE, 1e9 / base.NANOSECONDS[match["rate"]]
    return base.TIME_PER_OP, base.NANOSECONDS[match["time"]]


FORMATS = (
    base.Format("go", "the Go benchmark data format", claims_go, read_go),
    base.Format(
        "google-benchmark",
        "Google Benchmark's user guide",
        claims_google,
        read_google,
        ends_itself=True,
    ),
    base.Format(
        "jmh", "JMH: the mode states what a score is", claims_jmh, read_jmh, ends_itself=True
    ),
)


# LKP's `stats.json`: hundreds of figures, of which those of benchmarks count.

# What is better, as etc/index-perf-all.yaml of lkp-tests has it; units as the names state them.
MORE = (
    (r"(?:hackbench|unixbench|vm-scalability|aim7|tbench|dbench)\.throughput", "1"),
    (r"will-it-scale\.(?:.+_ops|scalability)", "1"),
    (r"fio\..+_bw_MBps", "MB/s"),
    (r"fio\..+_iops", "ops/s"),
    (r"fsmark\.files_per_sec", "files/s"),
    (r"netperf\.Throughput_Mbps", "Mbit/s"),
    (r"netperf\.Throughput_tps", "transactions/s"),
    (r"pgbench\.tps", "transactions/s"),
    (r"perf-bench-futex\.ops/s", "ops/s"),
    (r"perf-bench-sched-pipe\.ops_per_sec", "ops/s"),
    (r"stream\..+_bandwidth_MBps", "MB/s"),
    (r"stress-ng\..+_per_sec", "ops/s"),
    (r"sysbench-.+\.throughput_(?:events|ops)/s", "ops/s"),
    (r"(?:dbench|tbench)\.throughput[-_]MB/s(?:ec)?", "MB/s"),
    (r"(?:unixbench\.score|vm-scalability\.median)", "1"),
    (r"reaim\.jobs_per_min", "jobs/min"),
)
LESS = (
    (r"kernbench\.elapsed_time", "s"),
    (r"adrestia\.wakeup_cost_(?:periodic|single)_us", "us"),
    (r"fsmark\.app_overhead", "us"),
    (r"dd\..+_time_ms", "ms"),
    (r"rt-app\..+\.average", "1"),
)
_PLAIN = re.compile(r"[a-z0-9][\w.+-]*\.\S+")


def claims_lkp(printed: base.Printed) -> bool:
    """Whether all there is are dotted names with a number or a list of them, some of benchmarks."""
    document = printed.json
    return (
        isinstance(document, dict)
        and all(_PLAIN.fullmatch(name) and _is_figure(one) for name, one in document.items())
        and any(_lkp_metric(name) for name in document)
    )


def _is_figure(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(one, int | float) for one in values)


def read_lkp(printed: base.Printed) -> base.Content:
    """The figures whose direction LKP states; of the others how many there are.

    Raises UnreadableError."""
    if not isinstance(printed.json, dict):
        raise base.UnreadableError(f"{printed.where} is no stats.json of LKP")
    found = []
    others = 0
    for name, one in printed.json.items():
        if metric := _lkp_metric(name):
            values = one if isinstance(one, list) else [one]
            where = f"{printed.where}: {name[:80]}"
            found.append(base.Result(metric, tuple(base.amount(value, where) for value in values)))
        else:
            others += 1
    left = f"{others} figures without a direction in LKP's own table are left out"
    return base.Content(found, [left] if others else [])


def _lkp_metric(name: str) -> Metric | None:
    for better, table in (("more", MORE), ("less", LESS)):
        for pattern, unit in table:
            if len(name) <= 100 and re.fullmatch(pattern, name):
                return Metric(re.sub(r"[\s:/?#&]", "_", name), unit, better)
    return None


# The Phoronix Test Suite's `composite.xml`: each result with its unit and which way is better.


BETTER = {"HIB": "more", "LIB": "less"}


def claims_phoronix(printed: base.Printed) -> bool:
    """Whether it is a document of the suite."""
    return (
        re.match(
            r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<PhoronixTestSuite>", printed.text, re.DOTALL
        )
        is not None
    )


def read_phoronix(printed: base.Printed) -> base.Content:
    """A case a test and its arguments. Raises UnreadableError, also for a document type: entities
    of its own are how XML is made to grow."""
    if "<!DOCTYPE" in printed.text or "<!ENTITY" in printed.text:
        raise base.UnreadableError(f"{printed.where}: XML with a document type is not read")
    try:
        root = ElementTree.fromstring(printed.text.lstrip())  # noqa: S314 (no entities: see above)
    except (ElementTree.ParseError, ValueError) as error:
        raise base.UnreadableError(f"{printed.where} is no XML: {error}") from error
    results = []
    warnings = []
    for number, one in enumerate(root.iterfind("Result"), 1):
        where = f"{printed.where} result {number}"
        name = re.sub(r"-[0-9.]+$", "", one.findtext("Identifier") or "")
        better = BETTER.get(one.findtext("Proportion") or "", "")
        entries = one.findall("Data/Entry")
        if not name or not entries:
            warnings.append(f"{where} has no identifier or no value; left out")
            continue
        if len(entries) > 1:
            warnings.append(f"{where} is of {len(entries)} systems; the first counts")
        case = ".".join(filter(None, [name, one.findtext("Description")]))
        unit = clean(one.findtext("Scale") or "1")[:50]
        metric = Metric(safe_name("pts." + unit.replace("/", "_per_"))[:MAX_NAME], unit, better)
        if values := _samples(entries[0], where):
            results.append(base.Result(metric, values, case))
        else:
            warnings.append(f"{where}: {case[:80]} has no value; left out")
    return base.Content(results, warnings)


def _samples(entry: ElementTree.Element, where: str) -> tuple[float, ...]:
    """Each repetition where they are kept, else the value; none of a test that failed."""
    raw = (entry.findtext("RawString") or "").strip()
    texts = raw.split(":") if raw else (entry.findtext("Value") or "").split()
    return tuple(base.finite(text.strip(), where) for text in texts)


# will-it-scale's `runtest.py`: operations/s of processes and of threads, by how many run.


HEADER = ["tasks", "processes", "processes_idle", "threads", "threads_idle", "linear"]
PROCESSES = Metric("process_rate", "ops/s", "more")
THREADS = Metric("thread_rate", "ops/s", "more")
FAILED = "-1"


def claims_will_it_scale(printed: base.Printed) -> bool:
    """Whether it begins with the header."""
    return printed.text.splitlines()[:1] == [",".join(HEADER)]


def read_will_it_scale(printed: base.Printed) -> base.Content:
    """A case a number of tasks, without that of none. Raises UnreadableError."""
    if not claims_will_it_scale(printed):
        raise base.UnreadableError(f"{printed.where} does not begin with {','.join(HEADER)}")
    results: list[base.Result] = []
    warnings = []
    for number, line in enumerate(printed.text.splitlines(), 1):
        where, row = f"{printed.where} line {number}", line.split(",")
        if number == 1 or not line.strip() or row[0] == "0":
            continue
        if len(row) != len(HEADER) or not re.fullmatch(r"[0-9]{1,9}", row[0]):
            raise base.UnreadableError(f"{where} has not the columns of the header")
        if any(one.case == f"{row[0]} tasks" for one in results):
            warnings.append(f"{where}: {row[0]} tasks are there twice")
        for metric, text in ((PROCESSES, row[1]), (THREADS, row[3])):
            if text == FAILED:
                warnings.append(f"{where}: {metric.name} of {row[0]} tasks failed")
            else:
                results.append(base.Result(metric, (base.amount(text, where),), f"{row[0]} tasks"))
    return base.Content(results, warnings)


SUITES = (
    base.Format(
        "lkp", "lkp-tests, etc/index-perf-all.yaml", claims_lkp, read_lkp, ends_itself=True
    ),
    base.Format("phoronix", "the file: Scale and Proportion", claims_phoronix, read_phoronix),
    base.Format(
        "will-it-scale",
        "its runtest.py; LKP's index-perf-all.yaml",
        claims_will_it_scale,
        read_will_it_scale,
    ),
)
