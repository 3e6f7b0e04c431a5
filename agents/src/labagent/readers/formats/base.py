"""What a format of results is, and the numbers and metrics that several formats read."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labagent.errors import AgentError
from labagent.limits import LARGEST_SAMPLE
from labagent.model import Histogram, Metric, Run


class UnreadableError(AgentError):
    """What the run left behind holds no result."""


@dataclass(frozen=True)
class Printed:
    """What a benchmark printed, `where` it is (for messages), and the metric of bare numbers."""

    text: str
    where: str = "the output"
    metric: Metric | None = None
    doubled: list[str] = field(default_factory=list)

    @cached_property
    def json(self) -> Any:
        """The one JSON value, from the first line that begins one on; None where there is none.

        Some tools print remarks before it.
        """
        lines = self.text.splitlines(keepends=True)
        starts = (at for at, line in enumerate(lines) if line.lstrip()[:1] in ("{", "["))
        try:
            return json.loads("".join(lines[next(starts, 0) :]), object_pairs_hook=self._object)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def json_lines(self) -> list[dict[str, Any]]:
        """The JSON objects, where each line that is not empty or a comment is one; else none."""
        lines = [line for line in self.text.splitlines() if line.strip() and line[0] != "#"]
        try:
            found = [json.loads(line, object_pairs_hook=self._object) for line in lines]
        except (ValueError, RecursionError):
            return []
        return found if all(isinstance(one, dict) for one in found) else []

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            self.doubled.extend(name for name in found if names.count(name) > 1)
        return found


@dataclass(frozen=True)
class Provenance:
    """Where a tracker's record is from, in its own names; empty or None: it does not state it.

    `branch` is a branch or project, `position` the place of the revision in the tracker's own
    order, `committed_at` and `measured_at` are ISO 8601, without a zone where it has none.
    """

    branch: str = ""
    revision: str = ""
    hardware: str = ""
    measured_at: str = ""
    committed_at: str = ""
    position: int | None = None


@dataclass(frozen=True)
class Result:
    """Samples of one metric of one case (a job, a test, a benchmark of several); "": the only one.
    Instead of samples there may be histograms.

    The metric's `unit` and `better` are empty where the format does not state them. `boots[i]` is
    the boot of `values[i]`; None: not known. `provenance` is None but of a tracker's records.
    """

    metric: Metric
    values: tuple[float, ...]
    case: str = ""
    histograms: tuple[Histogram, ...] = ()
    boots: tuple[int, ...] | None = None
    provenance: Provenance | None = None


@dataclass(frozen=True)
class Content:
    """What a text holds, in its order, and what may be wrong with it; `runs` where it is whole runs
    with all that they have besides their results."""

    results: Sequence[Result]
    warnings: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Run] = ()


@dataclass(frozen=True)
class Format:
    """A format of results. `source` is where its units and directions are known from.

    `claims` recognises it by content and does not raise. `read` raises `UnreadableError`.
    `needs_metric` where the text does not name what it measures, `ends_itself` where it shows by
    itself that it is complete.
    """

    name: str
    source: str
    claims: Callable[[Printed], bool]
    read: Callable[[Printed], Content]
    needs_metric: bool = False
    ends_itself: bool = False


TIME = Metric("time", "s", "less")
USER_TIME = Metric("user_time", "s", "less")
SYSTEM_TIME = Metric("system_time", "s", "less")
TIME_PER_OP = Metric("time_per_op", "ns", "less")
RATE = Metric("rate", "ops/s", "more")
BANDWIDTH = Metric("bandwidth", "B/s", "more")

NANOSECONDS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
BINARY = {f"{prefix}B": 1024.0**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}


LATENCY = Metric("latency", "us", "less")
"""Of histograms."""


def latency(of: str, kind: str = "") -> Metric:
    """``latency_p99`` or ``wakeup_latency_p99``, in µs."""
    return Metric(f"{kind}_latency_{of}" if kind else f"latency_{of}", "us", "less")


_NUMBER = re.compile(
    r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?"
)


def finite(value: Any, where: str) -> float:
    """`value` as a number that can be compared; `where` names its place in the error."""
    number = _number(value)
    if number is None:
        raise UnreadableError(f"{where}: {_shown(value)} is no number")
    if abs(number) > LARGEST_SAMPLE:
        raise UnreadableError(f"{where}: {_shown(value)} is more than anything measured")
    return number


def amount(value: Any, where: str) -> float:
    """The same for what cannot be negative: a time, a rate, a count."""
    number = finite(value, where)
    if number < 0:
        raise UnreadableError(f"{where}: {number:g} is less than nothing")
    return number


def whole(value: Any, where: str) -> int:
    """The same of what is counted one by one."""
    number = amount(value, where)
    if not number.is_integer():
        raise UnreadableError(f"{where}: {_shown(value)} is no whole number")
    return int(number)


def is_number(text: str) -> bool:
    """Whether the text is one number."""
    return _NUMBER.fullmatch(text) is not None


def _number(value: Any) -> float | None:
    """NaN is none; what is too large for a float is infinite."""
    if isinstance(value, str):
        return float(value) if is_number(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > LARGEST_SAMPLE:
        return math.inf
    return None if math.isnan(value) else float(value)


def _shown(value: Any) -> str:
    """The start of it: an integer of a thousand digits cannot even be printed."""
    if isinstance(value, int) and abs(value) > LARGEST_SAMPLE:
        return "an integer"
    return repr(str(value)[:80])


def numbered_lines(text: str, where: str) -> Iterator[tuple[str, str]]:
    """The lines that are not empty, each after its place."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{where} line {number}", line.strip()


def parse_json(text: str, where: str, remedy: str = "") -> dict[str, Any]:
    """One JSON object; `UnreadableError` for anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableError(f"{where} is no JSON: {reason}", remedy) from error
    if not isinstance(document, dict):
        raise UnreadableError(f"{where} is no JSON object", remedy)
    return document
