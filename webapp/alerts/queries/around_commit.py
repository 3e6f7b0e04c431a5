"""The points of some series around one commit, for the small charts of its changes."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection

AROUND = """
SELECT series.id,
       array_agg(near.position ORDER BY near.position),
       array_agg(revision.name ORDER BY near.position),
       array_agg(near.mean ORDER BY near.position),
       array_agg(near.minimum ORDER BY near.position),
       array_agg(near.maximum ORDER BY near.position),
       (SELECT (analysis.summary->'segments')::text FROM analysis_seriesanalysis AS analysis
         WHERE analysis.series_id = series.id)
  FROM results_series AS series
  JOIN LATERAL (
       (SELECT position, mean, minimum, maximum, revision_id FROM results_point
         WHERE series_id = series.id AND position < %(at)s
         ORDER BY position DESC LIMIT %(most)s)
        UNION ALL
       (SELECT position, mean, minimum, maximum, revision_id FROM results_point
         WHERE series_id = series.id AND position >= %(at)s
         ORDER BY position LIMIT %(most)s)
       ) AS near ON true
  JOIN results_revision AS revision ON revision.id = near.revision_id
 WHERE series.id = ANY(%(series)s)
 GROUP BY series.id
"""


class PointsAround(NamedTuple):
    """Points of one series along the tree: where, which revision, the mean, the smallest and the
    largest sample in the metric's unit; and the levels of the whole series as they are stored.
    """

    positions: Sequence[int]
    names: Sequence[str]
    means: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    segments: Sequence[Mapping[str, Any]]


def points_around(series: Collection[int], position: int, *, most: int) -> dict[int, PointsAround]:
    """By series (id) at most ``most`` points before ``position`` and as many from it on. One
    query, none without series.
    """
    if not series:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(AROUND, {"series": list(series), "at": position, "most": most})
        return {
            row[0]: PointsAround._make((*row[1:6], json.loads(row[6]) if row[6] else []))
            for row in cursor.fetchall()
        }
