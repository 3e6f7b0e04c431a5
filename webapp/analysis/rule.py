"""The rule that says what a point changed: the door through which a better rule comes in.

Now: each point against the one before it, ministat's Student's t at 95 %; proven worse by at
least the default smallest effect is flagged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from webapp.analysis.models import Comparison, Flag, Verdict
from webapp.results.models import Point, Series
from webapp.stats import ministat
from webapp.stats.better import Better, is_gain
from webapp.stats.defaults import SMALLEST_EFFECT_PCT


@dataclass(frozen=True, slots=True)
class Judgement:
    """What ministat says of a point, in the words of a verdict."""

    difference: ministat.Difference | None
    verdict: Verdict
    flag: Flag


def compare_consecutive(series: Series, points: Sequence[Point]) -> Iterator[Comparison]:
    """A comparison for each point but the first, which only serves as base."""
    for before, after in pairwise(points):
        judged = judge(before, after, better=series.better)
        difference = judged.difference
        yield Comparison(
            series=series,
            revision_id=after.revision_id,
            previous_id=before.revision_id,
            position=after.position,
            delta=after.mean - before.mean,
            error=difference.error if difference else None,
            percent=_percent(before, after),
            percent_error=difference.percent_error if difference else None,
            verdict=judged.verdict,
            flag=judged.flag,
        )


def judge(before: Point, after: Point, *, better: Better) -> Judgement:
    """Compare two points by their moments. Where ministat refuses, we cannot tell."""
    difference = _difference(before, after)
    if difference is None or not difference.proven:
        return Judgement(difference, Verdict.CANNOT_TELL, Flag.NONE)
    improved = is_gain(difference.delta, better)
    large = difference.percent is not None and abs(difference.percent) >= SMALLEST_EFFECT_PCT
    if improved:
        return Judgement(difference, Verdict.BETTER, Flag.IMPROVED if large else Flag.NONE)
    return Judgement(difference, Verdict.WORSE, Flag.REGRESSED if large else Flag.NONE)


def _difference(before: Point, after: Point) -> ministat.Difference | None:
    least = ministat.LEAST_POINTS
    if before.n < least or after.n < least or before.variance is None or after.variance is None:
        return None
    return ministat.difference_from_moments(
        before.n, before.mean, before.variance, after.n, after.mean, after.variance
    )


def _percent(before: Point, after: Point) -> float | None:
    return (after.mean - before.mean) * 100 / before.mean if before.mean else None
