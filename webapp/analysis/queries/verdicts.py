"""Points against the points before them, judged when they are read.

The stored comparisons are ministat's, which takes every sample for independent and knows nothing
of the noise between builds. Here each pair is judged by the units that both points have (builds,
boots or runs) and with the noise that the history of its own series tells, all pairs in one call,
so a page is never older than what is known, and says what the compare page says.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from webapp.analysis.models import Comparison
from webapp.analysis.queries.noise import SeriesFacts, facts_of
from webapp.results.models import Point
from webapp.stats.compare import (
    LEVELS,
    VERDICTS,
    BuildNoise,
    Level,
    Look,
    Summaries,
    Verdict,
    compare_many,
)
from webapp.stats.decisive import Belief
from webapp.stats.limits import worth_telling

BUILDS_DIFFER = "builds differ"
RUNS_DISAGREE = "lab?"
ONE_BUILD = "one build a side"
"""The mark of what is better or worse by single builds."""

CHANCE = 0.05
"""Of a difference as large without a change, above which nothing is coloured."""


class PointVerdict(NamedTuple):
    """One point against the one before it.

    ``percent`` with ``low`` and ``high`` is the change and its 95 % interval, ``visible`` the
    smallest change that would have been seen four times in five; None where there is none. ``p``
    is the chance of a difference as large where there is none, by the test that gave the interval,
    ``df`` the degrees of freedom of that, None without scatter.
    ``unit`` is the level whose scatter was used, ``units`` how many each side has. ``build_noise``
    of the history was counted; None: not known, or not needed. ``one_build``: different builds of
    whose noise nothing is known, of which a side has but one; the interval has what is believed of
    it. Where only the runs exclude zero, ``builds_differ`` holds and the
    verdict is *cannot tell*. It is so too where runs of the point, or of the one before, differ by
    more than their noise (``runs_disagree``).
    ``builds`` are those of both whose scatter is in the change; empty: both are of the same, so
    that it cancels; None: not known by name. ``margin`` is that of the verdict, ``belief``
    what is believed of builds where it rests on single ones.
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
    belief: Belief | None = None

    @property
    def tone(self) -> str:
        """By what it is coloured: its `label`, or *builds differ* where it is doubtful."""
        return BUILDS_DIFFER if self.is_doubtful else self.label

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
        return Look(self.verdict, 1.0 if self.runs_disagree else self.p)

    @property
    def belief_text(self) -> str:
        """What is believed of builds, where it rests on single ones."""
        if self.belief is None:
            return ""
        whose = ", as on this machine" if self.belief.of_machine else ""
        return f"builds believed to scatter by {self.belief.median_pct:.2g} %{whose}"

    @property
    def is_doubtful(self) -> bool:
        """Whether single builds differ by more than the belief explains, but no more than builds of
        a noisy machine would: it has its word, and no colour.
        """
        is_changed = self.verdict in (Verdict.BETTER, Verdict.WORSE)
        return self.one_build and is_changed and self.p > CHANCE

    @property
    def rests_on_single_builds(self) -> bool:
        """Whether it is better or worse by one build a side."""
        return self.one_build and self.verdict in (Verdict.BETTER, Verdict.WORSE)


class Measured(Protocol):
    """What is judged: a point, or what was read of one."""

    @property
    def levels(self) -> Mapping[str, Any]:
        """What comparisons need of its samples, as `Summary.to_data` gives it."""

    @property
    def disagrees(self) -> bool:
        """Whether its runs differ by more than their noise."""

    @property
    def build_names(self) -> frozenset[str] | None:
        """Names that tell its builds from those of others; None where they are not at hand."""

    def is_of_the_builds_of(self, other: Any) -> bool:
        """Whether both hold samples of the very same builds."""


Pair = tuple[Measured, Measured, SeriesFacts]
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
        found |= zip(its, _judged(list(its.values()), margin), strict=True)
    return found


def _judged(pairs: Sequence[Pair], margin: float) -> Iterator[PointVerdict]:
    """The verdict on each pair, in their order."""
    a = Summaries(before.levels for before, _, _ in pairs)
    b = Summaries(after.levels for _, after, _ in pairs)
    same = [before.is_of_the_builds_of(after) for before, after, _ in pairs]
    rows = compare_many(
        a,
        b,
        better=[facts.better for _, _, facts in pairs],
        margin=margin,
        build_noise=[facts.build_noise for _, _, facts in pairs],
        same_build=same,
        beliefs=[facts.belief for _, _, facts in pairs],
    )
    columns = zip(
        *(_known(column) for column in (rows.percent, rows.low, rows.high, rows.visible, rows.df)),
        rows.p.tolist(),
        rows.builds_differ.tolist(),
        rows.negligible.tolist(),
        rows.one_build.tolist(),
        rows.verdict.tolist(),
        rows.unit.tolist(),
        zip(a.units(rows.unit).tolist(), b.units(rows.unit).tolist(), strict=True),
        strict=True,
    )
    return map(_verdict, pairs, same, columns)


def _verdict(pair: Pair, is_same: bool, row: tuple[Any, ...]) -> PointVerdict:
    percent, low, high, visible, df, p, differ, negligible, one_build, verdict, code, units = row
    disagree = pair[0].disagrees or pair[1].disagrees
    unit = LEVELS[code]
    return PointVerdict(
        verdict=Verdict.CANNOT_TELL if disagree else VERDICTS[verdict],
        percent=percent,
        low=low,
        high=high,
        visible=worth_telling(visible),
        negligible=negligible and not disagree,
        p=p,
        df=df,
        unit=unit,
        units=units,
        build_noise=None if unit is Level.BUILD or is_same else pair[2].build_noise,
        one_build=one_build,
        builds_differ=differ and not disagree,
        runs_disagree=disagree,
        builds=_builds(pair),
        margin=pair[2].margin_pct,
        belief=pair[2].belief if one_build else None,
    )


def _builds(pair: Pair) -> frozenset[str] | None:
    before, after, _ = pair
    if before.is_of_the_builds_of(after):
        return frozenset()
    if before.build_names is None or after.build_names is None:
        return None
    return before.build_names | after.build_names


def _known(values: NDArray[np.float64]) -> list[float | None]:
    """NaN stands for unknown; infinite is a change beyond the double range, which has no figure."""
    return [value if isfinite(value) else None for value in values.tolist()]
