"""How well does it work? Bisects with a known truth, counted.

A cell holds the truth: how many commits, the step, the noise. The good end has neighbours that
history measured (five boots each, one build each): every alert has such a history. The bad end has
none: the points that raised an alert are a selection, and would count a false alert as true. The
noise is known, or estimated from so many revisions of history.

Trials run over several processes: the same answers in the same order, sooner. Each process is
started anew (nothing of a parent that runs threads or a server is copied) and computes with one
thread: its matrices are small, and libraries that share one core among several threads wait for
each other.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import log1p
from multiprocessing import get_context
from typing import Protocol, TypeVar

import numpy as np

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Floats
from webapp.stats.bisection.ending import Kind, Outcome
from webapp.stats.bisection.noise import Noise, estimate_noise
from webapp.stats.bisection.plan import (
    DEFAULT_BOOTS,
    Boot,
    Budget,
    Companion,
    Evidence,
    Plan,
    Subject,
)
from webapp.stats.bisection.playing import Beside, SimulatedLab, play
from webapp.stats.bisection.validation import Side
from webapp.stats.simulate.bisect_worlds import AS_MODELLED, World, draw_culprits, levels_of

T = TypeVar("T")
R = TypeVar("R")

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

CHUNK = 5
"""Trials that a process takes at a time: they take from 20 ms to seconds each."""


HISTORY_BOOTS = 5
"""Boots of each revision in a history."""

BEYOND = 3
"""Revisions of history on the other side of a culprit that lies outside the range."""

NEIGHBOURS = 10
"""Revisions of history, the good one included, that count at the good end."""

SHORT_RANGE, STATED = 8, 0.9
"""Commits that a person can look at, and the stated probability that is held to its word."""


class Spread(Protocol):
    """What ``map`` does, perhaps elsewhere."""

    def __call__(self, play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """``play`` of each item, in their order."""


def here(play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
    """In this process, one after another."""
    return map(play, items)


@contextmanager
def spread_over(processes: int) -> Iterator[Spread]:
    """Plays items in so many processes (≥ 1), which end with the context.

    Raises `OutOfRangeError`.
    """
    if processes < 1:
        raise OutOfRangeError("processes: at least 1")
    if processes == 1:
        yield here
        return
    with _one_thread_each(), get_context("spawn").Pool(processes) as pool:

        def spread(play: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
            return pool.imap(play, items, CHUNK)

        yield spread


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes started meanwhile, unless the caller's environment differs."""
    missing = [name for name in ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@dataclass(frozen=True, slots=True)
class Cell:
    """The truth. Percentages; ``step`` is signed, and what was alerted unless ``alerted`` differs.

    ``history``: revisions from which the noise is estimated; 0: it is known. With
    ``false_alert`` there is no step. ``world``: what breaks the model. Raises `OutOfRangeError`.
    """

    commits: int
    step: float
    run: float
    boot: float
    build: float = 0.0
    history: int = 0
    neighbours: int = NEIGHBOURS
    false_alert: bool = False
    rebuilds: bool = False
    budget: int = DEFAULT_BOOTS
    alerted: float | None = None
    world: World = AS_MODELLED

    def __post_init__(self) -> None:
        if self.commits < 1:
            raise OutOfRangeError("commits: at least 1")
        for name, step in (("step", self.step), ("alerted", self.alerted)):
            if step is not None and (not -100 < step < 1e6 or step == 0):
                raise OutOfRangeError(f"{name}: a percentage above -100, not 0")
        if self.history and self.history < 3:
            raise OutOfRangeError("history: at least 3 revisions, or 0 for noise that is known")
        if self.neighbours < 0:
            raise OutOfRangeError("neighbours: 0 or more")

    @property
    def effects(self) -> tuple[float, ...]:
        """The true steps in log percent; none for a false alert."""
        is_empty = self.false_alert or self.world.outside
        steps = () if is_empty else self.world.culprits or (self.step,)
        return tuple(100 * log1p(step / 100) for step in steps)

    @property
    def alerted_effect(self) -> float:
        """The alerted step in log percent: unless given, all true steps together."""
        if self.alerted is None and self.effects:
            return sum(self.effects)
        return 100 * log1p((self.step if self.alerted is None else self.alerted) / 100)

    @property
    def noise(self) -> Noise:
        """The noise as it is believed."""
        return Noise(self.run, self.boot, self.build)

    @property
    def true_noise(self) -> Noise:
        """The noise as it is."""
        factor = self.world.true_noise
        build = max(self.build, self.world.hidden_build)
        return Noise(factor * self.run, factor * self.boot, build)


@dataclass(frozen=True, slots=True)
class Tried:
    """How one trial ended: its kind, whether what it names is the truth, and its boots.

    ``innocent``: it names one commit that did nothing. ``several``: it names more than one.
    ``stated``: the probability of its conclusion.
    """

    kind: Kind
    right: bool
    boots: int
    candidates: int
    innocent: bool = False
    several: bool = False
    stated: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """All trials of a cell: shares of 1.

    Of several culprits a single name is right only as the first of several. ``innocent``: named a
    commit that did nothing. ``several``: named more than one commit. ``short_range``: ended in a
    range of at most `SHORT_RANGE` that holds a culprit. ``stated_90``: names at a stated 90 % or
    more, and how many of them are right. ``outside_right``: named on which
    side of the range it lies.
    """

    trials: int
    outcomes: dict[Kind, float]
    right_single: float
    wrong_single: float
    range_right: float | None
    range_median: float | None
    boots_median: float
    boots_p95: float
    innocent: float
    several: float
    short_range: float
    stated_90: tuple[int, int]
    outside_right: float


def simulate(cell: Cell, *, trials: int, seed: int, spread: Spread = here) -> Result:
    """Play ``trials`` (≥ 1) bisects; trial i depends on the seed (≥ 0) and i alone.

    Raises `OutOfRangeError`.
    """
    return counted(play_trials(cell, trials=trials, seed=seed, spread=spread))


def play_trials(
    cell: Cell,
    *,
    trials: int,
    seed: int,
    spread: Spread = here,
    play_one: Callable[[Cell, np.random.Generator], Tried] | None = None,
) -> list[Tried]:
    """How each trial of `simulate` ended; ``play_one`` plays one (by the rules of Driftline)."""
    if trials < 1:
        raise OutOfRangeError("trials: at least 1")
    if seed < 0:
        raise OutOfRangeError("seed: 0 or more")
    return list(spread(partial(_trial, cell, seed, play_one or _try), range(trials)))


def _trial(
    cell: Cell, seed: int, play_one: Callable[[Cell, np.random.Generator], Tried], number: int
) -> Tried:
    return play_one(cell, np.random.default_rng([seed, number]))


@dataclass(frozen=True, slots=True)
class Question:
    """A bisect that begins: its plan, what history knows, the lab, and who is guilty."""

    plan: Plan
    known: Evidence
    lab: SimulatedLab
    culprits: tuple[int, ...]


def question_of(cell: Cell, rng: np.random.Generator) -> Question:
    """One bisect of a cell, not yet begun."""
    world, noise, effects = cell.world, cell.true_noise, cell.effects
    culprits = draw_culprits(rng, cell.commits, len(effects)) if effects else ()
    levels = levels_of(cell.commits, culprits, effects)
    mode = Beside(
        float(np.hypot(noise.run, noise.boot)), world.beside_share, float(not world.beside_still)
    )
    lab = SimulatedLab(rng, levels, noise, changes=world.changes, beside=(mode,) * world.beside)
    past = _history(cell, lab)
    plan = Plan(
        weights=_weights(cell, culprits),
        effect=cell.alerted_effect,
        noise=estimate_noise(past[: cell.history]) if cell.history else cell.noise,
        budget=Budget(boots=cell.budget),
        can_rebuild=cell.rebuilds,
        companions=tuple(
            Companion(float(np.hypot(cell.run, cell.boot))) for _ in range(world.beside)
        ),
    )
    boots = tuple(
        Boot(-back, float(value))
        for back, values in enumerate(past[: cell.neighbours])
        for value in values
    )
    return Question(plan, Evidence(boots, beyond=_beyond(cell, lab)), lab, culprits)


def _try(cell: Cell, rng: np.random.Generator) -> Tried:
    asked = question_of(cell, rng)
    played = play([Subject(asked.plan, asked.known)], [asked.lab])
    return _of_outcome(played.outcome, asked.culprits, played.effort, cell.world.outside)


def _beyond(cell: Cell, lab: SimulatedLab) -> tuple[Boot, ...]:
    """What history measured on the other side of a culprit that is not in the range."""
    side = cell.world.outside
    step = 100 * log1p(cell.step / 100)
    indices = {
        -1: range(-cell.neighbours - BEYOND, -cell.neighbours),
        1: range(cell.commits + 1, cell.commits + 1 + BEYOND),
    }
    return tuple(
        Boot(index, float(lab.runs(0, 1, f"beyond {index}")[0]) + side * step)
        for index in indices.get(side, ())
        for _ in range(HISTORY_BOOTS)
    )


def _weights(cell: Cell, culprits: tuple[int, ...]) -> tuple[float, ...]:
    guilty = cell.world.misleading_prior
    return tuple(guilty if j in culprits else 1.0 for j in range(1, cell.commits + 1))


def _history(cell: Cell, lab: SimulatedLab) -> list[Floats]:
    """Boots of the good revision and of those before it, newest first."""
    past = max(cell.history, cell.neighbours)
    return [
        np.array([lab.runs(0, 1, _past_build(back))[0] for _ in range(HISTORY_BOOTS)])
        for back in range(past)
    ]


def _past_build(back: int) -> str:
    return f"{back} before" if back else ""


def _of_outcome(outcome: Outcome, culprits: tuple[int, ...], boots: int, outside: int = 0) -> Tried:
    several = outcome.several or outcome.kind is Kind.TWO_STEPS
    right = not set(culprits).isdisjoint(outcome.candidates)
    if outcome.kind is Kind.NOT_REPRODUCED:
        right = not culprits and not outside
    if outcome.outside is not None:
        right = outcome.outside.side is {-1: Side.BEFORE, 1: Side.BEHIND}.get(outside)
    innocent = outcome.kind is Kind.SINGLE and not right
    if outcome.kind is Kind.SINGLE and len(culprits) > 1:
        right = right and several
    found = len(outcome.candidates)
    return Tried(outcome.kind, right, boots, found, innocent, several, outcome.probability)


def counted(tried: Sequence[Tried]) -> Result:
    """The shares of trials of one cell."""
    counts = Counter(trial.kind for trial in tried)
    single = [trial for trial in tried if trial.kind is Kind.SINGLE]
    ranges = [trial for trial in tried if trial.kind is Kind.RANGE]
    stated = [trial for trial in single if trial.stated >= STATED]
    boots = np.array([trial.boots for trial in tried])
    n = len(tried)
    return Result(
        trials=n,
        outcomes={kind: counts[kind] / n for kind in Kind},
        right_single=sum(trial.right for trial in single) / n,
        wrong_single=sum(not trial.right for trial in single) / n,
        range_right=sum(trial.right for trial in ranges) / len(ranges) if ranges else None,
        range_median=float(np.median([trial.candidates for trial in ranges])) if ranges else None,
        boots_median=float(np.median(boots)),
        boots_p95=float(np.percentile(boots, 95)),
        innocent=sum(trial.innocent for trial in tried) / n,
        several=sum(trial.several for trial in tried) / n,
        short_range=sum(t.right and t.candidates <= SHORT_RANGE for t in ranges) / n,
        stated_90=(len(stated), sum(trial.right for trial in stated)),
        outside_right=sum(t.right for t in tried if t.kind is Kind.OUTSIDE) / n,
    )
