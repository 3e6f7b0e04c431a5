"""One option over machines and modes, with builds that scatter: how often the sentence is wrong.

Every side of every cell is a plan of builds and runs, and the effect is the one that this plan
proves in 80 of 100 cells. The sentence is what `webapp.stats.compare.across_machines` allows: of
each mode its mean change, on how many machines it is proven alone, and whether it depends on the
machine. Wrong is any claim in it that does not hold: a mode or a machine named that does not
change, or the other way; *equivalent* on a machine that lost more than the margin; *depends on the
machine* where it does not. Reported is a mode that is rightly named.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from webapp.stats.compare import (
    VERDICTS,
    Across,
    BuildNoise,
    Evidence,
    Look,
    Samples,
    Summaries,
    Verdict,
    across_machines,
    compare_many,
    estimate_of,
    summarize,
)
from webapp.stats.compare.significance import DEFAULT_CONFIDENCE
from webapp.stats.metrics import MARGIN_PCT
from webapp.stats.power import NoiseLevels, Plan, provable_change

MACHINES, MODES = 6, 3
BUILDS, RUNS = 3, 5
RUN_PCT, BUILD_RATIOS = 1.0, (0.5, 1.0, 2.0)
"""Scatter of runs, and of builds as a multiple of it."""

HISTORY_DF = 20.0
"""Of the noise between builds that a history shows, where a side has one build."""

MACHINE_RATIO = 4.0
"""By how much a machine's scatter may be more or less than `RUN_PCT`, where machines differ."""

HEAVY_DF = 3
"""Of Student's t that runs and builds are drawn from, where tails are heavy; scaled to the same
standard deviation."""

PRECISE_PCT = 0.5
"""Scatter of runs where sets are precise enough to be called equivalent."""

OF_THE_GATE = 98.0
"""The nearest confidence that plans are made for to the level of a mode of three: 1.3 %."""

NOT_WORSE_THAN, PROMISED = at_most(5.0), at_least(80.0)

Rng = np.random.Generator
Values = NDArray[np.float64]
Sentence = Sequence[Across]
"""What is stated of each mode."""


@dataclass(frozen=True, slots=True)
class World:
    """``effects`` in percent, of shape (modes, machines). ``builds``: of each cell its own, one set
    for all machines and modes (which scatter alike there), or of each cell its own but nobody
    knows. ``from_history``: one build a side, with the noise that a history shows.
    ``is_planned``: the plan was made for such a mode, so that there is a promise to keep.
    """

    name: str
    effects: Values
    ratio: float
    builds: Literal["own", "shared", "unknown"] = "own"
    run_pct: float = RUN_PCT
    from_history: bool = False
    is_heavy: bool = False
    machines_differ: bool = False
    is_planned: bool = True

    @property
    def changed(self) -> list[int]:
        """The modes that change anywhere."""
        return np.flatnonzero(self.effects.any(axis=1)).tolist()

    @property
    def means(self) -> Values:
        """Of each mode, on logarithms; what is none but for rounding is 0."""
        means: Values = np.log1p(self.effects / 100).mean(axis=1).round(12)
        return means

    @property
    def per_side(self) -> int:
        """Builds of a side."""
        return 1 if self.from_history else BUILDS

    def depends(self, mode: int) -> bool:
        """Whether its effect differs from machine to machine."""
        return len(set(self.effects[mode].tolist())) > 1


def measure(trials: int, seed: int) -> list[Figure]:
    """Return for each world how often its sentence is wrong, and names what there is."""
    rng = np.random.default_rng(seed)
    worlds = [one for ratio in BUILD_RATIOS for one in _worlds(ratio)]
    return [figure for world in (*worlds, *_others()) for figure in _of_world(world, trials, rng)]


def planned_effect(ratio: float, confidence: float = DEFAULT_CONFIDENCE) -> float:
    """The loss in percent that a cell proves in 80 of 100 cases at that confidence."""
    noise = NoiseLevels(run=RUN_PCT, build=ratio * RUN_PCT)
    change = provable_change(Plan(BUILDS, 1, RUNS), noise, confidence=confidence)
    if change is None:
        raise ValueError(f"{BUILDS} builds prove no change")
    return -change


def _worlds(ratio: float) -> Iterator[World]:
    effect, gated = planned_effect(ratio), planned_effect(ratio, OF_THE_GATE)
    nothing = _effects()
    builds = f"builds {ratio:g} × runs"
    yield World(f"{builds}, no effect", nothing, ratio)
    yield World(f"{builds}, no effect, the same builds on all machines", nothing, ratio, "shared")
    yield World(f"{builds}, {effect:.1f} % in one mode", _effects(effect), ratio)
    planned = f"{gated:.1f} % in one mode (planned at {OF_THE_GATE:g} %)"
    yield World(f"{builds}, {planned}", _effects(gated), ratio)
    some = _effects(2 * effect, machines=MACHINES // 2)
    yield World(f"{builds}, {2 * effect:.1f} % in one mode on every other machine", some, ratio)


def _others() -> Iterator[World]:
    """All with builds that scatter as runs do, where nothing else is stated."""
    effect, gated = planned_effect(1.0), planned_effect(1.0, OF_THE_GATE)
    loss = _effects(effect)
    size = f"{effect:.1f} % in one mode"
    for loss_size, effects in ((size, loss), (f"{gated:.1f} % in one mode", _effects(gated))):
        yield World(f"the same builds on all machines, {loss_size}", effects, 1.0, "shared")
    yield World(f"builds that nobody knows, {size}", loss, 1.0, "unknown")
    yield World(f"{effect:.1f} % in every mode", _effects(effect, modes=MODES), 1.0)
    for kind in ("own", "shared"):
        whose = "of each machine" if kind == "own" else "on all machines"
        name = f"one build a side {whose}, its noise from history"
        both = World(name, loss, 1.0, "own" if kind == "own" else "shared", from_history=True)
        yield replace(both, name=f"{name}, no effect", effects=_effects())
        yield replace(both, name=f"{name}, {size}")
    opposite = _effects(2 * effect, machines=MACHINES // 2)
    opposite[0, MACHINES // 2 :] = 100 * np.expm1(-np.log1p(2 * effect / 100))
    name = f"± {-2 * effect:.1f} % in one mode, half of its machines each"
    yield World(name, opposite, 1.0, is_planned=False)
    alone = _effects(2 * effect, machines=1)
    name = f"{2 * effect:.1f} % in one mode on one machine of {MACHINES}"
    yield World(name, alone, 1.0, is_planned=False)
    heavy = World("runs and builds of heavy tails, no effect", _effects(), 1.0, is_heavy=True)
    yield heavy
    yield replace(heavy, name=f"runs and builds of heavy tails, {size}", effects=loss)
    yield World(
        f"machines that scatter 1/4 to 4 times as much, {size}", loss, 1.0, machines_differ=True
    )
    margin = _effects(-1.001 * MARGIN_PCT, modes=MODES)
    name = f"{-MARGIN_PCT:g} %, the margin, in every cell, runs {PRECISE_PCT:g} %, no build noise"
    yield World(name, margin, 0.0, run_pct=PRECISE_PCT)


def _effects(effect: float = 0.0, *, modes: int = 1, machines: int = MACHINES) -> Values:
    found = np.zeros((MODES, MACHINES))
    found[:modes, :machines] = effect
    return found


def _of_world(world: World, trials: int, rng: Rng) -> Iterator[Figure]:
    sentences = _sentences(world, trials, rng)
    wrong = sum(_is_wrong(world, one) for one in sentences)
    yield Figure(f"{world.name}: sentence wrong", percent(wrong, trials), NOT_WORSE_THAN)
    changed = world.changed
    if not changed:
        return
    reported = sum(Verdict.WORSE in one[mode].named for one in sentences for mode in changed)
    goal = PROMISED if world.is_planned else None
    yield Figure(
        f"{world.name}: the loss is reported", percent(reported, trials * len(changed)), goal
    )
    if world.depends(changed[0]):
        reported = sum(_depends(one[changed[0]]) for one in sentences)
        name = f"{world.name}: reported to depend on the machine"
        yield Figure(name, percent(reported, trials), goal)


def _depends(across: Across) -> bool:
    """By the test, or as both ways are proven."""
    return across.differs or {Verdict.WORSE, Verdict.BETTER} <= set(across.verdicts)


def _is_wrong(world: World, sentence: Sentence) -> bool:
    return any(_is_claim_wrong(world, mode, across) for mode, across in enumerate(sentence))


def _is_claim_wrong(world: World, mode: int, across: Across) -> bool:
    effects = world.effects[mode].tolist()
    return (
        not _holds(across.verdict, float(world.means[mode]))
        or not all(map(_holds, across.verdicts, effects))
        or (across.differs and not world.depends(mode))
    )


def _holds(verdict: Verdict, effect: float) -> bool:
    if verdict is Verdict.EQUIVALENT:
        return abs(effect) < MARGIN_PCT
    if verdict is Verdict.CANNOT_TELL:
        return True
    return effect < 0 if verdict is Verdict.WORSE else effect > 0


def _sentences(world: World, trials: int, rng: Rng) -> list[Sentence]:
    noise, scatter = _noise(world, trials, rng), _scatter(world, trials, rng)
    a, b = (_side(world, scatter, rng) for _ in range(2))
    b *= 1 + world.effects[None, :, :, None, None] / 100
    cells = MODES * MACHINES
    found = compare_many(
        _summaries(a),
        _summaries(b),
        build_noise=noise,
        same_build=[False] * (trials * cells),
    )
    evidence = [
        Evidence(
            Look(VERDICTS[code], float(found.p[row])),
            estimate_of(
                *(float(one[row]) for one in (found.percent, found.low, found.high, found.df))
            ),
            builds=_builds(world, row),
            from_history=world.from_history,
        )
        for row, code in enumerate(found.verdict)
    ]
    firsts = range(0, trials * cells, cells)
    return [_stated(evidence[at : at + cells]) for at in firsts]


def _stated(cells: Sequence[Evidence]) -> Sentence:
    return across_machines([cells[at : at + MACHINES] for at in range(0, len(cells), MACHINES)])


def _builds(world: World, row: int) -> frozenset[str] | None:
    if world.builds == "unknown":
        return None
    return frozenset({"all" if world.builds == "shared" else str(row)})


def _noise(world: World, trials: int, rng: Rng) -> list[BuildNoise | None]:
    """As histories show it: of one machine each, or of builds that all machines shared."""
    shape = (trials, 1, 1) if world.builds == "shared" else (trials, MODES, MACHINES)
    if not world.from_history:
        return [None] * (trials * MODES * MACHINES)
    known = np.sqrt(rng.chisquare(HISTORY_DF, shape) / HISTORY_DF) * world.ratio * world.run_pct
    all_known = np.broadcast_to(known, (trials, MODES, MACHINES)).ravel().tolist()
    return [BuildNoise(one, HISTORY_DF) for one in all_known]


def _scatter(world: World, trials: int, rng: Rng) -> Values:
    """Of the runs of each machine, as a share."""
    if not world.machines_differ:
        return np.full((trials, 1, MACHINES, 1, 1), world.run_pct / 100)
    powers = rng.uniform(-1, 1, (trials, 1, MACHINES, 1, 1))
    return world.run_pct / 100 * MACHINE_RATIO**powers


def _side(world: World, scatter: Values, rng: Rng) -> Values:
    """Of shape (trials, modes, machines, builds, runs)."""
    trials = len(scatter)
    cells = (1, 1) if world.builds == "shared" else (MODES, MACHINES)
    builds = _drawn(world, (trials, *cells, world.per_side, 1), rng)
    runs = _drawn(world, (trials, MODES, MACHINES, world.per_side, RUNS), rng)
    return np.exp(scatter * (world.ratio * builds + runs))


def _drawn(world: World, shape: tuple[int, ...], rng: Rng) -> Values:
    """With a standard deviation of 1."""
    if not world.is_heavy:
        return rng.normal(0, 1, shape)
    drawn: Values = rng.standard_t(HEAVY_DF, shape) / np.sqrt(HEAVY_DF / (HEAVY_DF - 2))
    return drawn


def _summaries(cells: Values) -> Summaries:
    builds, runs = cells.shape[-2:]
    labels = np.repeat(range(builds), runs).tolist()
    rows = cells.reshape(-1, builds * runs).tolist()
    return Summaries([summarize(Samples(row, builds=labels)) for row in rows])
