"""Judge the first pairs of series that cannot tell their build noise yet.

Two things that a pair is judged by lie outside its series: how many pairs its commit has, and what
other series of the tree tell of build noise. So that what is concluded follows from the runs of the
tree alone, whatever their order, series whose pairs were judged by other than is known now are
analysed again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Q
from django.db.models.fields.json import KT

from webapp.analysis.models import SeriesAnalysis
from webapp.analysis.queries.noise import Beliefs
from webapp.results.models import Series
from webapp.results.services import update_rows
from webapp.stats import decisive

COUNT_PAIRS = """
SELECT series.tree_id, position, count(*)
  FROM analysis_seriesanalysis AS analysis
  JOIN results_series AS series ON series.id = analysis.series_id
 CROSS JOIN unnest(analysis.asked) AS position
 WHERE series.tree_id = ANY(%s) AND position = ANY(%s)
 GROUP BY series.tree_id, position
"""

Key = tuple[int, int, str, int]  # tree, hardware, workload, metric


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair, the belief it was judged under, and what it came to."""

    pair: decisive.Pair
    belief: decisive.Belief
    judged: decisive.Judged

    def as_data(self) -> dict[str, Any]:
        """What is kept with a finding: percentages, and chances as probabilities."""
        figures = decisive.figures_of(self.judged, self.belief)
        evidence = self.judged.step.evidence
        sign = -1.0 if self.pair.better == "more" else 1.0
        return {
            "state": self.judged.state,
            "chance": self.judged.chance,
            "limit": self.judged.limit,
            "pairs": self.judged.pairs,
            "builds_before": evidence.old,
            "builds_after": evidence.new,
            "sure_pct": decisive.percent_of(sign * figures.sure),
            "runs_pct": 100.0 * (evidence.run_share * evidence.run_variance) ** 0.5,
            "median_pct": self.belief.median_pct,
            "spread": self.belief.spread,
            "turning_pct": figures.turning_pct,
        }


@dataclass(frozen=True, slots=True)
class JudgedSeries:
    """The judged pairs of the series asked for, and the ids of ``again``: others of their trees
    whose pairs were judged by something that changed.
    """

    by_series: Mapping[int, Sequence[JudgedPair]] = field(default_factory=dict)
    again: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Row:
    """A series with pairs."""

    series: int
    key: Key
    pairs: Sequence[decisive.Pair]
    judged: Any


def judge_first_pairs(series: Sequence[Series]) -> JudgedSeries:
    """Judge the pairs of ``series``, whose summaries are stored. The caller holds their trees.

    One query where no series of the trees has any pair worth it; three more, and a write, else.
    """
    rows = _rows({one.tree_id for one in series})
    if not rows:
        return JudgedSeries()
    counts = _counts(rows)
    beliefs = _beliefs({row.key for row in rows})
    asked = {one.pk for one in series}
    found: dict[int, list[JudgedPair]] = {}
    by, again = {}, []
    for row in rows:
        judged_by = _judged_by(row, counts, beliefs[row.key])
        if row.series in asked:
            found[row.series] = _judge(row, counts, beliefs[row.key])
            if row.judged != judged_by:
                by[row.series] = judged_by
        elif row.judged != judged_by:
            again.append(row.series)
    _store(by)
    return JudgedSeries(found, again)


def _rows(trees: Collection[int]) -> list[_Row]:
    found = (
        SeriesAnalysis.objects.filter(~Q(pairs=[]), series__tree__in=trees)
        .order_by("series_id")
        .values_list(
            "series_id",
            "series__tree_id",
            "series__hardware_id",
            "series__mode__workload",
            "series__metric_id",
            "pairs",
            "judged",
        )
    )
    return [
        _Row(pk, (tree, hardware, workload, metric), list(map(decisive.Pair.from_data, pairs)), by)
        for pk, tree, hardware, workload, metric, pairs, by in found
    ]


def _counts(rows: Iterable[_Row]) -> Mapping[tuple[int, int], int]:
    """How many pairs were asked at each (tree, position)."""
    at = {(row.key[0], pair.position) for row in rows for pair in row.pairs}
    trees, positions = (sorted(set(part)) for part in zip(*at, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(COUNT_PAIRS, [trees, positions])
        return {(tree, position): count for tree, position, count in cursor.fetchall()}


def _beliefs(keys: Collection[Key]) -> dict[Key, decisive.Belief]:
    """What the trees' own series tell of build noise, by hardware and workload."""
    known = Beliefs(
        ((tree, metric), hardware, workload, float(percent), float(freedom))
        for tree, hardware, workload, metric, percent, freedom in _known(keys)
    )
    return {
        (tree, hardware, workload, metric): known.of((tree, metric), hardware, workload)
        for tree, hardware, workload, metric in keys
    }


def _known(keys: Collection[Key]) -> Iterable[tuple[int, int, str, int, str, str]]:
    alike = Q(series__hardware__in={key[1] for key in keys})
    alike |= Q(series__mode__workload__in={key[2] for key in keys})
    return (
        SeriesAnalysis.objects.filter(
            alike,
            series__tree__in={key[0] for key in keys},
            series__metric__in={key[3] for key in keys},
            summary__noise__build_pct__isnull=False,
        )
        .annotate(percent=KT("summary__noise__build_pct"), freedom=KT("summary__noise__freedom"))
        .exclude(percent__isnull=True)
        .order_by()
        .values_list(
            "series__tree_id",
            "series__hardware_id",
            "series__mode__workload",
            "series__metric_id",
            "percent",
            "freedom",
        )
    )


def _judged_by(
    row: _Row, counts: Mapping[tuple[int, int], int], belief: decisive.Belief
) -> list[list[float]]:
    """All that a judgement depends on beside the pairs themselves."""
    return [
        [counts.get((row.key[0], pair.position), 1), belief.median_pct, belief.spread]
        for pair in row.pairs
    ]


def _judge(
    row: _Row, counts: Mapping[tuple[int, int], int], belief: decisive.Belief
) -> list[JudgedPair]:
    return [
        JudgedPair(
            pair,
            belief,
            decisive.judge(pair, belief, counts.get((row.key[0], pair.position), 1)),
        )
        for pair in row.pairs
    ]


def _store(judged_by: Mapping[int, Any]) -> None:
    rows = [{"series_id": pk, "judged": by} for pk, by in judged_by.items()]
    update_rows(SeriesAnalysis, rows, key="series_id")
