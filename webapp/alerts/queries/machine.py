"""What the page of one machine shows of its series: one statement for each kind of row.

A machine has up to a thousand series, and their histories have no end. Composing such reads from
QuerySets costs more than answering them, so they are written out; of each series no more than a
window of its newest points is read.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from webapp.alerts.models import Alert
from webapp.analysis.models import Finding
from webapp.labs.models import Lab
from webapp.results.models import Hardware, ModeName
from webapp.results.queries import rows_of, subject_sql
from webapp.stats.metrics import Better

# Aggregates take their rows in the order of the sorted subquery, the newest first. An order of
# their own would sort them again for each: most of the statement's time.
SERIES = f"""
SELECT series.id, tree.id, tree.name, metric.name, metric.unit,
       COALESCE(NULLIF(series.own_better, ''), metric.better),
       metric.option, {subject_sql("mode", "metric")},
       mode.id, mode.name, mode.workload, mode.traffic, mode.options,
       recent.positions, recent.means, recent.lows, recent.highs, recent.median,
       recent.n,
       CASE WHEN cardinality(recent.positions) > %(few)s
            THEN (analysis.summary - '{{why_not,what_helps,why_retracted,newest}}'::text[])::text
       END
  FROM results_series AS series
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN LATERAL (
        SELECT array_agg(point.position) AS positions, array_agg(point.mean) AS means,
               array_agg(point.minimum) AS lows, array_agg(point.maximum) AS highs,
               (array_agg(point.median))[1] AS median, (array_agg(point.n))[1] AS n
          FROM (SELECT newest.position, newest.mean, newest.minimum, newest.maximum,
                       newest.median, newest.n
                  FROM results_point AS newest
                 WHERE newest.series_id = series.id
                 ORDER BY newest.position DESC
                 LIMIT %(window)s) AS point
       ) AS recent ON recent.positions IS NOT NULL
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
 WHERE series.hardware_id = %(hardware)s AND series.variant_id IS NULL
 ORDER BY tree.name, metric.name, mode.name
"""  # noqa: S608 (names of our own columns; no value of a request is in this text)

FINDINGS = """
SELECT finding.series_id, finding.kind, finding.state, finding.verdict, finding.position,
       revision.name,
       after.name, after.position, last.name, last.position,
       finding.change_pct, finding.low_pct, finding.high_pct, finding.probability,
       finding.level_before, finding.level, alert.id, alert.state,
       concat_ws(' ', finding.xmin, alert.xmin)
  FROM analysis_finding AS finding
  JOIN results_series AS series ON series.id = finding.series_id
  JOIN results_revision AS revision ON revision.id = finding.revision_id
  JOIN results_revision AS after ON after.id = finding.after_id
  JOIN results_revision AS last ON last.id = finding.last_id
  LEFT JOIN alerts_alertfinding AS member ON member.finding_id = finding.id
  LEFT JOIN alerts_alert AS alert ON alert.id = member.alert_id
 WHERE series.hardware_id = %(hardware)s AND series.variant_id IS NULL
   AND (finding.kind = 'level' OR alert.id IS NOT NULL) AND finding.state = ANY(%(live)s)
   AND NOT (finding.state = %(recovered)s
            AND COALESCE(finding.low_pct < 0 AND finding.high_pct > 0, false))
 ORDER BY finding.series_id, finding.position
"""

NAMES = """
SELECT revision.tree_id, revision.position, revision.name
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (tree, position)
  JOIN results_revision AS revision
    ON revision.tree_id = wanted.tree AND revision.position = wanted.position
"""

# With it whether there is anything else to read: most machines have no events, canaries, variants.
# The stamp is another one whenever a row about a series of the machine was written (its ``xmin`` is
# the transaction that did), or a point of it, which raises the series' version.
MACHINE = """
SELECT hardware.*, lab.name AS lab_name, lab.simulated AS lab_simulated,
       (SELECT run.received_at FROM results_run AS run
         WHERE run.hardware_id = hardware.id
         ORDER BY run.received_at DESC LIMIT 1) AS last_run_at,
       (SELECT max(id) FROM results_revision) AS newest_revision,
       EXISTS (SELECT FROM results_hardwarefact AS fact
                WHERE fact.hardware_id = hardware.id) AS has_facts,
       EXISTS (SELECT FROM events_labevent AS event
                WHERE event.withdrawn_at IS NULL
                  AND (event.hardware_id = hardware.id
                       OR event.lab_id = hardware.lab_id)) AS has_events,
       EXISTS (SELECT FROM events_canary AS canary
                WHERE canary.hardware_id = hardware.id) AS has_canaries,
       EXISTS (SELECT FROM results_series AS series
                WHERE series.hardware_id = hardware.id
                  AND series.variant_id IS NOT NULL) AS has_variants,
       (SELECT md5(string_agg(concat_ws(' ', series.id, series.xmin, series.version, tree.xmin,
                                        metric.xmin, mode.xmin, analysis.xmin),
                              ',' ORDER BY series.id))
          FROM results_series AS series
          JOIN results_tree AS tree ON tree.id = series.tree_id
          JOIN results_metric AS metric ON metric.id = series.metric_id
          JOIN results_mode AS mode ON mode.id = series.mode_id
          LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
         WHERE series.hardware_id = hardware.id AND series.variant_id IS NULL) AS stamp
  FROM results_hardware AS hardware
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
 WHERE hardware.name = %s
"""

FEW_REVISIONS = 2
"""Up to so many a series is a line of numbers: there is nothing to draw."""


class MachineFound(NamedTuple):
    """A machine, whether there is any fact, event, canary or variant to be read of it, and the
    ``stamp`` of what `series_on` gives: the same while its series, points and analyses are.
    ``newest_revision`` is the id of the one of any tree that became known last.
    """

    hardware: Hardware
    facts: bool
    events: bool
    canaries: bool
    variants: bool
    stamp: str
    newest_revision: int | None


class SeriesOnMachine(NamedTuple):
    """One series with its newest points, in order along the tree: means with the smallest and the
    largest sample, in the metric's unit. ``median`` and ``n`` are those of the newest point.
    ``summary`` is that of the analysis; empty: there is none, or too few revisions to draw. With an
    ``option`` it is what that costs; ``subject`` is what a sentence calls it.
    """

    pk: int
    tree_id: int
    tree: str
    metric: str
    unit: str
    better: Better
    option: str
    subject: str
    mode_id: int
    mode: str
    parts: ModeName
    positions: Sequence[int]
    means: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    median: float
    n: int
    summary: dict[str, Any]

    @property
    def has_history(self) -> bool:
        """Whether there is something to draw."""
        return len(self.positions) > FEW_REVISIONS


class FindingOnMachine(NamedTuple):
    """One finding on display; revisions by name and position, percentages new against old. Of other
    kinds than changes of level only those that an alert holds. ``written`` is another text whenever
    the finding or its alert was written.
    """

    series: int
    kind: str
    state: str
    verdict: str
    position: int
    revision: str
    after: str
    after_position: int
    last: str
    last_position: int
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    probability: float
    level_before: float
    level: float
    alert: int | None
    alert_state: str | None
    written: str

    @property
    def is_proven(self) -> bool:
        """Whether it is more than a candidate and rests on more than one build a side."""
        return self.state in Finding.PROVEN

    @property
    def is_open(self) -> bool:
        """Whether an open alert holds it."""
        return self.alert_state in Alert.OPEN


def machine_named(name: str) -> MachineFound | None:
    """The machine of that name with its lab, when the newest of its runs was received, and what
    there is about it. One query.
    """
    for machine in Hardware.objects.raw(MACHINE, [name]):
        fields = vars(machine)
        machine.lab = Lab(
            pk=machine.lab_id, name=fields["lab_name"], simulated=fields["lab_simulated"]
        )
        has = (fields[f"has_{what}"] for what in ("facts", "events", "canaries", "variants"))
        stamps = fields["stamp"] or "", fields["newest_revision"]
        return MachineFound._make((machine, *has, *stamps))
    return None


def series_on(hardware: int, *, window: int) -> list[SeriesOnMachine]:
    """The plain series of a machine (by id) that have any point, by tree, metric and mode, each
    with at most ``window`` of its newest points. One query.
    """
    rows = rows_of(SERIES, {"hardware": hardware, "window": window, "few": FEW_REVISIONS})
    return [
        SeriesOnMachine._make(
            (
                *row[:10],
                ModeName.of(row[10], row[11], row[12]),
                *(newest[::-1] for newest in row[13:17]),
                *row[17:19],
                json.loads(row[19]) if row[19] else {},
            )
        )
        for row in rows
    ]


def findings_on(hardware: int) -> list[FindingOnMachine]:
    """What is found in the plain series of a machine (by id) and on display, by series and along
    the tree. One query.
    """
    live = {"live": list(Finding.LIVE), "recovered": Finding.State.RECOVERED}
    return [FindingOnMachine._make(row) for row in rows_of(FINDINGS, {"hardware": hardware} | live)]


def names_at(locations: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """The names of the revisions at ``locations``: the id of a tree and a position. One query."""
    if not locations:
        return {}
    trees, positions = zip(*locations, strict=True)
    rows = rows_of(NAMES, [list(trees), list(positions)])
    return {(tree, position): name for tree, position, name in rows}
