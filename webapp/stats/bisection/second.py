"""A second culprit behind the first: boots that tell of one before a single commit is named.

Once a commit leads, a search boots little else, and a smaller step elsewhere in the interval, of
either sign, stays among the noise of a few boots. So while the chance of two steps is neither small
nor large the levels on both sides of the second one's likeliest place are booted again: a
sequential test between `SETTLED` and `ending.several_from`.
"""

from webapp.stats.bisection import ending
from webapp.stats.bisection.case import Case, Measure
from webapp.stats.bisection.plan import Purpose

SETTLED, HARD_TO_SETTLE = 0.025, 0.04
"""Chance of two steps below which one commit is named alone. Where a boot scatters by more than
`SHARP` of the step a dozen boots do not bring it below the first, second step or not."""

SHARP = 0.5

MOST_BOOTS = 12
"""Confirming boots in all, after which the question is left where it stands."""


def second_boots(case: Case) -> list[Measure]:
    """Boots beside the likeliest place of a second step; none once that is settled."""
    now = case.now
    settled = SETTLED if now.boot_sd <= SHARP * abs(now.effect) else HARD_TO_SETTLE
    if not case.wanted or not settled <= now.two < ending.several_from(now):
        return []
    under_way = [measure.index for measure in case.pending]
    room = MOST_BOOTS - len(case.boots_for(Purpose.CONFIRMING)) - len(under_way)
    counts = _counts(case)
    for index in under_way:
        _add(counts, index)
    actions: list[Measure] = []
    while len(actions) < min(case.wanted, room) and all(counts):
        side = min(counts, key=lambda each: sum(each.values()))
        index = min(side, key=lambda each: (side[each], each))
        actions.append(Measure(index, Purpose.CONFIRMING))
        _add(counts, index)
    return actions


def _counts(case: Case) -> list[dict[int, int]]:
    """Boots of the measured revisions on each side of the second step, history's at the ends."""
    if case.now.two_gaps is None:
        return []
    (first, after_first), (second, after_second) = case.now.two_gaps
    if first <= case.now.top <= after_first:
        spans = [(after_first, second - 1), (after_second, case.plan.bad)]
    else:
        spans = [(0, first - 1), (after_first, second - 1)]
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
