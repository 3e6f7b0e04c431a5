"""What was measured around a commit: the tested commits near it, how many untested ones lie
between, and the runs that were measured together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from webapp.results.models import WAITING_FROM, PointQuerySet, Revision, Run
from webapp.results.queries.subjects import rows_of

# Along the tree as far as tests lie close; else from each series its nearest points by its own
# index. So however rarely a tree is tested, or by how many machines, few rows are read.
TESTED = """
WITH {near}
SELECT position FROM (SELECT * FROM (TABLE before ORDER BY position DESC LIMIT %(most)s) AS earlier
                      UNION ALL
                      SELECT * FROM (TABLE after ORDER BY position LIMIT %(most)s) AS later) AS near
 ORDER BY position
"""
SIDE = """
{side}_near AS MATERIALIZED (
    SELECT near.position
      FROM (SELECT id, position FROM results_revision
             WHERE tree_id = %(tree)s AND position {beyond} %(at)s
             ORDER BY position {order} LIMIT %(walked)s) AS near
     CROSS JOIN LATERAL (SELECT FROM results_point AS point
                           JOIN results_series AS series ON series.id = point.series_id
                          WHERE point.revision_id = near.id AND series.variant_id IS NULL
                          LIMIT 1) AS plain
     ORDER BY near.position {order} LIMIT %(most)s
), {side} AS (
    SELECT position FROM {side}_near
    UNION
    SELECT point.position
      FROM results_series AS series
      JOIN LATERAL (SELECT own.position FROM results_point AS own
                     WHERE own.series_id = series.id AND own.position {beyond} %(at)s
                     ORDER BY own.position {order} LIMIT %(most)s) AS point ON true
     WHERE series.tree_id = %(tree)s AND series.variant_id IS NULL
       AND (SELECT count(*) FROM {side}_near) < %(most)s
)
"""
TESTED = TESTED.format(
    near=", ".join(
        SIDE.format(side=side, beyond=beyond, order=order)
        for side, beyond, order in (("before", "<", "DESC"), ("after", ">", "ASC"))
    )
)

WALKED = 200
"""Revisions on either side that are looked at one by one."""

# The steps along the places that are given, and the next commit on either side.
STEPS = """
SELECT true, revision.id, revision.name, revision.position, revision.subject,
       (SELECT count(*) FROM results_revision AS inside
         WHERE inside.tree_id = %(tree)s
           AND inside.position > step.low AND inside.position <= step.high)
  FROM unnest(%(lows)s::bigint[], %(highs)s::bigint[]) AS step (low, high)
  JOIN results_revision AS revision
    ON revision.tree_id = %(tree)s AND revision.position = step.high
UNION ALL
(SELECT false, id, name, position, subject, 0 FROM results_revision
  WHERE tree_id = %(tree)s AND position < %(at)s ORDER BY position DESC LIMIT 1)
UNION ALL
(SELECT false, id, name, position, subject, 0 FROM results_revision
  WHERE tree_id = %(tree)s AND position > %(at)s AND position < %(waiting)s
  ORDER BY position LIMIT 1)
ORDER BY 4
"""


class Neighbour(NamedTuple):
    """A revision near a commit."""

    pk: int
    name: str
    position: int
    subject: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What lies around a commit: the next commit on either side (None at the ends of what is
    known), and the tested ones along the tree, nearest last before it and nearest first after it.
    ``steps`` is how many commits lie after the step before and up to the one at a position, which
    is counted with them; the commit is a step itself.
    """

    before: Neighbour | None
    after: Neighbour | None
    tested_before: Sequence[Neighbour]
    tested_after: Sequence[Neighbour]
    steps: Mapping[int, int]


def tested_near(commit: Revision, *, most: int) -> Sequence[int]:
    """The positions of at most so many tested commits on either side of ``commit``; one query."""
    asked = {"tree": commit.tree_id, "at": commit.position, "most": most, "walked": WALKED}
    return [position for (position,) in rows_of(TESTED, asked)]


def neighbours_of(commit: Revision, tested: Sequence[int]) -> Neighbours:
    """The commits around ``commit``; ``tested`` is what `tested_near` gave. One query."""
    along = sorted([*tested, commit.position])
    asked: dict[str, Any] = {
        "tree": commit.tree_id,
        "at": commit.position,
        "lows": [None, *along[:-1]],
        "highs": along,
        "waiting": WAITING_FROM,
    }
    rows = [
        (is_step, Neighbour._make(row), count) for is_step, *row, count in rows_of(STEPS, asked)
    ]
    steps = [(one, count) for is_step, one, count in rows if is_step]
    nearest = [one for is_step, one, _ in rows if not is_step]
    at = commit.position
    return Neighbours(
        before=next((one for one in nearest if one.position < at), None),
        after=next((one for one in nearest if one.position > at), None),
        tested_before=[one for one, _ in steps if one.position < at],
        tested_after=[one for one, _ in steps if one.position > at],
        steps={one.position: count for one, count in steps[1:]},
    )


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
    return [Session._make(row) for row in rows_of(NEWEST, asked)]


def received_by(points: PointQuerySet, moment: datetime) -> PointQuerySet:
    """Plain ``points`` with a run that was received at ``moment`` and not withdrawn then."""
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
