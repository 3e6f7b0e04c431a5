"""Which functions a change made dearer: the difference of two sides of profiles.

A boot is one observation of each function. Shares of samples scatter between boots more than
counting explains, and are tested with their own scatter (`webapp.stats.profiles.testing`); claims
pass a gate for false discoveries (Benjamini and Hochberg 1995).

Neighbours trade samples. A sample that was taken a few instructions late is counted for the next
function: its caller, what it calls, or what its caller calls next. A function that was inlined is
counted for its caller. Neither is a change of cost, so functions that trade are tested together;
also a function with a large neighbour that scatters so much that a loss of the same size would not
show.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from webapp.stats.arrays import Bools, Floats, Ints
from webapp.stats.false_discovery import gate
from webapp.stats.profiles import judging, testing
from webapp.stats.profiles.calls import IDLE, Function, idle_functions
from webapp.stats.profiles.costs import Side, basis
from webapp.stats.profiles.sides import Pair, are_builds_enough, is_enough, pair, scatter_in

CLOCKS = ("cpu-clock", "task-clock", "cpu")
"""Events of Linux and of pprof that count nanoseconds."""

MARGIN_PCT = 0.5
"""Changes that surely lie within it to both sides are equivalent, in percent of A's packet."""

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


def difference(
    a: Side,
    b: Side,
    *,
    history: Sequence[Side] | None = None,
    margin_pct: float = MARGIN_PCT,
    patterns: Sequence[str] = IDLE,
) -> judging.Difference:
    """Compare two sides of profiles, function by function.

    ``history`` are earlier sides of the same machine and mode, each the boots of one kernel: their
    scatter is added to that of the sides' own boots. ``patterns`` are those of idle functions.
    """
    found = basis(a, b, patterns)
    both = pair(a, b, found)
    earlier = scatter_in(history or (), both.functions)
    judge = judging.Judge(found, is_enough(a, b), margin_pct)
    idle = idle_functions(both.functions, patterns)
    own = judging.family(both, 0, idle, earlier, judge)
    inclusive = judging.family(both, 1, idle, earlier, judge)
    rows = _rows(both, own, inclusive, judge)
    total = _total(own, judge)
    return judging.Difference(
        rows=tuple(rows),
        vanished=_vanished(both),
        warnings=(*found.warnings, *_about_sides(a, b)),
        is_cost=found.is_cost,
        is_tested=judge.tests,
        claims=sum(row.is_claimed for row in rows),
        boots=(len(a.boots), len(b.boots)),
        freedom=own.typical_freedom,
        margin_pct=margin_pct,
        total=total,
        events=_events(a, b, total),
    )


def _rows(
    both: Pair, own: judging.Family, inclusive: judging.Family, judge: judging.Judge
) -> list[judging.Row]:
    """All functions: proven ones first, then by change over scatter; the small ones that nothing is
    claimed of come last.
    """
    own, traded = without_trades(both, own, judge)
    new_names = set(both.names.values())
    deeper = [one.share > lone.share for one, lone in zip(inclusive.sides, own.sides, strict=True)]
    calls: list[bool] = (deeper[0] | deeper[1]).tolist()
    alone, together = own.changes(judge), inclusive.changes(judge)
    rows = [
        _row(both, at, alone[at], (together if calls[at] else alone)[at], traded.get(at))
        for at in range(len(both.functions))
        if at not in new_names
    ]
    least = 2 * 100 * testing.TESTED
    return sorted(
        rows, key=lambda row: (not row.is_claimed, row.a_pct + row.b_pct < least, -row.over_scatter)
    )


def _row(
    both: Pair,
    at: int,
    own: judging.Change,
    inclusive: judging.Change,
    traded: tuple[judging.Verdict, str] | None,
) -> judging.Row:
    function = both.functions[at]
    verdict, why = traded or (own.verdict, "")
    if traded and abs(inclusive.change - own.change) < abs(own.change) / 2:
        inclusive = replace(inclusive, verdict=verdict)
    return judging.Row(
        own.a_pct,
        own.b_pct,
        own.change,
        own.low,
        own.high,
        own.p_value,
        own.probability,
        verdict,
        function=function.name,
        module=function.module,
        inclusive=inclusive,
        why=why,
        renamed_to=both.functions[both.names[at]].name if at in both.names else "",
    )


def _vanished(both: Pair) -> tuple[Function, ...]:
    """Functions that side A alone shows, renamed ones excepted."""
    here, there = both.inclusive[0].share, both.inclusive[1].share
    return tuple(both.functions[at] for at in np.flatnonzero((here > 0) & (there == 0)).tolist())


def _total(own: judging.Family, judge: judging.Judge) -> judging.Change | None:
    """The change in cost of a packet: Student's t of the rates' logarithms."""
    if not judge.basis.is_cost:
        return None
    rates = [side.rates for side in own.sides]
    logs = [np.log(one.cost) for one in rates]
    a, b = (float(one.cost.mean()) for one in rates)
    freedom = len(logs[0]) + len(logs[1]) - 2
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in logs)
    spread = squares / freedom * sum(1 / len(one) for one in logs) if freedom else 0.0
    error = sqrt(spread + sum(one.common for one in rates))
    degrees = max(freedom if spread else sum(one.freedom for one in rates), 1.0)
    if error == 0:
        return judging.Change(a, b, b - a, None, None, None, None, "cannot tell")
    delta = float(np.log(b / a))
    half = float(stdtrit(degrees, 0.5 + testing.LEVEL / 2)) * error
    low, high = (a * (float(np.exp(delta + one)) - 1) for one in (-half, half))
    p_value = float(2 * stdtr(degrees, -abs(delta) / error))
    plain = judging.Judge(judge.basis, enough=True, margin=judge.margin)
    verdict = plain.verdict(b - a, low, high, p_value <= 1 - testing.LEVEL)
    return judging.Change(a, b, b - a, low, high, p_value, 1 - p_value, verdict)


def _events(a: Side, b: Side, total: judging.Change | None) -> judging.Events | None:
    """Of profiles of one event that state how often it happened, and of known rates."""
    events = {boot.event for side in (a, b) for boot in side.boots}
    per_packet = a.events_per_packet, b.events_per_packet
    if per_packet[0] is None or per_packet[1] is None or len(events) > 1:
        return None
    whole = (total.a_pct, total.b_pct) if total else (100.0, 100.0)
    event = events.pop()
    unit = "ns" if event.partition(":")[0] in CLOCKS else event
    return judging.Events(unit, per_packet[0] / whole[0], per_packet[1] / whole[1])


def _about_sides(a: Side, b: Side) -> list[str]:
    """What limits the claims besides what `basis` knows."""
    warnings = []
    boots = min(len(a.boots), len(b.boots))
    if boots == 1:
        warnings.append(
            "One boot a side: nothing is proven; intervals are a lower bound, from the CPUs of one "
            "boot."
        )
    elif not is_enough(a, b):
        warnings.append(
            f"{boots} boots a side: three are needed to prove anything; intervals are a lower "
            "bound, from the CPUs of each boot."
        )
    if not are_builds_enough(a, b):
        builds = min(len(set(side.builds)) for side in (a, b))
        known = {0: "How many builds a side is unknown", 1: "One build a side"}
        text = known.get(builds, f"{builds} builds a side")
        warnings.append(f"{text}: what is proven is proven of these builds.")
    return warnings


def trades(own: judging.Family, edges: Ints, weights: Floats) -> list[list[int]]:
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


def _unrefuted(one: int, own: judging.Family, near: list[int]) -> list[int]:
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


Verdicts = dict[int, tuple[judging.Verdict, str]]


def without_trades(
    both: Pair, own: judging.Family, judge: judging.Judge
) -> tuple[judging.Family, Verdicts]:
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
    regated = replace(own, q_value=q_value, passes=alone & (q_value <= judging.OWN_LEVEL))
    proven = q_values[alone.sum() :] <= judging.OWN_LEVEL
    return regated, _verdicts(both, own, groups, judge, (found, proven))


def _gated(alone: Floats, groups: Floats) -> Floats:
    values = np.nan_to_num(np.concatenate([alone, groups]), nan=1.0)
    return np.array([one.q_value for one in gate(values.tolist())])


def _verdicts(
    both: Pair,
    own: judging.Family,
    groups: list[list[int]],
    judge: judging.Judge,
    found: tuple[testing.Tested, Bools],
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
