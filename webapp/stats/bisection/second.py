"""A second culprit behind the first: boots that tell of one before a single commit is named.

While it is open whether the leading commit leaves a second change of half the alerted step
(`remainder`), revisions on both sides of that one's likeliest place are booted again. Where a
difference may be the luck of two builds, which no further boot of them tells, a revision within
that place comes first: another build.
"""

from webapp.stats.bisection import ending
from webapp.stats.bisection.case import Case, Measure
from webapp.stats.bisection.plan import Purpose

HARD_TO_SETTLE = 0.04
"""Chance of two steps below which one commit is named alone where boots or builds scatter too much
(`ending.is_sharp`): there the test of a size would take many dozens of boots."""

MOST_BOOTS, MOST_BOOTS_HARD = 32, 12
"""Confirming boots in all, after which the question is left where it stands."""


def second_boots(case: Case) -> list[Measure]:
    """Boots at the likeliest place of a second step; none once that is settled."""
    if not (case.wanted and _is_open(case)):
        return []
    most = MOST_BOOTS if ending.is_sharp(case.plan, case.now) else MOST_BOOTS_HARD
    under_way = [measure.index for measure in case.pending]
    room = most - len(case.boots_for(Purpose.CONFIRMING)) - len(under_way)
    counts = _counts(case)
    for index in under_way:
        _add(counts, index)
    actions = [
        Measure(index, Purpose.CONFIRMING) for index in _within(case) if room > 0 and all(counts)
    ]
    while len(actions) < min(case.wanted, room) and all(counts):
        side = min(counts, key=lambda each: sum(each.values()))
        index = min(side, key=lambda each: (side[each], each))
        actions.append(Measure(index, Purpose.CONFIRMING))
        _add(counts, index)
    return actions


def _is_open(case: Case) -> bool:
    now = case.now
    if ending.is_sharp(case.plan, now):
        return now.rest.is_open
    return HARD_TO_SETTLE <= now.two < ending.several_from(now)


def _within(case: Case) -> list[int]:
    """The revision in the middle of that place, which nobody measured, where builds may scatter."""
    between = case.now.rest.between
    is_luck = ending.is_sharp(case.plan, case.now) and ending.may_scatter(case.now)
    if between is None or not is_luck:
        return []
    first, last = between
    inside = [index for index in range(first, last) if index not in case.evidence.skipped]
    middle = sorted(inside, key=lambda index: abs(2 * index - (first - 1 + last)))[:1]
    return [index for index in middle if index not in {one.index for one in case.pending}]


def _counts(case: Case) -> list[dict[int, int]]:
    """Boots of the measured revisions on each side of the second step, history's at the ends."""
    if case.now.rest.between is None:
        return []
    top, (first, last) = case.now.top, case.now.rest.between
    if last < top:
        spans = [(0, first - 1), (last, top - 1)]
    else:
        spans = [(top, first - 1), (last, case.plan.bad)]
    booted = [min(max(boot.index, 0), case.plan.bad) for boot in case.data.counted]
    return [
        {
            index: booted.count(index)
            for index in sorted(set(booted) - case.evidence.skipped)
            if low <= index <= high
        }
        for low, high in spans
    ]


def _add(counts: list[dict[int, int]], index: int) -> None:
    for each in counts:
        if index in each:
            each[index] += 1
