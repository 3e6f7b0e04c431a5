"""Points against the points before them, judged when they are read.

The stored comparisons are ministat's, which takes every sample for independent and knows nothing
of the noise between builds. Here each pair is judged by the units that both points have (builds,
boots or runs) and with the noise that the history of its own series tells, all pairs in one call,
so a page is never older than what is known, and says what the compare page says.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, TypeVar

from django.db.models import Q

from webapp.analysis.models import Comparison
from webapp.analysis.queries.noise import SeriesFacts, facts_of
from webapp.results.models import Point
from webapp.stats.compare import (
    LEVELS,
    VERDICTS,
    BuildNoise,
    Comparisons,
    Level,
    Look,
    Summaries,
    Summary,
    Verdict,
    compare_many,
)
from webapp.stats.limits import worth_telling

BUILDS_DIFFER = "builds differ"
RUNS_DISAGREE = "lab?"


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """One point against the one before it.

    ``percent`` with ``low`` and ``high`` is the change and its 95 % interval, ``visible`` the
    smallest change that would have been seen four times in five; None where there is none. ``p``
    is the chance of a difference as large where there is none, by the test that gave the interval,
    ``df`` the degrees of freedom of that, None without scatter.
    ``unit`` is the level whose scatter was used, ``units`` how many each side has. ``build_noise``
    of the history was counted; None: not known, or not needed. ``one_build``: different builds of
    whose noise nothing is known, of which a side has but one; if they differ for sure, that is all
    that can be said (``builds_differ``), and the verdict is *cannot tell*. It is so too where runs
    of the point, or of the one before, differ by more than their noise (``runs_disagree``).
    ``builds`` are those of both whose scatter is in the change; empty: both are of the same, so
    that it cancels; None: not known by name. ``margin`` is that of the verdict.
    """

    verdict: Verdict
    percent: float | None
    low: float | None
    high: float | None
    visible: float | None
    negligible: bool
    p: float
    df: float | None
    unit: Level
    units: tuple[int, int]
    build_noise: BuildNoise | None
    one_build: bool
    builds_differ: bool
    runs_disagree: bool
    builds: frozenset[str] | None
    margin: float

    @property
    def label(self) -> str:
        """What a page calls it: the verdict, that no more is known than that builds differ, or that
        the lab is in question.
        """
        if self.runs_disagree:
            return RUNS_DISAGREE
        return BUILDS_DIFFER if self.builds_differ else self.verdict.value

    @property
    def look(self) -> Look:
        """The verdict as the gate for headlines sees it."""
        return Look(self.verdict, 1.0 if self.one_build or self.runs_disagree else self.p)

    @property
    def counts_builds(self) -> bool:
        """Whether the noise between builds is in the interval, or cancels in it."""
        return not self.one_build


class Measured(Protocol):
    """What is judged: a point, or what was read of one."""

    @property
    def summary(self) -> Summary:
        """What comparisons need of its samples."""

    @property
    def disagrees(self) -> bool:
        """Whether its runs differ by more than their noise."""

    @property
    def build_names(self) -> frozenset[str] | None:
        """Names that tell its builds from those of others; None where they are not at hand."""

    def is_of_the_builds_of(self, other: Any) -> bool:
        """Whether both hold samples of the very same builds."""


Pair = tuple[Measured, Measured, SeriesFacts]
Sides = tuple[Summary, Summary]
Name = TypeVar("Name", bound=Hashable)


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
    return judge_pairs({pk: (before[pk], at[pk], its) for pk, its in facts.items()})


def _points_before(comparisons: Iterable[Comparison]) -> dict[int, Point]:
    wanted = {row.series_id: row.previous_id for row in comparisons}
    rows = Point.objects.filter(Q(series__in=wanted.keys()) & Q(revision__in=set(wanted.values())))
    return {row.series_id: row for row in rows if wanted[row.series_id] == row.revision_id}


def judge_pairs(pairs: Mapping[Name, Pair]) -> dict[Name, PointVerdict]:
    """The verdict on each second against its first, by the facts of the series of the first. One
    call for all of the same margin, which is nearly always every one.
    """
    found: dict[Name, PointVerdict] = {}
    for margin in {facts.margin_pct for _, _, facts in pairs.values()}:
        its = {pk: pair for pk, pair in pairs.items() if pair[2].margin_pct == margin}
        sides = [(before.summary, after.summary) for before, after, _ in its.values()]
        rows = _compared(list(its.values()), sides, margin)
        found |= {
            pk: _verdict(rows, row, pair, sides[row]) for row, (pk, pair) in enumerate(its.items())
        }
    return found


def _compared(pairs: Sequence[Pair], sides: Sequence[Sides], margin: float) -> Comparisons:
    return compare_many(
        Summaries([before for before, _ in sides]),
        Summaries([after for _, after in sides]),
        better=[facts.better for _, _, facts in pairs],
        margin=margin,
        build_noise=[facts.build_noise for _, _, facts in pairs],
        same_build=[before.is_of_the_builds_of(after) for before, after, _ in pairs],
    )


def _verdict(rows: Comparisons, row: int, pair: Pair, sides: Sides) -> PointVerdict:
    unit = LEVELS[rows.unit[row]]
    disagree = pair[0].disagrees or pair[1].disagrees
    proven = rows.proven[row] and not rows.inside[row]
    return PointVerdict(
        verdict=Verdict.CANNOT_TELL if disagree else VERDICTS[rows.verdict[row]],
        percent=_known(rows.percent[row]),
        low=_known(rows.low[row]),
        high=_known(rows.high[row]),
        visible=worth_telling(_known(rows.visible[row])),
        negligible=bool(rows.negligible[row]) and not disagree,
        p=float(rows.p[row]),
        df=_known(rows.df[row]),
        unit=unit,
        units=(sides[0].linear[unit].units, sides[1].linear[unit].units),
        build_noise=_noise(pair, unit),
        one_build=bool(rows.one_build[row]),
        builds_differ=bool(rows.one_build[row] and proven) and not disagree,
        runs_disagree=disagree,
        builds=_builds(pair),
        margin=pair[2].margin_pct,
    )


def _builds(pair: Pair) -> frozenset[str] | None:
    before, after, _ = pair
    if before.is_of_the_builds_of(after):
        return frozenset()
    if before.build_names is None or after.build_names is None:
        return None
    return before.build_names | after.build_names


def _noise(pair: Pair, unit: Level) -> BuildNoise | None:
    before, after, facts = pair
    unused = unit is Level.BUILD or before.is_of_the_builds_of(after)
    return None if unused else facts.build_noise


def _known(value: float) -> float | None:
    """NaN stands for unknown; infinite is a change beyond the double range, which has no figure."""
    return float(value) if isfinite(value) else None
