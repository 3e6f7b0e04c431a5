"""Counts with zeros: segments sent again, packets dropped, of which a sample below 1 counts as 1;
and rates of 0, where a measurement failed or nothing goes through any more.

Sixty revisions of five samples; *bursts* are samples of 50 to 500 where .2 are usual. A step, at
revision 30, is found at most two revisions off. Rates have 200 revisions, some of which fail by
themselves; a rate that is lost is 0 in the last three of forty.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import SAMPLES
from benchmarks.worlds.figures import Figure, Goal, at_least, at_most, percent
from benchmarks.worlds.reading import Reading, draw, mean, read
from webapp.stats.metrics import least_of

REVISIONS, STEP = 60, 30
NEAR = 2
SHAPE = (REVISIONS, SAMPLES)

Counts = NDArray[np.int64]
Draw = Callable[[np.random.Generator], Counts]

MEANS = (0.05, 0.2, 1.0, 5.0, 50.0)
WIDE = (1.0, 5.0, 50.0)
"""Means of negative binomials: of Poisson counts whose rate is exponential."""

STEPS = ((0.0, 5.0), (0.0, 30.0), (0.0, 200.0), (0.2, 2.0))
USUAL = 0.2
SHARE = 0.1
LEAST, MOST = 50, 500
RARELY, MORE = at_most(0.1), at_most(0.15)
FAILING = (0.0, 0.01, 0.05, 0.1, 0.3)
LONG, FEW, NEWEST = 200, 40, 3


def _poisson(rate: float) -> Draw:
    return lambda rng: rng.poisson(rate, SHAPE)


def _wide(rate: float) -> Draw:
    return lambda rng: rng.negative_binomial(1, 1 / (1 + rate), SHAPE)


def _step(before: float, after: float) -> Draw:
    rates = np.where(np.arange(REVISIONS) < STEP, before, after)[:, None]
    return lambda rng: rng.poisson(rates, SHAPE)


def _bursting(*, whole: bool) -> Draw:
    """A tenth of the samples bursts, or all samples of a tenth of the revisions."""

    def draw_one(rng: np.random.Generator) -> Counts:
        is_burst = rng.random((REVISIONS, 1 if whole else SAMPLES)) < SHARE
        bursts = rng.integers(LEAST, MOST + 1, SHAPE)
        return np.where(is_burst, bursts, rng.poisson(USUAL, SHAPE))

    return draw_one


NULLS: dict[str, tuple[Draw, Goal | None, Goal]] = {
    **{f"Poisson, {rate:g} a sample": (_poisson(rate), RARELY, RARELY) for rate in MEANS},
    **{f"negative binomial, {rate:g}": (_wide(rate), RARELY, RARELY) for rate in WIDE},
    "a tenth of the samples bursts": (_bursting(whole=False), None, RARELY),
    "a tenth of the revisions bursts": (_bursting(whole=True), None, at_most(2.0)),
}
"""How series without a change are drawn, and how many changes of level and excursions they may
have: of excursions that recur two in 64 revisions."""

BEFORE = {
    "a tenth of the samples bursts: changes of level": "0.46",
    "a tenth of the revisions bursts: changes of level": "0.23",
    "a tenth of the revisions bursts: excursions": "5.44",
}
"""What a figure was when it did not matter to neighbours and excursions that odd revisions recur
(400 trials; excursions 200)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what is reported of counts that do not change, and how often steps are found."""
    rows = []
    for number, (name, (draw_one, changes, excursions)) in enumerate(NULLS.items()):
        readings = _readings(draw_one, trials, [seed, 1, number])
        kinds = {
            "changes of level": (changes, [len(one.changes) for one in readings]),
            "excursions": (excursions, [len(one.excursions) for one in readings]),
        }
        for kind, (goal, counts) in kinds.items():
            row = f"{name}: {kind}"
            rows.append(Figure(row, mean(counts), goal, BEFORE.get(row, ""), digits=2))
    for number, (low, high) in enumerate(STEPS):
        readings = _readings(_step(low, high), trials, [seed, 2, number])
        hits = sum(one.near(STEP, by=NEAR) is not None for one in readings)
        step = f"a step from {low:g} to {high:g}: found"
        rows.append(Figure(step, percent(hits, trials), at_least(90.0)))
        others = (sum(abs(each.index - STEP) > NEAR for each in one.changes) for one in readings)
        rows.append(
            Figure(f"{step.removesuffix(': found')}: other changes", mean(others), MORE, digits=2)
        )
    return [*rows, *_rates(trials, seed)]


def _rates(trials: int, seed: int) -> list[Figure]:
    """Rates of which some revisions fail by themselves, and such that are lost."""
    rows = []
    for number, share in enumerate(FAILING):
        rng = np.random.default_rng([seed, 3, number])
        ever, found = [], 0
        for _ in range(trials):
            values = draw(rng, np.zeros(LONG))
            values[rng.random(LONG) < share] = 0.0
            ever.append(1000 / LONG * _lost(values))
            values = values[:FEW]
            values[-NEWEST:] = 0.0
            found += _lost(values) > 0
        name = f"{100 * share:g} % of revisions measure 0 by themselves"
        rows.append(Figure(f"{name}: lost, per 1,000", mean(ever), at_most(1.0), digits=2))
        rows.append(Figure(f"{name}: lost in the newest {NEWEST}, found", percent(found, trials)))
    return rows


def _lost(values: NDArray[np.float64]) -> int:
    return sum(one.pct == -100.0 for one in read(values).changes)


def _readings(draw_one: Draw, trials: int, seed: list[int]) -> list[Reading]:
    rng, least = np.random.default_rng(seed), least_of("segments")
    return [read(np.maximum(draw_one(rng), least)) for _ in range(trials)]
