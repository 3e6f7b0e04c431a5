"""What a page of one alert says beside its findings, in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries.members import SUBJECTS, WRITTEN
from webapp.alerts.queries.rows import rows_of

MOST_PROFILED = 3
"""Findings, the first ones, whose profiles a page compares."""


def profiled_sql(position: str, *, before: bool, series: str = "series") -> str:
    """Whether a kernel before a position of the tree, or from it on, was profiled for a ``series``,
    or what has its columns; in SQL.
    """
    return f"""EXISTS (
        SELECT FROM results_profile AS profile
          JOIN results_run AS run ON run.id = profile.run_id
          JOIN results_revision AS revision ON revision.id = run.revision_id
         WHERE run.hardware_id = {series}.hardware_id AND run.mode_id = {series}.mode_id
           AND run.variant_id IS NOT DISTINCT FROM {series}.variant_id
           AND run.withdrawn_at IS NULL AND revision.tree_id = {series}.tree_id
           AND revision.position {"<" if before else ">="} {position})"""  # noqa: S608


STATEMENT = f"""
WITH machine AS MATERIALIZED (
    SELECT DISTINCT series.hardware_id AS id
      FROM alerts_alertfinding AS membership
      JOIN analysis_finding AS finding ON finding.id = membership.finding_id
      JOIN results_series AS series ON series.id = finding.series_id
     WHERE membership.alert_id = %(alert)s
)
SELECT (SELECT min(id) FROM alerts_alert WHERE id > %(alert)s AND state = ANY(%(open)s)),
       (SELECT max(id) FROM alerts_alert WHERE id < %(alert)s AND state = ANY(%(open)s)),
       ARRAY(SELECT id FROM alerts_alert WHERE duplicate_of_id = %(alert)s ORDER BY id),
       (SELECT count(DISTINCT recipient_id) FROM outbox_mail
         WHERE kind LIKE 'alert.%%' AND about = %(about)s AND state = 'sent'),
       (SELECT count(*) FROM results_point AS point
          JOIN results_series AS series ON series.id = point.series_id
         WHERE point.revision_id = %(likeliest)s AND series.variant_id IS NULL
           AND point.series_id NOT IN (
               SELECT finding.series_id FROM alerts_alertfinding AS membership
                 JOIN analysis_finding AS finding ON finding.id = membership.finding_id
                WHERE membership.alert_id = %(alert)s)),
       (SELECT count(*) FROM analysis_finding AS finding
          JOIN results_series AS series ON series.id = finding.series_id
          JOIN results_revision AS after ON after.id = finding.after_id
          JOIN results_revision AS last ON last.id = finding.last_id
         WHERE finding.state = 'candidate' AND series.tree_id = %(tree)s
           AND after.position < %(until)s AND last.position > %(since)s),
       EXISTS (SELECT FROM machine
                 JOIN results_series AS series
                   ON series.hardware_id = machine.id AND series.tree_id = %(tree)s
                 JOIN analysis_seriessettings AS settings ON settings.series_id = series.id
                WHERE settings.is_canary),
       EXISTS (SELECT FROM events_labevent WHERE withdrawn_at IS NULL)
           OR EXISTS (SELECT FROM machine
                        JOIN events_canary AS canary ON canary.hardware_id = machine.id),
       EXISTS (SELECT FROM bisects_bisect WHERE alert_id = %(alert)s),
       EXISTS (SELECT FROM results_revision
                WHERE tree_id = %(tree)s AND position > %(since)s AND position < %(until)s),
       EXISTS (SELECT FROM alerts_alertfinding AS membership
                 JOIN analysis_finding AS finding ON finding.id = membership.finding_id
                 JOIN results_point AS point ON point.series_id = finding.series_id
                  AND point.revision_id IN (finding.previous_id, finding.revision_id,
                                            finding.after_id, finding.last_id)
                WHERE membership.alert_id = %(alert)s AND point.left_out IS NOT NULL),
       EXISTS (SELECT FROM analysis_finding AS finding
                 JOIN results_series AS series ON series.id = finding.series_id
                WHERE finding.id = ANY(%(profiled)s)
                  AND {profiled_sql("finding.position", before=True)}
                  AND {profiled_sql("finding.position", before=False)}),
       (SELECT md5(string_agg(concat_ws(' ', {WRITTEN}), ',' ORDER BY finding.id))
          FROM analysis_finding AS finding {SUBJECTS}
         WHERE finding.id = ANY(%(drawn)s))
"""  # noqa: S608 (names of our own tables and columns; values are parameters)


@dataclass(frozen=True, slots=True)
class FactsBeside:
    """The open alerts around it in the order of the inbox, the newest first; the alerts that are
    duplicates of it; how many people were mailed about it; how many series it holds no finding of
    were measured at its likeliest commit; how many candidates suspect one of its commits.

    What is not there need not be asked for: ``canaries`` among the series of its machines; anything
    ``recorded`` of a lab, or watched on its machines; ``bisects`` of it; ``several_commits``
    that are known to be in question; samples that are
    ``left_out`` beside its findings; profiles before and after one of
    its first findings (``profiled``). ``stamp`` is
    another one whenever a row was written that the cards of some findings are drawn from (``xmin``
    is the transaction that did); of points, and of the names of revisions, by the versions of
    their series.
    """

    previous: int | None
    next: int | None
    duplicates: list[int]
    mailed: int
    others: int
    candidates: int
    canaries: bool
    recorded: bool
    bisects: bool
    several_commits: bool
    left_out: bool
    profiled: bool
    stamp: str | None


def facts_beside(alert: Alert, *, drawn: Sequence[int] = ()) -> FactsBeside:
    """What stands beside ``alert``; the stamp is of the findings (by id) that are ``drawn``."""
    parameters = {
        "alert": alert.pk,
        "open": list(Alert.OPEN),
        "about": f"alert:{alert.pk}",
        "likeliest": alert.likeliest_id,
        "tree": alert.tree_id,
        "since": alert.after.position,
        "until": alert.revision.position,
        "drawn": list(drawn),
        "profiled": list(drawn[:MOST_PROFILED]),
    }
    return FactsBeside(*rows_of(STATEMENT, parameters)[0])
