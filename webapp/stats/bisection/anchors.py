"""Anchor boots: revisions of known level booted again, to tell the lab's changes from a commit's.

A search moves along the tree while time passes, so that a lab that drifts looks like a step. Boots
of the two ends in between cannot: whatever they show, the lab did.
"""

from webapp.stats.bisection.case import Case, Measure
from webapp.stats.bisection.plan import Purpose

POSSIBLE, LIKELY = 0.15, 0.5
"""Chances that the lab did not stay as it was, from which anchors are booted."""

EVERY_POSSIBLE, EVERY_LIKELY = 5, 3
"""One boot in so many is an anchor then."""


def anchors(case: Case) -> list[Measure]:
    """The anchor that is due, if any: of the two ends the one whose last boot is longer ago."""
    every = _every(case)
    ends = {0: case.measurable(0), case.data.first_bad: case.measurable(case.data.first_bad)}
    order = [case.slot(boot.index) for boot in case.fresh]
    order += [case.slot(measure.index) for measure in case.pending]
    last = {
        slot: max((at for at, each in enumerate(order, 1) if each == slot), default=0)
        for slot, known in ends.items()
        if known
    }
    if not case.wanted or not last or not every or len(order) - max(last.values()) < every - 1:
        return []
    oldest = min(last, key=lambda slot: last[slot])
    return [Measure(ends[oldest][0], Purpose.ANCHOR)]


def _every(case: Case) -> int:
    doubt = case.now.lab.unsteady
    if doubt < POSSIBLE:
        return 0
    return EVERY_LIKELY if doubt >= LIKELY else EVERY_POSSIBLE
