"""The call tree of a profile: which function ran, called by which, in how many samples; which
samples are of an idle CPU, and whether the event could see one at all.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from webapp.stats.arrays import Bools, Ints

NOTHING = -1
"""The parent of a node that nothing called."""

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


class Function(NamedTuple):
    """A function as the profiler named it; ``module`` is empty where it named none."""

    name: str
    module: str


@dataclass(frozen=True, slots=True)
class Calls:
    """A call tree of N nodes and what was sampled on S CPUs.

    Node i is function ``function[i]``, called by node ``parent[i]`` (`NOTHING`: by none); parents
    come before what they call. ``counts`` (S, N) are the samples in which a node itself ran.
    ``functions`` are distinct.
    """

    functions: tuple[Function, ...]
    parent: Ints
    function: Ints
    counts: Ints

    @property
    def samples(self) -> int:
        """All samples."""
        return int(self.counts.sum())

    def depths(self) -> Ints:
        """How many callers each node has (N)."""
        depths = np.zeros(len(self.parent), np.int64)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                depths[node] = depths[parent] + 1
        return depths

    def totals(self) -> Ints:
        """The samples in which each node, or what it called, ran, of all CPUs together (N)."""
        totals: list[int] = self.counts.sum(axis=0).tolist()
        parents: list[int] = self.parent.tolist()
        for node in range(len(parents) - 1, -1, -1):
            if parents[node] >= 0:
                totals[parents[node]] += totals[node]
        return np.array(totals, np.int64)

    def below(self, chosen: Bools) -> Bools:
        """Which nodes are of ``chosen`` functions (F) or were called below one (N)."""
        matches = chosen[self.function]
        if not matches.any():
            return matches
        found = matches.copy()
        node, at = np.arange(len(found)), self.parent
        while len(node):
            node, at = node[at >= 0], at[at >= 0]
            found[node] |= matches[at]
            at = self.parent[at]
        return found

    def own(self) -> Ints:
        """The samples in which each function itself ran, on each CPU (S, F)."""
        own = np.zeros((len(self.counts), len(self.functions)), np.int64)
        for section, counts in enumerate(self.counts):
            own[section] = np.bincount(self.function, counts, len(self.functions))
        return own

    def inclusive(self) -> Ints:
        """The samples in which each function, or what it called, ran, on each CPU (S, F).

        A function that calls itself counts once a sample.
        """
        outermost = self._is_outermost()
        found = np.zeros((len(self.counts), len(self.functions)), np.int64)
        for section, counts in enumerate(self.counts):
            one = Calls(self.functions, self.parent, self.function, counts[None])
            totals = np.where(outermost, one.totals(), 0)
            found[section] = np.bincount(self.function, totals, len(self.functions))
        return found

    def _is_outermost(self) -> Bools:
        """Which nodes have no caller of their own function."""
        outermost = np.ones(len(self.parent), np.bool_)
        at = self.parent.copy()
        while (at >= 0).any():
            known = at >= 0
            outermost[known] &= self.function[at[known]] != self.function[known]
            at[known] = self.parent[at[known]]
        return outermost

    def stacks(self) -> Iterator[tuple[tuple[Function, ...], int]]:
        """Each stack that was sampled, outermost caller first, and its samples on all CPUs."""
        names = [self.functions[one] for one in self.function.tolist()]
        parents: list[int] = self.parent.tolist()
        paths: list[tuple[Function, ...]] = []
        for node, count in enumerate(self.counts.sum(axis=0).tolist()):
            above = paths[parents[node]] if parents[node] >= 0 else ()
            paths.append((*above, names[node]))
            if count:
                yield paths[node], count


def calls_of(sections: Sequence[Mapping[tuple[Function, ...], int]]) -> Calls:
    """The call tree of stacks (outermost caller first) with their samples, a mapping a CPU."""
    functions: dict[Function, int] = {}
    nodes: dict[tuple[int, int], int] = {}
    counted: list[tuple[int, int, int]] = []
    for section, stacks in enumerate(sections):
        for stack, count in stacks.items():
            node = NOTHING
            for frame in stack:
                function = functions.setdefault(frame, len(functions))
                node = nodes.setdefault((node, function), len(nodes))
            if node != NOTHING:
                counted.append((section, node, count))
    counts = np.zeros((len(sections), len(nodes)), np.int64)
    for section, node, count in counted:
        counts[section, node] += count
    pairs = np.array(list(nodes), np.int64).reshape(-1, 2)
    return Calls(tuple(functions), pairs[:, 0], pairs[:, 1], counts)


def added(profiles: Sequence[Calls]) -> Calls:
    """One call tree of several, CPU after CPU."""
    tree, places = _united(profiles)
    counts = np.zeros((sum(len(one.counts) for one in profiles), len(tree.parent)), np.int64)
    row = 0
    for one, place in zip(profiles, places, strict=True):
        counts[row : row + len(one.counts), place] = one.counts
        row += len(one.counts)
    return replace(tree, counts=counts)


def summed(sides: Sequence[Sequence[Calls]]) -> Calls:
    """One call tree of several sides of profiles, with the samples of a side in a row."""
    tree, places = _united([one for side in sides for one in side])
    counts = np.zeros((len(sides), len(tree.parent)), np.int64)
    each = iter(places)
    for row, side in zip(counts, sides, strict=True):
        for one in side:
            row[next(each)] += one.counts.sum(axis=0)
    return replace(tree, counts=counts)


def _united(profiles: Iterable[Calls]) -> tuple[Calls, list[Ints]]:
    """The nodes of several call trees without samples, and where those of each are among them."""
    functions: dict[Function, int] = {}
    nodes: dict[tuple[int, int], int] = {}
    places = []
    for one in profiles:
        known = [functions.setdefault(function, len(functions)) for function in one.functions]
        place: list[int] = []
        for parent, function in zip(one.parent.tolist(), one.function.tolist(), strict=True):
            above = place[parent] if parent >= 0 else NOTHING
            place.append(nodes.setdefault((above, known[function]), len(nodes)))
        places.append(np.array(place, np.int64))
    pairs = np.array(list(nodes), np.int64).reshape(-1, 2)
    empty = np.zeros((0, len(nodes)), np.int64)
    return Calls(tuple(functions), pairs[:, 0], pairs[:, 1], empty), places


def packed(calls: Calls) -> bytes:
    """Everything but the names of the functions, compressed."""
    section, node = np.nonzero(calls.counts)
    columns = (
        np.array([len(calls.parent), *calls.counts.shape[:1]]),
        np.arange(len(calls.parent)) - calls.parent,
        calls.function,
        np.diff(node, prepend=0),
        section,
        calls.counts[section, node],
    )
    return zlib.compress(b"".join(one.astype("<i4").tobytes() for one in columns), 9)


def unpacked(data: bytes, functions: Sequence[Function]) -> Calls:
    """What `packed` compressed; ``functions`` are those of its call tree, in their order."""
    flat = np.frombuffer(zlib.decompress(data), "<i4").astype(np.int64)
    nodes, sections = int(flat[0]), int(flat[1])
    parent = np.arange(nodes) - flat[2 : 2 + nodes]
    function = flat[2 + nodes : 2 + 2 * nodes]
    steps, section, count = flat[2 + 2 * nodes :].reshape(3, -1)
    counts = np.zeros((sections, nodes), np.int64)
    counts[section, np.cumsum(steps)] = count
    return Calls(tuple(functions), parent, function, counts)


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
