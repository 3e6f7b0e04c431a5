"""What suites of many benchmarks write: LKP, Phoronix and will-it-scale."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from labagent.model import MAX_NAME, Metric, clean, safe_name
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import amount, finite

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


def claims_lkp(printed: Printed) -> bool:
    """Whether all there is are dotted names with a number or a list of them, some of benchmarks."""
    document = printed.json
    return (
        isinstance(document, dict)
        and all(_PLAIN.fullmatch(name) and _is_figure(one) for name, one in document.items())
        and any(_metric(name) for name in document)
    )


def _is_figure(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(one, int | float) for one in values)


def read_lkp(printed: Printed) -> Content:
    """The figures whose direction LKP states; of the others how many there are.

    Raises UnreadableError."""
    if not isinstance(printed.json, dict):
        raise UnreadableError(f"{printed.where} is no stats.json of LKP")
    found = []
    others = 0
    for name, one in printed.json.items():
        if metric := _metric(name):
            values = one if isinstance(one, list) else [one]
            where = f"{printed.where}: {name[:80]}"
            found.append(Result(metric, tuple(amount(value, where) for value in values)))
        else:
            others += 1
    left = f"{others} figures without a direction in LKP's own table are left out"
    return Content(found, [left] if others else [])


def _metric(name: str) -> Metric | None:
    for better, table in (("more", MORE), ("less", LESS)):
        for pattern, unit in table:
            if len(name) <= 100 and re.fullmatch(pattern, name):
                return Metric(re.sub(r"[\s:/?#&]", "_", name), unit, better)
    return None


# The Phoronix Test Suite's `composite.xml`: each result with its unit and which way is better.


BETTER = {"HIB": "more", "LIB": "less"}


def claims_phoronix(printed: Printed) -> bool:
    """Whether it is a document of the suite."""
    return (
        re.match(
            r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<PhoronixTestSuite>", printed.text, re.DOTALL
        )
        is not None
    )


def read_phoronix(printed: Printed) -> Content:
    """A case a test and its arguments. Raises UnreadableError, also for a document type: entities
    of its own are how XML is made to grow."""
    if "<!DOCTYPE" in printed.text or "<!ENTITY" in printed.text:
        raise UnreadableError(f"{printed.where}: XML with a document type is not read")
    try:
        root = ElementTree.fromstring(printed.text.lstrip())  # noqa: S314 (no entities: see above)
    except (ElementTree.ParseError, ValueError) as error:
        raise UnreadableError(f"{printed.where} is no XML: {error}") from error
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
            results.append(Result(metric, values, case))
        else:
            warnings.append(f"{where}: {case[:80]} has no value; left out")
    return Content(results, warnings)


def _samples(entry: ElementTree.Element, where: str) -> tuple[float, ...]:
    """Each repetition where they are kept, else the value; none of a test that failed."""
    raw = (entry.findtext("RawString") or "").strip()
    texts = raw.split(":") if raw else (entry.findtext("Value") or "").split()
    return tuple(finite(text.strip(), where) for text in texts)


# will-it-scale's `runtest.py`: operations/s of processes and of threads, by how many run.


HEADER = ["tasks", "processes", "processes_idle", "threads", "threads_idle", "linear"]
PROCESSES = Metric("process_rate", "ops/s", "more")
THREADS = Metric("thread_rate", "ops/s", "more")
FAILED = "-1"


def claims_will_it_scale(printed: Printed) -> bool:
    """Whether it begins with the header."""
    return printed.text.splitlines()[:1] == [",".join(HEADER)]


def read_will_it_scale(printed: Printed) -> Content:
    """A case a number of tasks, without that of none. Raises UnreadableError."""
    if not claims_will_it_scale(printed):
        raise UnreadableError(f"{printed.where} does not begin with {','.join(HEADER)}")
    results: list[Result] = []
    warnings = []
    for number, line in enumerate(printed.text.splitlines(), 1):
        where, row = f"{printed.where} line {number}", line.split(",")
        if number == 1 or not line.strip() or row[0] == "0":
            continue
        if len(row) != len(HEADER) or not re.fullmatch(r"[0-9]{1,9}", row[0]):
            raise UnreadableError(f"{where} has not the columns of the header")
        if any(one.case == f"{row[0]} tasks" for one in results):
            warnings.append(f"{where}: {row[0]} tasks are there twice")
        for metric, text in ((PROCESSES, row[1]), (THREADS, row[3])):
            if text == FAILED:
                warnings.append(f"{where}: {metric.name} of {row[0]} tasks failed")
            else:
                results.append(Result(metric, (amount(text, where),), f"{row[0]} tasks"))
    return Content(results, warnings)


FORMATS = (
    Format("lkp", "lkp-tests, etc/index-perf-all.yaml", claims_lkp, read_lkp, ends_itself=True),
    Format("phoronix", "the file: Scale and Proportion", claims_phoronix, read_phoronix),
    Format(
        "will-it-scale",
        "its runtest.py; LKP's index-perf-all.yaml",
        claims_will_it_scale,
        read_will_it_scale,
    ),
)
