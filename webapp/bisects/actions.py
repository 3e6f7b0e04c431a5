"""What a decision does, in a few words: of a bisect on several machines also where."""

from collections.abc import Sequence

from webapp.bisects.models import Bisect, BisectDecision
from webapp.bisects.question import machine_of

MOST_NAMED = 4
"""Measurements that are named; the others are counted."""


def action_text(bisect: Bisect, row: BisectDecision, names: Sequence[str]) -> str:
    """``measures r1004 on Atom/T540, r1000 on Xeon/CX4``; ``names`` are those along the bisect."""
    measured = row.figures.get("measure", [])
    subjects = row.figures.get("measure_at", [])
    if not (bisect.is_of_several and measured and subjects):
        return row.action
    each = [
        f"{names[index]} on {location_of(bisect, number)}"
        for index, number in zip(measured, subjects, strict=True)
    ]
    shown, more = ", ".join(each[:MOST_NAMED]), len(each) - MOST_NAMED
    return f"measures {shown}" + (f" and {more} more" if more > 0 else "")


def location_of(bisect: Bisect, number: int) -> str:
    """The hardware of a machine and mode, with the mode where the hardware has several."""
    machines = [machine_of(scope) for scope in bisect.scopes]
    series = bisect.scopes[number].series
    mode = f" ({series.mode})" if machines.count(machines[number]) > 1 else ""
    return f"{series.hardware}{mode}"
