"""Counts with zeros: segments sent again, packets dropped, of which a sample below 1 counts as 1.

Sixty revisions of five samples. *Bursts* are samples of 50 to 500 where .2 are usual; those of one
revision are of equal size or not. A step, at revision 30, is found at most two revisions off.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import SAMPLES
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import Reading, mean, read
from webapp.stats.metrics import least_of

REVISIONS, STEP = 60, 30
NEAR = 2
SHAPE = (REVISIONS, SAMPLES)

Counts = NDArray[np.int64]
Draw = Callable[[np.random.Generator], Counts]

MEANS = (0.05, 0.2, 1.0, 5.0, 50.0)
WIDE = (1.0, 5.0, 50.0)
"""Means of negative binomials: exponential ones of Poisson counts."""

STEPS = ((0.0, 5.0), (0.0, 200.0), (0.2, 2.0))
USUAL = 0.2
SHARE = 0.1
LEAST, MOST = 50, 500


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


NULLS: dict[str, tuple[Draw, float, float]] = {
    **{f"Poisson, {rate:g} a sample": (_poisson(rate), 0.1, 0.1) for rate in MEANS},
    **{f"negative binomial, {rate:g}": (_wide(rate), 0.1, 0.1) for rate in WIDE},
    "a tenth of the samples bursts": (_bursting(whole=False), 0.4, 0.1),
    "a tenth of the revisions bursts": (_bursting(whole=True), 0.4, 2.2),
}
"""How series without a change are drawn, and how many false changes and excursions may be told."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what is told of counts that do not change, and how often steps are found."""
    rows = []
    for number, (name, (draw, changes, excursions)) in enumerate(NULLS.items()):
        told = _readings(draw, trials, [seed, 1, number])
        counts = mean(len(one.changes) for one in told)
        rows.append(Figure(f"{name}: changes of level", counts, at_most(changes), digits=2))
        counts = mean(len(one.excursions) for one in told)
        rows.append(Figure(f"{name}: excursions", counts, at_most(excursions), digits=2))
    for number, (before, after) in enumerate(STEPS):
        told = _readings(_step(before, after), trials, [seed, 2, number])
        hits = sum(one.near(STEP, by=NEAR) is not None for one in told)
        name = f"a step from {before:g} to {after:g}: found"
        rows.append(Figure(name, percent(hits, trials), at_least(90.0)))
    return rows


def _readings(draw: Draw, trials: int, seed: list[int]) -> list[Reading]:
    rng, least = np.random.default_rng(seed), least_of("segments")
    return [read(np.maximum(draw(rng), least)) for _ in range(trials)]
