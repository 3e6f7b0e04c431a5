"""Steps among noise: found and false changes of level at the end of a series, weighed as F1.

Sixty revisions; steps of 0, 1, 2, 3, 5 or 10 %, up or down, at 25 to 40; runs of .5, 1, 2 and
3 %, builds .3 and 2 times as much. Dirtied: a drift of ± 2 %, 2 % odd revisions of 5 to 15 %, 2 %
odd runs. Found is what lies at most two revisions off.
"""

from dataclasses import dataclass, replace
from math import log1p

import numpy as np

from benchmarks.worlds.figures import Figure, Interval, at_least, at_most, percent
from benchmarks.worlds.reading import Floats, draw, mean, read
from webapp.stats.simulate import Scatter

REVISIONS = 60
STEPS = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0)
RUNS = (0.005, 0.01, 0.02, 0.03)
BUILDS = (0.3, 2.0)
FIRST, LAST = 25, 40
NEAR = 2
ODD = 0.02

BEFORE: dict[str, str] = {
    "clean: F1 at the end": "0.757",
    "clean: false per 100 revisions": "0.100",
    "dirtied: F1 at the end": "0.624",
    "dirtied: false per 100 revisions": "0.433",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


@dataclass(slots=True)
class Tally:
    """Steps that were planted and found, and false changes series by series."""

    planted: int
    found: int
    false: list[int]

    def f1(self) -> float:
        """Twice what was found over all that was planted and all that was reported."""
        return 2 * self.found / (self.planted + self.found + sum(self.false))


def measure(trials: int, seed: int) -> list[Figure]:
    """Return F1 and false changes, clean and dirtied; a trial is a series."""
    rows = []
    for dirty, f1, false in ((False, 0.76, 0.12), (True, 0.68, 0.30)):
        tally = _tally(trials, seed, dirty=dirty)
        name = "dirtied" if dirty else "clean"
        share = 100 * tally.found / max(tally.planted, 1)
        half = percent(tally.found, tally.planted)[2] - share
        score: Interval = (tally.f1(), tally.f1() - half / 100, tally.f1() + half / 100)
        counts = mean(100 * count / REVISIONS for count in tally.false)
        rows += [
            Figure(f"{name}: F1 at the end", score, at_least(f1), digits=3),
            Figure(f"{name}: false per 100 revisions", counts, at_most(false), digits=3),
        ]
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def _tally(trials: int, seed: int, *, dirty: bool) -> Tally:
    rng = np.random.default_rng([seed, dirty])
    tally = Tally(0, 0, [])
    for number in range(trials):
        run = RUNS[number % len(RUNS)]
        scatter = Scatter(run=run, build=run * BUILDS[number // len(RUNS) % len(BUILDS)])
        at, pct = int(rng.integers(FIRST, LAST + 1)), float(rng.choice(STEPS))
        shift = np.zeros(REVISIONS)
        shift[at:] += log1p(rng.choice((-1.0, 1.0)) * pct / 100)
        values = _dirtied(rng, shift, scatter) if dirty else draw(rng, shift, scatter)
        changes = read(values).changes
        right = sum(pct > 0 and abs(one.index - at) <= NEAR for one in changes)
        tally.planted += pct > 0
        tally.found += right > 0
        tally.false.append(len(changes) - (right > 0))
    return tally


def _dirtied(rng: np.random.Generator, shift: Floats, scatter: Scatter) -> Floats:
    count = len(shift)
    drift = rng.choice((-0.02, 0.02)) * np.arange(count) / count
    signs = rng.choice((-1.0, 1.0), count)
    odd = (rng.random(count) < ODD) * signs * rng.uniform(0.05, 0.15, count)
    values = draw(rng, shift + drift + odd, scatter)
    wild = rng.random(values.shape) < ODD
    sizes = rng.choice((-1.0, 1.0), values.shape) * rng.uniform(0.05, 0.3, values.shape)
    return np.asarray(values * np.exp(wild * sizes))
