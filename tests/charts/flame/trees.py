"""Call trees for tests of flame graphs."""

from collections import Counter
from itertools import pairwise

import numpy as np

from webapp.charts.flame.layout import Flame, Frame, Kind
from webapp.stats.arrays import Bools
from webapp.stats.profiles.calls import Calls, Function, added, calls_of

MODULES = ("kernel", "pf.ko", "if_igb.ko", "")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "%{x} ${y} {{ z }}",
    "f" * 300,
    "\u202eright to left\u202c\u200f",
    "a\x00b\x1bc\ud800d\ufffe",
    "new\nline\u2028",
    "'&amp;&#39;",
)


def stacks(*lines: str) -> Calls:
    """Of folded lines, ``a;b@pf.ko;c 3``."""
    found: Counter[tuple[Function, ...]] = Counter()
    for line in lines:
        path, _, count = line.rpartition(" ")
        frames = (one.partition("@") for one in path.split(";"))
        found[tuple(Function(name, module) for name, _, module in frames)] += int(count)
    return calls_of([found])


def random_calls(seed: int, number: int = 300, functions: int = 12) -> Calls:
    """Of ``number`` stacks up to ten deep, functions again and again."""
    draw = np.random.default_rng(seed)
    known = [Function(f"f{one}", MODULES[one % len(MODULES)]) for one in range(functions)]
    found: Counter[tuple[Function, ...]] = Counter()
    for _ in range(number):
        path = draw.integers(0, functions, draw.integers(1, 11)).tolist()
        found[tuple(known[one] for one in path)] += int(draw.integers(1, 50))
    return calls_of([found])


def large_calls(nodes: int = 160_000, functions: int = 3000) -> Calls:
    """A tree of which over 100,000 nodes are stacks that were sampled."""
    draw = np.random.default_rng(1)
    parent = (np.arange(nodes) * draw.random(nodes) ** 1.3).astype(np.int64)
    parent[0] = -1
    counts = np.where(draw.random(nodes) < 0.75, 1 + draw.pareto(1.2, nodes) * 3, 0)
    known = tuple(Function(f"f{one}", MODULES[one % 4]) for one in range(functions))
    function = draw.integers(0, functions, nodes)
    return added([Calls(known, parent, function, counts.astype(np.int64)[None])])


def of_function(calls: Calls, name: str) -> Bools:
    """The nodes of a function and below (N)."""
    return calls.below(np.array([one.name == name for one in calls.functions]))


def callers(flame: Flame) -> list[tuple[Frame, Frame]]:
    """Each rectangle but the first with the one that it lies in."""
    found, above = [], [flame.frames[0]]
    for frame in flame.frames[1:]:
        del above[frame.depth :]
        found.append((above[-1], frame))
        above.append(frame)
    return found


def overlaps(flame: Flame) -> list[tuple[Frame, Frame]]:
    """Neighbours of a row that lie over one another."""
    rows: dict[int, list[Frame]] = {}
    for frame in flame.frames:
        rows.setdefault(frame.depth, []).append(frame)
    slack = 1e-6 * flame.width
    return [
        (left, right)
        for row in rows.values()
        for left, right in pairwise(sorted(row, key=lambda one: one.x))
        if left.x + left.width > right.x + slack
    ]


def drawn(flame: Flame) -> list[Frame]:
    """Its frames without callers of the root and marks of narrower ones."""
    return [frame for frame in flame.frames if frame.kind is Kind.FRAME]
