"""The series of the front page's wall and what a small chart of each shows.

Every reader begins at this page, so its reads are written out: composing them from QuerySets takes
longer than PostgreSQL takes to answer. Each costs steps along an index for a series, however long
its history is.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from webapp.results.queries import rows_of
from webapp.stats.metrics import worth_telling

# A stamp is another one whenever a row was written that the series shows: ``xmin`` is the
# transaction that did. A point written raises the version of its series. The stamps are read where
# the one of all rows is not the one that is known; that takes a tenth of the time.
ROWS = "(SELECT concat(count(*), ' ', bit_xor(hashint8extended({key}, xmin::text::bigint)))"
READ = (
    *("results_series", "results_tree", "results_mode", "results_metric"),
    "analysis_seriesanalysis",
)
STAMPS = """
WITH all_rows AS MATERIALIZED (
    SELECT concat_ws(' ', {each_table}) AS stamp
)
SELECT NULL, stamp FROM all_rows
UNION ALL
SELECT series.id, concat_ws(' ', series.xmin, analysis.xmin, tree.xmin, mode.xmin, metric.xmin)
  FROM results_series AS series
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
 WHERE series.variant_id IS NULL AND metric.of_id IS NULL
   AND (SELECT stamp FROM all_rows) <> %(known)s
""".format(  # noqa: S608 (names of our own tables)
    each_table=", ".join(
        f"{ROWS.format(key='series_id' if 'analysis' in one else 'id')} FROM {one})" for one in READ
    )
)

# What was not analysed yet, or has no sample above 0, has no count of its own: its points are
# counted, as far as it matters.
SERIES = """
SELECT series.id, series.tree_id, tree.name, series.hardware_id, mode.name, metric.name,
       metric.unit, COALESCE(NULLIF(series.own_better, ''), metric.better),
       series.dirty_from IS NOT NULL, series.version,
       (extract(epoch FROM analysis.analysed_at) * 1000000)::bigint,
       COALESCE(NULLIF((analysis.summary->>'count')::int, 0),
                (SELECT count(*) FROM (SELECT FROM results_point AS one
                                        WHERE one.series_id = series.id LIMIT %(counted)s) AS few)),
       newest.mean, live.at,
       CASE WHEN analysis.summary->>'net_loss' IS NOT NULL THEN 'worse'
            WHEN NOT found.is_over THEN found.verdict END,
       CASE WHEN analysis.summary->>'net_loss' IS NULL THEN found.change_pct
            ELSE (analysis.summary->'net_loss'->>'change_pct')::float8 END,
       found.revisions_after,
       (analysis.summary->'smallest'->>'pct')::float8
  FROM results_series AS series
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
  JOIN LATERAL (SELECT point.mean, point.revision_id FROM results_point AS point
                 WHERE point.series_id = series.id
                 ORDER BY point.position DESC LIMIT 1) AS newest ON true
  LEFT JOIN LATERAL (SELECT max(COALESCE(run.measured_at, run.received_at)) AS at
                       FROM results_run AS run
                      WHERE run.revision_id = newest.revision_id AND run.mode_id = series.mode_id
                        AND run.hardware_id = series.hardware_id AND run.variant_id IS NULL
                        AND NOT run.history AND run.withdrawn_at IS NULL) AS live ON true
  LEFT JOIN LATERAL (
       (SELECT finding.verdict, finding.change_pct, finding.revisions_after, finding.position,
               finding.verdict = 'worse'
               AND (finding.state = 'recovered'
                    OR COALESCE(jsonb_array_length(analysis.summary->'segments'), 0) > 1) AS is_over
          FROM analysis_finding AS finding
         WHERE finding.series_id = series.id AND finding.kind = 'level'
           AND finding.state IN ('confirmed', 'recovered')
         ORDER BY finding.position DESC LIMIT 1)
       UNION ALL
       (SELECT finding.verdict, finding.change_pct, finding.revisions_after, finding.position,
               finding.verdict = 'worse'
          FROM analysis_finding AS finding
         WHERE finding.series_id = series.id AND finding.kind = 'slow'
           AND finding.state = 'confirmed'
         ORDER BY finding.position DESC LIMIT 1)
       ORDER BY position DESC LIMIT 1) AS found ON true
 WHERE series.id = ANY(%(series)s)
"""

Stamp = tuple[int, str]
"""The id of a series, and what is another one when something that it shows is written."""

TILES = """
SELECT wanted.id, points.positions, points.means, points.first, points.last,
       jsonb_path_query_array(
           analysis.summary,
           '$.segments[*] ? (@.last.position >= $since && @.level != null
                             && @.end_level != null)',
           jsonb_build_object('since', points.positions[1])),
       (SELECT jsonb_agg(jsonb_build_array(finding.position, revision.name, finding.verdict,
                                           finding.change_pct)
                         ORDER BY finding.position)
          FROM analysis_finding AS finding
          JOIN results_revision AS revision ON revision.id = finding.revision_id
         WHERE finding.series_id = wanted.id AND finding.kind = 'level'
           AND finding.state IN ('confirmed', 'recovered')
           AND finding.position >= points.positions[1])
  FROM unnest(%(series)s::bigint[]) AS wanted (id)
  CROSS JOIN LATERAL (
       SELECT array_agg(shown.position ORDER BY shown.position) AS positions,
              array_agg(shown.mean ORDER BY shown.position) AS means,
              (SELECT name FROM results_revision
                WHERE id = (array_agg(shown.revision_id ORDER BY shown.position))[1]) AS first,
              (SELECT name FROM results_revision
                WHERE id = (array_agg(shown.revision_id ORDER BY shown.position DESC))[1]) AS last
         FROM (SELECT position, mean, revision_id FROM results_point
                WHERE series_id = wanted.id ORDER BY position DESC LIMIT %(last)s) AS shown
       ) AS points
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = wanted.id
 WHERE points.positions IS NOT NULL
"""


class WallSeries(NamedTuple):
    """One series of the plain kernel that has a point.

    ``version`` and ``analysed_us`` change with its points and with what is concluded of them.
    ``revisions`` is how many it has (at most ``counted`` of `wall_series` where none is
    in a level), ``live_at`` when its newest revision was measured, None where that was imported as
    history. ``since`` are the revisions from its last proven change on, of level or slow.
    ``verdict`` and ``percent`` (None: beyond all figures) are of the loss that stands today, where
    none does of that change. All None: there is none.
    """

    id: int
    tree_id: int
    tree: str
    hardware_id: int
    mode: str
    metric: str
    unit: str
    better: str
    is_dirty: bool
    version: int
    analysed_us: int | None
    revisions: int
    newest: float
    live_at: datetime | None
    verdict: str | None
    percent: float | None
    since: int | None
    smallest_pct: float | None

    @property
    def smallest(self) -> float | None:
        """The change, percent, that its next two revisions could prove, as far as known."""
        return None if self.revisions <= 1 else worth_telling(self.smallest_pct)


class Change(NamedTuple):
    """A proven change of level within a tile. ``percent`` is None beyond all figures."""

    position: int
    revision: str
    verdict: str
    percent: float | None


class WallTile(NamedTuple):
    """What a small chart shows: the last points of a series, with the names of the first and the
    last revision. ``segments`` are those of its analysis that reach into it, ``changes`` those
    within it.
    """

    id: int
    positions: list[int]
    means: list[float]
    first: str
    last: str
    segments: list[dict[str, Any]]
    changes: list[Change]


def wall_stamps(known: str) -> tuple[str, list[Stamp] | None]:
    """The stamp of all that `wall_series` reads, and that of every measured series of the plain
    kernel; None where the first is the one that is ``known``. One statement.
    """
    (_, stamp), *stamped = rows_of(STAMPS, {"known": known})
    return stamp, None if stamp == known else stamped


def wall_series(stamped: Sequence[Stamp], *, counted: int) -> dict[Stamp, WallSeries]:
    """What the wall shows of each series, nothing of one that has no point; in one statement."""
    found = {
        row[0]: WallSeries._make(row)
        for row in rows_of(SERIES, {"series": [pk for pk, _ in stamped], "counted": counted})
    }
    return {stamp: found[stamp[0]] for stamp in stamped if stamp[0] in found}


def wall_tiles(series: Sequence[int], *, last: int) -> dict[int, WallTile]:
    """The last ``last`` points of each series (by id) and what is concluded of them, in one
    statement.
    """
    if not series:
        return {}
    rows = rows_of(TILES, {"series": list(series), "last": last})
    return {row[0]: _tile(row) for row in rows}


def _tile(row: tuple[Any, ...]) -> WallTile:
    *columns, segments, changes = row
    found = [Change(*one) for one in _json(changes)]
    return WallTile._make([*columns, _json(segments), found])


def _json(text: str | None) -> list[Any]:
    """A list that PostgreSQL wrote; nothing is an empty one."""
    found: list[Any] = json.loads(text) if text else []
    return found
