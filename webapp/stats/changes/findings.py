"""What is found in a series: frozen results, in percent and in the metric's unit; and what of it
stands lost now, or was taken back: pure functions of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp, expm1, hypot, log
from typing import Literal, NamedTuple

from webapp.stats.metrics import Better

Verdict = Literal["better", "worse"]

ChangeState = Literal["candidate", "one build", "confirmed"]

Helps = Literal["runs", "revisions", "unknown"]

RESTORED = 0.75
"""Share of the way back to the old level from which on a change counts as recovered."""


@dataclass(frozen=True, slots=True)
class At:
    """One measured revision."""

    position: int
    label: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of level.

    `revision` is the likeliest first revision at the new level, with probability `here` given
    that the change is real; `previous` is the measured revision before it. With 95 % probability
    the first revision at the new level is one of `first` to `last`; `after` is the measured
    revision before `first`, the last one known at the old level: the suspects are the commits
    later than `after` up to and including `last`.

    A `level` of 0 is a rate that is lost; `back` is the first revision that measured more again.

    `change_pct` is new level against old in percent, `low_pct` to `high_pct` its 95 % interval.
    `probability` is that of the change being real (calibrated by simulation), `score` the
    evidence in standard deviations and `needed` the limit it had to pass. `p_value` is that
    of the scan at one revision under no change: it ranks alerts and is no probability of error.
    `confirmed_by` is the revision that completed the evidence when read in order (None for a
    candidate). `locations` are (position, label, probability) of the revisions that may be the
    first at the new level; the first is the revision before them, with none. Empty where the data
    leaves one place only. The newest `unweighed` of `revisions_after` lie at the new level and are
    not in its figure yet (`window.lengthened`).
    """

    revision: At
    previous: At
    after: At
    first: At
    last: At
    here: float
    change_pct: float
    low_pct: float
    high_pct: float
    before: float
    level: float
    revisions_before: int
    revisions_after: int
    verdict: Verdict
    state: ChangeState
    score: float
    needed: float
    p_value: float
    probability: float
    confirmed_by: At | None
    locations: tuple[tuple[int, str, float], ...] = ()
    unweighed: int = 0
    back: At | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch without a change, from revision `first` to `last`, `count` of them measured.

    `level` is in the metric's unit, at the first revision, with its 95 % interval; `end_level`
    at the last. They differ where the series drifts: by `drift_pct` in all (0 where level, and in
    `Findings`). Where the drift begins or ends within, it has `bend_level` at `bend`, and
    `after_bend` of its revisions come later.
    """

    first: At
    last: At
    count: int
    level: float
    low: float
    high: float
    end_level: float
    drift_pct: float = 0.0
    bend: At | None = None
    bend_level: float = 0.0
    after_bend: int = 0

    @property
    def lines(self) -> "tuple[Segment, ...]":
        """The straight lines that it is drawn with: one, or two that meet where it bends."""
        at = self.bend
        if at is None:
            return (self,)
        whole = replace(self, bend=None, bend_level=0.0, after_bend=0)
        if not self.first.position < at.position < self.last.position:
            return (whole,)
        level, later, ratio = self.bend_level, self.after_bend, self.bend_level / self.level
        low, high = self.low * ratio, self.high * ratio
        return (
            replace(whole, last=at, count=self.count - later, end_level=level),
            replace(whole, first=at, count=later, level=level, low=low, high=high),
        )


@dataclass(frozen=True, slots=True)
class Noise:
    """The scatter of a series, as relative standard deviations in percent.

    `revision_pct` is that of one revision around its regime's level; `within_pct` that of one
    sample inside a build. `run_pct` (inside one boot), `boot_pct` and `build_pct` are None where
    the data does not separate them. `memory` is the correlation of neighbouring revisions;
    `freedom` the effective number of revisions behind it all, the guess that a young series starts
    with included. `measured_build_pct` is the build noise by the series' own differences alone and
    `measured_freedom` its degrees of freedom, at least 1: what a comparison may rest on.
    `within_freedom` are the degrees of freedom of `within_pct`: by boots where those are known.
    """

    revision_pct: float | None
    within_pct: float | None
    run_pct: float | None
    boot_pct: float | None
    build_pct: float | None
    memory: float
    freedom: float
    measured_build_pct: float | None = None
    measured_freedom: float = 0.0
    within_freedom: float = 0.0


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest change that could be proven now (in 80 of 100 cases), in percent.

    `pct` by the next two revisions, `later_pct` by the next ten, `more_runs_pct` by the next two
    with twice the samples each. `helps` is what to do more of.
    """

    pct: float
    later_pct: float
    more_runs_pct: float
    helps: Helps


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest revision alone against its level: what "why not" is answered from.

    `off_pct` is how far it lies off, `score` the evidence, `needed` what a candidate needs.
    `scan_score` is the most that any number of newest revisions shows against the rest of their
    regime, and `p_value` how often that much is reached at one revision without any change.
    """

    revision: At
    off_pct: float
    score: float
    needed: float
    scan_score: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Retracted:
    """A change that was confirmed when read in order, and that later revisions took back."""

    revision: At
    confirmed_by: At


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is reported of a series: a pure function of its points.

    `changes` are in order along the tree, the candidate (if any) last. `noise`, `smallest` and
    `newest` are None while too few revisions are known to say anything. `left_out` are the
    revisions that mostly measured nothing, `recurring` is that of `Findings`.
    """

    count: int
    changes: tuple[Change, ...]
    segments: tuple[Segment, ...]
    noise: Noise | None
    smallest: Smallest | None
    newest: Newest | None
    is_bimodal: bool
    is_drifting: bool
    retracted: tuple[Retracted, ...]
    left_out: tuple[At, ...]
    recurring: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What begins at revision `first`: its size in percent with its 95 % interval.

    `last` is the end of a slow loss or gain, the revision by which an excursion is over, and the
    last one at the new level of a change of level. `before` and `level` are in the metric's unit,
    `score` is the evidence in standard deviations, `previous` the measured revision before `first`
    (of the first one of a series itself).
    """

    first: At
    last: At
    pct: float
    low_pct: float
    high_pct: float
    before: float = 0.0
    level: float = 0.0
    score: float = 0.0
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class Step:
    """A change of level, and where it may have begun.

    `locations` are (position, label, probability) of the measured revisions that may be the first
    at the new level; the first is the one before them, with none. `shown_by` is the revision with
    which the evidence for it was complete, by what is known now. `revisions` are those before and
    after it, the newest `unweighed` of which are not in its size yet.
    """

    finding: Finding
    locations: tuple[tuple[int, str, float], ...]
    shown_by: At
    revisions: tuple[int, int]
    unweighed: int = 0

    @property
    def first(self) -> At:
        """The likeliest first revision at the new level."""
        return self.finding.first


@dataclass(frozen=True, slots=True)
class NoiseChange:
    """From revision `first` on, revisions scatter `ratio` times as much (below 1: less)."""

    first: At
    ratio: float
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class ModeChange:
    """From revision `first` on another share (of 1) of the runs is in the lower of two modes.

    `gap_pct` is the lower mode against the upper one: below 0, whichever way is better.
    """

    first: At
    share_before: float
    share_after: float
    gap_pct: float
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a series, kind by kind, each in order along the tree.

    `noise_pct` is the scatter of one revision now; None while too little is known. `stretches` are
    the levels between the `steps`. `has_modes`: runs have two modes, and sizes are those of runs in
    the usual one. `recurring` is how many of the newest revisions are as far off as an excursion,
    and none, because such recur.
    """

    excursions: tuple[Finding, ...] = ()
    noise_changes: tuple[NoiseChange, ...] = ()
    modes: tuple[ModeChange, ...] = ()
    slow: tuple[Finding, ...] = ()
    noise_pct: float | None = None
    steps: tuple[Step, ...] = ()
    stretches: tuple[Segment, ...] = ()
    has_modes: bool = False
    recurring: int = 0

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The sizes of the steps."""
        return tuple(step.finding for step in self.steps)


@dataclass(frozen=True, slots=True)
class Loss:
    """A proven loss: `before` is the last revision at the level before, `since` the first one of a
    step, or where a slow loss (`is_slow`) begins; `is_total`: the newest revisions measured 0.
    """

    before: At
    since: At
    is_slow: bool = False
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class NetLoss:
    """What stands lost now: `level` today against `level_before`, in the metric's unit.

    `change_pct` is the level today against the one before in percent, `low_pct` to `high_pct` its
    95 % interval. `since` is the first revision of the earliest loss that stands, or where it began
    by and by (`is_slow`).
    """

    since: At
    is_slow: bool
    level_before: float
    level: float
    change_pct: float
    low_pct: float
    high_pct: float


def net_loss(segments: Sequence[Segment], losses: Sequence[Loss], better: Better) -> NetLoss | None:
    """Return the loss that stands, None where today's level is proven below none of those before.

    `segments` and `losses` are in order along the tree, of one epoch. Gains before the earliest
    loss that stands do not count, those after it do, and so does drift. The half-widths of both
    levels' intervals add in quadrature on the log scale (Zou and Donner 2008, Statistics in
    Medicine 27, 1693, formula 2).
    """
    if any(each.level <= 0 or each.end_level <= 0 or each.low <= 0 for each in segments):
        return None
    sign = 1.0 if better == "more" else -1.0
    for loss in sorted(losses, key=lambda one: not one.is_total):
        before = level_at(segments, loss.before)
        if before is not None and loss.is_total:
            return NetLoss(loss.since, False, before.level, 0.0, -100.0, -100.0, -100.0)
        if before is None or _is_won_back(before, segments, loss.before, sign):
            continue
        now = segments[-1]
        gap, half = log(now.end_level / before.level), hypot(before.half, _half(now))
        if sign * gap + half < 0:
            ends = (gap, gap - half, gap + half)
            change, low, high = (100 * expm1(each) for each in ends)
            levels = before.level, now.end_level
            return NetLoss(loss.since, loss.is_slow, *levels, change, low, high)
    return None


class LevelAt(NamedTuple):
    """A level in the metric's unit, and the half-width of its 95 % interval on the log scale."""

    level: float
    half: float


def _half(segment: Segment) -> float:
    return log(segment.high / segment.low) / 2


def level_at(segments: Sequence[Segment], at: At) -> LevelAt | None:
    """Return the level at a revision, None before all `segments`; of one that drifts, on the line
    between its ends.
    """
    for one in reversed(segments):
        if one.first.position <= at.position:
            length = one.last.position - one.first.position
            share = min((at.position - one.first.position) / length, 1.0) if length else 0.0
            return LevelAt(one.level * exp(share * log(one.end_level / one.level)), _half(one))
    return None


def _is_won_back(before: LevelAt, segments: Sequence[Segment], at: At, sign: float) -> bool:
    """Whether a level after `at` reached the one before: within its interval, and nearer to that
    than to the lowest so far.
    """
    lowest = 0.0
    for one in segments:
        if one.first.position <= at.position:
            continue
        for level in (one.level, one.end_level):
            gap = sign * log(level / before.level)
            if gap + hypot(before.half, _half(one)) >= 0 and gap >= lowest / 2:
                return True
            lowest = min(lowest, gap)
    return False


def recoveries(changes: Sequence[Change]) -> tuple[At | None, ...]:
    """For each change the first revision that took it back; None where the level stays.

    `changes` are in order along the tree. A change is taken back by the first confirmed change of
    the opposite direction whose new level is at least `RESTORED` of the way back to the level
    before. Levels are compared, not sizes: the end of a later dip gives an earlier loss nothing
    back. A candidate, which rests on the newest revision alone, neither recovers nor is recovered.
    A rate of 0 is over with the first revision that measured more.
    """
    return tuple(_recovery(change, changes[i + 1 :]) for i, change in enumerate(changes))


def _recovery(change: Change, later: Sequence[Change]) -> At | None:
    if not change.level:
        return change.back
    lost = change.before - change.level
    if change.state != "confirmed" or not lost:
        return None
    for other in later:
        opposite = other.state == "confirmed" and other.verdict != change.verdict
        if opposite and (other.level - change.level) / lost >= RESTORED:
            return other.revision
    return None
