"""LKP's `stats.json`: hundreds of figures, of which those of benchmarks count."""

from __future__ import annotations

import re
from typing import Any

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import amount

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


def claims(printed: Printed) -> bool:
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


def read(printed: Printed) -> Content:
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


FORMAT = Format("lkp", "lkp-tests, etc/index-perf-all.yaml", claims, read, ends_itself=True)
