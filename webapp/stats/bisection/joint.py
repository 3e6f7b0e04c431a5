"""The posterior of one commit by the boots of all subjects, be it one or several.

H_j, "c_j is the first bad one": one level before, another from c_j on. H_j has the evidence of the
cut between measured revisions that it falls into (`hypotheses`), summed over the nodes of the noise
and the states of the lab; so candidates between which nothing was measured share what the cut
gains, by their priors.

Given that commit j made the step, subjects are independent but for what their machine did. With
Z(j, x) the evidence of a subject's boots for a step at j while its machine does x, Z(0, x) for none
and a the chance that the commit spares it, machine m says

    A(j) = Σ_x P(x) Π_i [(1 − a_i) Z_i(j, x) + a_i Z_i(0, x)],   B = Σ_x P(x) Π_i Z_i(0, x)

over its subjects i; P(j) is then the prior times the product of A over machines, and "no step" that
of B. So a machine's own step, which all its modes feel, is paid for once and not by each of them.
Of one subject that the commit does not spare (a = 0) that is the posterior of its hypotheses.
Two commits may move different subjects: of each one a pair of steps moves both, one or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webapp.stats.bisection.hypotheses import Joint, lab_prior, log_sum, pair_evidence, weigh
from webapp.stats.bisection.plan import Evidence, Plan, Subject
from webapp.stats.bisection.posterior import (
    TINY,
    Posterior,
    Remainder,
    Steady,
    chance_of_two,
    figures,
    figures_before,
    ranges,
    remainder_of,
)
from webapp.stats.bisection.tally import Tally, tally
from webapp.stats.bisection.timeline import (
    FOLLOWS,
    STATES,
    STEP_WEIGHT,
    Timeline,
    step_times,
    timeline,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What one subject's boots say. ``by_lab`` (M + 2, X): log evidence of its gaps and of no step,
    for each thing that its lab may have done, of which ``prior`` (X,) is the logarithm. ``own``
    (G,): its gap of each common one. ``without_companions``: the same, where it has any.
    """

    subject: Subject
    data: Tally
    line: Timeline
    joint: Joint
    prior: Floats
    by_lab: Floats
    own: Indices
    without_companions: "Seen | None"

    @property
    def alone(self) -> "Seen":
        """By the series alone, since nothing is assumed of what two culprits do to companions."""
        return self.without_companions or self

    def separates(self, first: Indices, second: Indices) -> NDArray[np.bool_]:
        """For which pairs of common gaps its boots distinguish two steps from one."""
        one, other = self.own[first], self.own[second]
        return np.asarray((one > 0) & (other < len(self.by_lab) - 2) & (one < other))

    def rest(self, likeliest: int) -> Remainder:
        """What a step at the ``likeliest`` candidate leaves to a second one in this series."""
        plan, alone = self.subject.plan, self.alone
        gap_of = np.searchsorted(self.line.slots, np.arange(1, plan.bad + 1))
        gap_prior = np.bincount(gap_of, self.data.prior, len(self.line.slots) + 1)
        with np.errstate(divide="ignore"):
            prior = np.log(np.append((1 - plan.doubt) * gap_prior, plan.doubt))
        one = float(log_sum((alone.by_lab + alone.prior + prior[:, None]).ravel()))
        steady = Steady(self.data, alone.joint.steady, gap_of, one)
        return remainder_of(plan, steady, likeliest)


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """Its subjects' evidence over X states of the machine that they share.

    ``prior`` (X,) in logarithms; ``moved`` and ``none`` for each subject, (G, X) and (X,);
    ``column``: for each subject and each of its own states the common one.
    """

    seen: tuple[Seen, ...]
    prior: Floats
    moved: tuple[Floats, ...]
    none: tuple[Floats, ...]
    column: tuple[Indices, ...]

    def of_gaps(self, but: int = -1) -> Floats:
        """log Π of the mixtures of all subjects ``but`` one, (G, X), with the prior."""
        parts = [
            _either(log1m(one.subject.spared), moved, one.subject.spared, none)
            for at, (one, moved, none) in enumerate(
                zip(self.seen, self.moved, self.none, strict=True)
            )
            if at != but
        ]
        return np.asarray(sum(parts, self.prior + np.zeros((len(self.moved[0]), 1))))

    def of_none(self, but: int = -1) -> Floats:
        """The same for no step at all, (X,)."""
        parts = [none for at, none in enumerate(self.none) if at != but]
        return np.asarray(sum(parts, self.prior))


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The common posterior with the figures of one subject: its step, levels, noise and machine.

    ``moved``: the chance that the commit moves this subject, if there is such a commit.
    """

    posterior: Posterior
    moved: float


def posterior(plan: Plan, evidence: Evidence) -> Posterior:
    """The posterior of one series from the raw evidence; without any boot, the prior.

    Raises `OutOfRangeError` for a build that stands for revisions between which a candidate lies.
    """
    (view,) = views([Subject(plan, evidence, spared=0.0)], [tally(plan, evidence)])
    return view.posterior


def views(subjects: Sequence[Subject], data: Sequence[Tally]) -> list[View]:
    """What is known now, as each subject sees it. One that was never booted says nothing."""
    lines = [timeline(one.plan, its) for one, its in zip(subjects, data, strict=True)]
    booted = [at for at, line in enumerate(lines) if len(line.value)]
    if not booted:
        shared = _before(data[0], subjects[0].plan.doubt)
        return [_unbooted(one, shared) for one in subjects]
    gap_of, own = _common_gaps(subjects, [lines[at] for at in booted])
    seen = {at: _seen(subjects[at], data[at], lines[at], own[row]) for row, at in enumerate(booted)}
    common = _Common.of(list(seen.values()), data[0], gap_of, subjects[0].plan.doubt)
    return [
        common.view(seen[at]) if at in seen else _unbooted(one, common.shared)
        for at, one in enumerate(subjects)
    ]


def _before(data: Tally, doubt: float) -> dict[str, Any]:
    """The fields of a posterior that are the same for every subject, before any boot."""
    return {
        "candidates": (1 - doubt) * data.prior,
        "equal": (1 - doubt) * data.equal,
        "none": doubt,
        "two": 0.0,
        "two_gaps": None,
        "gap_of": np.zeros(len(data.prior), np.intp),
    }


def _unbooted(subject: Subject, shared: dict[str, Any]) -> View:
    """A subject that says nothing: it has the figures that its plan expects."""
    return View(Posterior(**shared, **figures_before(subject.plan)), 1 - subject.spared)


def log1m(chance: float) -> float:
    """log(1 − chance)."""
    return log(1 - chance)


def _either(log_moved: float, moved: Floats, spared: float, none: Floats) -> Floats:
    """Moved by the commit or spared by it."""
    if spared == 0:
        return moved
    return np.logaddexp(log_moved + moved, log(spared) + none)


def _common_gaps(
    subjects: Sequence[Subject], lines: Sequence[Timeline]
) -> tuple[Indices, NDArray[np.intp]]:
    """The gap of each candidate between all measured slots, and each subject's own of these."""
    candidates = np.arange(1, subjects[0].plan.bad + 1)
    each = np.stack([np.searchsorted(line.slots, candidates) for line in lines])
    # Candidates lie in order, and so do the gaps of each line: a common gap ends where any does.
    begins = np.append(True, (np.diff(each, axis=1) != 0).any(axis=0))
    return np.cumsum(begins) - 1, each[:, begins]


def _seen(subject: Subject, data: Tally, line: Timeline, own: Indices) -> Seen:
    joint = weigh(subject.plan, data, line)
    prior = lab_prior(line, joint.log.shape[2] - len(line.states))
    alone = None if line.is_alone else _seen(subject, data, line.alone(), own)
    return Seen(subject, data, line, joint, prior, log_sum(joint.log) - prior, own, alone)


def _machines(seen: list[Seen]) -> list[Machine]:
    names = dict.fromkeys(one.subject.machine for one in seen)
    return [_machine([one for one in seen if one.subject.machine == name]) for name in names]


def _machine(seen: list[Seen]) -> Machine:
    if len(seen) == 1:
        (one,) = seen
        own, column = one.by_lab[one.own], np.arange(len(one.prior))
        return Machine((one,), one.prior, (own,), (one.by_lab[-1],), (column,))
    times = np.unique(np.concatenate([_own_times(one) for one in seen]))
    each = STEP_WEIGHT / max(len(times), 1)
    prior = np.log([state.weight for state in STATES] + [each] * len(times))
    aligned = [_aligned(one, times) for one in seen]
    return Machine(
        tuple(seen),
        prior,
        tuple(by_lab[one.own] for one, by_lab in zip(seen, aligned, strict=True)),
        tuple(by_lab[-1] for by_lab in aligned),
        tuple(_columns(one, times) for one in seen),
    )


def _own_times(one: Seen) -> Floats:
    own = one.line.own
    return step_times(one.line.fresh[own], one.line.time[own])


def _aligned(one: Seen, times: Floats) -> Floats:
    """Evidence (M + 2, X) by the machine's states and by its step at each of ``times``."""
    states, places = _without_companions(one)
    own = _own_times(one)
    steady = states[:, :1]
    # A step behind its last boot is one that this subject did not feel, and so is one before its
    # first where nothing was measured earlier.
    padded = np.hstack([places, steady])
    at = np.searchsorted(own, times)
    past = (~one.line.fresh[one.line.own]).any()
    first = one.line.time[one.line.own & one.line.fresh]
    unfelt = np.zeros(len(times), np.bool_) if past or not len(first) else times <= first.min()
    return np.hstack([states, padded[:, np.where(unfelt, len(own), at)]])


def _without_companions(one: Seen) -> tuple[Floats, Floats]:
    """By the states of the lab and by its step's places, whether companions follow it or not."""
    count = len(one.line.states)
    states, places = one.by_lab[:, :count], one.by_lab[:, count:]
    if one.line.is_alone:
        return states, places
    follow, still = log(FOLLOWS), log1m(FOLLOWS)
    moving = np.logaddexp(follow + states[:, 1::2], still + states[:, 2::2])
    half = places.shape[1] // 2
    either = np.logaddexp(follow + places[:, :half], still + places[:, half:])
    return np.hstack([states[:, :1], moving]), either


def _columns(one: Seen, times: Floats) -> Indices:
    """For each state of the subject's own the common one."""
    own = len(STATES) + np.searchsorted(times, _own_times(one))
    if one.line.is_alone:
        return np.concatenate([np.arange(len(STATES)), own])
    states = [0, *(at for at in range(1, len(STATES)) for _ in range(2))]
    return np.concatenate([states, own, own]).astype(np.intp)


@dataclass(frozen=True, eq=False)
class _Common:
    """What all subjects together say. ``gaps`` (G,): log evidence of the common gaps.
    ``without_companions``: the same, where a subject has any.
    """

    machines: tuple[Machine, ...]
    data: Tally
    doubt: float
    gap_of: Indices
    prior: Floats
    gaps: Floats
    none: float
    without_companions: "_Common | None"

    @classmethod
    def of(cls, seen: list[Seen], data: Tally, gap_of: Indices, doubt: float) -> "_Common":
        machines, alone = _machines(seen), [one.alone for one in seen]
        fewer = None if alone == seen else cls.of(alone, data, gap_of, doubt)
        gaps = sum(log_sum(one.of_gaps(), axis=1) for one in machines)
        none = sum(float(np.logaddexp.reduce(one.of_none())) for one in machines)
        prior = np.bincount(gap_of, data.prior).astype(np.float64)
        return cls(tuple(machines), data, doubt, gap_of, prior, np.asarray(gaps), none, fewer)

    @property
    def top(self) -> float:
        """The largest log evidence, from which all are counted."""
        return max(float(self.gaps[self.prior > 0].max(initial=-np.inf)), self.none)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """The fields of a posterior that are the same for every subject."""
        z, none = np.exp(self.gaps - self.top), self.doubt * exp(self.none - self.top)
        total = (1 - self.doubt) * float(z @ self.prior) + none
        equal = (1 - self.doubt) * z[self.gap_of] * self.data.equal
        two, pair = (self.without_companions or self).chance_of_two()
        return {
            "candidates": (1 - self.doubt) * z[self.gap_of] * self.data.prior / total,
            "equal": equal / (float(equal.sum()) + none),
            "none": none / total,
            "two": two,
            "two_gaps": ranges(pair, self.gap_of),
            "gap_of": self.gap_of,
        }

    def chance_of_two(self) -> tuple[float, tuple[int, int] | None]:
        """The chance of two steps against everything else, and the likeliest pair of gaps."""
        log_two, pair = _two_steps(self.machines, self.prior)
        with np.errstate(divide="ignore"):
            one = self.gaps + np.log((1 - self.doubt) * self.prior)
        log_one = float(log_sum(np.append(one, self.none + log(self.doubt))))
        return chance_of_two(self.doubt, log_two, log_one), pair

    def view(self, seen: Seen) -> View:
        """The figures of one subject, under what the others say of the commit."""
        weight, kept = self._weights(seen)
        log_chance = seen.joint.log + weight
        most = float(log_chance.max())
        chance = np.exp(log_chance - most)
        steps = float(chance[:, :-1].sum())
        spared = float(np.exp(seen.joint.log[:, -1] + kept - most).sum())
        own = figures(
            seen.subject.plan, seen.data, seen.line, seen.joint, chance / float(chance.sum())
        )
        moved = steps / max(steps + spared, TINY)
        top = int(np.argmax(self.shared["candidates"])) + 1
        return View(Posterior(**self.shared, **own, rest=seen.rest(top)), moved)

    def _weights(self, seen: Seen) -> tuple[Floats, Floats]:
        """Logarithms of what the others make of each gap and state of a subject, (M + 2, X), and of
        that part of no step, (X,), in which another subject has it.
        """
        machine = next(one for one in self.machines if seen in one.seen)
        at, spared = machine.seen.index(seen), seen.subject.spared
        elsewhere = self.gaps - log_sum(machine.of_gaps(), axis=1)
        nowhere = self.none - float(np.logaddexp.reduce(machine.of_none()))
        with np.errstate(divide="ignore"):
            prior, log_spared = np.log((1 - self.doubt) * self.prior), np.log(spared)
        by_gap = machine.of_gaps(but=at) + (elsewhere + prior)[:, None]
        kept = log_spared + np.logaddexp.reduce(by_gap, axis=0)
        weight = np.full((seen.by_lab.shape[0], by_gap.shape[1]), -np.inf)
        np.logaddexp.at(weight, seen.own, log1m(spared) + by_gap)
        weight[-1] = np.logaddexp(kept, log(self.doubt) + machine.of_none(but=at) + nowhere)
        # A subject's evidence holds its own prior of what the lab does, the machine's the common.
        column = machine.column[at]
        return weight[:, column] - machine.prior[column], kept[column] - machine.prior[column]


def _two_steps(machines: Sequence[Machine], prior: Floats) -> tuple[float, tuple[int, int] | None]:
    """Log evidence of two commits in steady labs, and the likeliest pair of common gaps."""
    if len(prior) < 2:
        return -np.inf, None
    possible = np.flatnonzero(prior)
    first, second = (possible[at] for at in np.triu_indices(len(possible), 1))
    every = [seen for machine in machines for seen in machine.seen]
    is_seen = np.any([seen.separates(first, second) for seen in every], axis=0)
    if not is_seen.any():
        return -np.inf, None
    first, second = first[is_seen], second[is_seen]
    total = np.log(2 * np.maximum(prior[first] * prior[second], TINY))
    total = total + len(machines) * log(STATES[0].weight)
    for seen in every:
        total = total + _pairs_of(seen, first, second)
    best = int(np.argmax(total))
    return float(log_sum(total)), (int(first[best]), int(second[best]))


def _pairs_of(seen: Seen, first: Indices, second: Indices) -> Floats:
    """One subject's log evidence of each pair of gaps."""
    steady, inner = seen.by_lab[:, 0], seen.separates(first, second)
    one, other = seen.own[first], seen.own[second]
    both = np.where(one > 0, steady[one], steady[other])
    both[inner] = pair_evidence(
        seen.subject.plan, seen.data, seen.joint.steady, one[inner] - 1, other[inner] - 1
    )
    a = seen.subject.spared
    if a == 0:
        return both
    parts = [
        2 * log1m(a) + both,
        log1m(a) + log(a) + steady[one],
        log1m(a) + log(a) + steady[other],
        2 * log(a) + np.full_like(both, steady[-1]),
    ]
    return log_sum(np.stack(parts))
