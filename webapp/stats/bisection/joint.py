"""The posterior of one commit by the boots of all subjects, be it one or several.

H_j, "c_j is the first bad one": one level before, another from c_j on. H_j has the evidence of the
cut between measured revisions that it falls into (`hypotheses`), summed over the nodes of the noise
and the states of the lab; so candidates between which nothing was measured share what the cut
gains, by their priors.

Given that commit j made the step, subjects are independent but for what their machine did. With
Z(j, x) the evidence of a subject's boots for a step at j while its machine does x, Z(0, x) for none
and a the chance that the commit spares it, machine m gives

    A(j) = Σ_x P(x) Π_i [(1 − a_i) Z_i(j, x) + a_i Z_i(0, x)],   B = Σ_x P(x) Π_i Z_i(0, x)

over its subjects i; P(j) is then the prior times the product of A over machines, and "no step" that
of B. So a machine's own step, which all its modes feel, is paid for once and not by each of them.
Of one subject that the commit does not spare (a = 0) that is the posterior of its hypotheses.
Two commits may move different subjects: of each one a pair of steps moves both, one or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log
from typing import Any

import numpy as np

from webapp.stats.arrays import Bools, Floats, Indices
from webapp.stats.bisection.hypotheses import TINY, Joint, log_sum, weigh
from webapp.stats.bisection.plan import Subject
from webapp.stats.bisection.posterior import (
    TWO_STEPS_PRIOR,
    Posterior,
    figures,
    figures_before,
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


@dataclass(frozen=True, eq=False)
class Seen:
    """What the boots of one subject show. ``own`` (G,): its gap of each common one. ``spared``: the
    chance that the commit does not move it. ``without_companions``: the same, where it has any.
    """

    joint: Joint
    own: Indices
    machine: str
    spared: float
    without_companions: "Seen | None"

    @classmethod
    def of(cls, subject: Subject, data: Tally, line: Timeline, own: Indices) -> "Seen":
        """With the companions of its line, if any."""
        alone = None if line.is_alone else cls.of(subject, data, line.alone(), own)
        joint = weigh(subject.plan, data, line)
        return cls(joint, own, subject.machine, subject.spared, alone)

    @property
    def alone(self) -> "Seen":
        """By the series alone, since nothing is assumed of what two culprits do to companions."""
        return self.without_companions or self

    @cached_property
    def by_lab(self) -> Floats:
        """Log evidence (M + 2, X) of the gaps and of no step, for each thing that the lab may have
        done.
        """
        return log_sum(self.joint.log) - self.joint.prior

    @cached_property
    def step_times(self) -> Floats:
        """The times (U,) at which the lab may have stepped."""
        line = self.joint.line
        return step_times(line.fresh[line.own], line.time[line.own])

    def separates(self, first: Indices, second: Indices) -> Bools:
        """For which pairs of common gaps its boots distinguish two steps from one."""
        one, other = self.own[first], self.own[second]
        return np.asarray((one > 0) & (other < len(self.by_lab) - 2) & (one < other))

    def by_machine(self, times: Floats) -> Floats:
        """Evidence (M + 2, X) by the machine's states and by its step at each of ``times``, whether
        companions follow it or not.
        """
        line, count = self.joint.line, len(self.joint.line.states)
        states, places = self.by_lab[:, :count], self.by_lab[:, count:]
        if not line.is_alone:
            follow, still, half = log(FOLLOWS), log(1 - FOLLOWS), places.shape[1] // 2
            moving = np.logaddexp(follow + states[:, 1::2], still + states[:, 2::2])
            places = np.logaddexp(follow + places[:, :half], still + places[:, half:])
            states = np.hstack([states[:, :1], moving])
        # A step behind its last boot is one that this subject did not feel, and so is one before
        # its first where nothing was measured earlier.
        at = np.searchsorted(self.step_times, times)
        fresh = line.time[line.own & line.fresh]
        if len(fresh) == line.own.sum() and len(fresh):
            at[times <= fresh.min()] = len(self.step_times)
        return np.hstack([states, np.hstack([places, states[:, :1]])[:, at]])

    def columns(self, times: Floats) -> Indices:
        """For each state of the subject's own the common one."""
        places = len(STATES) + np.searchsorted(times, self.step_times)
        if self.joint.line.is_alone:
            return np.concatenate([np.arange(len(STATES)), places])
        states = np.append(0, np.repeat(np.arange(1, len(STATES)), 2))
        return np.concatenate([states, places, places])


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

    @classmethod
    def of(cls, seen: Sequence[Seen]) -> "Machine":
        """By the times at which any of its subjects may have felt a step."""
        times = np.unique(np.concatenate([one.step_times for one in seen]))
        each = STEP_WEIGHT / max(len(times), 1)
        prior = np.log([state.weight for state in STATES] + [each] * len(times))
        by_lab = [one.by_machine(times) for one in seen]
        return cls(
            tuple(seen),
            prior,
            tuple(its[one.own] for one, its in zip(seen, by_lab, strict=True)),
            tuple(its[-1] for its in by_lab),
            tuple(one.columns(times) for one in seen),
        )

    def of_gaps(self, but: int = -1) -> Floats:
        """log Π of the mixtures of all subjects ``but`` one, (G, X), with the prior."""
        total = self.prior + np.zeros((len(self.moved[0]), 1))
        for at, (one, moved, none) in enumerate(zip(self.seen, self.moved, self.none, strict=True)):
            if at != but:
                with np.errstate(divide="ignore"):
                    spared = np.log(one.spared) + none
                total = total + np.logaddexp(log(1 - one.spared) + moved, spared)
        return total

    def of_none(self, but: int = -1) -> Floats:
        """The same for no step at all, (X,)."""
        parts = [none for at, none in enumerate(self.none) if at != but]
        return np.asarray(sum(parts, self.prior))


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The common posterior with the figures of one subject: its step, levels, noise and machine.

    ``moved``: the chance that the commit moves this subject, if there is such a commit. ``data``:
    its evidence reduced.
    """

    posterior: Posterior
    moved: float
    data: Tally


def views(subjects: Sequence[Subject]) -> list[View]:
    """What is known now, as each subject sees it. One that was never booted shows nothing.

    Raises `OutOfRangeError` for a build that stands for revisions between which a candidate lies.
    """
    data = [tally(one.plan, one.evidence) for one in subjects]
    lines = [timeline(one.plan, its) for one, its in zip(subjects, data, strict=True)]
    booted = [at for at, line in enumerate(lines) if len(line.value)]
    # Candidates lie in order, and so do the gaps of each line: a common gap ends where any does.
    count = subjects[0].plan.bad
    gaps = np.zeros((len(booted), count), np.intp)
    for row, at in enumerate(booted):
        gaps[row] = np.searchsorted(lines[at].slots, np.arange(1, count + 1))
    begins = np.append(True, (np.diff(gaps, axis=1) != 0).any(axis=0))
    seen = {
        at: Seen.of(subjects[at], data[at], lines[at], gaps[row, begins])
        for row, at in enumerate(booted)
    }
    gap_of = np.cumsum(begins) - 1
    common = _Common.of(list(seen.values()), data[0], gap_of, subjects[0].plan.doubt)
    return [
        common.view(seen[at])
        if at in seen
        else View(Posterior(**common.shared, **figures_before(one.plan)), 1 - one.spared, data[at])
        for at, one in enumerate(subjects)
    ]


@dataclass(frozen=True, eq=False)
class _Common:
    """What all subjects together show. ``gaps`` (G,): log evidence of the common gaps.
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
        alone = [one.alone for one in seen]
        fewer = None if alone == seen else cls.of(alone, data, gap_of, doubt)
        names = dict.fromkeys(one.machine for one in seen)
        machines = [Machine.of([one for one in seen if one.machine == name]) for name in names]
        prior = np.bincount(gap_of, data.prior).astype(np.float64)
        gaps = sum((log_sum(one.of_gaps(), axis=1) for one in machines), np.zeros(len(prior)))
        none = sum(float(np.logaddexp.reduce(one.of_none())) for one in machines)
        return cls(tuple(machines), data, doubt, gap_of, prior, gaps, none, fewer)

    @cached_property
    def log_prior(self) -> Floats:
        """Of a step in each common gap, (G,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log((1 - self.doubt) * self.prior))

    @cached_property
    def shared(self) -> dict[str, Any]:
        """The fields of a posterior that are the same for every subject."""
        top = max(float(self.gaps[self.prior > 0].max(initial=-inf)), self.none)
        z, none = np.exp(self.gaps - top), self.doubt * exp(self.none - top)
        total = (1 - self.doubt) * float(z @ self.prior) + none
        equal = (1 - self.doubt) * z[self.gap_of] * self.data.equal
        two, pair = (self.without_companions or self).chance_of_two()
        inside = [np.flatnonzero(self.gap_of == gap) + 1 for gap in pair]
        return {
            "candidates": (1 - self.doubt) * z[self.gap_of] * self.data.prior / total,
            "equal": equal / (float(equal.sum()) + none),
            "none": none / total,
            "two": two,
            "two_gaps": tuple((int(each[0]), int(each[-1])) for each in inside) or None,
            "gap_of": self.gap_of,
        }

    def chance_of_two(self) -> tuple[float, tuple[int, ...]]:
        """The chance of two commits in steady labs against everything else, and the likeliest pair
        of gaps; none where no boot separates two.
        """
        possible = np.flatnonzero(self.prior)
        first, second = (possible[at] for at in np.triu_indices(len(possible), 1))
        every = [seen for machine in self.machines for seen in machine.seen]
        separated = np.any([seen.separates(first, second) for seen in every], axis=0)
        if not separated.any():
            return 0.0, ()
        first, second = first[separated], second[separated]
        total = np.log(2 * np.maximum(self.prior[first] * self.prior[second], TINY))
        total = total + len(self.machines) * log(STATES[0].weight)
        total = sum((_of_pairs(seen, first, second) for seen in every), total)
        best = int(np.argmax(total))
        log_one = log_sum(np.append(self.gaps + self.log_prior, self.none + log(self.doubt)))
        share = (1 - self.doubt) * TWO_STEPS_PRIOR
        odds = float(log_sum(total)) + log(share / (1 - share)) - float(log_one)
        chance = 1 / (1 + exp(-odds)) if odds > -700 else 0.0
        return chance, (int(first[best]), int(second[best]))

    def view(self, seen: Seen) -> View:
        """The figures of one subject, under what the others show of the commit."""
        joint = seen.joint
        weight, kept = self._weights(seen)
        log_chance = joint.log + weight
        most = float(log_chance.max())
        chance = np.exp(log_chance - most)
        steps = float(chance[:, :-1].sum())
        spared = float(np.exp(joint.log[:, -1] + kept - most).sum())
        own = figures(joint, chance / float(chance.sum()))
        top = int(np.argmax(self.shared["candidates"])) + 1
        now = Posterior(**self.shared, **own, rest=remainder_of(seen.alone.joint, top))
        return View(now, steps / max(steps + spared, TINY), joint.data)

    def _weights(self, seen: Seen) -> tuple[Floats, Floats]:
        """Logarithms of what the others make of each gap and state of a subject, (M + 2, X), and of
        that part of no step, (X,), in which another subject has it.
        """
        machine = next(one for one in self.machines if seen in one.seen)
        at = machine.seen.index(seen)
        elsewhere = self.gaps - log_sum(machine.of_gaps(), axis=1)
        nowhere = self.none - float(np.logaddexp.reduce(machine.of_none()))
        by_gap = machine.of_gaps(but=at) + (elsewhere + self.log_prior)[:, None]
        with np.errstate(divide="ignore"):
            kept = np.log(seen.spared) + np.logaddexp.reduce(by_gap, axis=0)
        weight = np.full((seen.by_lab.shape[0], by_gap.shape[1]), -np.inf)
        np.logaddexp.at(weight, seen.own, log(1 - seen.spared) + by_gap)
        weight[-1] = np.logaddexp(kept, log(self.doubt) + machine.of_none(but=at) + nowhere)
        # A subject's evidence holds its own prior of what the lab does, the machine's the common.
        column = machine.column[at]
        return weight[:, column] - machine.prior[column], kept[column] - machine.prior[column]


def _of_pairs(seen: Seen, first: Indices, second: Indices) -> Floats:
    """One subject's log evidence (Q,) of two steps in each pair of common gaps."""
    steady, inner = seen.by_lab[:, 0], seen.separates(first, second)
    one, other = seen.own[first], seen.own[second]
    both = np.where(one > 0, steady[one], steady[other])
    both[inner] = seen.joint.log_pairs(one[inner] - 1, other[inner] - 1)
    if seen.spared == 0:
        return both
    moved, spared = log(1 - seen.spared), log(seen.spared)
    parts = [
        2 * moved + both,
        moved + spared + steady[one],
        moved + spared + steady[other],
        2 * spared + np.full_like(both, steady[-1]),
    ]
    return log_sum(np.stack(parts))
