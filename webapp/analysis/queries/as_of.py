"""`?asof=`: a page as it was at a moment; which points need no sample to be read for that."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from webapp.analysis.queries.sides import Side
from webapp.results.models import Revision

# Of each point some of whose runs were not wanted then, or are not counted now: whether any was
# wanted. `wanted` is what `MeasurementQuerySet.counted_at` and the side's session take.
DIFFERENT = """
SELECT one.number, one.series_id, bool_or(one.wanted)
  FROM (SELECT side.number - 1 AS number, measurement.series_id,
               run.withdrawn_at IS NULL AS counts,
               run.received_at <= %(asof)s
               AND (run.withdrawn_at IS NULL OR run.withdrawn_at > %(asof)s)
               AND (side.sessions = '[]' OR side.sessions ? run.session) AS wanted
          FROM unnest(%(revisions)s::bigint[], %(sessions)s::jsonb[]) WITH ORDINALITY
               AS side (revision, sessions, number)
          JOIN results_run AS run ON run.revision_id = side.revision
          JOIN results_measurement AS measurement ON measurement.run_id = run.id) AS one
 GROUP BY one.number, one.series_id
HAVING NOT bool_and(one.counts = one.wanted)
"""

SidePoint = tuple[int, int]
"""The number of a side, from 0, and the id of a series."""


def absent_points(
    sides: Sequence[Side], revisions: Sequence[Revision], asof: datetime
) -> set[SidePoint] | None:
    """The points that ``sides`` did not have at ``asof``; None where one pools other runs now than
    then, so that only samples tell. One statement.
    """
    asked: dict[str, Any] = {
        "asof": asof,
        "revisions": [revision.pk for revision in revisions],
        "sessions": [json.dumps(side.sessions) for side in sides],
    }
    with connection.cursor() as cursor:
        cursor.execute(DIFFERENT, asked)
        rows = cursor.fetchall()
    if any(was_wanted for _, _, was_wanted in rows):
        return None
    return {(number, series) for number, series, _ in rows}


def moment_of(text: str) -> datetime | None:
    """When ``asof`` means; None where it is no time, so that the page shows now."""
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        return make_aware(moment, UTC) if is_naive(moment) else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC the year 1 may be the year 0
        return None
