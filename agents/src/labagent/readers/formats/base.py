"""What a format of results is: text in, samples by case and metric out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labagent.errors import AgentError
from labagent.histograms import Histogram
from labagent.model import Metric, Run


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
    `needs_metric` where the text does not say what it measures, `ends_itself` where it shows by
    itself that it is complete.
    """

    name: str
    source: str
    claims: Callable[[Printed], bool]
    read: Callable[[Printed], Content]
    needs_metric: bool = False
    ends_itself: bool = False
