"""What ministat says of each point against the one before it: Student's t at 95 %.

People check it by hand, so it is stored and shown as ministat's word. Nothing is flagged, coloured
or headlined on it: it takes every sample for independent and knows no noise between builds.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webapp.analysis.models import Comparison, Verdict
from webapp.events.queries import ONE_EPOCH, Epochs
from webapp.results.models import Point, Series
from webapp.stats import ministat
from webapp.stats.better import Better, is_gain


@dataclass(frozen=True, slots=True)
class Judgement:
    """What ministat says of a point, in the words of a verdict."""

    difference: ministat.Difference | None
    verdict: Verdict


def compare_consecutive(
    series: Series, points: Sequence[Point], epochs: Epochs = ONE_EPOCH
) -> Iterator[Comparison]:
    """A comparison for each point but the first of an epoch, which only serves as base. One whose
    runs disagree is no base, and nothing can be told of it. One with runs of a later epoch is
    neither base nor compared.
    """
    before: Point | None = None
    for after in points:
        if after.position in epochs.late:
            continue
        if before is not None and _are_of_one_epoch(before, after, epochs):
            yield _comparison(series, before, after)
        before = before if after.disagrees else after


def _are_of_one_epoch(before: Point, after: Point, epochs: Epochs) -> bool:
    starts = epochs.starts
    return bisect_right(starts, before.position) == bisect_right(starts, after.position)


def _comparison(series: Series, before: Point, after: Point) -> Comparison:
    judged = judge(before, after, better=series.better)
    difference = judged.difference
    return Comparison(
        series=series,
        revision_id=after.revision_id,
        previous_id=before.revision_id,
        position=after.position,
        delta=after.mean - before.mean,
        error=difference.error if difference else None,
        percent=_percent(before, after),
        percent_error=difference.percent_error if difference else None,
        verdict=judged.verdict,
    )


def judge(before: Point, after: Point, *, better: Better) -> Judgement:
    """Compare two points by their moments. Where ministat refuses, or the runs of the later one
    disagree, we cannot tell.
    """
    difference = _difference(before, after)
    if difference is None or not difference.proven or after.disagrees:
        return Judgement(difference, Verdict.CANNOT_TELL)
    improved = is_gain(difference.delta, better)
    return Judgement(difference, Verdict.BETTER if improved else Verdict.WORSE)


def _difference(before: Point, after: Point) -> ministat.Difference | None:
    least = ministat.LEAST_POINTS
    if before.n < least or after.n < least or before.variance is None or after.variance is None:
        return None
    return ministat.difference_from_moments(
        before.n, before.mean, before.variance, after.n, after.mean, after.variance
    )


def _percent(before: Point, after: Point) -> float | None:
    return (after.mean - before.mean) * 100 / before.mean if before.mean else None
