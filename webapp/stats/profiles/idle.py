"""Which samples of a profile are of an idle CPU, and whether the event could see one at all."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import cache, lru_cache

import numpy as np

from webapp.stats.profiles.calls import Bools, Calls, Function

IDLE = (
    "*idle*",
    "acpi_cpu_c[0-9]*",
    "mwait*",
    "*_mwait",
    "cpu_idle*",
    "sched_idletd",
    "intel_idle*",
    "native_safe_halt",
    "default_idle*",
    "poll_idle",
    "cpuidle_*",
)
"""Patterns (fnmatch) of functions that run while a CPU has nothing to do: FreeBSD's and Linux'."""

UNHALTED = ("*unhalted*", "*not_halted*", "cycles*", "cpu-cycles*", "*:cycles*")
"""Patterns (fnmatch, lower case) of events that count nothing while a CPU is halted."""

NAMES = 65_536
"""Names of which a process remembers whether they match."""


def idle_functions(functions: Sequence[Function], patterns: Sequence[str] = IDLE) -> Bools:
    """Which functions (F) match one of ``patterns``."""
    matches = _any_of(tuple(patterns))
    return np.array([matches(one.name) is not None for one in functions], np.bool_)


@cache
def _any_of(patterns: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    """Whether a name matches one of ``patterns``: one expression for all of them. Profiles of a
    machine name the same functions again and again.
    """
    matches = re.compile("|".join(map(translate, patterns)) or r"(?!)").match
    return lru_cache(maxsize=NAMES)(matches)


def idle_nodes(calls: Calls, patterns: Sequence[str] = IDLE) -> Bools:
    """Which nodes (N) have an idle function among their frames: interrupts of an idle CPU too."""
    return calls.below(idle_functions(calls.functions, patterns))


def idle_samples(calls: Calls, patterns: Sequence[str] = IDLE) -> int:
    """The samples of an idle CPU."""
    return int(calls.counts[:, idle_nodes(calls, patterns)].sum())


def counts_unhalted_only(event: str) -> bool:
    """Whether ``event`` gives no samples of a halted CPU."""
    return _any_of(UNHALTED)(event.lower()) is not None


def idle_share(calls: Calls, event: str, patterns: Sequence[str] = IDLE) -> float | None:
    """The share of idle samples (0 to 1); None where it is unknown.

    It is unknown without samples, and where the event counts only unhalted cycles and no idle
    sample was found: halted CPUs give none.
    """
    if not calls.samples:
        return None
    found = idle_samples(calls, patterns)
    if not found and counts_unhalted_only(event):
        return None
    return found / calls.samples
