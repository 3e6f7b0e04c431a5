"""The open losses of the front page: each with its largest finding, drawn, and whom it names.

One statement, written out, because every reader begins there.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple

from webapp.alerts.models import Alert
from webapp.alerts.queries.suspicion import INTERVAL, SURE
from webapp.analysis.queries import TODAY
from webapp.charts.text import cost_points, end_levels
from webapp.results.queries import rows_of, subject_sql, whole_history_sql
from webapp.stats.metrics import least_of

MOST_COMMITS = 1000
"""Known commits of an interval are counted so far."""

# `suspicions_of` decides whom an alert names: this decides it again, and tests hold both together.
# The first by `leads` is the headline: what stands before what was lost at one revision alone, of a
# real machine before a simulated one, new before seen, then the largest.
LOSSES = """
WITH lost AS (
    SELECT alert.*, worst.id AS finding_id, lab.simulated AS is_simulated,
           alert.opened_at > %(since)s::timestamptz AS is_fresh,
           row_number() OVER (ORDER BY alert.state = 'recovered', alert.kind = 'excursion',
                                       abs(worst.change_pct) DESC NULLS FIRST,
                                       alert.id DESC) AS rank,
           row_number() OVER (ORDER BY alert.state = 'recovered', alert.kind = 'excursion',
                                       lab.simulated,
                                       alert.opened_at > %(since)s::timestamptz DESC,
                                       abs(worst.change_pct) DESC NULLS FIRST,
                                       alert.id DESC) AS leads
      FROM alerts_alert AS alert
      JOIN LATERAL (SELECT finding.id, finding.series_id, finding.change_pct
                      FROM alerts_alertfinding AS member
                      JOIN analysis_finding AS finding ON finding.id = member.finding_id
                      JOIN results_series AS series ON series.id = finding.series_id
                      JOIN results_metric AS metric ON metric.id = series.metric_id
                     WHERE member.alert_id = alert.id AND finding.verdict = 'worse'
                       AND finding.state IN ('one build', 'confirmed', 'recovered')
                       AND (metric.of_id IS NULL OR alert.verdict <> 'improvement')
                     ORDER BY metric.of_id IS NOT NULL, abs(finding.change_pct) DESC NULLS FIRST,
                              finding.id
                     LIMIT 1) AS worst ON true
      JOIN results_series AS series ON series.id = worst.series_id
      JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
      JOIN labs_lab AS lab ON lab.id = hardware.lab_id
     WHERE alert.state <> 'resolved' AND alert.state = ANY(%(open)s)
), counted AS (
    SELECT count(*) AS open, count(*) FILTER (WHERE is_fresh) AS fresh,
           count(*) FILTER (WHERE is_simulated) AS simulated
      FROM lost
)
SELECT lost.id, lost.kind, lost.state, lost.opened_at, lost.is_fresh, lost.one_build,
       lost.rank, lost.leads = 1, counted.open, counted.fresh, counted.simulated,
       tree.name, {subject}, metric.option,
       COALESCE(NULLIF(series.own_better, ''), metric.better), metric.unit, series.id, {today},
       series.hardware_id, lost.is_simulated,
       finding.change_pct, finding.low_pct, finding.high_pct,
       finding.level_before, finding.level, finding.position,
       began_after.name, began_after.position, began.name, began.position,
       began.subject, began.author_name, suspicion.chance,
       CASE WHEN suspicion.is_bisected THEN 1 ELSE
       (SELECT count(*)::int
          FROM (SELECT FROM results_revision AS between
                 WHERE between.tree_id = lost.tree_id
                   AND between.position > began_after.position
                   AND between.position <= began.position
                 LIMIT %(most_commits)s) AS few) END,
       suspicion.is_bisected OR {is_whole},
       others.worse, others.better, other.mode, other.verdict, other.change_pct,
       points.positions, points.means,
       (SELECT jsonb_agg(revision.name ORDER BY revision.position)
          FROM results_revision AS revision WHERE revision.id = ANY(points.revisions)),
       jsonb_path_query_array(
           analysis.summary,
           '$.segments[*] ? (@.last.position >= $low && @.first.position <= $high
                             && @.level != null && @.end_level != null)',
           jsonb_build_object('low', points.positions[1],
                              'high', points.positions[cardinality(points.positions)]))
  FROM lost
 CROSS JOIN counted
  JOIN analysis_finding AS finding ON finding.id = lost.finding_id
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_tree AS tree ON tree.id = lost.tree_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_revision AS after ON after.id = lost.after_id
  JOIN results_revision AS likeliest ON likeliest.id = lost.likeliest_id
  LEFT JOIN LATERAL (
       SELECT naming.here, previous.id, previous.position
         FROM alerts_alertfinding AS member
         JOIN analysis_finding AS naming ON naming.id = member.finding_id
         JOIN results_revision AS previous ON previous.id = naming.previous_id
        WHERE member.alert_id = lost.id AND naming.revision_id = lost.likeliest_id
          AND naming.state IN ('one build', 'confirmed', 'recovered')
          AND naming.here >= %(sure)s
        ORDER BY previous.position DESC, naming.here DESC LIMIT 1) AS sure ON true
  CROSS JOIN LATERAL (
       SELECT COALESCE(lost.named_id = lost.likeliest_id, false)
              AND COALESCE(lost.named_probability, 0) >= %(sure)s AS is_bisected) AS bisected
  CROSS JOIN LATERAL (
       SELECT bisected.is_bisected,
              CASE WHEN bisected.is_bisected OR sure.id IS NULL
                     OR sure.position < after.position AND after.position < likeliest.position
                   THEN lost.after_id ELSE sure.id END AS after_id,
              CASE WHEN bisected.is_bisected OR sure.id IS NOT NULL
                   THEN lost.likeliest_id ELSE lost.revision_id END AS last_id,
              CASE WHEN bisected.is_bisected THEN lost.named_probability
                   ELSE COALESCE(sure.here, %(interval)s) END AS chance) AS suspicion
  JOIN results_revision AS began_after ON began_after.id = suspicion.after_id
  JOIN results_revision AS began ON began.id = suspicion.last_id
  CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE member_finding.verdict = 'worse')::int AS worse,
              count(*) FILTER (WHERE member_finding.verdict = 'better')::int AS better
         FROM alerts_alertfinding AS member
         JOIN analysis_finding AS member_finding ON member_finding.id = member.finding_id
        WHERE member.alert_id = lost.id AND member_finding.id <> lost.finding_id
          AND member_finding.state IN ('one build', 'confirmed', 'recovered')) AS others
  LEFT JOIN LATERAL (
       SELECT {other_subject} AS mode, beside.verdict,
              CASE WHEN other_metric.of_id IS NULL THEN beside.change_pct END AS change_pct
         FROM alerts_alertfinding AS member
         JOIN analysis_finding AS beside ON beside.id = member.finding_id
         JOIN results_series AS other_series ON other_series.id = beside.series_id
         JOIN results_mode AS other_mode ON other_mode.id = other_series.mode_id
         JOIN results_metric AS other_metric ON other_metric.id = other_series.metric_id
        WHERE others.worse + others.better = 1
          AND member.alert_id = lost.id AND beside.id <> lost.finding_id
          AND beside.state IN ('one build', 'confirmed', 'recovered') LIMIT 1) AS other ON true
  CROSS JOIN LATERAL (
       SELECT array_agg(near.position ORDER BY near.position) AS positions,
              array_agg(near.mean ORDER BY near.position) AS means,
              array_agg(near.revision_id) AS revisions
         FROM ((SELECT position, mean, revision_id FROM results_point
                 WHERE series_id = finding.series_id AND position < finding.position
                 ORDER BY position DESC LIMIT %(beside)s)
               UNION ALL
               (SELECT position, mean, revision_id FROM results_point
                 WHERE series_id = finding.series_id AND position >= finding.position
                 ORDER BY position LIMIT %(beside)s)) AS near) AS points
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = finding.series_id
 WHERE lost.rank <= %(most)s OR lost.leads = 1
 ORDER BY lost.rank
""".format(  # noqa: S608 (names of our own columns; no value of a request is in this text)
    subject=subject_sql("mode", "metric"),
    other_subject=subject_sql("other_mode", "other_metric"),
    today=TODAY,
    is_whole=whole_history_sql(
        tree="lost.tree_id", after="began_after.position", last="began.position"
    ),
)

OPEN_ON = """
SELECT series.hardware_id, count(DISTINCT alert.id)
  FROM alerts_alert AS alert
  JOIN alerts_alertfinding AS member ON member.alert_id = alert.id
  JOIN analysis_finding AS finding ON finding.id = member.finding_id
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
 WHERE alert.state <> 'resolved' AND alert.state = ANY(%(open)s) AND finding.verdict = 'worse'
   AND (metric.of_id IS NULL OR alert.verdict <> 'improvement')
   AND finding.state IN ('one build', 'confirmed', 'recovered')
 GROUP BY series.hardware_id
"""


class OpenLoss(NamedTuple):
    """An open alert with a loss, by its largest finding.

    ``rank`` counts from 1, the largest loss first, after those that stand the ones of a single
    revision, and what may have recovered last; one of them
    ``leads``. ``open``, ``fresh`` (opened since) and ``simulated`` count all of them, shown or not.
    ``percent``, ``low`` and ``high`` are the level against the one before (None: beyond all
    figures). ``mode`` is what a sentence calls its series; with an ``option`` it is what that
    costs, and levels are ratios in percent, ``direction`` saying which way is better. ``today`` is
    as `FindingQuerySet.with_today` reads it. It began after ``after``, at the latest in ``last``,
    with ``chance``; ``commits`` of them are known (at
    most `MOST_COMMITS`; one where a bisect measured its neighbours), and others may lie between
    unless history ``is_whole`` there. ``worse`` and ``better`` count
    its other findings, and where there is but one, ``other_…`` is it. ``positions``, ``means`` and
    ``names`` are of the revisions around ``position``, where the finding is; ``segments`` the
    levels among them.
    """

    number: int
    kind: str
    state: str
    opened_at: datetime
    is_fresh: bool
    is_one_build: bool
    rank: int
    leads: bool
    open: int
    fresh: int
    simulated: int
    tree: str
    mode: str
    option: str
    direction: str
    unit: str
    series_id: int
    today: Any
    hardware_id: int
    is_simulated: bool
    percent: float | None
    low: float | None
    high: float | None
    level_before: float
    level: float
    position: int
    after: str
    after_position: int
    last: str
    last_position: int
    subject: str
    author: str
    chance: float
    commits: int
    is_whole: bool
    worse: int
    better: int
    other_mode: str | None
    other_verdict: str | None
    other_percent: float | None
    positions: list[int]
    means: list[float]
    names: list[str]
    segments: list[dict[str, Any]]

    @property
    def points(self) -> float | None:
        """By how many points the cost grew; None where it is no cost, or beyond figures."""
        return cost_points(self.level_before, self.percent, self.direction) if self.option else None

    @property
    def end_levels(self) -> tuple[str, str] | None:
        """The levels of a change of which a percentage is no figure
        (`webapp.charts.text.end_levels`)."""
        if self.option:
            return None
        least = least_of(self.unit)
        return end_levels(self.level_before, self.level, self.percent, least)

    @property
    def is_named(self) -> bool:
        """Whether one commit may be named, and with it its author (`Suspicion.commit`)."""
        is_one = self.commits == 1 and self.is_whole
        is_level = self.kind == Alert.Kind.LEVEL
        return is_one and is_level and self.chance >= SURE and not self.is_one_build


def open_losses(*, since: datetime, most: int, beside: int) -> list[OpenLoss]:
    """The ``most`` largest open losses, with ``beside`` revisions on either side of each, and the
    one that leads if it is none of them; ``since`` is when the reader looked last.
    """
    given: dict[str, Any] = {
        "since": since,
        "most": most,
        "beside": beside,
        "open": [str(state) for state in Alert.OPEN],
        "sure": SURE,
        "interval": INTERVAL,
        "most_commits": MOST_COMMITS,
    }
    return [_loss(row) for row in rows_of(LOSSES, given)]


def open_losses_by_hardware() -> dict[int, int]:
    """How many open alerts hold a loss on each hardware (by id) that has any."""
    return dict(rows_of(OPEN_ON, {"open": [str(state) for state in Alert.OPEN]}))


def _loss(row: tuple[Any, ...]) -> OpenLoss:
    *columns, positions, means, names, segments = row
    at = OpenLoss._fields.index("today")
    columns[at] = json.loads(columns[at]) if columns[at] else {}
    return OpenLoss._make([*columns, positions or [], means or [], _json(names), _json(segments)])


def _json(text: str | None) -> list[Any]:
    """A list that PostgreSQL wrote; nothing is an empty one."""
    found: list[Any] = json.loads(text) if text else []
    return found
