"""What is found in a series: frozen results, in percent and in the metric's unit."""

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["better", "worse"]

ChangeState = Literal["candidate", "one build", "confirmed"]

Helps = Literal["runs", "revisions", "unknown"]


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

    `change_pct` is new level against old in percent, `low_pct` to `high_pct` its 95 % interval.
    `probability` is that of the change being real (calibrated by simulation), `score` the
    evidence in standard deviations and `needed` the limit it had to pass. `p_value` is that
    of the scan at one revision under no change: it ranks alerts and is no probability of error.
    `confirmed_by` is the revision that completed the evidence when read in order (None for a
    candidate). `locations` are (position, label, probability) of the revisions that may be the
    first at the new level; the first is the revision before them, with none. Empty where the data
    leaves one place only.
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


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch without a change, from revision `first` to `last`, `count` of them measured.

    `level` is in the metric's unit, at the first revision, with its 95 % interval; `end_level`
    at the last. They differ where the series drifts: by `drift_pct` in all (0 where level).
    """

    first: At
    last: At
    count: int
    level: float
    low: float
    high: float
    end_level: float
    drift_pct: float


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
    with twice the samples each. `helps` says what to do more of.
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
    """Everything that is said about a series: a pure function of its points.

    `changes` are in order along the tree, the candidate (if any) last. `noise`, `smallest` and
    `newest` are None while too few revisions are known to say anything. `left_out` are the
    revisions without any positive sample.
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

    `locations` are the measured revisions that may be the first at the new level, with their
    probability; the first is the one before them, with none. `shown_by` is the revision with which
    the evidence for it was complete, by what is known now.
    """

    finding: Finding
    locations: tuple[tuple[At, float], ...]
    shown_by: At
    revisions: tuple[int, int]


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
class Stretch:
    """`count` measured revisions at one level (in the metric's unit, with its 95 % interval).

    `level` is where it begins, `end_level` where it ends: a curve may bend it.
    """

    first: At
    last: At
    count: int
    level: float
    low: float
    high: float
    end_level: float


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a series, kind by kind, each in order along the tree.

    `noise_pct` is the scatter of one revision now; None while too little is known. `stretches` are
    the levels between the `steps`. `has_modes`: runs have two modes, and sizes are those of runs in
    the usual one.
    """

    excursions: tuple[Finding, ...] = ()
    noise_changes: tuple[NoiseChange, ...] = ()
    modes: tuple[ModeChange, ...] = ()
    slow: tuple[Finding, ...] = ()
    noise_pct: float | None = None
    steps: tuple[Step, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    has_modes: bool = False

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The sizes of the steps."""
        return tuple(step.finding for step in self.steps)
