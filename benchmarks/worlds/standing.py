"""What everybody can see: found, still there at the end, and never taken back.

Series that a lab's are: a machine wanders and steps, values are whole numbers or stop at line rate,
noise comes and goes, levels last for one revision or come over ten. Found lies at most two
revisions off. *Standing* is at the end; *raised* is every place at which a change was ever
confirmed, revision by revision, whether it was taken back or not; *withdrawn* are true steps of
five standard deviations and more that were confirmed and are gone at the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log1p

import numpy as np

from benchmarks.cells import SAMPLES, series_of
from benchmarks.peers import baseline
from benchmarks.worlds.figures import Figure, Goal, Interval, at_least, at_most, percent
from benchmarks.worlds.reading import SD, Floats, Found, draw, mean, read
from webapp.stats.changes import advance, present, start
from webapp.stats.simulate import Scatter

NEAR = 2
REPLAYED = 10
"""One in so many series is read revision by revision as well."""

Steps = Sequence[tuple[int, float]]
"""Where a level begins, and by how many percent it lies off the one before."""

LONG = 100
"""Revisions, unless a world differs."""


@dataclass(frozen=True, slots=True)
class World:
    """How its series are drawn, their true steps, and what is asked of them."""

    draw: Callable[[np.random.Generator], Floats]
    steps: Steps = ()
    found: Goal | None = None
    false: Goal | None = None


def levels(count: int, steps: Steps) -> Floats:
    """Return the log level of `count` revisions with these steps."""
    shift = np.zeros(count)
    for at, pct in steps:
        shift[at:] += log1p(pct / 100)
    return shift


def _samples(rng: np.random.Generator, level: Floats, run: float | Floats) -> Floats:
    """Samples, (revisions, samples), whose logarithms scatter by `run` around `level`."""
    width = np.broadcast_to(run, level.shape)[:, None]
    return np.asarray(
        1e6 * np.exp(level[:, None] + width * rng.standard_normal((*level.shape, SAMPLES)))
    )


WANDERING: Steps = ((3, -12.0), (13, -10.0), (41, 8.5), (56, -44.0))


def _wandering(rng: np.random.Generator) -> Floats:
    """A machine's year: AR(1) .9, and from revision 50 on everything three times quieter."""
    share = np.where(np.arange(63) < 50, 1.0, 1 / 3)
    walk, at = np.zeros(63), 0.0
    for i, innovation in enumerate(0.011 * share * rng.standard_normal(63)):
        walk[i] = at = 0.9 * at + innovation
    walk += levels(63, WANDERING) + 0.008 * share * rng.standard_normal(63)
    return _samples(rng, walk, 0.009 * share)


def _quantised(scatter: float, steps: Steps = ()) -> Callable[[np.random.Generator], Floats]:
    """Whole numbers near 40; runs and builds scatter alike."""

    def draw_one(rng: np.random.Generator) -> Floats:
        level = levels(2 * LONG, steps) + rng.uniform(-0.5, 0.5) / 40
        level += scatter * rng.standard_normal(2 * LONG)
        return np.round(_samples(rng, level, scatter) * 40e-6)

    return draw_one


def _ceiling(steps: Steps = ()) -> Callable[[np.random.Generator], Floats]:
    """Line rate, from which noise only takes away: and three runs in a hundred lose 1 %."""

    def draw_one(rng: np.random.Generator) -> Floats:
        lost = 0.002 * np.abs(rng.standard_normal((LONG, SAMPLES)))
        lost += 0.001 * np.abs(rng.standard_normal((LONG, 1)))
        lost += (rng.random((LONG, SAMPLES)) < 0.03) * rng.exponential(0.01, (LONG, SAMPLES))
        return np.asarray(1488095 * np.exp(levels(LONG, steps)[:, None] - lost))

    return draw_one


def _noisy(first: int, stop: int) -> World:
    """Revisions that scatter four times as much for a while, and steps elsewhere."""
    steps = ((25, -6.0), (75, 5.0))

    def draw_one(rng: np.random.Generator) -> Floats:
        width = np.full(LONG, 0.01)
        width[first:stop] *= 4
        return _samples(rng, levels(LONG, steps) + width * rng.standard_normal(LONG), width)

    return World(draw_one, steps, at_least(97.0), at_most(0.15))


def _interleaved(rng: np.random.Generator) -> Floats:
    """Two configurations of builds, 3 % apart, in any order; and a step."""
    level = levels(LONG, ((60, -8.0),)) + (rng.random(LONG) < 0.5) * log1p(-0.03)
    return _samples(rng, level + 0.005 * rng.standard_normal(LONG), 0.005)


def _latencies(rng: np.random.Generator) -> Floats:
    """Log-normal, one in twenty half as large again."""
    level = levels(LONG, ((60, 10.0),)) + 0.02 * rng.standard_normal(LONG)
    slow = (rng.random((LONG, SAMPLES)) < 0.05) * log1p(0.5)
    return np.asarray(_samples(rng, level, 0.05) * np.exp(slow))


def _plain(count: int, steps: Steps) -> Callable[[np.random.Generator], Floats]:
    return lambda rng: draw(rng, levels(count, steps))


def _stepped(count: int, steps: Steps, found: float | None = None) -> World:
    return World(_plain(count, steps), steps, None if found is None else at_least(found))


def _sds(number: float) -> float:
    """So many standard deviations of one revision, in percent."""
    return float(100 * np.expm1(number * SD))


DIP: Steps = ((30, -35.0), (31, 100 * (0.88 / 0.65 - 1)))
CEILING_STEP: Steps = ((60, -1.0),)
RETURNING: Steps = ((30, -6.0), (33, 100 * (1 / 0.94 - 1)), (40, -6.0))
BACK: Steps = ((30, -_sds(5)), (35, 100 * (1 / (1 - _sds(5) / 100) - 1)))
DIPS: Steps = tuple(
    step
    for at, count in ((20, 2), (45, 3), (70, 2))
    for step in ((at, -10.0), (at + count, 100 * (1 / 0.9 - 1)))
)
AROUND: Steps = ((20, -11.0), (35, 11.0), (60, -9.0), (75, 6.0))

WORLDS = {
    "wander and steps": World(_wandering, WANDERING, at_least(97.0), at_most(0.5)),
    "whole numbers near 40, scatter .4 %": World(_quantised(0.004), false=at_most(0.1)),
    "whole numbers near 40, scatter .6 %": World(_quantised(0.006), false=at_most(0.1)),
    "whole numbers near 40, a step of −7 %": World(
        _quantised(0.004, ((60, -7.0),)), ((60, -7.0),), at_least(98.0), at_most(0.1)
    ),
    "ceiling": World(_ceiling(), false=at_most(0.15)),
    "ceiling, a step of −1 %": World(
        _ceiling(CEILING_STEP), CEILING_STEP, at_least(98.0), at_most(0.15)
    ),
    "a dip, then a third level": World(_plain(60, DIP), DIP[1:], at_least(95.0)),
    "ten noisy revisions at the end": _noisy(90, 100),
    "ten noisy revisions at the beginning": _noisy(0, 10),
    "ten noisy revisions in the middle": _noisy(45, 55),
    "two configurations interleaved": World(_interleaved, ((60, -8.0),), at_least(98.0)),
    "a step, back after three revisions, and again": _stepped(80, RETURNING, 98.0),
    "dips of two and three revisions": _stepped(90, DIPS, 95.0),
    "+5 −5 sd five apart": _stepped(60, BACK, 98.0),
    "losses of a tenth for a dozen revisions": _stepped(90, AROUND, 98.0),
    "latencies": World(_latencies, ((60, 10.0),)),
    "no change": World(_plain(200, ())),
    "memory .5, no change": World(
        lambda rng: draw(rng, np.zeros(200), Scatter(run=0.01, build=0.01, memory=0.5))
    ),
    "a step of 5 sd at revision 4": _stepped(60, ((4, -_sds(5)),), 98.0),
    "a step of 3 sd at revision 12": _stepped(60, ((12, -_sds(3)),), 98.0),
    "a step of 2 sd at revision 30": _stepped(60, ((30, -_sds(2)),), 85.0),
}

BEFORE: dict[str, str] = {
    "wander and steps: false, standing": "0.14",
    "wander and steps: the step found least": "66.8",
    "wander and steps: false, ever raised": "2.40",
    "wander and steps: steps of 5 sd withdrawn": "19.6",
    "whole numbers near 40, scatter .4 %: false, standing": "0.97",
    "whole numbers near 40, scatter .4 %: false, ever raised": "2.95",
    "whole numbers near 40, scatter .6 %: false, standing": "1.42",
    "whole numbers near 40, scatter .6 %: false, ever raised": "1.85",
    "whole numbers near 40, a step of −7 %: false, standing": "1.65",
    "whole numbers near 40, a step of −7 %: false, ever raised": "5.08",
    "a dip, then a third level: false, ever raised": "0.00",
    "ten noisy revisions at the end: the step found least": "91.8",
    "ten noisy revisions at the end: steps of 5 sd withdrawn": "7.5",
    "ten noisy revisions at the beginning: false, standing": "0.24",
    "ten noisy revisions at the beginning: the step found least": "97.5",
    "ten noisy revisions at the beginning: false, ever raised": "0.93",
    "ten noisy revisions at the beginning: steps of 5 sd withdrawn": "10.0",
    "ten noisy revisions in the middle: false, standing": "0.36",
    "ten noisy revisions in the middle: the step found least": "94.2",
    "ten noisy revisions in the middle: false, ever raised": "2.38",
    "ten noisy revisions in the middle: steps of 5 sd withdrawn": "2.5",
    "-6 % over 10 revisions: one move of that size": "21.0",
    "place of 2 sd, memory 0: stated": "58.0",
    "place of 3 sd, memory 0: stated": "77.0",
    "place of 5 sd, memory 0: stated": "93.2",
    "place of 2 sd, memory 0.5: stated": "64.3",
    "place of 3 sd, memory 0.5: stated": "73.5",
    "place of 5 sd, memory 0.5: stated": "89.2",
    "place of 2 sd, memory 0.8: stated": "68.1",
    "place of 3 sd, memory 0.8: stated": "76.8",
    "place of 5 sd, memory 0.8: stated": "88.1",
}
"""What figures were when the last stretch of noise priced the whole series, where they differ (400
trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what is found and stays found, a baseline beside, and whether places are as stated."""
    rows: list[Figure] = []
    for number, (name, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([seed, number])
        drawn = [world.draw(rng) for _ in range(trials)]
        rows += _standing(name, world, drawn)
        rows += raised(name, world, drawn[: max(trials // REPLAYED, 1)])
    rows += [rollout(trials, seed), *_places(trials, seed)]
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def _standing(name: str, world: World, drawn: Sequence[Floats]) -> list[Figure]:
    ours = [[one.index for one in read(values).changes] for values in drawn]
    theirs = baseline()(drawn)
    rows = [Figure(f"{name}: false, standing", false_of(ours, world), world.false, digits=2)]
    rows.append(Figure(f"{name}: baseline, false", false_of(theirs, world), digits=2))
    if world.steps:
        rows.append(Figure(f"{name}: the step found least", least_of(ours, world), world.found))
        rows.append(Figure(f"{name}: baseline, the step found least", least_of(theirs, world)))
    return rows


def raised(name: str, world: World, drawn: Sequence[Floats]) -> list[Figure]:
    """Return the false changes that were ever raised, and the steps that were and are gone."""
    false, large = [], [at for at, pct in world.steps if abs(log1p(pct / 100)) >= 5 * SD]
    confirmed = gone = 0
    for values in drawn:
        looks = _looks(values)
        false.append([at for at, _ in _first_seen(looks)])
        for at in large:
            seen = [any(abs(one - at) <= NEAR for one in look) for look in looks]
            confirmed += any(seen)
            gone += any(seen) and not seen[-1]
    rows = [Figure(f"{name}: false, ever raised", false_of(false, world), digits=2)]
    if large:
        goal = at_most(1.0)
        rows.append(Figure(f"{name}: steps of 5 sd withdrawn", percent(gone, confirmed), goal))
    return rows


def _looks(values: Floats) -> list[list[int]]:
    """Where changes stand after each revision."""
    state, looks = start(), []
    for point in series_of(values):
        state = advance(state, [point])
        changes = present(state, "more").analysis.changes
        looks.append([one.revision.position for one in changes if one.state == "confirmed"])
    return looks


def _first_seen(looks: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Each change that stands where none near it stood a revision before, and when."""
    before: Sequence[int] = ()
    seen = []
    for when, look in enumerate(looks):
        seen += [(at, when) for at in look if all(abs(at - one) > NEAR for one in before)]
        before = look
    return seen


def least_of(found: Sequence[Sequence[int]], world: World) -> Interval:
    """Return in how many series, of `found` changes each, the step is found that is found least."""
    hits = [
        sum(any(abs(one - at) <= NEAR for one in each) for each in found) for at, _ in world.steps
    ]
    return percent(min(hits), len(found))


def false_of(found: Sequence[Sequence[int]], world: World) -> Interval:
    """Return the changes a series that are none of the true ones."""
    return mean(
        sum(all(abs(one - at) > NEAR for at, _ in world.steps) for one in each) for each in found
    )


ROLLOUT, ROLLOUT_PCT = 10, -6.0


def rollout(trials: int, seed: int) -> Figure:
    """Return how often a change that comes over ten revisions is one, of its size."""
    rng = np.random.default_rng([seed, 1000])
    shift = np.zeros(LONG)
    shift[50:] = log1p(ROLLOUT_PCT / 100) * np.minimum(np.arange(1, 51) / ROLLOUT, 1)
    hits = 0
    for _ in range(trials):
        inside = [one for one in read(draw(rng, shift)).changes if 45 <= one.index <= 55 + ROLLOUT]
        hits += len(inside) == 1 and inside[0].holds(ROLLOUT_PCT)
    name = f"{ROLLOUT_PCT:g} % over {ROLLOUT} revisions: one move of that size"
    return Figure(name, percent(hits, trials), at_least(80.0))


def _places(trials: int, seed: int) -> list[Figure]:
    """How often the likeliest commit is the true one, less what is stated, ten revisions after."""
    return [
        figure
        for memory in (0.0, 0.5, 0.8)
        for size in (2.0, 3.0, 5.0)
        for figure in _place(size, memory, trials, seed)
    ]


def _place(size: float, memory: float, trials: int, seed: int) -> list[Figure]:
    rng = np.random.default_rng([seed, 2000, int(10 * size), int(10 * memory)])
    shift = levels(40, ((30, -_sds(size)),))
    scatter = Scatter(run=0.01, build=0.01, memory=memory)
    reported: list[Found] = []
    for _ in range(trials):
        one = read(draw(rng, shift, scatter)).near(30, 8)
        reported += [one] if one else []
    name = f"place of {size:g} sd, memory {memory:g}"
    right = percent(sum(one.index == 30 for one in reported), len(reported))
    # Of few trials none may be reported: the figures are the same ones.
    stated = mean(100 * one.here for one in reported) if reported else (0.0, 0.0, 100.0)
    return [Figure(f"{name}: stated", stated), Figure(f"{name}: right", right)]
