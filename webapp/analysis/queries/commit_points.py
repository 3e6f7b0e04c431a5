"""The points of one commit with what judges them, in one statement.

Points, their series, the points before them, the noise of their histories and their margins: as
rows of models these took more processor time than anything else on the page of a commit.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from webapp.analysis.queries import verdicts
from webapp.analysis.queries.compared import digests_of
from webapp.analysis.queries.previous import BEFORE
from webapp.analysis.queries.series_state import BLIND, NOISES, Beliefs, SeriesFacts, noise_from
from webapp.results import queries
from webapp.results.models import LeftOut, Revision
from webapp.stats.compare import unpack_summary
from webapp.stats.metrics import MARGIN_PCT
from webapp.stats.sessions import ForeignSession

BUILDS = """ARRAY(
            SELECT DISTINCT kernel.build_id FROM results_run AS run
              JOIN results_kernel AS kernel ON kernel.id = run.kernel_id
              JOIN results_measurement AS measurement ON measurement.run_id = run.id
             WHERE run.revision_id = {point}.revision_id AND run.withdrawn_at IS NULL
               AND measurement.series_id = {point}.series_id)"""
"""The builds of a ``point``, where what it keeps does not distinguish them from others."""

# What a point without one before it holds of its levels is not read. The names come last: joined at
# once with the rest, to plan the statement took four times as long as to execute it.
POINTS = f"""
WITH series AS MATERIALIZED (
SELECT series.id, series.own_better, series.tree_id, series.hardware_id, series.mode_id,
       series.metric_id, series.variant_id,
       point.n, point.mean, point.disagrees, point.uploads, point.left_out,
       previous.id AS previous_id, previous.name AS previous_name,
       CASE WHEN before.revision_id IS NULL THEN NULL ELSE point.levels END AS own_levels,
       before.levels, COALESCE(before.disagrees, false) AS before_disagrees, settings.margin_pct,
       analysis.summary -> 'noise' ->> 'measured_build_pct' AS build_pct,
       analysis.summary -> 'noise' ->> 'measured_freedom' AS freedom,
       COALESCE((analysis.summary ->> 'recurring')::int, 0) > 0 AS recurs,
       COALESCE(point.beside, (
           SELECT begun FROM jsonb_array_elements(series.session_starts) AS begun
            WHERE (begun ->> 'position')::bigint = point.position)) AS apart,
       CASE WHEN before.builds > 1 THEN {BUILDS.format(point="before")} END AS builds_before,
       CASE WHEN before.revision_id IS NOT NULL AND point.builds > 1
            THEN {BUILDS.format(point="point")} END AS builds,
       CASE WHEN before.revision_id IS NOT NULL AND {BLIND}
             AND row_number() OVER (PARTITION BY before.revision_id IS NOT NULL AND {BLIND}) = 1
            THEN {NOISES.format(revision="%(revision)s")} END AS noises
  FROM results_point AS point
  JOIN results_series AS series ON series.id = point.series_id
  LEFT JOIN analysis_seriessettings AS settings ON settings.series_id = series.id
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = series.id
  LEFT JOIN {BEFORE}
  LEFT JOIN results_revision AS previous ON previous.id = before.revision_id
 WHERE point.revision_id = %(revision)s AND series.hardware_id = ANY(%(machines)s))
SELECT {queries.SERIES_COLUMNS},
       n, mean, disagrees, uploads, left_out, previous_id, previous_name, own_levels, levels,
       before_disagrees, margin_pct, build_pct, freedom, recurs, apart, builds_before, builds,
       noises
  FROM series {queries.SERIES_JOINS}
 ORDER BY tree.name, hardware.name, mode.name, metric.name, series.id
"""  # noqa: S608 (names of columns and tables; no value of a request is in this text)


class Previous(NamedTuple):
    """The revision that a point is compared with."""

    pk: int
    name: str

    def __str__(self) -> str:
        return self.name


class PointSide(NamedTuple):
    """One of the two points of a pair as `judge_pairs` takes it."""

    levels: Mapping[str, Any]
    disagrees: bool
    build_names: frozenset[str]

    def is_of_the_builds_of(self, other: "PointSide") -> bool:
        """Whether both hold samples of the very same builds."""
        return bool(self.levels["identity"] == other.levels["identity"])


class CommitPoint(NamedTuple):
    """What a commit gave one series: ``n`` samples with their ``mean`` in the metric's unit.

    ``uploads`` and ``left_out`` are those of `Point`. ``previous`` is the revision it is compared
    with, if any; ``pair`` the point there and this one. ``foreign`` is its session, where that is
    one from elsewhere. ``recurs``: revisions far off their level recur in the series, so that one
    revision against another shows no change.
    """

    series: queries.NamedSeries
    n: int
    mean: float
    disagrees: bool
    uploads: Any
    left_out: Any
    previous: Previous | None
    pair: tuple[PointSide, PointSide, SeriesFacts] | None
    foreign: ForeignSession | None
    recurs: bool

    @property
    def series_id(self) -> int:
        """The id of its series."""
        return self.series.pk

    @property
    def excluded(self) -> LeftOut | None:
        """The samples of its runs that do not count; None where all do."""
        return LeftOut.from_data(self.left_out)


def rows_of_commit(commit: Revision, machines: Sequence[int]) -> list[tuple[Any, ...]]:
    """The points of ``commit`` on ``machines`` (ids), variants too, in the order of what their
    series name: as plain values, from which all that `points_of_rows` gives follows. One query.
    """
    return queries.rows_of(POINTS, {"revision": commit.pk, "machines": list(machines)})


def points_of_rows(rows: Sequence[tuple[Any, ...]]) -> list[CommitPoint]:
    """The points that `rows_of_commit` read."""
    reader = queries.SeriesReader()
    beliefs = Beliefs.from_json(next((row[-1] for row in rows if row[-1]), None))
    return [_point(reader.read(row), row[queries.SERIES_WIDTH : -1], beliefs) for row in rows]


def judge_commit(points: Iterable[CommitPoint]) -> dict[int, verdicts.PointVerdict]:
    """For each series (id) the verdict on its point, where there is one before it. No query."""
    return verdicts.judge_pairs({one.series.pk: one.pair for one in points if one.pair is not None})


def claims_of_commit(
    points: Iterable[CommitPoint], judged: Mapping[int, verdicts.PointVerdict]
) -> verdicts.TableClaims:
    """What may be claimed of the table of ``points``, of which ``judged`` has a verdict: the pairs
    in their order.
    """
    return verdicts.claims_of(
        [
            verdicts.JudgedPair(
                one.series.mode.name, one.series.metric.name, 0, one.series.better, found
            )
            for one in points
            if (found := judged.get(one.series_id))
        ]
    )


def _point(series: queries.NamedSeries, row: tuple[Any, ...], beliefs: Beliefs) -> CommitPoint:
    n, mean, disagrees, uploads, left_out, previous, name, own, before = row[:9]
    before_disagrees, margin, percent, freedom, recurs, foreign, *builds = row[9:]
    pair = None
    if before is not None:
        facts = SeriesFacts(
            better=series.better,
            margin_pct=MARGIN_PCT if margin is None else margin,
            build_noise=noise_from(percent, freedom),
            belief=beliefs.of(series.metric.name, series.hardware.pk, series.mode.workload),
        )
        first = _side(before, before_disagrees, builds[0])
        pair = first, _side(own, disagrees, builds[1]), facts
    return CommitPoint(
        series,
        n,
        mean,
        disagrees,
        json.loads(uploads) if uploads else None,
        json.loads(left_out) if left_out else None,
        None if previous is None else Previous(previous, name),
        pair,
        ForeignSession.from_data(json.loads(foreign)) if foreign else None,
        recurs,
    )


def _side(packed: bytes, disagrees: bool, builds: Sequence[str] | None) -> PointSide:
    levels = unpack_summary(packed)
    names = frozenset([levels["identity"]]) if builds is None else digests_of(builds)
    return PointSide(levels, disagrees, names)
