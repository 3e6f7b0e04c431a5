"""What there is about a commit besides its points, in one statement: a page reads only that."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

from webapp.alerts.queries.beside_alert import profiled_sql
from webapp.alerts.queries.finding_at import ON_DISPLAY, on_display
from webapp.results.models import Revision

# What the findings that suspect the commit say follows from their rows, the revisions these name,
# and how many lie between: which grow in number without any of those rows being written.
SUSPECTING = f"""
SELECT finding.id, concat_ws(' ', finding.id, finding.xmin, revision.xmin, previous.xmin,
                             after.xmin, last.xmin, recovered.xmin) AS written,
       after.position AS after, last.position AS last,
       previous.position AS previous, revision.position AS first
  FROM analysis_finding AS finding
  JOIN results_revision AS revision ON revision.id = finding.revision_id
  JOIN results_revision AS previous ON previous.id = finding.previous_id
  JOIN results_revision AS after ON after.id = finding.after_id
  JOIN results_revision AS last ON last.id = finding.last_id
  LEFT JOIN results_revision AS recovered ON recovered.id = finding.recovered_by_id
 WHERE after.tree_id = %(tree)s AND after.position < %(at)s AND last.position >= %(at)s
   AND {ON_DISPLAY}
"""  # noqa: S608 (text of our own; no value of a request is in it)

# ``xmin`` is the transaction that wrote a row last. A point written anywhere raises the version of
# its series, and so does another name of a revision that has points.
STAMP = """
SELECT md5(ROW(
       (SELECT string_agg(concat_ws(' ', series.id, series.xmin, tree.xmin, hardware.xmin,
                                    lab.xmin, mode.xmin, metric.xmin, variant.xmin,
                                    settings.xmin, analysis.xmin), ',' ORDER BY series.id)
          FROM results_series AS series
          JOIN results_tree AS tree ON tree.id = series.tree_id
          JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
          JOIN labs_lab AS lab ON lab.id = hardware.lab_id
          JOIN results_mode AS mode ON mode.id = series.mode_id
          JOIN results_metric AS metric ON metric.id = series.metric_id
          LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
          LEFT JOIN analysis_seriessettings AS settings ON settings.series_id = series.id
          LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
         WHERE series.tree_id = %(tree)s),
       (SELECT string_agg(concat_ws(' ', point.series_id, point.xmin), ','
                          ORDER BY point.series_id)
          FROM results_point AS point WHERE point.revision_id = %(id)s),
       (SELECT string_agg(concat_ws(' ', comparison.series_id, comparison.xmin), ','
                          ORDER BY comparison.series_id)
          FROM analysis_comparison AS comparison WHERE comparison.revision_id = %(id)s),
       (SELECT string_agg(written, ',' ORDER BY id) FROM suspecting),
       (SELECT string_agg(concat_ws(' ', step.low, step.high,
                                    (SELECT count(*) FROM results_revision AS inside
                                      WHERE inside.tree_id = %(tree)s
                                        AND inside.position > step.low
                                        AND inside.position <= step.high)),
                          ',' ORDER BY step.low, step.high)
          FROM (SELECT after AS low, last AS high FROM suspecting
                UNION SELECT previous, first FROM suspecting) AS step)
       )::text)
"""

BESIDE = f"""
WITH suspecting AS MATERIALIZED ({SUSPECTING})
SELECT ARRAY(SELECT alias.name FROM results_revisionalias AS alias
              WHERE alias.revision_id = %(id)s AND alias.name <> %(name)s ORDER BY alias.name),
       (SELECT json_agg(json_build_array(alert.id, alert.state) ORDER BY alert.id)
          FROM alerts_alert AS alert
          JOIN results_revision AS after ON after.id = alert.after_id
          JOIN results_revision AS last ON last.id = alert.revision_id
         WHERE alert.tree_id = %(tree)s AND alert.is_active AND alert.kind = 'level'
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
                WHERE run.revision_id = %(id)s AND measurement.validity IS NOT NULL),
       EXISTS (SELECT FROM results_run AS own
                 JOIN results_revision AS mine ON mine.id = own.revision_id
                CROSS JOIN LATERAL (SELECT own.hardware_id, own.mode_id, own.variant_id,
                                           mine.tree_id) AS subject
                WHERE own.revision_id = %(id)s AND own.withdrawn_at IS NULL
                  AND EXISTS (SELECT FROM results_profile WHERE run_id = own.id)
                  AND {profiled_sql("mine.position", before=True, series="subject")}),
       ({STAMP})
"""  # noqa: S608 (text of our own; no value of a request is in it)


class BesideCommit(NamedTuple):
    """Other names of a commit, the number and the state of each active alert that suspects it,
    which kinds of rows name it, and how many runs it has: all of them, those that are withdrawn or
    replaced, and the builds of the others. ``others``: findings that are no change of level are
    seen at it. ``marked``: some run has marked samples. ``profiled``: some run has profiles, as
    does an earlier kernel. ``stamp`` is another one whenever something was written of which its
    points, their verdicts, the findings that suspect it, or the places of its tested neighbours
    follow.
    """

    aliases: Sequence[str]
    alerts: Sequence[tuple[int, str]] | None
    events: bool
    releases: bool
    bisects: bool
    runs: int
    withdrawn: int
    builds: int
    others: bool
    marked: bool
    profiled: bool
    stamp: str


def beside_commit(commit: Revision) -> BesideCommit:
    """What there is about ``commit``. One query."""
    asked = on_display() | {
        "id": commit.pk,
        "name": commit.name,
        "tree": commit.tree_id,
        "at": commit.position,
    }
    with connection.cursor() as cursor:
        cursor.execute(BESIDE, asked)
        return BesideCommit._make(cursor.fetchone())
