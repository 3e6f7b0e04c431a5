"""Everything that is said about a series: what the fold told first, and what levels say stands.

    told = detect(points)                        # everything at once
    state = advance(start(), points)             # the same, kept for later …
    state = advance(state, [one_more])
    told = present(state, "more")                # equal to detect(points + [one_more])

`webapp.stats.changes` reads a series revision by revision and says when a change can first be told;
`webapp.stats.levels` reads its newest few hundred revisions at once and says what stands, where and
how large, and what is no change of level. What is older is settled. See docs/statistics.md.
"""

from collections.abc import Iterable

from webapp.stats.better import Better
from webapp.stats.changes import Point
from webapp.stats.detector.joining import Report, present
from webapp.stats.detector.reasons import (
    mean_change_pct,
    why_excursion,
    why_modes,
    why_noise,
    why_slow,
)
from webapp.stats.detector.state import State, advance, start

__all__ = [
    "Report",
    "State",
    "advance",
    "detect",
    "mean_change_pct",
    "present",
    "start",
    "why_excursion",
    "why_modes",
    "why_noise",
    "why_slow",
]


def detect(points: Iterable[Point], *, better: Better = "more") -> Report:
    """Return what is said about a whole series: points in any order, one per revision.

    Raises BadSeriesError as `advance` does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    return present(advance(start(), ordered), better)
