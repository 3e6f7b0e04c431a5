"""A against B: the tests that people know, the change with its interval, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import sqrt
from typing import Literal

import numpy as np
from scipy import special

from webapp.stats.arrays import Floats
from webapp.stats.compare import significance
from webapp.stats.compare.levels import Level, Samples, Summary, summarize
from webapp.stats.compare.relative import (
    NO_SCATTER,
    Change,
    estimate_change,
    percent_of_log,
    satterthwaite,
)
from webapp.stats.compare.significance import RankTest, rank_test
from webapp.stats.compare.single_builds import believed
from webapp.stats.compare.summaries import Summaries
from webapp.stats.metrics import MARGIN_PCT, Better, is_gain
from webapp.stats.ministat.block import LEAST_POINTS, Difference, difference
from webapp.stats.single_build.chance import BuildNoise, NoisePrior

__all__ = [
    "BuildNoise",
    "Change",
    "Comparison",
    "Level",
    "Rule",
    "Samples",
    "Verdict",
    "compare",
    "decide",
]


class Verdict(StrEnum):
    """The verdict of a comparison on the other side; `CANNOT_TELL` is a result of its own."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    CANNOT_TELL = "cannot tell"


class Rule(StrEnum):
    """Which rule decided, in the order in which they are asked."""

    RUNS_DISAGREE = "runs disagree"
    NO_INTERVAL = "no interval"
    INSIDE_MARGIN = "inside the margin"
    BUILDS_DIFFER = "builds differ"
    EXCLUDES_ZERO = "excludes zero"
    INCLUDES_ZERO = "includes zero"


ONE_BUILD_A_SIDE = "one_build_a_side"
"""The reason that the API gives where `Rule.BUILDS_DIFFER` decided."""

RUNS_DISAGREE = "runs_disagree"
"""The reason that the API gives where `Rule.RUNS_DISAGREE` decided."""

MORE_BUILDS = 2
"""Builds a side beside the one there is that settle it: with three, Student's t has 4 degrees of
freedom and is 2.78 at 95 %; with two it has 2 and is 4.30."""


@dataclass(frozen=True, slots=True)
class Decision:
    """``negligible``: different for sure, and equivalent all the same."""

    verdict: Verdict
    rule: Rule
    negligible: bool


@dataclass(frozen=True, slots=True)
class Welch:
    """Difference of means, B − A in the metric's unit, by Welch's t on single samples.

    ``df`` by Satterthwaite (1946); ``low`` and ``high`` at the comparison's confidence; ``p`` is
    two-sided.
    """

    delta: float
    low: float
    high: float
    df: float
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B.

    ``change`` decides the verdict; the tests beside it treat every sample as independent and are
    None where a side is too small for them (Student 3, Welch 2, with some scatter). ``one_build``
    means that the sides are different builds, of which one side has but one, and that nothing is
    known of the noise between builds: its interval has what is believed of it (``belief``; None
    where samples have no logarithms). ``margin`` and ``confidence`` are percent.
    """

    verdict: Verdict
    rule: Rule
    negligible: bool
    change: Change
    student: Difference | None
    welch: Welch | None
    ranks: RankTest
    one_build: bool
    belief: NoisePrior | None
    better: Better
    margin: float
    confidence: float

    @property
    def builds_differ(self) -> bool:
        """Whether the runs of single builds differ for sure, and their builds might without a
        change of their code.
        """
        return self.rule is Rule.BUILDS_DIFFER

    @property
    def runs_disagree(self) -> bool:
        """Whether a side pools runs that differ by more than their noise, so that nothing holds."""
        return self.rule is Rule.RUNS_DISAGREE

    @property
    def why(self) -> str:
        """Why there is no verdict, where that has a name: ``one_build_a_side``,
        ``runs_disagree``.
        """
        if self.runs_disagree:
            return RUNS_DISAGREE
        return ONE_BUILD_A_SIDE if self.builds_differ else ""


def compare(
    a: Samples | Sequence[float],
    b: Samples | Sequence[float],
    *,
    better: Better = "more",
    margin: float = MARGIN_PCT,
    confidence: float = significance.DEFAULT_CONFIDENCE,
    build_noise: BuildNoise | None = None,
    same_build: bool | None = None,
    runs_disagree: bool = False,
    belief: NoisePrior | None = None,
) -> Comparison:
    """Compare B with A.

    Bare sequences stand for samples of one build whose boots are unknown. ``build_noise`` comes
    from the series' history and is used where a side has fewer than two builds. ``same_build``
    means that the very same builds are on both sides, so that what they scatter cancels and
    ``build_noise`` is not used; or that they are not: then for single builds, of whose noise
    nothing is known, ``belief`` (by default the guess) stands in for it. Without ``same_build``
    the verdict is one on these samples, whatever they were built of. ``runs_disagree`` means
    that a side pools runs that contradict one another: then there is no verdict. ``margin`` is in
    percent, ≥ 0; ``confidence`` is one of 80, 90, 95, 98, 99.
    Raises `StatisticsError` for empty sides, NaN, infinities and settings out of range.
    """
    significance.require_confidence(confidence)
    significance.require_margin(margin)
    first, second = _as_samples(a), _as_samples(b)
    noise = None if same_build else build_noise
    sides = summarize(first), summarize(second)
    change = estimate_change(*sides, confidence=confidence, build_noise=noise)
    one_build = same_build is False and Level.BUILD in change.uncounted
    runs_differ, held = bool(change.proven), None
    if one_build:
        held = (belief or NoisePrior()) if change.known and change.scale == "log" else None
        change = _with_belief(change, *sides, held, confidence)
    decision = decide(change, better=better, margin=margin, runs_differ=one_build and runs_differ)
    if runs_disagree:
        decision = Decision(Verdict.CANNOT_TELL, Rule.RUNS_DISAGREE, negligible=False)
    x, y = first.array, second.array
    return Comparison(
        verdict=decision.verdict,
        rule=decision.rule,
        negligible=decision.negligible,
        change=change,
        student=_student(x, y, confidence),
        welch=_welch(x, y, confidence),
        ranks=rank_test(x, y),
        one_build=one_build,
        belief=held,
        better=better,
        margin=margin,
        confidence=confidence,
    )


def _with_belief(
    change: Change, a: Summary, b: Summary, belief: NoisePrior | None, confidence: float
) -> Change:
    """With the interval of single builds by what is believed of their noise; without a belief
    nothing is proven.
    """
    if belief is None or change.percent is None or a.log is None or b.log is None:
        return replace(change, proven=0)
    delta = b.log[change.unit].mean - a.log[change.unit].mean
    columns = Summaries([a]), Summaries([b]), np.array([delta]), [belief]
    found = believed(*columns, confidence)
    reach = float(found.reach[0])
    sign: Literal[-1, 0, 1] = 0 if abs(delta) <= reach else 1 if delta > 0 else -1
    return replace(
        change,
        low=percent_of_log(delta - reach),
        high=percent_of_log(delta + reach),
        visible=percent_of_log(float(found.visible[0])),
        p=float(found.p[0]),
        proven=sign,
        df=None,
        test="belief",
        uncounted=tuple(level for level in change.uncounted if level is not Level.BUILD),
    )


def decide(change: Change, *, better: Better, margin: float, runs_differ: bool = False) -> Decision:
    """The verdict on a change: within the margin first, then different, else cannot tell.

    Where it is not proven though the runs of single builds differ (``runs_differ``), builds do.
    """
    if not change.known:
        return Decision(Verdict.CANNOT_TELL, Rule.NO_INTERVAL, negligible=False)
    low, high = change.low, change.high
    if low is not None and high is not None and -margin <= low and high <= margin:
        return Decision(Verdict.EQUIVALENT, Rule.INSIDE_MARGIN, negligible=change.proven != 0)
    if change.proven:
        improved = is_gain(change.proven, better)
        verdict = Verdict.BETTER if improved else Verdict.WORSE
        return Decision(verdict, Rule.EXCLUDES_ZERO, negligible=False)
    rule = Rule.BUILDS_DIFFER if runs_differ else Rule.INCLUDES_ZERO
    return Decision(Verdict.CANNOT_TELL, rule, negligible=False)


def _as_samples(side: Samples | Sequence[float]) -> Samples:
    return side if isinstance(side, Samples) else Samples(side)


def _student(a: Floats, b: Floats, confidence: float) -> Difference | None:
    if min(len(a), len(b)) < LEAST_POINTS:
        return None
    x, y, unit = _scaled(a, b)
    found = difference(x.tolist(), y.tolist(), confidence)
    return replace(
        found,
        delta=found.delta * unit,
        error=found.error * unit,
        pooled_stddev=found.pooled_stddev * unit,
    )


def _welch(a: Floats, b: Floats, confidence: float) -> Welch | None:
    if min(len(a), len(b)) < 2:
        return None
    x, y, unit = _scaled(a, b)
    var_a, var_b = float(x.var(ddof=1)) / len(x), float(y.var(ddof=1)) / len(y)
    error = sqrt(var_a + var_b)
    if error <= NO_SCATTER:
        return None
    df = satterthwaite([(var_a, len(x) - 1), (var_b, len(y) - 1)])
    delta = float(y.mean() - x.mean())
    reach = significance.critical_t(df, confidence) * error
    p = 2 * float(special.stdtr(df, -abs(delta) / error))
    return Welch(delta * unit, (delta - reach) * unit, (delta + reach) * unit, df, p)


def _scaled(a: Floats, b: Floats) -> tuple[Floats, Floats, float]:
    """Both sides divided by a power of two so that squares neither overflow nor vanish."""
    _, exponent = np.frexp(max(np.abs(a).max(), np.abs(b).max()))
    exponent = max(int(exponent) - 1, -1022)
    return np.ldexp(a, -exponent), np.ldexp(b, -exponent), 2.0**exponent
