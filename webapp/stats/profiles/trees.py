"""The functions of both sides beside each other: samples, callers, neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from webapp.stats.profiles.calls import Calls, Function, Ints, summed
from webapp.stats.profiles.costs import Boot, Floats


class Aligned(NamedTuple):
    """``calls`` has the nodes of both sides (N); ``a`` and ``b`` (N), its two rows, are the samples
    in which a node itself ran, of all CPUs of a side together.
    """

    calls: Calls
    a: Ints
    b: Ints


@dataclass(frozen=True, slots=True)
class Counted:
    """Samples of F functions in R rows: a row is a boot, or a section (CPU) of one.

    ``boot`` (R) is the row's boot, by index. ``own`` and ``inclusive`` are (R, F), ``samples``
    (R). ``edges`` (E, 2) are pairs of a caller (F: none) and what it called, ``passed`` (2, E)
    the samples in which the callee, or what it called, ran below that caller, in the first boots
    and in the others.
    """

    functions: tuple[Function, ...]
    boot: Ints
    own: Floats
    inclusive: Floats
    samples: Floats
    edges: Ints
    passed: Floats


def counted(boots: Sequence[Boot], *, first: int, by_section: bool) -> Counted:
    """Count the functions of ``boots``, each in a row or ``by_section`` in a row each section;
    the ``first`` ones are one side. One tree is in memory at a time.
    """
    functions, same = _united([boot.calls for boot in boots])
    rows = [len(boot.calls.counts) if by_section else 1 for boot in boots]
    own, inclusive = (np.zeros((sum(rows), len(functions))) for _ in range(2))
    passed, start = [], 0
    for boot, to, count in zip(boots, same, rows, strict=True):
        tree = _Tree(boot.calls, to, len(functions), split=by_section)
        at = slice(start, start + count)
        own[at] = tree.by_function(tree.counts)
        inclusive[at] = tree.by_function(tree.totals * tree.outermost)
        passed.append((tree.edges, tree.passed))
        start += count
    keys = np.unique(np.concatenate([edges for edges, _ in passed]))
    sides = np.zeros((2, len(keys)))
    for boot_at, (edges, samples) in enumerate(passed):
        sides[int(boot_at >= first), np.searchsorted(keys, edges)] += samples
    return Counted(
        functions,
        np.repeat(np.arange(len(boots)), rows),
        own,
        inclusive,
        own.sum(axis=1),
        np.stack([keys // len(functions), keys % len(functions)], axis=1),
        sides,
    )


def _united(profiles: Sequence[Calls]) -> tuple[tuple[Function, ...], list[Ints]]:
    """The functions of all profiles, and the index among them of each one's functions."""
    known: dict[Function, int] = {}
    own = [[known.setdefault(one, len(known)) for one in calls.functions] for calls in profiles]
    functions, same = same_functions(list(known))
    return functions, [same[np.array(one, np.int64)] for one in own]


class _Tree:
    """The call tree of a boot: samples in R rows and N nodes, and what passed its E edges (E).

    ``totals`` are samples of a node and of all below it; ``outermost`` nodes have no caller of
    their own function; ``edges`` are caller × functions + callee, the caller of none `functions`.
    """

    def __init__(self, calls: Calls, to: Ints, functions: int, *, split: bool) -> None:
        """Count ``calls``, function i of which is function ``to[i]`` of ``functions``."""
        counts = calls.counts if split else calls.counts.sum(axis=0)[None]
        self.counts = counts.astype(np.float64)
        self._function, self._functions = to[calls.function], functions
        self.outermost = np.ones(len(calls.parent), np.bool_)
        self.totals = self._summed(calls.parent)
        caller = np.where(calls.parent >= 0, self._function[calls.parent], functions)
        keys = caller * functions + self._function
        self.edges, where = np.unique(keys, return_inverse=True)
        self.passed = np.bincount(where, self.totals.sum(axis=0), len(self.edges))

    def by_function(self, values: Floats) -> Floats:
        """Sums of values at nodes (R, N) over each function's (R, F)."""
        return _by_column(values, self._function, self._functions)

    def _summed(self, parent: Ints) -> Floats:
        """Totals; finds the outermost nodes on the way up."""
        depth = np.zeros(len(parent), np.int64)
        node = np.flatnonzero(parent >= 0)
        at = parent[node]
        while len(node):
            depth[node] += 1
            self.outermost[node[self._function[at] == self._function[node]]] = False
            at = parent[at]
            node, at = node[at >= 0], at[at >= 0]
        totals = self.counts.copy()
        order = np.argsort(depth, kind="stable")
        bounds = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
        for start, end in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
            nodes = order[start:end]
            totals += _by_column(totals[:, nodes], parent[nodes], len(parent))
        return totals


def _by_column(values: Floats, column: Ints, columns: int) -> Floats:
    """Sums of values (R, N) by the column of each (R, columns)."""
    found = np.empty((len(values), columns))
    for row, of in enumerate(values):
        found[row] = np.bincount(column, of, columns)
    return found


def same_functions(functions: Sequence[Function]) -> tuple[tuple[Function, ...], Ints]:
    """The distinct functions, and the index of each given one among them.

    A profile may name a function's module in some rows alone: a function without one is the only
    one of its name that has a module, if there is one.
    """
    modules: dict[str, set[str]] = {}
    for one in functions:
        if one.module:
            modules.setdefault(one.name, set()).add(one.module)
    known: dict[Function, int] = {}
    index = []
    for one in functions:
        named = modules.get(one.name, ())
        full = Function(one.name, *named) if not one.module and len(named) == 1 else one
        index.append(known.setdefault(full, len(known)))
    return tuple(known), np.array(index, np.int64)


def aligned(a: Calls, b: Calls) -> Aligned:
    """Lay A's call tree over B's: nodes of one path, of name and module, are one."""
    both = summed([[a], [b]])
    return Aligned(both, both.counts[0], both.counts[1])
