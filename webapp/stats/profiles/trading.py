"""Neighbours that trade samples: skid of the sampling interrupt, and inlining.

A sample that was taken a few instructions late is counted for the next function: its caller, what
it calls, or what its caller calls next. A function that was inlined is counted for its caller.
Neither is a change of cost, so functions that trade are tested together.
"""

import numpy as np

from webapp.stats.profiles.calls import Ints
from webapp.stats.profiles.costs import Floats

TRADED = 0.5
"""Functions trade where their changes together are at most this part of the largest of them."""

NOMINAL = 0.3
"""The largest p-value of a neighbour that may have traded: large functions scatter by what small
ones gain from them."""

MOST = 8
"""The most functions of a group."""


def trades(
    claimed: Ints, change: Floats, p_value: Floats, edges: Ints, weights: Floats
) -> list[list[int]]:
    """Groups of functions that trade samples, each with a claimed one; they are disjoint.

    ``change`` and ``p_value`` are of each function (F), ``edges`` (E, 2) pairs of caller (F: none)
    and callee, ``weights`` (E) the samples that passed.
    """
    moved = np.flatnonzero(p_value <= NOMINAL)
    near = _Neighbours(edges, weights, moved)
    taken: set[int] = set()
    groups = []
    for one in sorted(claimed.tolist(), key=lambda at: -abs(change[at])):
        if one in taken:
            continue
        group = _group(one, change, [at for at in near.of(one) if at not in taken])
        if group:
            groups.append(group)
            taken.update(group)
    return groups


def _group(one: int, change: Floats, near: list[int]) -> list[int]:
    """``one`` and neighbours that changed the other way, while the sum of changes shrinks."""
    group, total = [one], float(change[one])
    against = [at for at in near if change[at] * change[one] < 0]
    for _ in range(MOST - 1):
        best = min(against, key=lambda at: abs(total + change[at]), default=None)
        if best is None or abs(total + change[best]) >= abs(total):
            break
        total += float(change[best])
        group.append(best)
        against.remove(best)
    largest = max(abs(float(change[at])) for at in group)
    return group if len(group) > 1 and abs(total) <= TRADED * largest else []


class _Neighbours:
    """Callers and callees of a function, and what its main caller calls, among ``moved`` ones."""

    def __init__(self, edges: Ints, weights: Floats, moved: Ints) -> None:
        self._edges, self._weights = edges, weights
        self._moved = set(moved.tolist())

    def of(self, function: int) -> list[int]:
        caller, callee = self._edges[:, 0], self._edges[:, 1]
        above = callee == function
        found = set(caller[above].tolist()) | set(callee[caller == function].tolist())
        if above.any():
            main = caller[above][np.argmax(self._weights[above])]
            found |= set(callee[caller == main].tolist())
        return sorted((found & self._moved) - {function})
