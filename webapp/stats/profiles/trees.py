"""The functions of both sides beside each other: samples, callers, neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webapp.stats.profiles.calls import Calls, Function, Ints
from webapp.stats.profiles.costs import Boot, Floats


@dataclass(frozen=True, slots=True)
class Counted:
    """Samples of F functions in R rows: a row is a boot, or a section (CPU) of one.

    ``boot`` (R) is the row's boot, by index. ``own`` and ``inclusive`` are (R, F), ``samples``
    (R). ``edges`` (E, 2) are pairs of a caller (F: none) and what it called, ``passed`` (R, E)
    the samples in which the callee, or what it called, ran below that caller.
    """

    functions: tuple[Function, ...]
    boot: Ints
    own: Floats
    inclusive: Floats
    samples: Floats
    edges: Ints
    passed: Floats


def counted(boots: Sequence[Boot], by_section: Sequence[bool]) -> Counted:
    """Count the functions of ``boots``; those ``by_section`` in a row each section."""
    functions, same = _united([boot.calls for boot in boots])
    trees = [
        _Tree(boot.calls, to, len(functions), split=split)
        for boot, to, split in zip(boots, same, by_section, strict=True)
    ]
    keys = np.unique(np.concatenate([tree.edges for tree in trees]))
    passed = [np.zeros((len(tree.counts), len(keys))) for tree in trees]
    for columns, tree in zip(passed, trees, strict=True):
        columns[:, np.searchsorted(keys, tree.edges)] = tree.passed
    return Counted(
        functions,
        np.repeat(np.arange(len(trees)), [len(tree.counts) for tree in trees]),
        np.concatenate([tree.by_function(tree.counts) for tree in trees]),
        np.concatenate([tree.by_function(tree.totals * tree.outermost) for tree in trees]),
        np.concatenate([tree.counts.sum(axis=1) for tree in trees]),
        np.stack([keys // len(functions), keys % len(functions)], axis=1),
        np.concatenate(passed),
    )


def _united(profiles: Sequence[Calls]) -> tuple[tuple[Function, ...], list[Ints]]:
    """The functions of all profiles, and the index among them of each one's functions."""
    known: dict[Function, int] = {}
    own = [[known.setdefault(one, len(known)) for one in calls.functions] for calls in profiles]
    functions, same = same_functions(list(known))
    return functions, [same[np.array(one, np.int64)] for one in own]


class _Tree:
    """The call tree of a boot: samples in R rows and N nodes, and what passed its E edges.

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
        self.passed = _by_column(self.totals, where, len(self.edges))

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
