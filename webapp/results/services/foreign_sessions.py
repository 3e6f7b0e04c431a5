"""Which points stand beside their series, as measured in a session from elsewhere: judged whenever
a series changes, by all of its points (`webapp.stats.foreign_sessions`), so that the order of
arrival does not matter.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from math import log
from typing import Any, NamedTuple

from webapp.results.models import Point, Series
from webapp.results.services.bulk import fetch_rows, update_rows
from webapp.stats.foreign_sessions import ForeignSession, Measured, sessions_apart

POINTS = """
SELECT point.series_id, point.id, point.position, point.mean, point.sessions, point.beside::text,
       series.session_starts::text
  FROM results_point AS point
  JOIN results_series AS series ON series.id = point.series_id
 WHERE point.series_id = ANY(%s) AND NOT point.disagrees AND point.mean > 0
 ORDER BY point.series_id, point.position
"""


class _Row(NamedTuple):
    series: int
    id: int
    position: int
    mean: float
    sessions: list[str]
    beside: str | None
    starts: str | None


def judge_sessions(series: Sequence[int]) -> dict[int, int]:
    """Judge all points of ``series`` (ids), and store what differs; series → the lowest position
    that it is about. The caller holds the series. One statement, and two more where any differ.
    """
    lowest: dict[int, int] = {}
    points: list[dict[str, Any]] = []
    begun: list[dict[str, Any]] = []
    rows = map(_Row._make, fetch_rows(POINTS, list(series)))
    for pk, group in groupby(rows, key=lambda row: row.series):
        its = list(group)
        apart = sessions_apart([_measured(row) for row in its])
        changed = [
            (row, beside)
            for at, row in enumerate(its)
            if (beside := _beside(apart.get(at))) != _read(row.beside)
        ]
        points += [{"id": row.id, "beside": beside} for row, beside in changed]
        starts = [
            asdict(one) | {"position": its[at].position} for at, one in apart.items() if one.begins
        ] or None
        moved = [row.position for row, _ in changed]
        if starts != _read(its[0].starts):
            begun.append({"id": pk, "session_starts": starts})
            moved.append(its[0].position)
        if moved:
            lowest[pk] = min(moved)
    update_rows(Point, points)
    update_rows(Series, begun)
    return lowest


def _measured(row: _Row) -> Measured:
    return Measured(log(row.mean), frozenset(row.sessions or [""]))


def _beside(one: ForeignSession | None) -> dict[str, Any] | None:
    return None if one is None or one.begins else asdict(one)


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
