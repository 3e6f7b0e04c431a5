"""Which functions a change made dearer: the difference of two sides of profiles.

A boot is one observation of each function. Shares of samples scatter between boots more than
counting explains, and are tested with their own scatter (`webapp.stats.profiles.testing`); claims
pass a gate for false discoveries (Benjamini and Hochberg 1995).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from webapp.stats.profiles import testing
from webapp.stats.profiles.calls import Function
from webapp.stats.profiles.costs import Side, basis
from webapp.stats.profiles.found import Change, Difference, Events, Row, Verdict
from webapp.stats.profiles.idle import IDLE, idle_functions
from webapp.stats.profiles.judging import Family, Judge, family
from webapp.stats.profiles.sides import Pair, are_builds_enough, is_enough, pair, scatter_in
from webapp.stats.profiles.trading import without_trades

CLOCKS = ("cpu-clock", "task-clock", "cpu")
"""Events of Linux and of pprof that count nanoseconds."""

MARGIN_PCT = 0.5
"""Changes that surely lie within it to both sides are equivalent, in percent of A's packet."""


def difference(
    a: Side,
    b: Side,
    *,
    history: Sequence[Side] | None = None,
    margin_pct: float = MARGIN_PCT,
    patterns: Sequence[str] = IDLE,
) -> Difference:
    """Compare two sides of profiles, function by function.

    ``history`` are earlier sides of the same machine and mode, each the boots of one kernel: their
    scatter is added to that of the sides' own boots. ``patterns`` are those of idle functions.
    """
    found = basis(a, b, patterns)
    both = pair(a, b, found)
    earlier = scatter_in(history or (), both.functions)
    judge = Judge(found, is_enough(a, b), margin_pct)
    idle = idle_functions(both.functions, patterns)
    own = family(both, 0, idle, earlier, judge)
    inclusive = family(both, 1, idle, earlier, judge)
    rows = _rows(both, own, inclusive, judge)
    total = _total(own, judge)
    return Difference(
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


def _rows(both: Pair, own: Family, inclusive: Family, judge: Judge) -> list[Row]:
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
        rows,
        key=lambda row: (not row.is_claimed, row.a_pct + row.b_pct < least, -row.over_scatter),
    )


def _row(
    both: Pair, at: int, own: Change, inclusive: Change, traded: tuple[Verdict, str] | None
) -> Row:
    function = both.functions[at]
    verdict, why = traded or (own.verdict, "")
    if traded and abs(inclusive.change - own.change) < abs(own.change) / 2:
        inclusive = replace(inclusive, verdict=verdict)
    return Row(
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


def _total(own: Family, judge: Judge) -> Change | None:
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
        return Change(a, b, b - a, None, None, None, None, "cannot tell")
    delta = float(np.log(b / a))
    half = float(stdtrit(degrees, 0.5 + testing.LEVEL / 2)) * error
    low, high = (a * (float(np.exp(delta + one)) - 1) for one in (-half, half))
    p_value = float(2 * stdtr(degrees, -abs(delta) / error))
    plain = Judge(judge.basis, enough=True, margin=judge.margin)
    verdict = plain.verdict(b - a, low, high, p_value <= 1 - testing.LEVEL)
    return Change(a, b, b - a, low, high, p_value, 1 - p_value, verdict)


def _events(a: Side, b: Side, total: Change | None) -> Events | None:
    """Of profiles of one event that tell how often it happened, and of known rates."""
    events = {boot.event for side in (a, b) for boot in side.boots}
    per_packet = a.events_per_packet, b.events_per_packet
    if per_packet[0] is None or per_packet[1] is None or len(events) > 1:
        return None
    whole = (total.a_pct, total.b_pct) if total else (100.0, 100.0)
    event = events.pop()
    unit = "ns" if event.partition(":")[0] in CLOCKS else event
    return Events(unit, per_packet[0] / whole[0], per_packet[1] / whole[1])


def _about_sides(a: Side, b: Side) -> list[str]:
    """What limits the claims besides what `basis` knows."""
    said = []
    boots = min(len(a.boots), len(b.boots))
    if boots == 1:
        said.append(
            "One boot a side: nothing is proven; intervals are a lower bound, from the CPUs of one "
            "boot."
        )
    elif not is_enough(a, b):
        said.append(
            f"{boots} boots a side: three are needed to prove anything; intervals are a lower "
            "bound, from the CPUs of each boot."
        )
    if not are_builds_enough(a, b):
        builds = min(len(set(side.builds)) for side in (a, b))
        known = {0: "How many builds a side is unknown", 1: "One build a side"}
        text = known.get(builds, f"{builds} builds a side")
        said.append(f"{text}: what is proven is proven of these builds.")
    return said
