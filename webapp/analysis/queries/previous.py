"""Each point against the one before it in its series: ministat's Student's t at 95 %.

All of it follows from the two points, and is computed where it is read. People check it by hand, so
it is shown as ministat's word. Nothing is flagged, coloured or headlined on it: it takes every
sample for independent and knows no noise between builds. ``flag`` follows the findings.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from webapp.analysis.models import Finding, Flag, Verdict
from webapp.results.models import Revision
from webapp.results.queries import rows_of
from webapp.stats import ministat
from webapp.stats.metrics import is_gain

# As `FindingQuerySet.on_display` chooses them; and of these, changes of level alone. One build a
# side is no fact about its commit: it has no flag.
OF_ANY_KIND = """
       finding.state = ANY(%(live)s)
   AND NOT (finding.state = %(recovered)s
            AND COALESCE(finding.low_pct < 0 AND finding.high_pct > 0, false))
"""
ON_DISPLAY = f"finding.kind = %(kind)s AND {OF_ANY_KIND}"
FLAGGED = f"{ON_DISPLAY} AND finding.state <> %(one_build)s"

# What disagrees, stands beside its series, was measured late (`webapp.events.queries.stretches`),
# or lies in another epoch is no base; the last three are not compared either, nor is a variant. The
# lateral join finds each base by one step down the index.
BEFORE = """
LATERAL (
    SELECT one.* FROM results_point AS one
     WHERE one.series_id = point.series_id AND one.position < point.position
       AND NOT one.disagrees AND one.beside IS NULL AND series.variant_id IS NULL
       AND point.beside IS NULL
       AND one.position <> ALL(COALESCE(analysis.late, '{}'))
       AND point.position <> ALL(COALESCE(analysis.late, '{}'))
     ORDER BY one.position DESC LIMIT 1) AS before
    ON width_bucket(before.position, COALESCE(analysis.epochs, '{}'))
     = width_bucket(point.position, COALESCE(analysis.epochs, '{}'))
"""
"""The point before a ``point`` with its ``series`` and, where there is one, its ``analysis``."""

COLUMNS = f"""
SELECT point.series_id, point.revision_id, point.position, revision.name, previous.id,
       previous.name, point.disagrees, COALESCE(NULLIF(series.own_better, ''), metric.better),
       (SELECT finding.verdict FROM analysis_finding AS finding
         WHERE finding.series_id = point.series_id AND finding.revision_id = point.revision_id
           AND {FLAGGED} LIMIT 1),
       before.n, before.mean, before.variance, point.n, point.mean, point.variance
"""  # noqa: S608 (text of our own; no value of a request is in it)
BASES = f"""
  JOIN results_series AS series ON series.id = point.series_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  JOIN results_revision AS revision ON revision.id = point.revision_id
  LEFT JOIN analysis_seriesanalysis AS analysis ON analysis.series_id = point.series_id
  LEFT JOIN {BEFORE}
  LEFT JOIN results_revision AS previous ON previous.id = before.revision_id
 ORDER BY point.position, point.series_id
"""
AT_REVISIONS = """unnest(%(revisions)s::bigint[]) AS wanted (id)
  JOIN results_point AS point ON point.revision_id = wanted.id"""
# OFFSET 0 as in `detecting.SAMPLES_FROM`.
OF_SERIES = """unnest(%(series)s::bigint[], %(since)s::bigint[]) AS wanted (id, since)
 CROSS JOIN LATERAL (
       SELECT * FROM results_point
        WHERE series_id = wanted.id AND position >= wanted.since OFFSET 0) AS point"""
BY_NAME = """results_revision AS wanted
  JOIN results_series AS its ON its.id = %(series)s AND its.tree_id = wanted.tree_id
   AND wanted.name = ANY(%(names)s)
  JOIN results_point AS point ON point.revision_id = wanted.id AND point.series_id = its.id"""


class Compared(NamedTuple):
    """A point against the one before it, whose mean is ``before``; changes are in percent of that.

    ``percent_error`` is half of ministat's 95 % interval, None where ministat refuses: then, and
    where the runs of the point disagree, the verdict is *cannot tell*. ``percent`` is None of 0.
    """

    series_id: int
    revision_id: int
    position: int
    revision: str
    previous_id: int
    previous: str
    before: float
    percent: float | None
    percent_error: float | None
    verdict: Verdict
    flag: Flag


def compared_at(revisions: Sequence[Revision | int]) -> list[Compared]:
    """What ``revisions`` (or ids) did to each series, in the order of the tree. One query."""
    ids = [one.pk if isinstance(one, Revision) else one for one in revisions]
    return _compared(AT_REVISIONS, revisions=ids)


def compared_since(since: Mapping[int, int]) -> list[Compared]:
    """By series (id) its points from a position on, in the order of the tree. One query."""
    return _compared(OF_SERIES, series=list(since), since=list(since.values()))


def compared_named(series: int, names: Sequence[str]) -> list[Compared]:
    """The points of a series (id) at the revisions of these names. One query."""
    return _compared(BY_NAME, series=series, names=list(names))


def noted_since(since: Mapping[int, int]) -> list[dict[str, Any]]:
    """The rows of `NotedPoint` of the same points. One query."""
    return [
        {"series_id": row[0], "revision_id": row[1], "position": row[2], "is_compared": is_compared}
        for row in _rows(OF_SERIES, series=list(since), since=list(since.values()))
        if not (is_compared := row[4] is not None) or _judged(row).verdict != Verdict.CANNOT_TELL
    ]


def on_display() -> dict[str, Any]:
    """The parameters of `ON_DISPLAY` and `FLAGGED`."""
    return {
        "kind": Finding.Kind.LEVEL,
        "live": list(Finding.LIVE),
        "recovered": Finding.State.RECOVERED,
        "one_build": Finding.State.ONE_BUILD,
    }


def _compared(points: str, **asked: Any) -> list[Compared]:
    return [_judged(row) for row in _rows(points, **asked) if row[4] is not None]


def _rows(points: str, **asked: Any) -> list[tuple[Any, ...]]:
    """The columns of each point and of its base, if any."""
    return rows_of(f"{COLUMNS} FROM {points} {BASES}", on_display() | asked)


def _judged(row: Sequence[Any]) -> Compared:
    series, revision, position, name, previous, before, disagrees, better, found, *sides = row
    difference = _difference(*sides)
    verdict = Verdict.CANNOT_TELL
    if difference and difference.proven and not disagrees:
        is_better = is_gain(difference.delta, "less" if better == "less" else "more")
        verdict = Verdict.BETTER if is_better else Verdict.WORSE
    mean, delta = sides[1], sides[4] - sides[1]
    flag = {Verdict.WORSE: Flag.REGRESSED, Verdict.BETTER: Flag.IMPROVED}
    return Compared(
        *(series, revision, position, name, previous, before, mean),
        percent=delta * 100 / mean if mean else None,
        percent_error=difference.percent_error if difference else None,
        verdict=verdict,
        flag=flag.get(found, Flag.NONE),
    )


def _difference(*sides: Any) -> ministat.Difference | None:
    """None for fewer than three samples a side, and for samples without finite moments, which were
    stored before there were bounds.
    """
    if min(sides[0], sides[3]) < ministat.LEAST_POINTS or None in sides:
        return None
    return ministat.difference_from_moments(*sides) if all(map(isfinite, sides)) else None
