"""Neighbours that trade samples: skid of the sampling interrupt, and inlining.

A sample that was taken a few instructions late is counted for the next function: its caller, what
it calls, or what its caller calls next. A function that was inlined is counted for its caller.
Neither is a change of cost, so functions that trade are tested together; also a function with a
large neighbour that scatters so much that a loss of the same size would not show.
"""

from dataclasses import replace

import numpy as np

from webapp.stats.false_discovery import gate
from webapp.stats.profiles import testing
from webapp.stats.profiles.calls import Bools, Ints
from webapp.stats.profiles.costs import Floats
from webapp.stats.profiles.found import Verdict
from webapp.stats.profiles.judging import OWN_LEVEL, Family, Judge
from webapp.stats.profiles.sides import Pair
from webapp.stats.profiles.testing import Tested

TRADED = 0.5
"""Functions trade where their changes together are at most this part of the largest of them."""

REFUTED = 1.96
"""Where the changes of two functions together are further from 0, in standard errors, the one did
not give what the other gained (95 %)."""

GIVEN = 0.07
"""The least part of a neighbour's samples that may have moved where it does not show."""

NOMINAL = 0.3
"""The largest p-value of a neighbour that may have traded: large functions scatter by what small
ones gain from them."""

MOST = 8
"""The most functions of a group."""


def trades(own: Family, edges: Ints, weights: Floats) -> list[list[int]]:
    """Groups of functions that trade samples, each with a claimed one; they are disjoint.

    ``own`` are the tests of functions' own cost (F), ``edges`` (E, 2) pairs of caller (F: none)
    and callee, ``weights`` (E) the samples that passed.
    """
    change = own.change
    near = _Neighbours(edges, weights, len(change))
    taken: set[int] = set()
    groups = []
    for one in sorted(np.flatnonzero(own.passes).tolist(), key=lambda at: -abs(change[at])):
        if one in taken:
            continue
        beside = [at for at in near.of(one) if at not in taken and change[at] * change[one] < 0]
        group = _group(one, change, [at for at in beside if own.p_value[at] <= NOMINAL])
        group = group or _unrefuted(one, own, beside)
        if group:
            groups.append(group)
            taken.update(group)
    return groups


def _group(one: int, change: Floats, near: list[int]) -> list[int]:
    """``one`` and neighbours that changed the other way, while the sum of changes shrinks."""
    group, total, against = [one], float(change[one]), list(near)
    for _ in range(MOST - 1):
        best = min(against, key=lambda at: abs(total + change[at]), default=None)
        if best is None or abs(total + change[best]) >= abs(total):
            break
        total += float(change[best])
        group.append(best)
        against.remove(best)
    largest = max(abs(float(change[at])) for at in group)
    return group if len(group) > 1 and abs(total) <= TRADED * largest else []


def _unrefuted(one: int, own: Family, near: list[int]) -> list[int]:
    """``one`` and a neighbour that scatters so much that all of the change may be of its samples;
    empty where there is none.
    """
    change, error = own.change, own.error
    most = abs(change[one]) / GIVEN
    near = [at for at in near if max(side.cost[at] for side in own.sides) <= most]
    away = {at: abs(change[one] + change[at]) / np.hypot(error[one], error[at]) for at in near}
    best = min(near, key=lambda at: away[at], default=None)
    return [] if best is None or away[best] > REFUTED else [one, best]


class _Neighbours:
    """Callers and callees of a function, and what its main caller calls; ``none`` is no caller."""

    def __init__(self, edges: Ints, weights: Floats, none: int) -> None:
        self._edges, self._weights, self._none = edges, weights, none

    def of(self, function: int) -> list[int]:
        caller, callee = self._edges[:, 0], self._edges[:, 1]
        above = callee == function
        found = set(caller[above].tolist()) | set(callee[caller == function].tolist())
        if above.any():
            main = caller[above][np.argmax(self._weights[above])]
            found |= set(callee[caller == main].tolist())
        return sorted(found - {function, self._none})


Verdicts = dict[int, tuple[Verdict, str]]


def without_trades(both: Pair, own: Family, judge: Judge) -> tuple[Family, Verdicts]:
    """The family in which each group of functions that trade samples is one function.

    Claims are gated anew: those that a group withdraws must not let others through. Besides the
    verdicts, and their reasons, of members of groups.
    """
    if not judge.tests or own.scatter is None:
        return own, {}
    groups = trades(own, both.edges, both.weights)
    if not groups:
        return own, {}
    columns = [np.array(group) for group in groups]
    a, b = (side.joined(columns) for side in own.sides)
    every = np.ones(len(groups), np.bool_)
    scatter = testing.scatter_of(a, b, None, every, own.scatter.prior)
    found = testing.tested(a, b, scatter, judge.basis, every)
    alone = own.looked.copy()
    alone[np.concatenate(columns)] = False
    q_values = _gated(own.p_value[alone], found.p_value)
    q_value = own.q_value.copy()
    q_value[alone] = q_values[: alone.sum()]
    regated = replace(own, q_value=q_value, passes=alone & (q_value <= OWN_LEVEL))
    proven = q_values[alone.sum() :] <= OWN_LEVEL
    return regated, _verdicts(both, own, groups, judge, (found, proven))


def _gated(alone: Floats, groups: Floats) -> Floats:
    values = np.nan_to_num(np.concatenate([alone, groups]), nan=1.0)
    return np.array([one.q_value for one in gate(values.tolist())])


def _verdicts(
    both: Pair,
    own: Family,
    groups: list[list[int]],
    judge: Judge,
    found: tuple[Tested, Bools],
) -> Verdicts:
    """A group's verdict is that of its members, but of those that changed the other way."""
    tested, proven = found
    low, high = tested.interval()
    verdicts: Verdicts = {}
    for index, group in enumerate(groups):
        change, passes = float(tested.change[index]), bool(proven[index])
        verdict = judge.verdict(change, float(low[index]), float(high[index]), passes)
        for at in group:
            others = ", ".join(both.functions[one].name for one in group if one != at)
            why = (
                f"may trade samples with {others}: together {change:+.2f} points "
                f"[{low[index]:.2f}, {high[index]:.2f}]"
            )
            against = passes and own.change[at] * change < 0
            verdicts[at] = ("cannot tell" if against else verdict, why)
    return verdicts
