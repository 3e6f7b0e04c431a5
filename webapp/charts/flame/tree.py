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
    functions, parent, function = calls.functions, calls.parent, calls.function
    if by_module:
        functions, parent, function, own = _parted(functions, parent, function, own)
    keys = keys_of(parent, hashes_of(functions)[function])
    return Tree(functions, parent, function, own, totals_of(parent, own), keys)


def totals_of(parent: Ints, own: Floats) -> Floats:
    """The weights of each node with all that it called (K, N)."""
    parents: list[int] = parent.tolist()
    rows = own.tolist()
    for row in rows:
        for node in range(len(parents) - 1, -1, -1):
            if parents[node] >= 0:
                row[parents[node]] += row[node]
    return np.array(rows, np.float64).reshape(own.shape)


def keys_of(parent: Ints, hashes: Keys) -> Keys:
    """The key of each node's path: its own hash and `FACTOR` times its caller's key, modulo 2⁶⁴.

    In as many rounds as the depth has binary digits.
    """
    keys, above, factor = hashes.copy(), parent.copy(), FACTOR
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


def _modules(functions: Named) -> tuple[list[str], Ints]:
    """The modules, and which one each function is of."""
    known: dict[str, int] = {}
    of = [known.setdefault(module, len(known)) for _, module in functions]
    return list(known), np.array(of, np.int64)


def with_modules(functions: Named) -> tuple[Named, Ints]:
    """The functions and behind them the modules as such; and which module each function is of."""
    modules, of = _modules(functions)
    return [*functions, *((one or "no module", one) for one in modules)], of


def _parted(
    functions: Named, parent: Ints, function: Ints, own: Floats
) -> tuple[Named, Ints, Ints, Floats]:
    """The tree once for each module, with the samples that ran in it alone."""
    named, module_of = with_modules(functions)
    modules, nodes = len(named) - len(functions), len(parent)
    ran = np.flatnonzero(own.any(axis=0))
    pairs = _with_callers(parent, module_of[function[ran]] * nodes + ran)
    module, node = pairs // nodes, pairs % nodes
    caller = np.searchsorted(pairs, module * nodes + parent[node]) + modules
    is_own = module_of[function[node]] == module
    return (
        named,
        np.r_[np.full(modules, NOTHING), np.where(parent[node] >= 0, caller, module)],
        np.r_[np.arange(modules) + len(functions), function[node]],
        np.c_[np.zeros((len(own), modules)), np.where(is_own, own[:, node], 0.0)],
    )


def _with_callers(parent: Ints, pairs: Ints) -> Ints:
    """``pairs`` (module × N + node) and those of all callers of the nodes, in their order."""
    found = [pairs]
    while len(pairs):
        node = pairs % len(parent)
        caller = parent[node]
        pairs = np.unique((pairs - node + caller)[caller >= 0])
        found.append(pairs)
    return np.unique(np.concatenate(found))
