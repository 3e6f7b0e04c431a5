"""The online update alone: what it reports of a series without levels, for tests and figures."""

from collections.abc import Iterable, Sequence

from webapp.stats.changes import Analysis, Point
from webapp.stats.changes.online import advance_point, check_order
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import reduce_points
from webapp.stats.metrics import Better


def advance(state: OnlineState, points: Sequence[Point]) -> OnlineState:
    """Return the state after `points` as well; `state` itself stays as it is.

    Raises BadSeriesError as `changes.advance` does.
    """
    state = state.copy()
    check_order(state, points)
    for point, value in zip(points, reduce_points(points), strict=True):
        advance_point(state, point, value)
    return state


def detect(points: Iterable[Point], *, better: Better = "more") -> Analysis:
    """Return what is reported of a whole series: points in any order, one per revision.

    Raises BadSeriesError as `advance` does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    return present(advance(OnlineState(), ordered), better)
