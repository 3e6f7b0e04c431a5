"""The first twenty revisions: levels where there are none, and steps, by all that is reported.

The worlds of `young`, which replays the online update: builds scatter as much as runs or several
times as much, and a step comes after eight revisions.
"""

from collections import Counter
from math import log1p

import numpy as np

from benchmarks.worlds.figures import Figure, at_most, percent
from benchmarks.worlds.reading import draw, read
from benchmarks.worlds.young import BEFORE_STEP, BUILD_OF_STEPS, NEAR, RATIOS, RUN, SHOWN, STEPS
from webapp.stats.simulate import Scatter

AFTER_STEP = (2, 3)
GOAL = at_most(2.0)


def measure(trials: int, seed: int) -> list[Figure]:
    """Return how often levels are found at any length, and steps by their first revisions."""
    rows = [_none(ratio, trials, seed) for ratio in RATIOS]
    return rows + [_step(pct, after, trials, seed) for pct in STEPS for after in AFTER_STEP]


def _none(ratio: int, trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, ratio])
    scatter = Scatter(run=RUN, build=ratio * RUN)
    found: Counter[int] = Counter()
    for _ in range(trials):
        values = draw(rng, np.zeros(SHOWN[-1]), scatter)
        found.update(length for length in SHOWN if read(values[:length]).changes)
    hits = max(found.values(), default=0)
    return Figure(f"builds {ratio} ×: levels at the worst length", percent(hits, trials), GOAL)


def _step(pct: float, after: int, trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, after, int(-pct)])
    shift = np.zeros(BEFORE_STEP + after)
    shift[BEFORE_STEP:] = log1p(pct / 100)
    scatter = Scatter(run=RUN, build=BUILD_OF_STEPS)
    hits = sum(
        read(draw(rng, shift, scatter)).near(BEFORE_STEP, NEAR) is not None for _ in range(trials)
    )
    name = f"step of {pct:g} % after {BEFORE_STEP}: a level by its revision {after}"
    return Figure(name, percent(hits, trials))
