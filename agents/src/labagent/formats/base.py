"""What a log format is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labagent.model import Metric


@dataclass(frozen=True)
class Reading:
    """What one log says: a value for each metric, or why there is none.

    `older` holds the values where an earlier release of the tools would have computed others.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    older: Mapping[str, float] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True)
class LogFormat:
    """How one load generator's results are read.

    `log` is the kind of file that carries the values (`bench.….<iteration>.<log>`), `claims` looks
    at such a file, `suffixes` maps the ending of a value file to its metric, and `older_rule` says
    in words what `Reading.older` is.
    """

    name: str
    metrics: tuple[Metric, ...]
    log: str
    claims: Callable[[bytes], bool]
    read: Callable[[bytes], Reading]
    suffixes: Mapping[str, str]
    older_rule: str = ""
