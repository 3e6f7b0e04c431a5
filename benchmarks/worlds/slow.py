"""Slow losses: none of whose steps is a change, and what must not be taken for one.

Two hundred revisions. Nulls have no trend at all: builds of 3 % that stray together, and a random
walk; and yearly and weekly waves, whose levels come back.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import expm1, log1p, pi

import numpy as np

from benchmarks.worlds.figures import Figure, Goal, Interval, at_least, at_most, percent
from benchmarks.worlds.reading import USUAL, Floats, Reading, draw, mean, read
from webapp.stats.simulate import Scatter

REVISIONS, BY = 200, 120
"""Length, and the revision by which a slow loss is reported."""

STEPS, EVERY = 10, 20
STEP, NEAR = 8.0, 2
"""A step beside the loss, in percent, and how far off counts as found."""

YOUNG, LATE, DROP = 110, 60, -6.0
"""Length of a young series, how many of its last revisions lose, and a step in percent there."""

CALM, LOSS, LOSES = 8, -0.003, (32, 52, 92)
"""Revisions before a loss, what each after them loses, and how many do."""

FEW = (30, 45, 60)
"""Lengths of series that are young all through."""

OVER, AGED, FOUND = (10, 20, 28), 80, at_least(75.0)
"""Revisions over which a level loses 10 % for good, revisions of that series, and what is asked."""

PLACES = {"early": 6, "in the middle": 30, "late": 48}
"""Where such a loss begins."""

QUIET = Scatter(run=0.004, build=0.003)
"""How those scatter."""

WAVE = 0.02
PERIODS = (100, 7)
ENDS = range(200, 301, 10)
"""Lengths of series with the longer wave: where in it a series ends decides what is reported."""

REMEMBERING = (0.6, 0.9)
WALK = 0.003
"""Standard deviation of a step of the random walk."""

NULLS = 4
"""So many times the trials for series without a trend: false alarms are to be rare."""

BEFORE: dict[str, str] = {
    "-10 % evenly: reported as slow by 120": "0.0",
    "-10 % evenly: reported as slow at the end": "0.0",
    "-10 % evenly: whole size within the interval at the end": "0.0",
    "-10 % evenly: changes of level at the end": "0.60",
    "-10 % evenly: nothing reported at the end": "62.7",
    "-5 % evenly: reported as slow by 120": "0.0",
    "-5 % evenly: reported as slow at the end": "0.0",
    "-5 % evenly: whole size within the interval at the end": "0.0",
    "-5 % evenly: changes of level at the end": "1.98",
    "-5 % evenly: nothing reported at the end": "23.5",
    "10 steps of -1 %: reported as slow by 120": "0.0",
    "10 steps of -1 %: reported as slow at the end": "0.0",
    "10 steps of -1 %: whole size within the interval at the end": "0.0",
    "10 steps of -1 %: changes of level at the end": "1.03",
    "10 steps of -1 %: nothing reported at the end": "52.2",
    "builds 3 %, AR(1) 0.6: reported as slow": "0.00",
    "builds 3 %, AR(1) 0.6: changes of level": "1.08",
    "builds 3 %, AR(1) 0.9: reported as slow": "0.00",
    "builds 3 %, AR(1) 0.9: changes of level": "3.11",
    "random walk of 0.3 %: reported as slow": "0.00",
    "random walk of 0.3 %: changes of level": "3.13",
    "wave of ± 2 %, period 100: changes of level": "3.14",
    "wave of ± 2 %, period 100: reported as slow when it is back": "0.0",
    "wave of ± 2 %, period 7: changes of level": "0.00",
    "wave of ± 2 %, period 7: reported as slow when it is back": "0.0",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return how often slow losses are reported, and how often they are where there are none."""
    index = np.arange(REVISIONS)
    evenly, stairs = (index + 0.5) / REVISIONS, index // EVERY + 1.0
    losses = {
        "-10 % evenly": (log1p(-0.10), evenly, 95.0),
        "-5 % evenly": (log1p(-0.05), evenly, 90.0),
        f"{STEPS} steps of -1 %": (STEPS * log1p(-0.01), stairs / STEPS, 95.0),
    }
    rows: list[Figure] = []
    for number, (name, (whole, shape, goal)) in enumerate(losses.items()):
        rows += _loss(name, whole, shape, at_least(goal), trials=trials, seed=[seed, 1, number])
    rows += _beside_a_step(trials, seed)
    rows += _after_calm(trials, seed)
    rows += _after_few(trials, seed)
    rows += _by_and_by(trials, seed)
    rows += _nulls(trials, seed)
    for period in PERIODS:
        rows += _wave(period, trials, [seed, 3, period])
    rows += _wave_anywhere(trials, seed)
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def _loss(
    name: str, log: float, shape: Floats, goal: Goal, *, trials: int, seed: list[int]
) -> list[Figure]:
    rng = np.random.default_rng(seed)
    reported = at_end = size = nothing = 0
    changes = []
    for _ in range(trials):
        values = draw(rng, log * shape)
        whole = read(values)
        reported += bool(read(values[:BY]).slow)
        at_end += bool(whole.slow)
        size += any(one.holds(100 * expm1(log)) for one in whole.slow)
        nothing += not (whole.slow or whole.changes)
        changes.append(len(whole.changes))
    return [
        Figure(f"{name}: reported as slow by {BY}", percent(reported, trials), goal),
        Figure(f"{name}: reported as slow at the end", percent(at_end, trials), goal),
        Figure(f"{name}: whole size within the interval at the end", percent(size, trials)),
        Figure(f"{name}: changes of level at the end", mean(changes), digits=2),
        Figure(f"{name}: nothing reported at the end", percent(nothing, trials)),
    ]


def _beside_a_step(trials: int, seed: int) -> list[Figure]:
    """A real step within a slow loss, against it: what is reported of the step."""
    rng = np.random.default_rng([seed, 4])
    shift = log1p(-0.10) * (np.arange(REVISIONS) + 0.5) / REVISIONS
    shift[BY:] += log1p(STEP / 100)
    readings = [read(draw(rng, shift)) for _ in range(trials)]
    steps = [one for reading in readings if (one := reading.near(BY, NEAR)) is not None]
    name = f"-10 % evenly and a step of {STEP:+g} %"
    held = percent(sum(one.holds(STEP) for one in steps), len(steps))
    others = mean(
        len(reading.changes) - (reading.near(BY, NEAR) is not None) for reading in readings
    )
    return [
        Figure(f"{name}: the step reported", percent(len(steps), trials)),
        Figure(f"{name}: its size within its interval", held),
        Figure(f"{name}: other changes of level", others, digits=2),
    ]


def _after_calm(trials: int, seed: int) -> list[Figure]:
    """A loss in the last sixty revisions of a young series, with and without a step where it
    begins; and how often a slow move is reported of such a series without any.
    """
    rows = []
    for number, (name, step) in enumerate((("", 0.0), (f" and a step of {DROP:+g} %", DROP))):
        rng = np.random.default_rng([seed, 5, number])
        shift = np.zeros(YOUNG)
        shift[-LATE:] = log1p(step / 100) + log1p(-0.10) * (np.arange(LATE) + 0.5) / LATE
        reported = sum(bool(read(draw(rng, shift)).slow) for _ in range(trials))
        rows.append(Figure(f"-10 % in the last {LATE} of {YOUNG}{name}", percent(reported, trials)))
    rng = np.random.default_rng([seed, 5, 2])
    nulls = [_remembering(rng, REMEMBERING[0])[:YOUNG] for _ in range(NULLS * trials)]
    slow = percent(sum(bool(read(one).slow) for one in nulls), len(nulls))
    rows.append(
        Figure(f"builds 3 %, AR(1) 0.6, {YOUNG} revisions: reported as slow", slow, digits=2)
    )
    return rows


def _after_few(trials: int, seed: int) -> list[Figure]:
    """A loss that begins after a few calm revisions: how often it is reported, and a gain before
    it; a loss that a young series holds alone, and young series without any.
    """
    rows = []
    for number, lost in enumerate(LOSES):
        rng = np.random.default_rng([seed, 6, number])
        shift = LOSS * np.maximum(np.arange(CALM + lost) - CALM + 1, 0)
        readings = [read(draw(rng, shift, QUIET)) for _ in range(trials)]
        gains = sum(any(one.pct > 0 for one in reading.changes) for reading in readings)
        slow = sum(bool(reading.slow) for reading in readings)
        name = f"{100 * LOSS:g} % each of the last {lost} of {CALM + lost}"
        rows.append(Figure(f"{name}: a gain reported", percent(gains, trials), at_most(10.0)))
        rows.append(Figure(f"{name}: a loss reported", _lost(readings), FOUND))
    for count in FEW:
        rng = np.random.default_rng([seed, 7, count])
        shift = log1p(-0.10) * (np.arange(count) + 0.5) / count
        reported = _lost([read(draw(rng, shift)) for _ in range(trials)])
        rows.append(
            Figure(f"-10 % evenly over {count} revisions: a loss reported", reported, FOUND)
        )
        for memory in REMEMBERING:
            nulls = (_remembering(rng, memory, count) for _ in range(trials))
            slow = sum(bool(read(one).slow) for one in nulls)
            name = f"builds 3 %, AR(1) {memory:g}, {count} revisions: reported as slow"
            rows.append(Figure(name, percent(slow, trials), at_most(5.0)))
    return rows


def _by_and_by(trials: int, seed: int) -> list[Figure]:
    """A level that is lost over some revisions, and stays: neither a step nor slow to the end."""
    rows = []
    for over in OVER:
        for place, at in PLACES.items():
            rng = np.random.default_rng([seed, 8, over, at])
            shift = log1p(-0.10) * np.clip((np.arange(AGED) - at) / over, 0, 1)
            readings = [read(draw(rng, shift)) for _ in range(trials)]
            name = f"-10 % over {over} revisions, {place} in {AGED}"
            rows.append(Figure(f"{name}: a loss reported", _lost(readings), FOUND))
            gains = sum(any(one.pct > 0 for one in reading.changes) for reading in readings)
            rows.append(Figure(f"{name}: a gain reported", percent(gains, trials), at_most(5.0)))
    return rows


def _lost(readings: list[Reading]) -> Interval:
    """How often a loss is reported, slow or of a level."""
    reported = (any(one.pct < 0 for one in (*each.slow, *each.changes)) for each in readings)
    return percent(sum(reported), len(readings))


def _nulls(trials: int, seed: int) -> list[Figure]:
    rows = []
    for number, memory in enumerate(REMEMBERING):
        goal = at_most(0.2) if memory == REMEMBERING[0] else None
        name = f"builds 3 %, AR(1) {memory:g}"
        one = partial(_remembering, memory=memory)
        rows += _null(name, one, goal, NULLS * trials, [seed, 2, number])
    walk = f"random walk of {100 * WALK:g} %"
    rows += _null(walk, _walk, None, trials, [seed, 2, 9])
    return rows


def _remembering(rng: np.random.Generator, memory: float, count: int = REVISIONS) -> Floats:
    return draw(rng, np.zeros(count), Scatter(run=0.01, build=0.03, memory=memory))


def _walk(rng: np.random.Generator) -> Floats:
    return draw(rng, np.cumsum(WALK * rng.standard_normal(REVISIONS)))


def _null(
    name: str,
    one: Callable[[np.random.Generator], Floats],
    goal: Goal | None,
    trials: int,
    seed: list[int],
) -> list[Figure]:
    rng = np.random.default_rng(seed)
    readings = [read(one(rng)) for _ in range(trials)]
    slow = percent(sum(bool(reading.slow) for reading in readings), trials)
    changes = mean(len(reading.changes) for reading in readings)
    return [
        Figure(f"{name}: reported as slow", slow, goal, digits=2),
        Figure(f"{name}: changes of level", changes, digits=2),
    ]


def _wave(period: int, trials: int, seed: list[int]) -> list[Figure]:
    readings = _of_wave(period, REVISIONS, trials, seed)
    slow = percent(sum(bool(reading.slow) for reading in readings), trials)
    changes = mean(len(reading.changes) for reading in readings)
    name = f"wave of ± 2 %, period {period}"
    return [
        Figure(f"{name}: changes of level", changes, at_most(0.5), digits=2),
        Figure(f"{name}: reported as slow when it is back", slow, at_most(1.0)),
    ]


def _of_wave(period: int, length: int, trials: int, seed: list[int]) -> list[Reading]:
    rng = np.random.default_rng(seed)
    wave = WAVE * np.sin(2 * pi * np.arange(length) / period)
    return [read(draw(rng, wave, USUAL)) for _ in range(trials)]


def _wave_anywhere(trials: int, seed: int) -> list[Figure]:
    """The longer wave, wherever in it the series ends; and at the length that is worst.

    All lengths share the trials: eleven times as many would take longer than all other worlds.
    """
    period, each = PERIODS[0], max(trials // len(ENDS), 2)
    counts = [
        [len(one.changes) for one in _of_wave(period, length, each, [seed, 6, length])]
        for length in ENDS
    ]
    every = mean(count for some in counts for count in some)
    worst = max((mean(some) for some in counts), key=lambda one: one[0])
    name = f"wave of ± 2 %, period {period}, {ENDS[0]} to {ENDS[-1]} revisions: changes of level"
    return [
        Figure(name, every, at_most(0.5), digits=2),
        Figure(f"{name} at the worst length", worst, at_most(0.5), digits=2),
    ]
