"""Losses of a young series that stand on one build a side, what later builds make of them, and why:
sentences with the rule's figures.

The revisions are read in order. At each of the first ones, while the series cannot show its build
noise, the newest revision is asked whether it lost; what follows settles what was found. So the
answer is a function of the points, whatever their order of arrival.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any, Literal

from webapp.stats.metrics import Better
from webapp.stats.single_build.chance import (
    LEAST_PCT,
    SPREAD,
    Build,
    Evidence,
    Measured,
    NoisePrior,
    at_least,
    chance,
    interval,
    score_of,
    turning_pct,
    weigh,
)

State = Literal["open", "confirmed", "withdrawn"]

LIMIT = 0.0025
"""The largest chance of a loss as large without a change, one-sided."""

LIMIT_OF_COMMIT = 0.005
"""The same over all pairs of one commit together (Bonferroni: builds of one commit, on one machine,
are not independent)."""

GIVES_UP = 0.025
"""With later revisions: the chance above which they do not agree."""

YOUNG = 5
"""Revisions of a series within which it is asked: from the sixth on its own differences show the
noise between builds (``webapp.stats.changes``)."""

WAITS = 4
"""Later revisions that may settle it; what they leave unsettled is withdrawn."""

RESTORED = 0.75
"""Share of the way back to the old level from which on a loss counts as recovered."""

LEANEST = NoisePrior(LEAST_PCT, SPREAD)
"""No belief is more readily convinced: what it does not find, none finds."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was known once the revision at ``position``, named ``label``, was measured."""

    position: int
    label: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Pair:
    """The revision at ``position`` lies below the one before it, at ``previous``; ``steps`` are
    from that revision on. ``level`` is the mean of the old side (log scale), ``revisions`` how many
    it has.
    """

    previous: int
    previous_label: str
    position: int
    level: float
    revisions: int
    better: Better
    steps: tuple[Step, ...]

    def to_data(self) -> dict[str, Any]:
        """Numbers, strings, lists and dicts only: what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Pair":
        """What `to_data` wrote, also after a passage through JSON."""
        steps = (
            Step(one["position"], one["label"], Evidence(**one["evidence"]))
            for one in data["steps"]
        )
        return cls(**{**data, "steps": tuple(steps)})


@dataclass(frozen=True, slots=True)
class Judged:
    """What a pair comes to. ``pairs`` were asked at its commit, so that ``limit`` holds for its
    ``chance``; both are of the step at ``settled_by``, None while nothing settled it.
    ``step`` is the last that counts: size and builds are of that one.
    """

    state: State
    chance: float
    limit: float
    pairs: int
    step: Step
    settled_by: Step | None = None
    recovered_by: Step | None = None

    @property
    def score(self) -> float:
        """The chance as a normal score."""
        return score_of(self.chance)


@dataclass(frozen=True, slots=True)
class Figures:
    """The judgment of a pair, by a prior. On the log scale: ``low`` to ``high`` is the 95 %
    interval of the loss, ``sure`` what it reaches with 95 %. ``turning_pct`` is the scatter of
    builds in percent from which on it would not have been found.
    """

    low: float
    high: float
    sure: float
    turning_pct: float


def asked_at(revisions: Sequence[Measured]) -> tuple[int, ...]:
    """Return the positions at which the newest pair of the series was, or is, asked."""
    return tuple(one.position for one in revisions[1:YOUNG])


def pairs_of(revisions: Sequence[Measured], better: Better = "more") -> tuple[Pair, ...]:
    """Return the pairs that some belief may find or have found; ``revisions`` in order."""
    found = (_pair(revisions, at, better) for at in range(1, min(YOUNG, len(revisions))))
    return tuple(pair for pair in found if pair is not None)


def limit_among(pairs: int) -> float:
    """Return the largest chance that one of so many pairs of a commit may have."""
    return min(LIMIT, LIMIT_OF_COMMIT / max(pairs, 1))


def judge(pair: Pair, belief: NoisePrior, pairs: int = 1) -> Judged:
    """Return what becomes of a pair under a belief, where ``pairs`` were asked at its commit.

    It is found while its chance keeps the limit. Where its own revision has several builds that is
    the answer: confirmed, else withdrawn. Else later revisions settle it: confirmed as soon as all
    builds together keep the limit, withdrawn when they exceed `GIVES_UP` or after `WAITS`.
    """
    limit = limit_among(pairs)
    for count, step in enumerate(pair.steps):
        seen = chance(step.evidence, belief)
        if seen <= limit and step.evidence.new > 1:
            return Judged("confirmed", seen, limit, pairs, step, step, _recovered(pair, count))
        if seen > (GIVES_UP if count else limit):
            return Judged("withdrawn", seen, limit, pairs, step, step)
    if len(pair.steps) > WAITS:
        return Judged("withdrawn", seen, limit, pairs, pair.steps[-1], pair.steps[-1])
    return Judged("open", seen, limit, pairs, pair.steps[-1])


def figures_of(judged: Judged, belief: NoisePrior) -> Figures:
    """Return the figures of a judged pair."""
    evidence = judged.step.evidence
    low, high = interval(evidence, belief)
    sure = at_least(evidence, belief)
    return Figures(low, high, sure, turning_pct(evidence, judged.limit))


def _pair(revisions: Sequence[Measured], at: int, better: Better) -> Pair | None:
    old = revisions[:at]
    if not _is_worth_asking(old, revisions[at], better):
        return None
    steps: list[Step] = []
    for last in range(at, min(at + WAITS + 1, len(revisions))):
        evidence = weigh(old, revisions[at : last + 1], better)
        if evidence is None or (evidence.loss <= 0 and not steps):
            return None
        steps.append(Step(revisions[last].position, revisions[last].label, evidence))
    builds = [build.mean for one in old for build in one.builds]
    return Pair(
        previous=revisions[at - 1].position,
        previous_label=revisions[at - 1].label,
        position=revisions[at].position,
        level=fsum(builds) / len(builds),
        revisions=at,
        better=better,
        steps=tuple(steps),
    )


def _is_worth_asking(old: Sequence[Measured], new: Measured, better: Better) -> bool:
    """Whether any build of ``new`` against any old one convinces the leanest belief: what was found
    by them stays, to be reported when other builds outweigh it.
    """
    sign = 1.0 if better == "more" else -1.0

    def height(build: Build) -> float:
        return sign * build.mean

    best = max((build for one in old for build in one.builds), key=height)
    worst = min(new.builds, key=height)
    alone = weigh([Measured(0, (best,))], [Measured(0, (worst,))], better)
    return alone is not None and chance(alone, LEANEST) <= LIMIT


def _recovered(pair: Pair, settled: int) -> Step | None:
    """The first revision after the settling one from which on the loss is given back."""
    lost = pair.steps[settled].evidence.loss
    back = None
    for step in pair.steps[settled + 1 :]:
        is_back = step.evidence.newest <= (1.0 - RESTORED) * lost
        back = (back or step) if is_back else None
    return back


def why_judged(pair: Pair, judged: Judged, belief: NoisePrior, figures: Figures) -> str:
    """Return the sentence on why a pair is found, confirmed or withdrawn."""
    reason = REASONS[judged.state](pair, judged)
    return (
        f"{reason}. Where nothing changed, a loss as large is seen with a chance of "
        f"{_percent(judged.chance)} (at most {_percent(judged.limit)}{_among(judged.pairs)}), if "
        f"builds scatter by {belief.median_pct:.2g} %, give or take × {belief.spread:.2g}"
        f"{_turning(judged, figures)}."
    )


def what_settles(label: str, previous: str) -> str:
    """Return the sentence on what would settle an open pair."""
    return (
        f"Another build of {label}, and of {previous}, or the next revisions settle it: it is "
        "confirmed when all builds together still show it, and withdrawn when they do not."
    )


def _open(pair: Pair, judged: Judged) -> str:
    step = judged.step
    if step.position == pair.position:
        old = step.evidence.old
        before = f"the one of {pair.previous_label}" if old == 1 else f"the {old} before it"
        return f"One build a side: the build of {_label(pair)} is worse than {before}"
    return (
        f"Not settled: with {step.label} there are {_builds(judged)}, which neither agree nor "
        "disagree enough"
    )


def _confirmed(pair: Pair, judged: Judged) -> str:
    by = judged.settled_by.label if judged.settled_by else _label(pair)
    return (
        f"Confirmed by more builds: with those of {by}, {_builds(judged)} agree that "
        f"{_label(pair)} is worse than {pair.previous_label}"
    )


def _withdrawn(pair: Pair, judged: Judged) -> str:
    by = judged.settled_by.label if judged.settled_by else _label(pair)
    if judged.step.position == pair.position:
        agree = "do not show it"
    elif judged.chance > GIVES_UP:
        agree = f"do not agree (a chance of more than {_percent(GIVES_UP)})"
    else:
        agree = "left it unsettled"
    return f"Withdrawn: {_builds(judged)}, the last of {by}, {agree}"


REASONS = {"open": _open, "confirmed": _confirmed, "withdrawn": _withdrawn}


def _builds(judged: Judged) -> str:
    evidence = judged.step.evidence
    return f"{_count(evidence.old)} before and {evidence.new} from it on"


def _count(builds: int) -> str:
    return "1 build" if builds == 1 else f"{builds} builds"


def _label(pair: Pair) -> str:
    return pair.steps[0].label


def _among(pairs: int) -> str:
    return f" among the {pairs} pairs of its commit" if pairs > 1 else ""


def _turning(judged: Judged, figures: Figures) -> str:
    if judged.state == "withdrawn":
        return ""
    return f"; from {figures.turning_pct:.1f} % on it would not have been found"


def _percent(chance: float) -> str:
    return f"{100 * chance:.2g} %"
