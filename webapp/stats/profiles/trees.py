"""The functions of both sides beside each other: samples, callers, neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from webapp.stats.profiles.calls import Calls, Function, Ints, added
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
    trees = [
        boot.calls if split else _summed(boot.calls)
        for boot, split in zip(boots, by_section, strict=True)
    ]
    calls = added(trees)
    index = np.repeat(np.arange(len(trees)), [len(tree.counts) for tree in trees])
    functions, same = same_functions(calls.functions)
    function = same[calls.function]
    counts = calls.counts.astype(np.float64)
    stacks = _stacks(calls.parent, function, len(functions))
    leaves = sparse.csr_array(
        (np.ones(len(function)), (function, np.arange(len(function)))),
        shape=(len(functions), len(function)),
    )
    edges, passed = _edges(calls, function, len(functions), counts)
    return Counted(
        functions,
        index,
        np.asarray((leaves @ counts.T).T),
        np.asarray((stacks @ counts.T).T),
        counts.sum(axis=1),
        edges,
        passed,
    )


def _summed(calls: Calls) -> Calls:
    return Calls(calls.functions, calls.parent, calls.function, calls.counts.sum(axis=0)[None])


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


def _stacks(parent: Ints, function: Ints, count: int) -> sparse.csr_array:
    """Which functions are on the stack of each node (F, N), a function once."""
    rows, columns = [function], [np.arange(len(parent))]
    at, node = parent, np.arange(len(parent))
    while len(at):
        up = at >= 0
        at, node = at[up], node[up]
        rows.append(function[at])
        columns.append(node)
        at = parent[at]
    row, column = np.concatenate(rows), np.concatenate(columns)
    found = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(count, len(parent)))
    found.sum_duplicates()
    found.data[:] = 1.0
    return found


def _edges(calls: Calls, function: Ints, count: int, counts: Floats) -> tuple[Ints, Floats]:
    """Pairs (caller, callee) as (E, 2), and the samples that passed each in each row (R, E)."""
    totals = _totals(calls, counts)
    caller = np.where(calls.parent >= 0, function[calls.parent], count)
    keys, where = np.unique(caller * count + function, return_inverse=True)
    passed = np.zeros((len(totals), len(keys)))
    for row, samples in enumerate(totals):
        passed[row] = np.bincount(where, samples, len(keys))
    return np.stack([keys // count, keys % count], axis=1), passed


def _totals(calls: Calls, counts: Floats) -> Floats:
    totals = counts.copy()
    depths = calls.depths()
    order = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[order], np.arange(int(depths.max(initial=0)) + 2))
    for depth in range(len(bounds) - 2, 0, -1):
        nodes = order[bounds[depth] : bounds[depth + 1]]
        for row in range(len(totals)):
            totals[row] += np.bincount(calls.parent[nodes], totals[row, nodes], len(calls.parent))
    return totals
