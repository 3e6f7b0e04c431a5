"""Points against the points before them, judged when they are read.

The stored comparisons are ministat's, which knows nothing of the noise between builds. Here each
pair is judged with the noise that the history of its own series tells, all pairs in one call, so
a page is never older than what is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from django.db.models import Q

from webapp.analysis.models import Comparison
from webapp.analysis.queries.noise import SeriesFacts, facts_of
from webapp.results.models import Point
from webapp.stats.compare import VERDICTS, BuildNoise, Comparisons, Moments, Verdict, compare_many

UNKNOWN_FREEDOM = 1.0
"""Degrees of freedom of a noise of 0 %: any will do, it counts for nothing."""


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """One point against the one before it.

    ``percent`` with ``low`` and ``high`` is the change and its 95 % interval, ``visible`` the
    smallest change that would have been seen four times in five; None where there is none.
    ``build_noise`` was counted; None: not known, so the verdict speaks of these builds alone.
    """

    verdict: Verdict
    percent: float | None
    low: float | None
    high: float | None
    visible: float | None
    negligible: bool
    build_noise: BuildNoise | None


Pair = tuple[Point, Point, SeriesFacts]


def judge_points(
    points: Iterable[Point], comparisons: Iterable[Comparison]
) -> dict[int, PointVerdict]:
    """For each series the verdict on its point, where there is one before it.

    ``points`` are of different series, with series and metric at hand; ``comparisons`` say which
    revision is the one before. Three queries.
    """
    at = {point.series_id: point for point in points}
    before = _points_before(comparisons)
    facts = facts_of(at[pk].series for pk in before if pk in at)
    pairs = {pk: (before[pk], at[pk], its) for pk, its in facts.items()}
    usable = {pk: pair for pk, pair in pairs.items() if _is_usable(pair)}
    return {pk: _nothing(pair) for pk, pair in pairs.items()} | _judge(usable)


def _points_before(comparisons: Iterable[Comparison]) -> dict[int, Point]:
    wanted = {row.series_id: row.previous_id for row in comparisons}
    rows = Point.objects.filter(Q(series__in=wanted.keys()) & Q(revision__in=set(wanted.values())))
    return {row.series_id: row for row in rows if wanted[row.series_id] == row.revision_id}


def _is_usable(pair: Pair) -> bool:
    """Whether the moments of both points are within the range of a double."""
    before, after, _ = pair
    return all(
        isfinite(value)
        for point in (before, after)
        for value in (point.mean, point.variance or 0.0)
    )


def _nothing(pair: Pair) -> PointVerdict:
    noise = pair[2].build_noise
    return PointVerdict(Verdict.CANNOT_TELL, None, None, None, None, False, noise)


def _judge(pairs: Mapping[int, Pair]) -> dict[int, PointVerdict]:
    """One call for all series of the same margin, which is nearly always every one."""
    found: dict[int, PointVerdict] = {}
    for margin in {facts.margin_pct for _, _, facts in pairs.values()}:
        its = {pk: pair for pk, pair in pairs.items() if pair[2].margin_pct == margin}
        rows = _compared(list(its.values()), margin)
        found |= {
            pk: _verdict(rows, row, pair[2].build_noise)
            for row, (pk, pair) in enumerate(its.items())
        }
    return found


def _compared(pairs: Sequence[Pair], margin: float) -> Comparisons:
    noises = [facts.build_noise for _, _, facts in pairs]
    return compare_many(
        _moments([before for before, _, _ in pairs]),
        _moments([after for _, after, _ in pairs]),
        better=[facts.better for _, _, facts in pairs],
        margin=margin,
        build_percent=[noise.percent if noise else 0.0 for noise in noises],
        build_df=[noise.df if noise else UNKNOWN_FREEDOM for noise in noises],
    )


def _moments(points: Sequence[Point]) -> Moments:
    return Moments(
        n=[point.n for point in points],
        mean=[point.mean for point in points],
        variance=[point.variance or 0.0 for point in points],
    )


def _verdict(rows: Comparisons, row: int, noise: BuildNoise | None) -> PointVerdict:
    return PointVerdict(
        verdict=VERDICTS[rows.verdict[row]],
        percent=_known(rows.percent[row]),
        low=_known(rows.low[row]),
        high=_known(rows.high[row]),
        visible=_known(rows.visible[row]),
        negligible=bool(rows.negligible[row]),
        build_noise=noise,
    )


def _known(value: float) -> float | None:
    """NaN stands for unknown; infinite is a change beyond the double range, which has no figure."""
    return float(value) if isfinite(value) else None
