"""Move stored runs to another revision of their tree. Their identity and samples stay."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import connection

from webapp.results.models import Measurement
from webapp.results.services.placing import Placed
from webapp.results.services.pooling import SeriesRevision, refresh_points
from webapp.results.services.subjects import lock_series_ids

MOVE = """
UPDATE results_run AS run SET revision_id = moved.revision
  FROM unnest(%s::bigint[], %s::bigint[]) AS moved (run, revision)
 WHERE run.id = moved.run
"""
LEAVE_OUT = """
UPDATE results_run SET withdrawn_at = %s, withdrawn_reason = %s
 WHERE id = ANY(%s) AND withdrawn_at IS NULL
"""
COUNT_AGAIN = """
UPDATE results_run SET withdrawn_at = NULL, withdrawn_by_id = NULL, withdrawn_reason = ''
 WHERE id = ANY(%s) AND withdrawn_by_id IS NULL AND superseded_by_id IS NULL
   AND withdrawn_reason = %s
"""


def lock_series_of_runs(runs: Iterable[int]) -> None:
    """Lock every series that ``runs`` (ids) measured, in the order of ids."""
    measured = Measurement.objects.filter(run__in=list(runs)).values("series")
    lock_series_ids(pk__in=measured)


def points_at(runs: Iterable[int]) -> dict[SeriesRevision, int]:
    """The points that ``runs`` (ids) have or would have: the position of each one's revision."""
    rows = Measurement.objects.filter(run__in=list(runs))
    found = rows.values_list("series", "run__revision", "run__revision__position")
    return {(series, revision): position for series, revision, position in found}


def refile(moves: Mapping[int, Placed]) -> None:
    """Let runs (ids) be of other revisions. The caller has locked their series and calls ``renew``
    with their points from before and after.
    """
    with connection.cursor() as cursor:
        cursor.execute(MOVE, [list(moves), [place.pk for place in moves.values()]])


def leave_out(runs: Iterable[int], *, reason: str, now: datetime) -> None:
    """Take runs out of the statistics; what a person withdrew keeps that reason."""
    with connection.cursor() as cursor:
        cursor.execute(LEAVE_OUT, [now, reason, list(runs)])


def count_again(runs: Iterable[int], *, reason: str) -> None:
    """Take runs back in that were left out for ``reason`` and not withdrawn by a person since."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_AGAIN, [list(runs), reason])


def renew(points: Mapping[SeriesRevision, int]) -> None:
    """Pool ``points`` anew, each with the position of its revision."""
    refresh_points(points, {revision: position for (_, revision), position in points.items()})
