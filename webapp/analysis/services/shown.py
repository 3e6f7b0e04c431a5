"""The changes that a series shows: what the detector found, and what first pairs alone show, which
are judged where a series does not show its build noise yet.

Where both speak of the same revision, the detector's word counts once it is confirmed; its
candidate gives way to a pair, which states more: how often builds scatter so far.

Two things that a pair is judged by lie outside its series: how many pairs its commit has, and what
other series of the tree show of build noise. So that what is concluded follows from the runs of the
tree alone, whatever their order, series whose pairs were judged by other than is known now are
analysed again.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db.models import Q
from django.db.models.fields.json import KT

from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.analysis.queries.series_state import Beliefs
from webapp.analysis.services.detecting import Detected
from webapp.results.models import Series
from webapp.results.queries import rows_of
from webapp.results.services import update_rows
from webapp.stats import changes, single_build
from webapp.stats.changes import At, Change, recoveries, why_flagged, why_withdrawn

COUNT_PAIRS = """
SELECT series.tree_id, position, count(*)
  FROM analysis_seriesanalysis AS analysis
  JOIN results_series AS series ON series.id = analysis.series_id
 CROSS JOIN unnest(analysis.asked) AS position
 WHERE series.tree_id = ANY(%s) AND position = ANY(%s)
 GROUP BY series.tree_id, position
"""

Key = tuple[int, int, str, int]  # tree, hardware, workload, metric

REASONS = ("why", "one_build")
"""What a finding states of why it is, and of how few builds it was judged by."""

NO_LOSS = "Withdrawn: what is measured now shows no such loss."


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair, the belief it was judged under, and what it came to."""

    pair: single_build.Pair
    belief: single_build.NoisePrior
    judged: single_build.Judged

    def as_data(self) -> dict[str, Any]:
        """What is kept with a finding: percentages, and chances as probabilities."""
        figures = single_build.figures_of(self.judged, self.belief)
        evidence = self.judged.step.evidence
        sign = -1.0 if self.pair.better == "more" else 1.0
        return {
            "state": self.judged.state,
            "chance": self.judged.chance,
            "limit": self.judged.limit,
            "pairs": self.judged.pairs,
            "builds_before": evidence.old,
            "builds_after": evidence.new,
            "sure_pct": single_build.percent_of(sign * figures.sure),
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
    pairs: Sequence[single_build.Pair]
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
        _Row(
            pk,
            (tree, hardware, workload, metric),
            list(map(single_build.Pair.from_data, pairs)),
            by,
        )
        for pk, tree, hardware, workload, metric, pairs, by in found
    ]


def _counts(rows: Iterable[_Row]) -> Mapping[tuple[int, int], int]:
    """How many pairs were asked at each (tree, position)."""
    at = {(row.key[0], pair.position) for row in rows for pair in row.pairs}
    trees, positions = (sorted(set(part)) for part in zip(*at, strict=True))
    counted = rows_of(COUNT_PAIRS, [trees, positions])
    return {(tree, position): count for tree, position, count in counted}


def _beliefs(keys: Collection[Key]) -> dict[Key, single_build.NoisePrior]:
    """The build noise of the trees' own series, by hardware and workload."""
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
    row: _Row, counts: Mapping[tuple[int, int], int], belief: single_build.NoisePrior
) -> list[list[float]]:
    """All that a judgement depends on beside the pairs themselves."""
    return [
        [counts.get((row.key[0], pair.position), 1), belief.median_pct, belief.spread]
        for pair in row.pairs
    ]


def _judge(
    row: _Row, counts: Mapping[tuple[int, int], int], belief: single_build.NoisePrior
) -> list[JudgedPair]:
    return [
        JudgedPair(
            pair,
            belief,
            single_build.judge(pair, belief, counts.get((row.key[0], pair.position), 1)),
        )
        for pair in row.pairs
    ]


def _store(judged_by: Mapping[int, Any]) -> None:
    rows = [{"series_id": pk, "judged": by} for pk, by in judged_by.items()]
    update_rows(SeriesAnalysis, rows, key=("series_id",))


@dataclass(frozen=True, slots=True)
class Shown:
    """A change as it is stored: with why, by whom it recovered, and what a pair was judged by."""

    change: Change
    why: str
    recovered_by: At | None
    one_build: dict[str, Any] | None = None


def shown_by(one: Detected, judged: Sequence[JudgedPair]) -> list[Shown]:
    """The changes of a series in order along the tree."""
    shown = [pair for pair in judged if pair.judged.state != "withdrawn"]
    shown = [pair for pair in shown if not any(_covers(by, pair) for by in one.analysis.changes)]
    taken = {pair.pair.position for pair in shown}
    found = [each for each in one.analysis.changes if each.revision.position not in taken]
    pairs = {pair.pair.position: pair for pair in shown}
    rows = sorted([*found, *map(_change, shown)], key=lambda each: each.revision.position)
    return [
        _shown(each, by, pairs.get(each.revision.position), analysis)
        for analysis, its in _by_epoch(one, rows)
        for each, by in zip(its, recoveries(its), strict=True)
    ]


def _by_epoch(
    one: Detected, rows: Sequence[Change]
) -> Iterator[tuple[changes.Analysis, Sequence[Change]]]:
    """The changes of each epoch, with what is known of it: no later epoch takes one back."""
    last = len(one.by_epoch) - 1
    grouped = groupby(rows, key=lambda row: bisect_right(one.starts, row.revision.position))
    for number, its in grouped:
        yield one.by_epoch[min(number, last)], list(its)


def say_why_withdrawn(row: Finding, judged: Iterable[JudgedPair], one: Detected) -> None:
    """Let a finding that is gone record what became of it."""
    if row.one_build is None:
        row.why = why_withdrawn(one.analysis, row.position)
        return
    for pair in judged:
        if pair.pair.position == row.position and pair.judged.state == "withdrawn":
            row.why, row.one_build = _why(pair), pair.as_data()
            return
    row.why, row.one_build = NO_LOSS, row.one_build | {"state": "withdrawn"}


def _covers(change: Change, pair: JudgedPair) -> bool:
    """Whether the detector confirmed the loss of a pair, there or about there."""
    shares = max(change.after.position, pair.pair.previous) < min(
        change.last.position, pair.pair.position
    )
    here = change.revision.position == pair.pair.position
    return change.state == "confirmed" and (here or (shares and change.verdict == "worse"))


def _shown(
    change: Change, at: At | None, pair: JudgedPair | None, analysis: changes.Analysis
) -> Shown:
    if pair is None:
        return Shown(change, why_flagged(change, analysis), at)
    if at is None and (back := pair.judged.recovered_by) is not None:
        at = At(back.position, back.label)
    return Shown(change, _why(pair), at, pair.as_data())


def _why(one: JudgedPair) -> str:
    figures = single_build.figures_of(one.judged, one.belief)
    return single_build.why_judged(one.pair, one.judged, one.belief, figures)


def _change(one: JudgedPair) -> Change:
    """A pair as the change that it shows: between its two revisions, which leave
    no other place for it.
    """
    pair, judged, step = one.pair, one.judged, one.judged.step
    sign = 1.0 if pair.better == "more" else -1.0
    figures = single_build.figures_of(judged, one.belief)
    ends = sorted((-sign * figures.low, -sign * figures.high))
    at, previous = At(pair.position, pair.steps[0].label), At(pair.previous, pair.previous_label)
    settled = judged.settled_by
    after = [each.position for each in pair.steps].index(step.position) + 1
    return Change(
        revision=at,
        previous=previous,
        after=previous,
        first=at,
        last=at,
        here=1.0,
        change_pct=single_build.percent_of(-sign * step.evidence.loss),
        low_pct=single_build.percent_of(ends[0]),
        high_pct=single_build.percent_of(ends[1]),
        before=single_build.level_of(pair.level),
        level=single_build.level_of(pair.level - sign * step.evidence.loss),
        revisions_before=pair.revisions,
        revisions_after=after,
        verdict="worse",
        state="confirmed" if judged.state == "confirmed" else "one build",
        score=judged.score,
        needed=single_build.score_of(judged.limit),
        p_value=judged.chance,
        probability=changes.probability(judged.score, step.evidence.new),
        confirmed_by=At(settled.position, settled.label) if settled else None,
    )
