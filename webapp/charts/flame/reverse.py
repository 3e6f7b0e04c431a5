"""Call trees turned round: what ran first, then its callers. Pure."""

from typing import NamedTuple

import numpy as np

from webapp.charts.flame.tree import (
    FACTOR,
    NOTHING,
    TOP,
    Bools,
    CallTree,
    Floats,
    Ints,
    Keys,
    Named,
    Tree,
    hashes_of,
    with_modules,
)


def reversed_tree(
    calls: CallTree, own: Floats, *, share: float, root: int = TOP, by_module: bool = False
) -> Tree:
    """The stacks of ``calls`` with the weights ``own`` (K, N), turned round and merged.

    Frames of less than ``share`` of all, or of the frame with the key ``root``, are left out; on
    the way to ``root`` none is, for a key does not tell what lies above. The ``own`` of a frame
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
