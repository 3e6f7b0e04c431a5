"""What there is about a commit besides its points, in one statement: a page reads only that."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

from webapp.results.models import Revision

BESIDE = """
SELECT ARRAY(SELECT alias.name FROM results_revisionalias AS alias
              WHERE alias.revision_id = %(id)s AND alias.name <> %(name)s ORDER BY alias.name),
       (SELECT json_agg(json_build_array(alert.id, alert.state) ORDER BY alert.id)
          FROM alerts_alert AS alert
          JOIN results_revision AS after ON after.id = alert.after_id
          JOIN results_revision AS last ON last.id = alert.revision_id
         WHERE alert.tree_id = %(tree)s AND alert.is_active AND alert.kind = 'level'
           AND after.position < %(at)s AND last.position >= %(at)s),
       EXISTS (SELECT FROM alerts_agreement AS agreement
                 JOIN results_revision AS after ON after.id = agreement.after_id
                 JOIN results_revision AS last ON last.id = agreement.last_id
                WHERE agreement.tree_id = %(tree)s
                  AND after.position < %(at)s AND last.position >= %(at)s),
       EXISTS (SELECT FROM events_labevent AS event
                 JOIN results_revision AS first ON first.id = event.first_id
                 JOIN results_revision AS last ON last.id = event.last_id
                WHERE event.tree_id = %(tree)s AND event.withdrawn_at IS NULL
                  AND first.position <= %(at)s AND last.position >= %(at)s),
       EXISTS (SELECT FROM events_release AS release WHERE release.revision_id = %(id)s),
       EXISTS (SELECT FROM bisects_bisect AS bisect WHERE bisect.culprit_id = %(id)s),
       (SELECT count(*) FROM results_run AS run WHERE run.revision_id = %(id)s),
       (SELECT count(*) FROM results_run AS run
         WHERE run.revision_id = %(id)s AND run.withdrawn_at IS NOT NULL),
       (SELECT count(DISTINCT run.build_id) FROM results_run AS run
         WHERE run.revision_id = %(id)s AND run.withdrawn_at IS NULL),
       EXISTS (SELECT FROM analysis_finding AS finding
                WHERE finding.revision_id = %(id)s
                  AND finding.kind IN ('excursion', 'noise', 'modes')
                  AND finding.state IN ('confirmed', 'recovered')),
       EXISTS (SELECT FROM results_run AS run
                 JOIN results_measurement AS measurement ON measurement.run_id = run.id
                WHERE run.revision_id = %(id)s AND measurement.validity IS NOT NULL)
"""


class BesideCommit(NamedTuple):
    """Other names of a commit, the number and the state of each active alert that suspects it,
    which kinds of rows name it, and how many runs it has: all of them, those that are withdrawn or
    replaced, and the builds of the others. ``agreeing``: it is among the commits of an `Agreement`,
    shown or not. ``others``: findings that are no change of level are seen at it. ``marked``: some
    run has marked samples.
    """

    aliases: Sequence[str]
    alerts: Sequence[tuple[int, str]] | None
    agreeing: bool
    events: bool
    releases: bool
    bisects: bool
    runs: int
    withdrawn: int
    builds: int
    others: bool
    marked: bool


def beside_commit(commit: Revision) -> BesideCommit:
    """What there is about ``commit``. One query."""
    asked: dict[str, str | int] = {
        "id": commit.pk,
        "name": commit.name,
        "tree": commit.tree_id,
        "at": commit.position,
    }
    with connection.cursor() as cursor:
        cursor.execute(BESIDE, asked)
        return BesideCommit._make(cursor.fetchone())
