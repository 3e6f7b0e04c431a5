"""will-it-scale's `runtest.py`: operations/s of processes and of threads, by how many run."""

from __future__ import annotations

from labagent.model import Metric
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.numbers import amount

HEADER = ["tasks", "processes", "processes_idle", "threads", "threads_idle", "linear"]
PROCESSES = Metric("process_rate", "ops/s", "more")
THREADS = Metric("thread_rate", "ops/s", "more")
FAILED = "-1"


def claims(printed: Printed) -> bool:
    """Whether it begins with the header."""
    return printed.text.splitlines()[:1] == [",".join(HEADER)]


def read(printed: Printed) -> Content:
    """A case a number of tasks, without that of none. Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} does not begin with {','.join(HEADER)}")
    results: list[Result] = []
    warnings = []
    for number, line in enumerate(printed.text.splitlines(), 1):
        where, row = f"{printed.where} line {number}", line.split(",")
        if number == 1 or not line.strip() or row[0] == "0":
            continue
        if len(row) != len(HEADER) or not row[0].isdecimal():
            raise UnreadableError(f"{where} has not the columns of the header")
        if any(one.case == f"{row[0]} tasks" for one in results):
            warnings.append(f"{where}: {row[0]} tasks are there twice")
        for metric, text in ((PROCESSES, row[1]), (THREADS, row[3])):
            if text == FAILED:
                warnings.append(f"{where}: {metric.name} of {row[0]} tasks failed")
            else:
                results.append(Result(metric, (amount(text, where),), f"{row[0]} tasks"))
    return Content(results, warnings)


FORMAT = Format("will-it-scale", "its runtest.py; LKP's index-perf-all.yaml", claims, read)
