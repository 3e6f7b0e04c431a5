"""Points against the points before them, judged when they are read, and what may be claimed of a
whole table of comparisons: a claim for each mode, then for machines.

The stored comparisons are ministat's, which takes every sample for independent and knows nothing of
the noise between builds. Here each pair is judged by the units that both points have (builds, boots
or runs) and with the noise that the history of its own series shows, all pairs in one call, so a
page is never older than what is known, and agrees with the compare page.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from webapp.analysis.models import Finding
from webapp.analysis.queries.previous import Compared
from webapp.analysis.queries.series_state import SeriesFacts, facts_of
from webapp.results.models import Point
from webapp.stats import compare
from webapp.stats.metrics import Better, worth_telling
from webapp.stats.single_build import LIMIT_OF_COMMIT, NoisePrior, what_settles

BUILDS_DIFFER = "builds differ"
RUNS_DISAGREE = "lab?"
ONE_BUILD = "one build a side"
"""The mark of what is better or worse by single builds."""

CHANCE = 0.05
"""Of a difference as large without a change, above which nothing is coloured."""

CAVEAT = (
    "Not a fact about the commit yet: builds of one and the same revision differ too, and this "
    "series does not show by how much."
)


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

    verdict: compare.Verdict
    percent: float | None
    low: float | None
    high: float | None
    visible: float | None
    negligible: bool
    p: float
    df: float | None
    unit: compare.Level
    units: tuple[int, int]
    build_noise: compare.BuildNoise | None
    one_build: bool
    builds_differ: bool
    runs_disagree: bool
    builds: frozenset[str] | None
    margin: float
    belief: NoisePrior | None = None

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
    def look(self) -> compare.Look:
        """The verdict as the gate for headlines sees it."""
        return compare.Look(self.verdict, 1.0 if self.runs_disagree else self.p)

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
        is_changed = self.verdict in (compare.Verdict.BETTER, compare.Verdict.WORSE)
        return self.one_build and is_changed and self.p > CHANCE

    @property
    def rests_on_single_builds(self) -> bool:
        """Whether it is better or worse by one build a side."""
        return self.one_build and self.verdict in (compare.Verdict.BETTER, compare.Verdict.WORSE)


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
        """Names that distinguish its builds from others; None where they are not at hand."""

    def is_of_the_builds_of(self, other: Any) -> bool:
        """Whether both hold samples of the very same builds."""


Pair = tuple[Measured, Measured, SeriesFacts]
Name = TypeVar("Name", bound=Hashable)


def judge_points(
    points: Iterable[Point], comparisons: Iterable[Compared]
) -> dict[int, PointVerdict]:
    """For each series the verdict on its point, where there is one before it.

    ``points`` are of different series, with series and metric at hand; ``comparisons`` have which
    revision is the one before. Three queries.
    """
    at = {point.series_id: point for point in points}
    before = _points_before(comparisons)
    facts = facts_of(at[pk].series for pk in before if pk in at)
    return judge_pairs({pk: (before[pk], at[pk], its) for pk, its in facts.items()})


def _points_before(comparisons: Iterable[Compared]) -> dict[int, Point]:
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
    a = compare.Summaries(before.levels for before, _, _ in pairs)
    b = compare.Summaries(after.levels for _, after, _ in pairs)
    same = [before.is_of_the_builds_of(after) for before, after, _ in pairs]
    rows = compare.compare_many(
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
    unit = compare.LEVELS[code]
    return PointVerdict(
        verdict=compare.Verdict.CANNOT_TELL if disagree else compare.VERDICTS[verdict],
        percent=percent,
        low=low,
        high=high,
        visible=worth_telling(visible),
        negligible=negligible and not disagree,
        p=p,
        df=df,
        unit=unit,
        units=units,
        build_noise=None if unit is compare.Level.BUILD or is_same else pair[2].build_noise,
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


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The set ``index`` after the base against the base, in one mode and metric on one machine."""

    mode: str
    metric: str
    index: int
    better: Better
    judged: PointVerdict


@dataclass(frozen=True, slots=True)
class ModeClaim:
    """One mode, in one metric, of the set ``index`` after the base, over its machines: the
    ``positions`` of these among all pairs, and what may be claimed.
    """

    mode: str
    metric: str
    index: int
    positions: tuple[int, ...]
    across: compare.Across


@dataclass(frozen=True, slots=True)
class TableClaims:
    """What may be claimed of a table: of each of its ``modes``, and of each pair (``headline``)."""

    modes: Sequence[ModeClaim]
    headline: compare.Headline

    @property
    def counts(self) -> Counter[compare.Outcome]:
        """How many pairs count as what: as many as stand under each heading."""
        return Counter(self.headline.outcomes)


def claims_of(pairs: Sequence[JudgedPair]) -> TableClaims:
    """The gate of every table, of a commit and of a comparison: any of its claims is wrong in at
    most 5 of 100 tables.
    """
    modes = _of_modes(pairs)
    return TableClaims(modes, _of_pairs(pairs, modes))


def _of_modes(pairs: Sequence[JudgedPair]) -> list[ModeClaim]:
    positions: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for position, one in enumerate(pairs):
        positions[one.mode, one.metric, one.index].append(position)
    across = compare.across_machines(
        [[_evidence(pairs[at]) for at in its] for its in positions.values()]
    )
    return [
        ModeClaim(*key, tuple(its), one)
        for (key, its), one in zip(positions.items(), across, strict=True)
    ]


def _of_pairs(pairs: Sequence[JudgedPair], claims: Sequence[ModeClaim]) -> compare.Headline:
    """The verdict of each pair, as far as it may be claimed of that machine alone."""
    alone: dict[int, compare.Verdict] = {}
    for claim in claims:
        alone |= dict(zip(claim.positions, claim.across.verdicts, strict=True))
    verdicts = (alone[position] for position in range(len(pairs)))
    return compare.Headline(tuple(verdicts), tuple(one.judged.verdict for one in pairs))


def _evidence(pair: JudgedPair) -> compare.Evidence:
    one = pair.judged
    return compare.Evidence(
        look=one.look,
        estimate=compare.estimate_of(one.percent, one.low, one.high, one.df),
        builds=one.builds,
        from_history=one.build_noise is not None,
        is_open=one.one_build or one.runs_disagree,
        better=pair.better,
        margin=one.margin,
    )


def one_build_lines(finding: Finding) -> Sequence[str]:
    """How sure it is, by what belief, and what would settle it; nothing where the detector found it
    or nothing open is left to show.
    """
    facts = finding.one_build
    if facts is None or finding.state != Finding.State.ONE_BUILD:
        return []
    return [
        CAVEAT if facts["builds_after"] == 1 else f"{_builds_text(facts)} do not settle it yet.",
        _chance(facts),
        _size(facts),
        _belief(facts),
        what_settles(str(finding.revision), str(finding.previous)),
    ]


def _builds_text(facts: Mapping[str, Any]) -> str:
    before, after = facts["builds_before"], facts["builds_after"]
    return f"{before} build{'' if before == 1 else 's'} before and {after} from it on"


def _chance(facts: Mapping[str, Any]) -> str:
    pairs, limit = facts["pairs"], f"limit {_share(facts['limit'])}"
    if pairs > 1:
        limit += f"; {_share(LIMIT_OF_COMMIT)} for the {pairs} pairs of this commit together"
    chance = _share(facts["chance"])
    return f"Without a change, a loss as large is seen with a chance of {chance} ({limit})."


def _size(facts: Mapping[str, Any]) -> str:
    sure = abs(facts["sure_pct"])
    return f"Its size, with the builds' scatter counted, is at least {sure:.1f} % with 95 %."


def _belief(facts: Mapping[str, Any]) -> str:
    median, spread, turning = facts["median_pct"], facts["spread"], facts["turning_pct"]
    return (
        f"Believed: builds scatter by {median:.2g} %, in two series of three within × {spread:.2g} "
        f"of it. If they scatter by {turning:.1f} % or more here, it would not be an alert."
    )


def _share(chance: float) -> str:
    return f"{100 * chance:.2g} %"
