"""Excursions: one revision far off whose samples agree, alone, recurring, before a new level.

Forty revisions, one at the level of an excursion, forty back at the old one. A finding counts
where it lies at the very revision. The second world goes on to a new level eight revisions later.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log1p

import numpy as np

from benchmarks.cells import HEAVY
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import SD, Floats, Reading, draw, mean, read
from webapp.stats.simulate import draw_levels

BEFORE_IT, AFTER_IT = 40, 40
SIZES = (-20.0, -35.0, -57.0)
IN_SD = (5, 8, 10)
"""Sizes of smaller excursions, in scatters of one revision."""

STEP, LATER = -12.0, 8
"""A real new level, and how many revisions after the excursion it begins."""

WILD = 0.4
"""What one wild sample is multiplied by."""

HEAVY_REVISIONS = 200

APART = 40
"""Revisions from one of three excursions to the next."""

OFTEN = 0.1
"""Share of the revisions that are off, by any size up to threefold, where excursions recur."""

BEFORE: dict[str, str] = {
    "-20 %: reported as an excursion": "0.0",
    "-20 %: size within its interval": "0.0",
    "-20 %: changes of level": "0.01",
    "-35 %: reported as an excursion": "0.0",
    "-35 %: size within its interval": "0.0",
    "-35 %: changes of level": "0.00",
    "-57 %: reported as an excursion": "0.0",
    "-57 %: size within its interval": "0.0",
    "-57 %: changes of level": "0.00",
    "5 sd: reported as an excursion": "0.0",
    "8 sd: reported as an excursion": "0.0",
    "10 sd: reported as an excursion": "0.0",
    "-33 %, then -12 %: both reported, within intervals": "0.0",
    "-33 %, then -12 %: size of the level within its interval": "97.8",
    "one wild sample: anything reported": "1.5",
    "heavy tails: excursions per 1,000 revisions": "0.00",
    "a tenth of 200 revisions: excursions a series": "19.32",
}
"""What each figure was when changes of level were all that was found (400 trials); the last one,
when each excursion was reported, however often they recur (200 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return how often an excursion is reported as what it is, how large, and what else is."""
    rows: list[Figure] = []
    for pct in SIZES:
        rows += _alone(pct, trials, seed)
    rows += [_in_sd(times, trials, seed) for times in IN_SD]
    rows += _before_a_level(trials, seed)
    rows += [_wild_sample(trials, seed), _heavy_tails(trials, seed)]
    rows += [_three(trials, seed), _recurring(trials, seed)]
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def _alone(pct: float, trials: int, seed: int) -> list[Figure]:
    rng = np.random.default_rng([seed, 1, int(-pct)])
    readings = [read(draw(rng, _shift(log1p(pct / 100)))) for _ in range(trials)]
    reported = [next((o for o in r.excursions if o.index == BEFORE_IT), None) for r in readings]
    found = [one for one in reported if one is not None]
    others = mean(len(reading.changes) for reading in readings)
    name = f"{pct:g} %"
    return [
        Figure(f"{name}: reported as an excursion", percent(len(found), trials), at_least(95.0)),
        _held(f"{name}: size within its interval", [one.holds(pct) for one in found]),
        Figure(f"{name}: changes of level", others, at_most(0.1), digits=2),
    ]


def _shift(log: float) -> Floats:
    shift = np.zeros(BEFORE_IT + 1 + AFTER_IT)
    shift[BEFORE_IT] = log
    return shift


def _held(name: str, held: Sequence[bool]) -> Figure:
    return Figure(name, percent(sum(held), len(held)), at_least(93.0))


def _in_sd(times: int, trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, 2, times])
    hits = sum(
        any(one.index == BEFORE_IT for one in read(draw(rng, _shift(-times * SD))).excursions)
        for _ in range(trials)
    )
    return Figure(f"{times} sd: reported as an excursion", percent(hits, trials))


def _before_a_level(trials: int, seed: int) -> list[Figure]:
    rng = np.random.default_rng([seed, 3])
    shift = _shift(log1p(-0.33))
    shift[BEFORE_IT + LATER :] += log1p(STEP / 100)
    readings = [read(draw(rng, shift)) for _ in range(trials)]
    steps = [reading.near(BEFORE_IT + LATER) for reading in readings]
    both = [
        _holds_excursion(reading, -33.0) and step is not None and step.holds(STEP)
        for reading, step in zip(readings, steps, strict=True)
    ]
    of_step = [step.holds(STEP) for step in steps if step is not None]
    return [
        Figure("-33 %, then -12 %: both reported, within intervals", percent(sum(both), trials)),
        _held("-33 %, then -12 %: size of the level within its interval", of_step),
    ]


def _holds_excursion(reading: Reading, pct: float) -> bool:
    return any(one.index == BEFORE_IT and one.holds(pct) for one in reading.excursions)


def _wild_sample(trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, 4])
    hits = 0
    for _ in range(trials):
        values = draw(rng, _shift(0.0))
        values[BEFORE_IT, 0] *= WILD
        reading = read(values)
        hits += bool(reading.excursions or reading.changes)
    return Figure("one wild sample: anything reported", percent(hits, trials), at_most(1.0))


def _heavy_tails(trials: int, seed: int) -> Figure:
    """Excursions per 1,000 revisions where runs and builds have heavy tails."""
    rng = np.random.default_rng([seed, 5])
    scatter = HEAVY[3].scatter
    counts = []
    for _ in range(trials):
        shift = draw_levels(rng, 1, HEAVY_REVISIONS, scatter)[0]
        reading = read(draw(rng, shift, replace(scatter, build=0.0)))
        counts.append(1000 * len(reading.excursions) / HEAVY_REVISIONS)
    name = "heavy tails: excursions per 1,000 revisions"
    return Figure(name, mean(counts), at_most(3.0), digits=2)


def _three(trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, 6])
    shift, places = np.zeros(4 * APART), [APART, 2 * APART, 3 * APART]
    shift[places] = log1p(-0.35)
    hits = 0
    for _ in range(trials):
        reported = {one.index for one in read(draw(rng, shift)).excursions}
        hits += reported.issuperset(places)
    name = f"three of -35 %, {APART} revisions apart: all reported"
    return Figure(name, percent(hits, trials), at_least(95.0))


def _recurring(trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, 7])
    counts = []
    for _ in range(trials):
        is_off = rng.random(HEAVY_REVISIONS) < OFTEN
        shift = is_off * rng.uniform(log1p(0.2), log1p(2.0), HEAVY_REVISIONS)
        counts.append(len(read(draw(rng, shift)).excursions))
    name = f"a tenth of {HEAVY_REVISIONS} revisions: excursions a series"
    return Figure(name, mean(counts), at_most(4.0), digits=2)
