"""Where the frames of a flame graph lie. Pure.

Frames lie below their callers (of a reversed graph: below what they called), the largest first, so
that what is too narrow to be drawn gathers at the right end of each.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webapp.charts.flame.tree import (
    NOTHING,
    TOP,
    Bools,
    CallTree,
    Floats,
    Ints,
    Tree,
    reversed_tree,
    tree_of,
)

Costs = NDArray[np.floating[Any]]

MOST_FRAMES = 4000
MOST_RESTS = 1000
"""Rectangles of a picture, 5,000 in all: the widest frames, and marks of what is narrower."""

WIDTH, LEAST_PX = 1440, 0.5
"""Pixels of a picture, and of the narrowest frame in it."""

KEY = re.compile(r"[0-9a-f]{16}")
TOP_NODE, REST = NOTHING, -2
"""What holds all nodes, as their parent; and what stands for nodes too narrow."""

ALL = "all"
"""The name of the frame that holds all others."""


class Kind(StrEnum):
    """What a rectangle is: a frame, a caller of the root, or all that is too narrow, together."""

    FRAME = "frame"
    ABOVE = "above"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Frame:
    """One rectangle: ``x`` from the left and ``width`` in the graph's unit, ``depth`` in rows.

    ``total`` is what the function and all below it took on this path, ``own`` what the function
    took itself, ``percent`` and ``percent_drawn`` the total of all samples and of those drawn.
    ``before`` is the total of the side that it is compared with, None without one.
    """

    key: str
    name: str
    module: str
    depth: int
    x: float
    width: float
    total: float
    own: float
    percent: float
    percent_drawn: float
    before: float | None = None
    kind: Kind = Kind.FRAME

    @property
    def change(self) -> float | None:
        """Total less ``before``."""
        return None if self.before is None else self.total - self.before


@dataclass(frozen=True, slots=True)
class Flame:
    """The rectangles of a graph, each caller before what lies in it.

    ``all`` is what was sampled (hidden samples included) and ``drawn`` what is drawn without a
    root, in samples, or of a difference in percent of A's packet; ``width`` that of the picture in
    the same unit; ``root`` the key of the frame that fills the picture, empty for all.
    """

    frames: list[Frame]
    all: float
    drawn: float
    width: float
    root: str
    is_reversed: bool
    is_difference: bool

    @property
    def rows(self) -> int:
        """Rows of the picture."""
        return 1 + max(frame.depth for frame in self.frames)


class NoSuchFrame(LookupError):
    """The graph has no frame of this key."""


def frames(
    calls: CallTree,
    *,
    hide: Bools | None = None,
    reverse: bool = False,
    by_module: bool = False,
    root: str = "",
    width: float = WIDTH,
    least_px: float = LEAST_PX,
) -> Flame:
    """The flame graph of a call tree; widths are samples.

    ``hide`` (N): nodes that are not drawn (idle). ``by_module``: the module of what ran comes
    first. ``root``: the key of the frame that fills the picture. Frames narrower than ``least_px``
    of ``width`` pixels are one mark together. Raises NoSuchFrame where ``root`` is none.
    """
    counts = calls.counts.sum(axis=0).astype(np.float64)[None]
    how = _How(root, least_px / width, is_reversed=reverse, is_by_module=by_module)
    return _flame(calls, counts, hide, how)


def difference(
    calls: CallTree,
    *,
    a: Costs,
    b: Costs,
    hide: Bools | None = None,
    reverse: bool = False,
    by_module: bool = False,
    root: str = "",
    width: float = WIDTH,
    least_px: float = LEAST_PX,
) -> Flame:
    """The flame graph of side B with what each frame cost on side A.

    ``calls`` holds the nodes of both sides, ``a`` and ``b`` (N) what a node itself cost on each, in
    percent of A's packet (or of the samples, where costs are unknown). Nodes that cost nothing on
    side B are not drawn. The rest as in `frames`.
    """
    how = _How(root, least_px / width, is_reversed=reverse, is_by_module=by_module)
    return _flame(calls, np.array([b, a], np.float64), hide, how)


@dataclass(frozen=True, slots=True)
class _How:
    root: str
    share: float
    is_reversed: bool
    is_by_module: bool

    @property
    def key(self) -> int:
        """The root's key as a number. Raises NoSuchFrame for what is no key."""
        if self.root and not KEY.fullmatch(self.root):
            raise NoSuchFrame(self.root)
        return int(self.root, 16) if self.root else TOP


def _flame(calls: CallTree, weights: Floats, hide: Bools | None, how: _How) -> Flame:
    own = weights if hide is None else np.where(hide, 0.0, weights)
    if how.is_reversed:
        tree = reversed_tree(calls, own, share=how.share, root=how.key, by_module=how.is_by_module)
    else:
        tree = tree_of(calls, own, by_module=how.is_by_module)
    node = _node_of(tree, how)
    drawn = own.sum(axis=1)
    width = float(drawn[0] if node == TOP_NODE else tree.totals[0, node])
    children = _children(tree, node, how.share * width)
    placing = _Placing(tree, children, float(weights[0].sum()), drawn, width, how.share * width)
    return Flame(
        _without_small_rests(placing.above(node) + placing.below(node)),
        placing.all,
        float(drawn[0]),
        width,
        how.root,
        how.is_reversed,
        len(own) > 1,
    )


def _node_of(tree: Tree, how: _How) -> int:
    """The node that fills the picture. Raises NoSuchFrame where there is none of the key."""
    if not how.root:
        return TOP_NODE
    found = np.flatnonzero(tree.keys == np.uint64(how.key))
    if not len(found) or not tree.totals[0, found[0]] > 0:
        raise NoSuchFrame(how.root)
    return int(found[0])


def _children(tree: Tree, root: int, least: float) -> dict[int, list[int]]:
    """The nodes below ``root`` that are drawn, by their caller, the largest first."""
    totals = tree.totals[0]
    wide = _below(tree.parent, np.flatnonzero((totals >= least) & (totals > 0)), root)
    # A caller is as large as what it calls and comes before it, so none loses its caller.
    largest = wide[np.argsort(-totals[wide], kind="stable")[:MOST_FRAMES]]
    names, functions = tree.functions, tree.function.tolist()
    order = sorted(largest.tolist(), key=lambda node: (-totals[node], names[functions[node]], node))
    children: dict[int, list[int]] = {}
    for node in order:
        children.setdefault(int(tree.parent[node]), []).append(node)
    return children


def _below(parent: Ints, nodes: Ints, root: int) -> Ints:
    """Those of ``nodes`` that lie below ``root``; all callers of each are among them."""
    inside = {root}
    callers: list[int] = parent[nodes].tolist()
    for node, caller in zip(nodes.tolist(), callers, strict=True):
        if caller in inside:
            inside.add(node)
    return np.array(sorted(inside - {root}), np.int64)


class _Item(NamedTuple):
    """A node that is to be placed, or `REST`."""

    node: int
    depth: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class _Placing:
    """Turns the nodes of a tree into frames; those narrower than ``least`` are in no children."""

    tree: Tree
    children: dict[int, list[int]]
    all: float
    drawn: Floats
    width: float
    least: float

    def above(self, root: int) -> list[Frame]:
        """What holds ``root``, from the top."""
        nodes: list[int] = []
        while root != TOP_NODE:
            root = int(self.tree.parent[root])
            nodes.append(root)
        found = (
            self._frame(_Item(node, depth, 0.0, self.width), Kind.ABOVE)
            for depth, node in enumerate(reversed(nodes))
        )
        return list(found)

    def below(self, root: int) -> list[Frame]:
        """``root`` and what lies below it, each caller before what lies in it."""
        found = []
        waiting = [_Item(root, self._depth(root), 0.0, self.width)]
        while waiting:
            item = waiting.pop()
            found.append(self._frame(item, Kind.REST if item.node == REST else Kind.FRAME))
            if item.node != REST:
                waiting.extend(reversed(self._inside(item)))
        return found

    def _depth(self, node: int) -> int:
        depth = 0
        while node != TOP_NODE:
            node, depth = int(self.tree.parent[node]), depth + 1
        return depth

    def _inside(self, item: _Item) -> list[_Item]:
        """What lies below a node, from the left, and last the mark of what is too narrow."""
        at, found = item.x, []
        for child in self.children.get(item.node, ()):
            width = float(self.tree.totals[0, child])
            found.append(_Item(child, item.depth + 1, at, width))
            at += width
        own = 0.0 if item.node == TOP_NODE else float(self.tree.own[0, item.node])
        rest = item.x + item.width - own - at
        if rest >= self.least > 0:
            found.append(_Item(REST, item.depth + 1, at, rest))
        return found

    def _frame(self, item: _Item, kind: Kind) -> Frame:
        key, name, module, own, totals = "", "", "", 0.0, [item.width]
        if item.node == TOP_NODE:
            name, totals = ALL, self.drawn.tolist()
        elif item.node != REST:
            name, module = self.tree.functions[self.tree.function[item.node]]
            key = f"{int(self.tree.keys[item.node]):016x}"
            own, totals = (
                float(self.tree.own[0, item.node]),
                self.tree.totals[:, item.node].tolist(),
            )
        return Frame(
            key=key,
            name=name,
            module=module,
            depth=item.depth,
            x=item.x,
            width=item.width,
            total=totals[0],
            own=own,
            percent=_percent(totals[0], self.all),
            percent_drawn=_percent(totals[0], float(self.drawn[0])),
            before=totals[1] if len(totals) > 1 else None,
            kind=kind,
        )


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _without_small_rests(frames: list[Frame]) -> list[Frame]:
    """The frames with at most `MOST_RESTS` marks, the widest."""
    widths = sorted((one.width for one in frames if one.kind is Kind.REST), reverse=True)
    if len(widths) <= MOST_RESTS:
        return frames
    least = widths[MOST_RESTS - 1]
    return [one for one in frames if one.kind is not Kind.REST or one.width > least]
