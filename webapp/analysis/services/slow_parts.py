"""The largest parts of slow losses and gains, as they are stored with them."""

from dataclasses import dataclass
from math import log1p

import numpy as np

from webapp.stats import detector
from webapp.stats.levels import Findings
from webapp.stats.slow_parts import largest_parts


@dataclass(frozen=True, slots=True)
class SlowPart:
    """After revision ``after`` up to ``up_to`` (names) the level moved by ``change_pct``."""

    after: str
    up_to: str
    change_pct: float


def parts_of(found: Findings, state: detector.State) -> dict[int, list[SlowPart]]:
    """By the first position of each slow move, the parts that hold most of it: none where it went
    evenly. Steps are taken out, as they are of its size.
    """
    if not found.slow:
        return {}
    values = state.window.rows.values()
    at = np.array([value.position for value in values])
    logs = np.array([value.location for value in values])
    for step in found.changes:
        logs[at >= step.first.position] -= log1p(step.pct / 100)
    parts = {}
    for move in found.slow:
        low, high = np.searchsorted(at, [move.first.position, move.last.position])
        labels = [value.label for value in values[low : high + 1]]
        parts[move.first.position] = [
            SlowPart(labels[one.first], labels[one.last], one.pct)
            for one in largest_parts(logs[low : high + 1])
        ]
    return parts
