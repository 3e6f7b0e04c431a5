"""The page of one commit: what the change detector found there over all series that received it,
the points around it for small charts, and what there is besides its points, each in one statement.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

from webapp.alerts.queries import commit_findings
from webapp.alerts.queries.alert_page import profiled_sql
from webapp.alerts.queries.suspicion import Suspicion, suspicions_of_findings
from webapp.analysis.models import SeriesAnalysis, Verdict
from webapp.analysis.queries import ON_DISPLAY, on_display
from webapp.results.models import Revision
from webapp.results.queries import NamedSeries, rows_of
from webapp.stats.changes import LEFT_OUT, Analysis, At, Noise, Segment, why_not_at
from webapp.stats.false_discovery import Gate, gate_among

NOT_ANALYSED = "Not analysed yet."
MOST_MACHINES = 24
"""Machines of which the page of a commit shows the cells at once."""
# What the findings that suspect the commit show follows from their rows, the revisions these name,
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
# The machines whose points a page shows: all of them, as nearly always, else first the one that is
# asked for and those where something is found.
MEASURED = """
SELECT series.hardware_id AS id
  FROM results_point AS point JOIN results_series AS series ON series.id = point.series_id
 WHERE point.revision_id = %(id)s
 GROUP BY series.hardware_id
"""
SHOWN = f"""
SELECT measured.id
  FROM measured
  JOIN results_hardware AS hardware ON hardware.id = measured.id
  LEFT JOIN (SELECT series.hardware_id AS id, count(*) AS count
               FROM analysis_finding AS finding
               JOIN results_series AS series ON series.id = finding.series_id
              WHERE finding.revision_id = %(id)s AND {ON_DISPLAY}
              GROUP BY series.hardware_id) AS found ON found.id = measured.id
 ORDER BY hardware.name <> %(hardware)s, found.count DESC NULLS LAST, hardware.name
 LIMIT %(machines)s
OFFSET LEAST(%(skipped)s, (SELECT (GREATEST(count(*), 1) - 1) / %(machines)s FROM measured)
                          * %(machines)s)
"""  # noqa: S608 (text of our own; no value of a request is in it)
# ``xmin`` is the transaction that wrote a row last. A point written anywhere raises the version of
# its series, and so does another name of a revision that has points. No point is read for it: two
# hundred took a third of the statement's time. What many series name is read once: joined to each,
# it took as long to plan as all else.
STAMP = """
SELECT md5(ROW((SELECT string_agg(id::text, ',' ORDER BY id) FROM shown),
       (SELECT string_agg(concat_ws(' ', its.id, its.written, settings.xmin, analysis.xmin),
                          ',' ORDER BY its.id)
          FROM its
          LEFT JOIN analysis_seriessettings AS settings ON settings.series_id = its.id
          LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = its.id),
       (SELECT xmin FROM results_tree WHERE id = %(tree)s),
       (SELECT string_agg(concat_ws(' ', near.id, hardware.xmin, lab.xmin), ',' ORDER BY near.id)
          FROM near
          JOIN results_hardware AS hardware ON hardware.id = near.id
          JOIN labs_lab AS lab ON lab.id = hardware.lab_id),
       (SELECT string_agg(concat_ws(' ', id, xmin), ',' ORDER BY id)
          FROM results_mode WHERE id IN (SELECT mode_id FROM its)),
       (SELECT string_agg(concat_ws(' ', id, xmin), ',' ORDER BY id)
          FROM results_metric WHERE id IN (SELECT metric_id FROM its)),
       (SELECT string_agg(concat_ws(' ', id, xmin), ',' ORDER BY id)
          FROM results_variant WHERE id IN (SELECT variant_id FROM its)),
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
WITH suspecting AS MATERIALIZED ({SUSPECTING}),
measured AS MATERIALIZED ({MEASURED}), shown AS MATERIALIZED ({SHOWN}),
near AS MATERIALIZED (
    SELECT id FROM shown UNION
    SELECT id FROM results_hardware
     WHERE (SELECT count(*) FROM results_hardware) <= %(machines)s),
its AS MATERIALIZED (
    SELECT id, xmin AS written, mode_id, metric_id, variant_id FROM results_series
     WHERE tree_id = %(tree)s AND hardware_id = ANY(ARRAY(SELECT id FROM near))),
run AS MATERIALIZED (
    SELECT run.id, run.hardware_id, run.mode_id, run.variant_id, run.kernel_id,
           run.withdrawn_at IS NOT NULL AS is_withdrawn
      FROM results_run AS run
     WHERE run.revision_id = %(id)s AND run.hardware_id = ANY(ARRAY(
           SELECT id FROM shown UNION
           SELECT own.hardware_id FROM results_run AS own
            WHERE own.revision_id = %(id)s
              AND (SELECT count(*) FROM measured) <= %(machines)s)))
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
       (SELECT count(*) FROM run),
       (SELECT count(*) FROM run WHERE is_withdrawn),
       (SELECT count(DISTINCT kernel.build_id)
          FROM run JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
         WHERE NOT run.is_withdrawn),
       EXISTS (SELECT FROM analysis_finding AS finding
                WHERE finding.revision_id = %(id)s
                  AND finding.kind IN ('excursion', 'noise', 'modes')
                  AND finding.state IN ('confirmed', 'recovered')),
       EXISTS (SELECT FROM run
                 JOIN results_measurement AS measurement ON measurement.run_id = run.id
                WHERE measurement.validity IS NOT NULL),
       EXISTS (SELECT FROM run AS own
                CROSS JOIN LATERAL (SELECT own.hardware_id, own.mode_id, own.variant_id,
                                           %(tree)s::bigint AS tree_id) AS subject
                WHERE NOT own.is_withdrawn
                  AND EXISTS (SELECT FROM results_profile WHERE run_id = own.id)
                  AND {profiled_sql("%(at)s", before=True, series="subject")}),
       ARRAY(SELECT id FROM shown), (SELECT count(*) FROM measured),
       ({STAMP})
"""  # noqa: S608 (text of our own; no value of a request is in it)
ELSEWHERE = """
SELECT count(*)
  FROM results_point AS point
  JOIN results_series AS series ON series.id = point.series_id
  LEFT JOIN analysis_notedpoint AS noted
    ON noted.revision_id = point.revision_id AND NOT noted.is_compared
   AND noted.series_id = point.series_id
 WHERE point.revision_id = %(id)s AND noted.id IS NULL AND series.hardware_id <> ALL(%(machines)s)
"""
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


class Gated(NamedTuple):
    """A finding first seen at the commit, its place among all that received it, and which commits
    it may have begun at.
    """

    finding: commit_findings.FindingAt
    gate: Gate
    suspicion: Suspicion


class Suspecting(NamedTuple):
    """A finding that another revision showed first, of which the commit may be the cause."""

    finding: commit_findings.FindingAt
    suspicion: Suspicion


@dataclass(frozen=True, slots=True)
class Detected:
    """The detector's word on one commit.

    ``begun`` are seen here first, those for the worse and the most striking first. ``sharing`` lie
    in a step that this commit shares: nobody measured it, so it is as likely as the one that shows
    them first. Of ``suspected`` another is likelier. ``received`` series were measured here.
    """

    begun: Sequence[Gated]
    sharing: Sequence[Suspecting]
    suspected: Sequence[Suspecting]
    received: int

    @property
    def let_through(self) -> Sequence[Gated]:
        """The findings that a headline may name: those that the gate for false discoveries lets
        through, and one build a side, which has a limit of its own.
        """
        return [one for one in self.begun if one.gate.passes or one.finding.was_one_build]

    @property
    def gated(self) -> Sequence[Gated]:
        """The findings in ``begun`` that the gate is for."""
        return [one for one in self.begun if not one.finding.was_one_build]

    @property
    def passed(self) -> int:
        """How many of them the gate lets through."""
        return sum(one.gate.passes for one in self.gated)


class BesideCommit(NamedTuple):
    """Other names of a commit, the number and the state of each active alert that suspects it,
    which kinds of rows name it, and how many runs it has: all of them, those that are withdrawn or
    replaced, and the builds of the others. ``others``: findings that are no change of level are
    seen at it. ``marked``: some run has marked samples. ``profiled``: some run has profiles, as
    does an earlier kernel. It was ``measured`` on so many machines, of which ``machines`` (ids) are
    shown: at most `MOST_MACHINES`, and where there are more, the runs of a page are of these.
    ``stamp`` is another one whenever something was written of which its points there, their
    verdicts, the findings that suspect it, or, in an instance of no more machines, the places of
    its tested neighbours follow.
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
    machines: Sequence[int]
    measured: int
    stamp: str

    @property
    def is_whole(self) -> bool:
        """Whether all machines are shown."""
        return len(self.machines) == self.measured

    @property
    def pages(self) -> int:
        """On how many pages they are."""
        return -(-self.measured // MOST_MACHINES)


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


def passing(findings: Sequence[tuple[Verdict, float]], received: int) -> set[Verdict]:
    """The verdicts, with their p-values, that a headline may use of the findings at a commit.

    ``received`` series have a revision before it to be compared with.
    """
    gates = gate_among([p_value for _, p_value in findings], received)
    return {verdict for (verdict, _), its in zip(findings, gates, strict=True) if its.passes}


def detected_at(
    commit: Revision, received: Collection[int], known: Mapping[int, NamedSeries], *, others: int
) -> Detected:
    """The findings at ``commit``, gated over the series (ids) that received it and ``others``; two
    queries, and one more where there is any, however many there are, and one for series that are
    not ``known``.

    A finding begins at a measured revision of its series, so its series is among ``received``.
    """
    found = commit_findings.findings_suspecting(commit, known)
    begun = {row.series.pk: row for row in found if row.revision.pk == commit.pk}
    looks = max(len(set(received) | begun.keys()), len(set(received)) + others)
    gates = _gates(list(begun.values()), looks)
    suspicions = suspicions_of_findings(found)
    ranked = [Gated(row, gates[row.pk], suspicions[row.pk]) for row in begun.values()]
    elsewhere = [
        Suspecting(row, suspicions[row.pk]) for row in found if row.revision.pk != commit.pk
    ]
    shares = [_shares(one.finding, commit) for one in elsewhere]
    return Detected(
        begun=sorted(ranked, key=_weight),
        sharing=list(compress(elsewhere, shares)),
        suspected=[one for one, does in zip(elsewhere, shares, strict=True) if not does],
        received=looks,
    )


def why_not(commit: Revision, series: Collection[int]) -> dict[int, str]:
    """For each series (id) the sentence on why nothing is reported at ``commit``."""
    rows = SeriesAnalysis.objects.filter(series__in=series).values_list("series_id", "summary")
    summaries: dict[int, dict[str, Any]] = dict(rows)
    return {pk: _why_not(summaries.get(pk) or {}, commit) for pk in series}


def compared_elsewhere(commit: Revision, machines: Sequence[int]) -> int:
    """How many plain series were compared at ``commit`` on other ``machines`` than these (ids). One
    query.
    """
    ((count,),) = rows_of(ELSEWHERE, {"id": commit.pk, "machines": list(machines)})
    return int(count)


def beside_commit(commit: Revision, *, hardware: str = "", page: int = 1) -> BesideCommit:
    """What there is about ``commit``: where it was measured on more machines than are shown, about
    those of a ``page`` (the last, where there are not so many), the named ``hardware`` first. One
    query.
    """
    asked = on_display() | {
        "hardware": hardware,
        "machines": MOST_MACHINES,
        "skipped": MOST_MACHINES * (page - 1),
        "id": commit.pk,
        "name": commit.name,
        "tree": commit.tree_id,
        "at": commit.position,
    }
    (row,) = rows_of(BESIDE, asked)
    return BesideCommit._make(row)


def points_around(series: Collection[int], position: int, *, most: int) -> dict[int, PointsAround]:
    """By series (id) at most ``most`` points before ``position`` and as many from it on. One
    query, none without series.
    """
    if not series:
        return {}
    return {
        row[0]: PointsAround._make((*row[1:6], json.loads(row[6]) if row[6] else []))
        for row in rows_of(AROUND, {"series": list(series), "at": position, "most": most})
    }


def _gates(begun: Sequence[commit_findings.FindingAt], looks: int) -> dict[int, Gate]:
    """The gate of each finding (id) among ``looks`` series. One build a side, which has a limit of
    its own, is gated by itself and moves no other.
    """
    rows = [row for row in begun if not row.was_one_build]
    alone = [row for row in begun if row.was_one_build]
    gates = gate_among([row.p_value for row in rows], looks)
    found = {row.pk: gate for row, gate in zip(rows, gates, strict=True)}
    return found | {row.pk: gate_among([row.p_value], looks)[0] for row in alone}


def _shares(row: commit_findings.FindingAt, commit: Revision) -> bool:
    """Whether ``commit`` lies in the step that the finding most likely is."""
    return row.previous.position < commit.position < row.revision.position


def _weight(one: Gated) -> tuple[bool, int]:
    return one.finding.verdict != Verdict.WORSE, one.gate.rank


def _why_not(summary: Mapping[str, Any], commit: Revision) -> str:
    if not summary:
        return NOT_ANALYSED
    newest = summary["newest"]
    if newest is not None and commit.name in summary["left_out"]:
        return LEFT_OUT
    if newest is None or commit.position >= newest["revision"]["position"]:
        return str(summary["why_not"])
    return why_not_at(_levels_of(summary), commit.position)


def _levels_of(summary: Mapping[str, Any]) -> Analysis:
    """As much of a stored analysis as the sentence about an earlier revision needs."""
    noise = summary["noise"]
    return Analysis(
        count=summary["count"],
        changes=(),
        segments=tuple(_segment(one) for one in summary["segments"]),
        noise=noise and Noise(**noise),
        smallest=None,
        newest=None,
        is_bimodal=summary["is_bimodal"],
        is_drifting=summary["is_drifting"],
        retracted=(),
        left_out=(),
        recurring=summary.get("recurring", 0),
    )


def _segment(stored: Mapping[str, Any]) -> Segment:
    return Segment(**{**stored, "first": At(**stored["first"]), "last": At(**stored["last"])})
