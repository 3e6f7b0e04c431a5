"""Call trees as a flame graph needs them: with weights, keys and modules. Pure.

Weights are rows: the first is what frames are as wide as (samples, or cost per packet), a second is
the same of the side that it is compared with. Nodes are in an order in which parents come before
what they call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Protocol

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


def reversed_tree(
    calls: CallTree, own: Floats, *, share: float, root: int = TOP, by_module: bool = False
) -> Tree:
    """The stacks of ``calls`` with the weights ``own`` (K, N), turned round and merged.

    Frames of less than ``share`` of all, or of the frame with the key ``root``, are left out; on
    the way to ``root`` none is, for a key does not show what lies above. The ``own`` of a frame
    are the stacks whose outermost caller it is.
    """
    functions, module_of = with_modules(calls, own)
    merging = _Merging(calls, own, hashes_of(functions), share, root)
    if by_module:
        modules = module_of + len(calls.functions)
        merging.step(modules[calls.function[merging.at]], np.zeros(len(merging.at), np.bool_))
    while len(merging.at):
        at = merging.at
        merging.step(calls.function[at], calls.parent[at] < 0)
        merging.to_callers()
    return merging.tree(functions)


class _Level(NamedTuple):
    """The frames of one depth, as a `Tree` has them."""

    parent: Ints
    function: Ints
    own: Floats
    totals: Floats
    keys: Keys


class _Merging:
    """Stacks that go on, each with the node that it has come to (``at``), its weights and the
    ``frame`` that it is in; and the frames found so far, level after level.
    """

    def __init__(self, calls: CallTree, own: Floats, hashes: Keys, share: float, root: int) -> None:
        ran = np.flatnonzero(own.any(axis=0))
        self.calls, self.hashes, self.share, self.root = calls, hashes, share, root
        self.at, self.own = ran, own[:, ran]
        self.frame = np.full(len(ran), NOTHING, np.int64)
        self.least = share * float(own[0].sum()) if root == TOP else 0.0
        self.first, self.keys = 0, np.zeros(0, np.uint64)
        nothing = np.zeros(0, np.int64)
        self.found = [_Level(nothing, nothing, own[:, :0], own[:, :0], self.keys)]

    def step(self, function: Ints, ends: Bools) -> None:
        """Merge the stacks by their next ``function``, and leave those that end there."""
        size = len(self.hashes)
        pairs, inverse = np.unique((self.frame + 1) * size + function, return_inverse=True)
        caller, name = pairs // size - 1, pairs % size
        keys = self.hashes[name].copy()
        keys[caller >= 0] += FACTOR * self.keys[caller[caller >= 0]]
        totals = _sums(inverse, self.own, len(pairs))
        kept = self._kept(keys, totals[0])
        ended = _sums(inverse, self.own * ends, len(pairs))
        above = np.where(caller >= 0, caller + self.first, NOTHING)
        self.found.append(
            _Level(above[kept], name[kept], ended[:, kept], totals[:, kept], keys[kept])
        )
        self.first += len(self.keys)
        self.keys, self.frame = keys[kept], (np.cumsum(kept) - 1)[inverse]
        self._only(kept[inverse] & ~ends)

    def to_callers(self) -> None:
        """Go from each node to its caller."""
        self.at = self.calls.parent[self.at]

    def tree(self, functions: Named) -> Tree:
        """All frames found."""
        parent, function, own, totals, keys = zip(*self.found, strict=True)
        return Tree(
            functions,
            np.concatenate(parent),
            np.concatenate(function),
            np.concatenate(own, axis=1),
            np.concatenate(totals, axis=1),
            np.concatenate(keys),
        )

    def _kept(self, keys: Keys, totals: Floats) -> Bools:
        """Which frames are kept: of the level of the root it alone, below it what is large."""
        is_root = np.equal(keys, np.uint64(self.root))
        if self.root != TOP and is_root.any():
            self.root, self.least = TOP, self.share * float(totals[is_root].sum())
            return is_root
        return np.greater_equal(totals, self.least)

    def _only(self, chosen: Bools) -> None:
        self.at, self.own, self.frame = self.at[chosen], self.own[:, chosen], self.frame[chosen]


def _sums(frame: Ints, own: Floats, frames: int) -> Floats:
    """The weights of stacks, those of a frame together (K, frames)."""
    return np.array([np.bincount(frame, row, frames) for row in own])
