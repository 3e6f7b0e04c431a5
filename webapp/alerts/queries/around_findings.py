"""What was measured around a change, for the small charts of alerts: two statements, however many
changes and however long their series are."""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from webapp.alerts.queries.rows import rows_of
from webapp.analysis.models import Finding
from webapp.stats.compare import Summary

SHOWN = 13
"""Revisions on either side of a change."""

WINDOW_MOST, WINDOW_DRAWN = 2_000, 60
"""Revisions of the window of a slow change that are read, and those of them that are drawn."""

POINTS = """
SELECT wanted.finding, near.position, revision.name, near.mean,
       CASE WHEN wanted.finding = ANY(%s) THEN near.levels END
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
       AS wanted (finding, series, position, since, most)
 CROSS JOIN LATERAL (
       (SELECT * FROM results_point AS point
         WHERE point.series_id = wanted.series AND point.position < wanted.position
           AND point.position >= wanted.since AND NOT point.disagrees AND point.beside IS NULL
         ORDER BY point.position DESC LIMIT wanted.most)
       UNION ALL
       (SELECT * FROM results_point AS point
         WHERE point.series_id = wanted.series AND point.position >= wanted.position
           AND NOT point.disagrees AND point.beside IS NULL
         ORDER BY point.position LIMIT %s)) AS near
  JOIN results_revision AS revision ON revision.id = near.revision_id
 ORDER BY wanted.finding, near.position
"""
SEGMENTS = """
SELECT series_id, summary -> 'segments' FROM analysis_seriesanalysis WHERE series_id = ANY(%s)
"""


class PointAround(NamedTuple):
    """One point with the 95 % interval of its mean (None: unknown, or not asked for), in the
    metric's unit.
    """

    position: int
    name: str
    mean: float
    low: float | None
    high: float | None


class LevelAround(NamedTuple):
    """A level of a series from one position of its tree to another, with its height at either."""

    first: int
    last: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The ``points`` around a change, in order, and the ``levels`` of the series among them."""

    points: Sequence[PointAround]
    levels: Sequence[LevelAround]

    def at(self, position: int) -> int:
        """The index of the first point at ``position`` or later."""
        return bisect_left(self.points, position, key=lambda point: point.position)


def surroundings_of(
    findings: Sequence[Finding], *, whiskers: Sequence[Finding] = ()
) -> dict[int, Surroundings]:
    """What lies around each finding (by id): up to `SHOWN` revisions before it, its own and as many
    after it; of a slow change its whole window, thinned. The points around those of ``whiskers``
    have their intervals.
    """
    if not findings:
        return {}
    columns = [
        [row.pk for row in findings],
        [row.series_id for row in findings],
        [row.position for row in findings],
        [row.after.position if _is_slow(row) else 0 for row in findings],
        [WINDOW_MOST if _is_slow(row) else SHOWN for row in findings],
    ]
    found: dict[int, list[PointAround]] = defaultdict(list)
    for finding, position, name, mean, levels in rows_of(
        POINTS, [[row.pk for row in whiskers], *columns, SHOWN + 1]
    ):
        low, high = _interval(levels)
        found[finding].append(PointAround(position, name, mean, low, high))
    points = {finding: _thinned(its) for finding, its in found.items()}
    segments = dict(rows_of(SEGMENTS, [list(set(columns[1]))]))
    return {
        row.pk: Surroundings(its, _levels(segments.get(row.series_id), its))
        for row in findings
        for its in [points.get(row.pk, ())]
    }


def _is_slow(row: Finding) -> bool:
    return row.kind == Finding.Kind.SLOW


def _thinned(points: Sequence[PointAround]) -> Sequence[PointAround]:
    """Every so manyth of a long window, the newest among them."""
    step = -(-len(points) // WINDOW_DRAWN)
    return points[(len(points) - 1) % step :: step]


def _interval(levels: str | None) -> tuple[float | None, float | None]:
    found = Summary.from_data(json.loads(levels)).interval() if levels else None
    return found or (None, None)


def _levels(written: str | None, points: Sequence[PointAround]) -> list[LevelAround]:
    """The levels that reach into what is shown."""
    if not written or not points:
        return []
    first, last = points[0].position, points[-1].position
    found = [_level(one) for one in json.loads(written) or ()]
    return [one for one in found if one is not None and one.last >= first and one.first <= last]


def _level(segment: dict[str, Any]) -> LevelAround | None:
    if segment["level"] is None or segment["end_level"] is None:
        return None
    return LevelAround(
        segment["first"]["position"],
        segment["last"]["position"],
        segment["level"],
        segment["end_level"],
    )


def moves_of(levels: Sequence[LevelAround], *, better: str) -> list[str]:
    """For each level after the first, "worse" or "better" than the one before it; "" for equal."""
    return [_move(after.start - before.end, better=better) for before, after in pairwise(levels)]


def _move(difference: float, *, better: str) -> str:
    if not difference:
        return ""
    return "better" if (difference > 0) == (better == "more") else "worse"
