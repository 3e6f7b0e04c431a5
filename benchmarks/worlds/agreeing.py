"""Many series at one commit: how soon several that moved are shown together, and how often falsely.

Machines run one build of a revision in several modes, so what builds happen to be correlates among
the modes of a machine. Series are read revision by revision, as they are in use. A true step counts
as shown where its commit is among those in question; a false one is counted at the commit at which
it begins to be shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import SAMPLES, series_of
from benchmarks.worlds.comparing import median
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from webapp.stats.agreeing import (
    Agreement,
    Location,
    Recent,
    SeriesRecent,
    agreements,
    common_location,
    recent_of,
    suspects,
)
from webapp.stats.changes import Change, present
from webapp.stats.changes.fold import advance_one
from webapp.stats.changes.points import Value, reduce_points
from webapp.stats.changes.state import State
from webapp.stats.simulate import Scatter, draw_levels

RUN = BUILD = 0.01
SD = sqrt(BUILD**2 + 1.1 * RUN**2 / SAMPLES)
"""Of one revision: the location of five samples varies 1.1 times as much as their mean."""

STEP_SD = 2.0
SERIES, MOVED = 9, 6
BEFORE_STEP = 40
HORIZON = 12
"""Revisions from the step on within which the earliest of the six is confirmed."""

PLACED_AFTER = 9
"""Revisions from the step on after which places are compared."""

HISTORY, COMMITS = 30, 10
"""Revisions before the first commit without a change that is looked at, and how many are."""

YOUNG = 8
NEARLY = 2.0
"""Score below which the newest revision is no candidate, whatever is known of the noise."""

NOTHING = 1e-9
"""Percent; an interval that begins at 0 reaches a goal of 0."""

Rng = np.random.Generator
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """Machines with as many modes each, and how their builds scatter."""

    machines: int
    modes: int
    correlation: float = 0.25
    heavy: bool = False
    memory: float = 0.0
    history: int = HISTORY


POWER = {
    "independent, 3 machines × 3 modes": (World(3, 3, 0.0), at_least(60.0)),
    "builds of a machine correlate by .25, 3 × 3": (World(3, 3), at_least(45.0)),
    "independent, 9 machines": (World(9, 1, 0.0), at_least(60.0)),
}
FALSE = {
    "3 series (1 × 3)": (World(1, 3), 1),
    "9 series (3 × 3)": (World(3, 3), 1),
    "9 series (9 × 1)": (World(9, 1), 1),
    "30 series (10 × 3)": (World(10, 3), 8),
    "100 series (20 × 5)": (World(20, 5), 30),
    "9 series (3 × 3), correlation .5": (World(3, 3, 0.5), 3),
    "9 series (3 × 3), correlation .9": (World(3, 3, 0.9), 3),
    "9 series (1 × 9), correlation .9": (World(1, 9, 0.9), 3),
    "9 series (3 × 3), Student's t with 3 degrees": (World(3, 3, heavy=True), 3),
    "9 series (3 × 3), AR(1) .3": (World(3, 3, memory=0.3), 3),
    f"9 series (3 × 3), correlation .9, from {YOUNG} revisions on": (
        World(3, 3, 0.9, history=YOUNG),
        3,
    ),
}
"""Worlds without a change, and the share of trials that each has: one in so many."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the figures of steps shown in time, of commits without a change, and of places."""
    rng = np.random.default_rng(seed)
    figures = []
    for name, (world, goal) in POWER.items():
        hits = sum(_is_in_time(world, rng) for _ in range(trials))
        told = f"{STEP_SD:g} sd in {MOVED} of {SERIES}, {name}: shown before the first confirms"
        figures.append(Figure(told, percent(hits, trials), goal, "0.0"))
    for name, (world, part) in FALSE.items():
        figures += _false(name, world, max(trials // part, 1), rng)
    for correlation in (0.0, 0.25, 0.9):
        figures += _places(World(3, 3, correlation), trials, rng)
    return figures


def _is_in_time(world: World, rng: Rng) -> bool:
    """Whether the step is shown while none of the series that have it is confirmed."""
    rows, moved = _stepped(world, HORIZON, rng)
    states = [State() for _ in rows]
    for i in range(BEFORE_STEP + HORIZON):
        _advance(states, rows, i)
        if i < BEFORE_STEP:
            continue
        if any(item.index >= BEFORE_STEP - 2 for at in moved for item in states[at].breaks):
            return False
        if any(
            one.verdict == "worse" and one.after < BEFORE_STEP <= one.last
            for one in _agreements([recent_of(state, "more") for state in states], world)
        ):
            return True
    return False


def _false(name: str, world: World, trials: int, rng: Rng) -> Iterator[Figure]:
    """Of commits without a change, those with a candidate today, and those shown now."""
    candidates = shown = 0
    for _ in range(trials):
        rows = _values(_builds(world, world.history + COMMITS, rng), rng)
        states = [State() for _ in rows]
        before: Sequence[Agreement] = ()
        for i in range(world.history + COMMITS):
            _advance(states, rows, i)
            if i < world.history:
                continue
            recents = [recent_of(state, "more") for state in states]
            candidates += any(map(_has_candidate, states, recents))
            now = _agreements(recents, world)
            shown += any(not any(map(one.overlaps, before)) for one in now)
            before = now
    commits = trials * COMMITS
    today = percent(candidates, commits)
    yield Figure(f"no change, {name}: commits with a candidate", today, digits=2)
    called = f"no change, {name}: commits shown as agreeing"
    bound = at_most(round(today[0], 2) + NOTHING)
    yield Figure(called, percent(shown, commits), bound, f"{today[0]:.2f}", 2)


def _places(world: World, trials: int, rng: Rng) -> Iterator[Figure]:
    """The interval of all series of the step against that of the clearest alone."""
    ratios, together, alone = [], 0, 0
    for _ in range(trials):
        rows, moved = _stepped(world, PLACED_AFTER, rng)
        found = [(at, one) for at in moved if (one := _confirmed(rows[at])) is not None]
        if len(found) < 2:
            continue
        common = common_location([_place(world, at, one) for at, one in found])
        clearest = max((one for _, one in found), key=lambda one: one.score)
        ends = clearest.after.position, clearest.last.position
        ratios.append((common.last - common.after) / (ends[1] - ends[0]))
        together += common.after < BEFORE_STEP <= common.last
        alone += ends[0] < BEFORE_STEP <= ends[1]
    name = f"{STEP_SD:g} sd in {MOVED} of {SERIES}, correlation {world.correlation:g}"
    told = f"{name}: interval of the place, all over the clearest alone, median"
    yield Figure(told, median(ratios), at_most(0.67), "1.00", 2)
    told = f"{name}: it holds the true place"
    yield Figure(told, percent(together, len(ratios)), at_least(95.0))
    yield Figure(f"{name}: that of the clearest alone does", percent(alone, len(ratios)))


def _stepped(world: World, after: int, rng: Rng) -> tuple[list[list[Value]], list[int]]:
    builds = _builds(world, BEFORE_STEP + after, rng)
    moved = rng.permutation(len(builds))[:MOVED]
    builds[moved, BEFORE_STEP:] -= STEP_SD * SD
    return _values(builds, rng), moved.tolist()


def _builds(world: World, revisions: int, rng: Rng) -> Floats:
    """What builds are, on the log scale, shape (series, revisions): machine by machine."""
    scatter = Scatter(build=BUILD, heavy_tails=world.heavy, memory=world.memory)
    shared = draw_levels(rng, world.machines, revisions, scatter)
    own = draw_levels(rng, world.machines * world.modes, revisions, scatter)
    shared = np.repeat(shared, world.modes, axis=0)
    return np.asarray(sqrt(world.correlation) * shared + sqrt(1.0 - world.correlation) * own)


def _values(builds: Floats, rng: Rng) -> list[list[Value]]:
    samples = np.exp(builds[:, :, None] + rng.normal(0, RUN, (*builds.shape, SAMPLES)))
    return [[one for one in reduce_points(series_of(row)) if one is not None] for row in samples]


def _advance(states: Sequence[State], rows: Sequence[Sequence[Value]], i: int) -> None:
    for state, row in zip(states, rows, strict=True):
        advance_one(state, row[i])


def _agreements(recents: Sequence[Recent | None], world: World) -> list[Agreement]:
    rows, deviations = [], {}
    for at, recent in enumerate(recents):
        if recent is not None:
            machine = at // world.modes
            rows.append(SeriesRecent(at, machine, recent.at, recent.scores, recent.gaps))
            deviations[at] = recent.deviations
    return [] if suspects(rows) is None else agreements(rows, deviations)


def _has_candidate(state: State, recent: Recent | None) -> bool:
    if recent is not None and recent.scores and abs(recent.scores[0]) < NEARLY:
        return False
    return any(one.state == "candidate" for one in present(state, "more").changes)


def _confirmed(row: Sequence[Value]) -> Change | None:
    """The change that one series shows at about the step, if it is confirmed."""
    state = State()
    for value in row:
        advance_one(state, value)
    near = [
        one
        for one in present(state, "more").changes
        if one.state == "confirmed"
        and one.verdict == "worse"
        and one.after.position - 4 < BEFORE_STEP <= one.last.position + 4
    ]
    return near[0] if near else None


def _place(world: World, at: int, change: Change) -> Location:
    positions, _, masses = zip(*change.locations, strict=True)
    return Location(at // world.modes, positions, masses)
