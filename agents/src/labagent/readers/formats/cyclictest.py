"""`cyclictest --json`: the latencies of its threads, over all of them."""

from __future__ import annotations

from labagent.readers.formats.base import Content, Format, Printed, Result, UnreadableError
from labagent.readers.formats.json_tables import select
from labagent.readers.formats.metrics import latency
from labagent.readers.formats.numbers import amount


def claims(printed: Printed) -> bool:
    """Whether it is a document of cyclictest."""
    document = printed.json
    return isinstance(document, dict) and {"thread", "resolution_in_ns"} <= document.keys()


def read(printed: Printed) -> Content:
    """The longest latency of any thread, the shortest, and the mean over all cycles.

    Raises UnreadableError."""
    if not claims(printed):
        raise UnreadableError(f"{printed.where} is no document of cyclictest --json")
    document, where = printed.json, f"{printed.where}: thread"
    scale = 1e-3 if document["resolution_in_ns"] else 1.0
    columns = {
        name: [amount(one, f"{where}{at}") for at, one in select(document, f"thread/*/{name}")]
        for name in ("min", "max", "avg", "cycles")
    }
    counts = {len(column) for column in columns.values()}
    if counts != {document.get("num_threads")}:
        raise UnreadableError(f"{where}: not all of num_threads threads have min, max, avg, cycles")
    cycles = sum(columns["cycles"])
    if not cycles:
        raise UnreadableError(f"{where}: no cycles")
    weighted = zip(columns["avg"], columns["cycles"], strict=True)
    mean = sum(one * count for one, count in weighted) / cycles
    values = {"max": max(columns["max"]), "mean": mean, "min": min(columns["min"])}
    found = [Result(latency(name), (scale * value,)) for name, value in values.items()]
    return Content(found, facts={"cyclictest": str(document.get("rt_test_version", ""))})


FORMAT = Format("cyclictest", "cyclictest(8)", claims, read, ends_itself=True)
