"""A bisect over several simulated machines, played to the end: each works at its own speed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.plan import Evidence
from webapp.stats.bisection.playing import SimulatedLab, build_key, hours_of
from webapp.stats.bisection.subjects import Subject
from webapp.stats.bisection.together import Asked, decide_together


@dataclass(frozen=True, slots=True)
class Played:
    """``evidence`` of each subject in the end, the ``outcome``, and the ``hours`` from the start to
    the end. ``ended``: of each boot, in order, its subject and the hour.
    """

    evidence: tuple[Evidence, ...]
    outcome: Outcome
    hours: float
    ended: tuple[tuple[int, float], ...]

    @property
    def effort(self) -> int:
        """Boots of all subjects."""
        return sum(one.effort for one in self.evidence)


@dataclass(frozen=True, slots=True)
class _Running:
    """A boot under way: when it ends, and what it takes."""

    ends: float
    hours: float
    asked: Asked


def play_together(
    subjects: Sequence[Subject], labs: Sequence[SimulatedLab], gone: dict[str, float] | None = None
) -> Played:
    """Measure in ``labs``, one for each subject, what is decided; machines work side by side.

    A machine of ``gone`` is not there from so many hours on: its boot under way is lost.
    """
    subjects, gone = list(subjects), gone or {}
    running: list[_Running] = []
    ended: list[tuple[int, float]] = []
    clock = 0.0
    while True:
        present = {one.machine for one in subjects if clock < gone.get(one.machine, float("inf"))}
        running = [one for one in running if subjects[one.asked.subject].machine in present]
        busy = [subjects[one.asked.subject].machine for one in running]
        free = {machine: int(machine not in busy) for machine in sorted(present)}
        found = decide_together(subjects, [one.asked for one in running], free)
        if found.decision.outcome is not None:
            return _ended(subjects, found.decision.outcome, clock, ended)
        here = [one for one in found.actions if subjects[one.subject].machine in present]
        for asked in here:
            hours = _hours(subjects, asked)
            running.append(_Running(clock + hours, hours, asked))
        if not running:
            waits = Outcome(Kind.INCONCLUSIVE, (), 0.0, "It waits for a machine that is gone.")
            return _ended(subjects, waits, clock, ended)
        first = min(running, key=lambda one: (one.ends, one.asked.subject))
        running.remove(first)
        clock = first.ends
        at = first.asked.subject
        if clock < gone.get(subjects[at].machine, float("inf")):
            subjects[at] = _measured(subjects, labs, first)
            ended.append((at, clock))


def _ended(
    subjects: Sequence[Subject], outcome: Outcome, clock: float, ended: list[tuple[int, float]]
) -> Played:
    return Played(tuple(one.evidence for one in subjects), outcome, clock, tuple(ended))


def _hours(subjects: Sequence[Subject], asked: Asked) -> float:
    """A build that the machine made for another mode is there."""
    own = subjects[asked.subject]
    made = frozenset(
        boot.index for one in subjects if one.machine == own.machine for boot in one.evidence.boots
    )
    plan = replace(own.plan, cached=own.plan.cached | made)
    return hours_of(plan, own.evidence, asked.measure)


def _measured(subjects: Sequence[Subject], labs: Sequence[SimulatedLab], one: _Running) -> Subject:
    """The subject with the boot that ended, which all labs of its machine have behind them."""
    at, measure = one.asked.subject, one.asked.measure
    own, evidence = subjects[at], subjects[at].evidence
    turn = labs[at].booted
    boot = labs[at].boot(measure, build_key(measure, evidence), own.plan.runs)
    for other, lab in zip(subjects, labs, strict=True):
        if other.machine == own.machine:
            lab.booted = turn + 1
    boots = (*evidence.boots, replace(boot, turn=turn))
    return replace(
        own, evidence=replace(evidence, boots=boots, pinned=(), hours=evidence.hours + one.hours)
    )
