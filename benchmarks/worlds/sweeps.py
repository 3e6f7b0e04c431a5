"""One option over machines and modes, with builds that scatter: how often the sentence is wrong.

Every side of every cell is a plan of builds and runs, and the effect is the one that this plan
proves in 80 of 100 cells. The sentence is what `webapp.pages.compare.answer` writes: of each mode
on how many machines it is proven slower or faster, behind the gate over all cells, and whether it
depends on the machine. Wrong is any claim in it that does not hold: a mode named that does not
change, the other direction, *depends on the machine* where it does not, *equivalent* on a machine
that lost more than the margin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from webapp.stats.compare import (
    VERDICTS,
    Across,
    Estimate,
    Look,
    Samples,
    Summaries,
    Verdict,
    across_machines,
    compare_many,
    estimate_of,
    headline_of,
    summarize,
)
from webapp.stats.defaults import MARGIN_PCT
from webapp.stats.power import NoiseLevels, Plan, provable_change
from webapp.stats.sensitivity import DEFAULT_CONFIDENCE

MACHINES, MODES = 6, 3
BUILDS, RUNS = 3, 5
RUN_PCT, BUILD_RATIOS = 1.0, (0.5, 1.0, 2.0)
"""Scatter of runs, and of builds as a multiple of it."""

OF_THE_GATE = 98.0
"""The confidence, of those that plans are made for, that the gate asks of a cell where a third of
all change: 5 % times a third, 98.3 %."""

NOT_WORSE_THAN, PROMISED = at_most(5.0), at_least(80.0)

Rng = np.random.Generator
Values = NDArray[np.float64]
Sentence = Sequence[Across]
"""What is said of each mode."""


@dataclass(frozen=True, slots=True)
class World:
    """``effects`` in percent, of shape (modes, machines). ``is_shared``: one build is on all
    machines and modes, and scatters alike there."""

    name: str
    effects: Values
    ratio: float
    is_shared: bool = False

    @property
    def changed(self) -> set[int]:
        """The modes that change anywhere."""
        return set(np.flatnonzero(self.effects.any(axis=1)).tolist())

    def depends(self, mode: int) -> bool:
        """Whether its effect differs from machine to machine."""
        return len(set(self.effects[mode].tolist())) > 1


def measure(trials: int, seed: int) -> list[Figure]:
    """Return for each world how often its sentence is wrong, and tells what there is."""
    rng = np.random.default_rng(seed)
    worlds = (one for ratio in BUILD_RATIOS for one in _worlds(ratio))
    return [figure for world in worlds for figure in _of_world(world, trials, rng)]


def planned_effect(ratio: float, confidence: float = DEFAULT_CONFIDENCE) -> float:
    """The loss in percent that a cell proves in 80 of 100 cases at that confidence."""
    noise = NoiseLevels(run=RUN_PCT, build=ratio * RUN_PCT)
    change = provable_change(Plan(BUILDS, 1, RUNS), noise, confidence=confidence)
    if change is None:
        raise ValueError(f"{BUILDS} builds prove no change")
    return -change


def _worlds(ratio: float) -> Iterator[World]:
    effect = planned_effect(ratio)
    nothing = np.zeros((MODES, MACHINES))
    alike, gated, some = nothing.copy(), nothing.copy(), nothing.copy()
    alike[0] = effect
    gated[0] = planned_effect(ratio, OF_THE_GATE)
    some[0, : MACHINES // 2] = 2 * effect
    builds = f"builds {ratio:g} × runs"
    yield World(f"{builds}, no effect", nothing, ratio)
    yield World(f"{builds}, no effect, the same builds on all machines", nothing, ratio, True)
    yield World(f"{builds}, {effect:.1f} % in one mode", alike, ratio)
    planned = f"{gated[0, 0]:.1f} % in one mode (planned at {OF_THE_GATE:g} %)"
    yield World(f"{builds}, {planned}", gated, ratio)
    yield World(f"{builds}, {2 * effect:.1f} % in one mode on every other machine", some, ratio)


def _of_world(world: World, trials: int, rng: Rng) -> Iterator[Figure]:
    said = _sentences(world, trials, rng)
    wrong = sum(_is_wrong(world, one) for one in said)
    yield Figure(f"{world.name}: sentence wrong", percent(wrong, trials), NOT_WORSE_THAN)
    for mode in world.changed:
        told = sum(Verdict.WORSE in one[mode].counts for one in said)
        yield Figure(f"{world.name}: the loss is told", percent(told, trials), PROMISED)
        if world.depends(mode):
            told = sum(one[mode].differs for one in said)
            name = f"{world.name}: said to depend on the machine"
            yield Figure(name, percent(told, trials), PROMISED)


def _is_wrong(world: World, said: Sentence) -> bool:
    return any(_is_claim_wrong(world, mode, across) for mode, across in enumerate(said))


def _is_claim_wrong(world: World, mode: int, across: Across) -> bool:
    counts, effects = across.counts, world.effects[mode]
    lost = int((effects < 0).sum())
    is_large = int((effects < -MARGIN_PCT).sum())
    is_proven = counts.get(Verdict.WORSE, 0) + counts.get(Verdict.BETTER, 0) > 0
    return (
        Verdict.BETTER in counts
        or counts.get(Verdict.WORSE, 0) > lost
        or counts.get(Verdict.EQUIVALENT, 0) > MACHINES - is_large
        or (is_proven and across.differs and not world.depends(mode))
    )


def _sentences(world: World, trials: int, rng: Rng) -> list[Sentence]:
    a, b = (_side(world, trials, rng) for _ in range(2))
    b *= 1 + world.effects[None, :, :, None, None] / 100
    cells = MODES * MACHINES
    found = compare_many(_summaries(a), _summaries(b), same_build=[False] * (trials * cells))
    looks = [Look(VERDICTS[code], p) for code, p in zip(found.verdict, found.p, strict=True)]
    estimates = [
        estimate_of(*map(float, row))
        for row in zip(found.percent, found.low, found.high, found.df, strict=True)
    ]
    firsts = range(0, trials * cells, cells)
    return [_said(looks[at : at + cells], estimates[at : at + cells]) for at in firsts]


def _said(looks: Sequence[Look], estimates: Sequence[Estimate | None]) -> Sentence:
    """Of one sweep, as the page says it."""
    verdicts = headline_of(looks).verdicts
    modes = (slice(at, at + MACHINES) for at in range(0, len(verdicts), MACHINES))
    return across_machines(
        [(verdicts[its], [one for one in estimates[its] if one is not None]) for its in modes]
    )


def _side(world: World, trials: int, rng: Rng) -> Values:
    """Of shape (trials, modes, machines, builds, runs)."""
    build = world.ratio * RUN_PCT / 100
    cells = (1, 1) if world.is_shared else (MODES, MACHINES)
    builds = rng.normal(0, build, (trials, *cells, BUILDS, 1))
    runs = rng.normal(0, RUN_PCT / 100, (trials, MODES, MACHINES, BUILDS, RUNS))
    return np.exp(builds + runs)


def _summaries(cells: Values) -> Summaries:
    labels = np.repeat(range(BUILDS), RUNS).tolist()
    rows = cells.reshape(-1, BUILDS * RUNS).tolist()
    return Summaries([summarize(Samples(row, builds=labels)) for row in rows])
