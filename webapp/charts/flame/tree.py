"""Call trees as a flame graph needs them: with weights, keys and modules. Pure.

Weights are rows: the first is what frames are as wide as (samples, or cost per packet), a second is
the same of the side that it is compared with. Nodes are in an order in which parents come before
what they call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]
Named = Sequence[tuple[str, str]]

NOTHING = -1
"""The parent of a node that nothing called."""

TOP = 0
"""The key of what holds all frames."""

FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that no bit of a caller's key is lost: 2⁶⁴ by the golden ratio."""


MOST_MODULES = 15
"""Modules that a graph is parted by; a kernel under load runs in half a dozen."""


class CallTree(Protocol):
    """A call tree: `webapp.stats.profiles.calls.Calls` is one."""

    @property
    def functions(self) -> Named:
        """Name and module of each function (F)."""

    @property
    def parent(self) -> Ints:
        """The caller of each node (N), `NOTHING` for outermost ones."""

    @property
    def function(self) -> Ints:
        """The function of each node (N)."""

    @property
    def counts(self) -> Ints:
        """The samples in which each node itself ran, on each CPU (S, N)."""


@dataclass(frozen=True, slots=True)
class Tree:
    """N nodes with K weights: ``own`` (K, N) are of a node itself, ``totals`` (K, N) with all that
    it called. ``keys`` (N) are of a node's path: equal paths of two trees have equal keys.
    """

    functions: Named
    parent: Ints
    function: Ints
    own: Floats
    totals: Floats
    keys: Keys


def tree_of(calls: CallTree, own: Floats, *, by_module: bool = False) -> Tree:
    """The tree as it was sampled, callers first, with its weights ``own`` (K, N).

    ``by_module``: the modules of the functions that ran come first, as frames of their own.
    """
    if by_module:
        return _parted(calls, own)
    keys = keys_of(calls.parent, hashes_of(calls.functions)[calls.function])
    totals = totals_of(calls.parent, own)
    return Tree(calls.functions, calls.parent, calls.function, own, totals, keys)


def totals_of(parent: Ints, own: Floats) -> Floats:
    """The weights of each node with all that it called (K, N), depth after depth from below."""
    totals = own.T.copy("C")
    depth = keys_of(parent, np.ones(len(parent), np.uint64), np.uint64(1))
    order = np.argsort(depth, kind="stable")
    for nodes in reversed(np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]):
        np.add.at(totals, parent[nodes], totals[nodes])
    return totals.T


def keys_of(parent: Ints, hashes: Keys, factor: np.uint64 = FACTOR) -> Keys:
    """The key of each node's path: its own hash and ``factor`` times its caller's key, modulo 2⁶⁴.

    In as many rounds as the depth has binary digits.
    """
    keys, above = hashes.copy(), parent.copy()
    while (is_called := above >= 0).any():
        at = above[is_called]
        added = keys[at] * factor
        keys[is_called] += added
        above[is_called] = above[at]
        factor = np.multiply(factor, factor, dtype=np.uint64)
    return keys


def hashes_of(functions: Named) -> Keys:
    """64 bits of each function's name and module (F)."""
    texts = (f"{name}\0{module}".encode(errors="surrogatepass") for name, module in functions)
    return np.frombuffer(b"".join(blake2b(one, digest_size=8).digest() for one in texts), "<u8")


def with_modules(calls: CallTree, own: Floats) -> tuple[Named, Ints]:
    """The functions and behind them their modules as such; and which module each function is of.

    Behind the `MOST_MODULES` with most samples, by ``own`` (K, N), all others are one.
    """
    functions = calls.functions
    known: dict[str, int] = {}
    of = np.array([known.setdefault(module, len(known)) for _, module in functions], np.int64)
    names = [(name or "no module", name) for name in known]
    if len(names) > MOST_MODULES:
        order = np.argsort(-np.bincount(of[calls.function], own[0], len(names)), kind="stable")
        of = np.minimum(np.argsort(order, kind="stable"), MOST_MODULES)[of]
        names = [*(names[one] for one in order[:MOST_MODULES].tolist()), ("other modules", "")]
    return [*functions, *names], of


def _parted(calls: CallTree, own: Floats) -> Tree:
    """The tree once for each module, with the samples that ran in it alone."""
    rows, nodes = own.shape
    named, module_of = with_modules(calls, own)
    modules = len(named) - len(calls.functions)
    each = np.zeros((rows, modules, nodes))
    each[:, module_of[calls.function], np.arange(nodes)] = own
    totals = totals_of(calls.parent, each.reshape(-1, nodes)).reshape(each.shape)
    module, node = np.nonzero(totals.any(axis=0))
    number = np.zeros((modules, nodes), np.int64)
    number[module, node] = np.arange(len(node)) + modules
    above = calls.parent[node]
    parent = np.r_[np.full(modules, NOTHING), np.where(above >= 0, number[module, above], module)]
    function = np.r_[np.arange(modules) + len(calls.functions), calls.function[node]]
    return Tree(
        named,
        parent,
        function,
        np.c_[np.zeros((rows, modules)), each[:, module, node]],
        np.c_[each.sum(axis=2), totals[:, module, node]],
        keys_of(parent, hashes_of(named)[function]),
    )
