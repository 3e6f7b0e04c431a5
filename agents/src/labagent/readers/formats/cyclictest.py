"""`cyclictest --json`: the latencies of its threads, over all of them."""

from __future__ import annotations

from typing import Any

from labagent.histograms import Histogram
from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.json_tables import select, text_of
from labagent.readers.formats.metrics import LATENCY, latency
from labagent.readers.formats.numbers import amount, whole


def claims(printed: Printed) -> bool:
    """Whether it is a document of cyclictest."""
    document = printed.json
    return isinstance(document, dict) and {"thread", "resolution_in_ns"} <= document.keys()


def read(printed: Printed) -> Content:
    """The longest latency of any thread, the shortest, and the mean over all cycles; with `-h` the
    histogram of all in place of the longest.

    Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} is no document of cyclictest --json")
    document, where = printed.json, f"{printed.where}: thread"
    resolution = whole(document["resolution_in_ns"], f"{printed.where}: resolution_in_ns")
    threads = whole(document.get("num_threads"), f"{printed.where}: num_threads")
    scale = 1e-3 if resolution else 1.0
    columns = {name: _column(document, name, where) for name in ("min", "max", "avg", "cycles")}
    counts = {len(column) for column in columns.values()}
    if counts != {threads}:
        raise UnreadableError(f"{where}: not all of num_threads threads have min, max, avg, cycles")
    cycles = sum(columns["cycles"])
    if not cycles:
        raise UnreadableError(f"{where}: no cycles")
    weighted = zip(columns["avg"], columns["cycles"], strict=True)
    mean = sum(one * count for one, count in weighted) / cycles
    values = {"max": max(columns["max"]), "mean": mean, "min": min(columns["min"])}
    histogram, warnings = _histogram(document, where, cycles, scale)
    if histogram:
        del values["max"]
    found = [Result(latency(name), (scale * value,)) for name, value in values.items()]
    found += [Result(LATENCY, (), "", (histogram,))] if histogram else []
    version = text_of(document, "rt_test_version") or text_of(document, "rt_test_version:")
    return Content(found, warnings, {"cyclictest": version} if version else {})


def _histogram(
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
    longest = max(*(value for value, _ in pairs), *_column(document, "max", where))
    return Histogram.up_to(longest, pairs, int(cycles) - counted, where, scale)


def _column(document: Any, name: str, where: str) -> list[float]:
    return [amount(one, f"{where}{at}") for at, one in select(document, f"thread/*/{name}")]


FORMAT = Format("cyclictest", "cyclictest(8)", claims, read, ends_itself=True)
