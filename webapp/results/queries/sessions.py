"""What was measured together: the runs of a revision on a machine that name one session; and which
points were there at a past moment.
"""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef

from webapp.results.models import PointQuerySet, Run

# A session's number is that of its newest run. Runs that name no session are in none.
NEWEST = """
SELECT max(run.id), run.session, tree.name, revision.name, hardware.name,
       CASE WHEN bool_or(COALESCE(run.evidence->>'session', '') <> '')
            THEN 'explicit' ELSE 'directory' END,
       array_agg(DISTINCT kernel.build_id ORDER BY kernel.build_id),
       count(*) FILTER (WHERE run.withdrawn_at IS NULL),
       count(*) FILTER (WHERE run.withdrawn_at IS NOT NULL),
       min(COALESCE(run.measured_at, run.received_at)),
       max(COALESCE(run.measured_at, run.received_at))
  FROM results_run AS run
  JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
  JOIN results_revision AS revision ON revision.id = run.revision_id
  JOIN results_tree AS tree ON tree.id = revision.tree_id
  JOIN results_hardware AS hardware ON hardware.id = run.hardware_id
 WHERE run.session <> '' AND run.superseded_by_id IS NULL
   AND (%(tree)s = '' OR tree.name = %(tree)s)
   AND (%(hardware)s = '' OR hardware.name = %(hardware)s)
   AND (%(revisions)s::bigint[] IS NULL OR run.revision_id = ANY(%(revisions)s))
 GROUP BY run.revision_id, run.hardware_id, run.session, tree.name, revision.name, hardware.name
HAVING max(run.id) < %(before)s
 ORDER BY max(run.id) DESC
 LIMIT %(most)s
"""


class Session(NamedTuple):
    """Runs of ``revision`` on ``hardware`` that name one session, by names.

    ``source`` is ``explicit`` where the uploader named it, else ``directory``. ``runs`` count,
    ``withdrawn`` ones do not (those that wait included). ``first`` and ``last`` are when runs were
    measured, else received.
    """

    number: int
    name: str
    tree: str
    revision: str
    hardware: str
    source: str
    builds: list[str]
    runs: int
    withdrawn: int
    first: datetime
    last: datetime


def newest_sessions(
    *,
    tree: str = "",
    hardware: str = "",
    revisions: Collection[int] | None = None,
    before: int,
    most: int,
) -> list[Session]:
    """The sessions with the newest runs, with numbers below ``before``, at most so many; of a tree
    and hardware by name and of ``revisions`` by id, where given. One query.
    """
    asked = {
        "tree": tree,
        "hardware": hardware,
        "revisions": None if revisions is None else sorted(revisions),
        "before": before,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, asked)
        return [Session._make(row) for row in cursor.fetchall()]


def received_by(points: PointQuerySet, moment: datetime) -> PointQuerySet:
    """The ``points``, of plain kernels, of which a run had been received at ``moment`` and was not
    withdrawn then.
    """
    runs = (
        Run.objects.counted_at(moment)
        .plain()
        .filter(
            revision=OuterRef("revision"),
            hardware=OuterRef("series__hardware"),
            mode=OuterRef("series__mode"),
        )
    )
    return points.filter(Exists(runs))
