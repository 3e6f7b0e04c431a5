"""The levels of a series and its changes.

    analysis = detect(points)                    # everything at once
    state = advance(start(), points)             # the same, kept for later …
    state = advance(state, [one_more])           # … at a cost that does not grow with history
    analysis = present(state)                    # equal to detect(points + [one_more])

`detect` *is* the fold of `advance`: what is found depends on the points alone, never on batches.
Points come in order of their position. One that arrives out of order, is withdrawn or measured
again makes everything from its position on be read again: from the newest stored state before it
(`State.last_position`), or from `start()`. States are plain data (`State.to_data`,
`State.from_data`) and are bounded: storing one now and then bounds the work of a late point.

The method, in words, and how to check it by hand: docs/statistics.md.
"""

from collections.abc import Iterable, Sequence

from webapp.stats.better import Better
from webapp.stats.changes.explain import (
    TOO_FEW,
    what_helps,
    why_flagged,
    why_not,
    why_not_at,
    why_retracted,
    why_withdrawn,
)
from webapp.stats.changes.findings import (
    Analysis,
    At,
    Change,
    Newest,
    Noise,
    Retracted,
    Segment,
    Smallest,
)
from webapp.stats.changes.fold import advance_point, check_order
from webapp.stats.changes.net_loss import Loss, NetLoss, net_loss
from webapp.stats.changes.points import BadSeriesError, Point, reduce_points
from webapp.stats.changes.present import largest_score, present
from webapp.stats.changes.recovery import recoveries
from webapp.stats.changes.scale import probability
from webapp.stats.changes.state import VERSION, State
from webapp.stats.false_discovery import Gate, gate_among

__all__ = [
    "TOO_FEW",
    "VERSION",
    "Analysis",
    "At",
    "BadSeriesError",
    "Better",
    "Change",
    "Gate",
    "Loss",
    "NetLoss",
    "Newest",
    "Noise",
    "Point",
    "Retracted",
    "Segment",
    "Smallest",
    "State",
    "advance",
    "advance_point",
    "check_order",
    "detect",
    "gate_among",
    "largest_score",
    "net_loss",
    "present",
    "probability",
    "recoveries",
    "start",
    "what_helps",
    "why_flagged",
    "why_not",
    "why_not_at",
    "why_retracted",
    "why_withdrawn",
]


def start() -> State:
    """Return the state before the first revision."""
    return State()


def advance(state: State, points: Sequence[Point]) -> State:
    """Return the state after `points` as well; `state` itself stays as it is.

    Raises BadSeriesError for points out of order (each position must be larger than the last),
    for a sample that is not a finite number and for a point without samples.
    """
    state = state.copy()
    check_order(state, points)
    for point, value in zip(points, reduce_points(points), strict=True):
        advance_point(state, point, value)
    return state


def detect(points: Iterable[Point], *, better: Better = "more") -> Analysis:
    """Return what is said about a whole series: points in any order, one per revision.

    `better` says which direction is an improvement. Raises BadSeriesError as `advance` does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    return present(advance(start(), ordered), better)
