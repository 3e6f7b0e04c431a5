"""What a page of one alert shows beside its findings: series at its commit that did not move,
machines with the same mode that were measured before the commit and not at it, and samples that its
findings do not rest on, because they may be wrong.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries.findings import candidates_beside
from webapp.alerts.queries.members import SUBJECTS, WRITTEN
from webapp.analysis.models import Finding
from webapp.analysis.queries import JudgedPair, PointVerdict, claims_of, compared_at, judge_points
from webapp.labs.models import Lab
from webapp.results.models import Hardware, Point, Series
from webapp.results.queries import machine_of, rows_of
from webapp.stats.compare import Outcome

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
ELSEWHERE = """
SELECT hardware.id, hardware.name, hardware.display_name, hardware.cpu, hardware.nic,
       hardware.agreed_cpu, hardware.agreed_nic, lab.simulated, found.smallest
  FROM (SELECT series.hardware_id,
               (analysis.summary -> 'smallest' ->> 'pct')::double precision AS smallest
          FROM results_series AS series
          JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
         WHERE series.tree_id = %s AND series.mode_id = %s AND series.metric_id = %s
           AND series.variant_id IS NULL AND series.hardware_id <> %s
           AND EXISTS (SELECT FROM results_point AS point
                        WHERE point.series_id = series.id AND point.position < %s)
           AND NOT EXISTS (SELECT FROM results_point AS point
                            WHERE point.series_id = series.id AND point.revision_id = %s)
       ) AS found
  JOIN results_hardware AS hardware ON hardware.id = found.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
 WHERE found.smallest IS NOT NULL
 ORDER BY lab.simulated, found.smallest
 LIMIT 1
"""
ORDER = ("worse", "better", "equivalent", "cannot tell")


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


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A machine and the smallest change, in percent, that its series of the mode detects."""

    hardware: Hardware
    detects: float


@dataclass(frozen=True, slots=True)
class Unmoved:
    """A series that was measured at the commit and holds no finding there, with its verdict."""

    series: Series
    judged: PointVerdict


@dataclass(frozen=True, slots=True)
class Beside:
    """``candidates`` suspect a commit that the alert suspects and are not confirmed yet;
    ``unmoved`` are in the order of their verdicts, then of their names.
    """

    candidates: Sequence[Finding]
    unmoved: Sequence[Unmoved]

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many of the unmoved count as what."""
        pairs = [
            JudgedPair(
                one.series.mode.name, one.series.metric.name, 0, one.series.better, one.judged
            )
            for one in self.unmoved
        ]
        return claims_of(pairs).counts


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


def machine_elsewhere(alert: Alert, series: Series) -> Elsewhere | None:
    """The other machine that detects most in the mode of ``series`` and has not measured the
    alert's likeliest commit; real machines before simulated ones. None: there is none.
    """
    likeliest = alert.likeliest
    rows = rows_of(
        ELSEWHERE,
        [
            *(series.tree_id, series.mode_id, series.metric_id, series.hardware_id),
            *(likeliest.position, likeliest.pk),
        ],
    )
    if not rows:
        return None
    *named, simulated, detects = rows[0]
    hardware = machine_of(named)
    hardware.lab = Lab(simulated=simulated)
    return Elsewhere(hardware, detects)


def beside(alert: Alert, findings: Collection[Finding]) -> Beside:
    """What stands beside the ``findings`` of an alert: six queries, however many series."""
    suspecting = candidates_beside(alert)
    candidates = list(suspecting.with_revisions().with_subjects())
    moved = {row.series_id for row in (*findings, *candidates)}
    return Beside(candidates, _unmoved(alert, moved))


def _unmoved(alert: Alert, moved: Collection[int]) -> list[Unmoved]:
    """The series measured at the likeliest commit and before it, but for those that ``moved``."""
    measured = Point.objects.of_revision(alert.likeliest).plain().with_subjects()
    points = {row.series_id: row for row in measured.exclude(series__in=moved)}
    compared = [one for one in compared_at([alert.likeliest]) if one.series_id in points]
    judged = judge_points(points.values(), compared)
    rows = [Unmoved(points[pk].series, one) for pk, one in judged.items()]
    return sorted(rows, key=_rank)


def _rank(one: Unmoved) -> tuple[int, str, str, str]:
    series = one.series
    names = (series.hardware.name, str(series.mode), series.metric.name)
    return ORDER.index(one.judged.verdict), *names
