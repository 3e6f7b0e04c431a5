"""Series without any change: how often each kind of finding is made of them.

Two hundred revisions. Heavy tails are t with 3 degrees of freedom; bimodal runs have both modes
from the beginning to the end, in equal shares.
"""

from dataclasses import replace

import numpy as np

from benchmarks.worlds.figures import Figure, at_most, percent
from benchmarks.worlds.reading import draw, mean, read
from webapp.stats.simulate import Scatter

REVISIONS = 200
CLEAN, DIRTY = at_most(1.0), at_most(3.0)
"""Percent of series with a finding of a new kind."""

WORLDS = {
    "clean, builds 0.3 ×": (Scatter(run=0.01, build=0.003), CLEAN),
    "clean, builds 1 ×": (Scatter(run=0.01, build=0.01), CLEAN),
    "clean, builds 2 ×": (Scatter(run=0.01, build=0.02), CLEAN),
    "heavy tails": (Scatter(run=0.01, build=0.02, heavy_tails=True), DIRTY),
    "bimodal": (Scatter(run=0.01, build=0.02, two_modes=True), DIRTY),
    "AR(1) 0.5": (Scatter(run=0.01, build=0.02, memory=0.5), DIRTY),
}

BEFORE: dict[str, str] = {
    "clean, builds 0.3 ×: an excursion": "0.0",
    "clean, builds 0.3 ×: a change of noise": "0.0",
    "clean, builds 0.3 ×: a change of modes": "0.0",
    "clean, builds 0.3 ×: a slow loss or gain": "0.0",
    "clean, builds 0.3 ×: changes of level per 1,000 revisions": "0.25",
    "clean, builds 1 ×: an excursion": "0.0",
    "clean, builds 1 ×: a change of noise": "0.0",
    "clean, builds 1 ×: a change of modes": "0.0",
    "clean, builds 1 ×: a slow loss or gain": "0.0",
    "clean, builds 1 ×: changes of level per 1,000 revisions": "0.25",
    "clean, builds 2 ×: an excursion": "0.0",
    "clean, builds 2 ×: a change of noise": "0.0",
    "clean, builds 2 ×: a change of modes": "0.0",
    "clean, builds 2 ×: a slow loss or gain": "0.0",
    "clean, builds 2 ×: changes of level per 1,000 revisions": "0.30",
    "heavy tails: an excursion": "0.0",
    "heavy tails: a change of noise": "0.0",
    "heavy tails: a change of modes": "0.0",
    "heavy tails: a slow loss or gain": "0.0",
    "heavy tails: changes of level per 1,000 revisions": "1.69",
    "bimodal: an excursion": "0.0",
    "bimodal: a change of noise": "0.0",
    "bimodal: a change of modes": "0.0",
    "bimodal: a slow loss or gain": "0.0",
    "bimodal: changes of level per 1,000 revisions": "0.38",
    "AR(1) 0.5: an excursion": "0.0",
    "AR(1) 0.5: a change of noise": "0.0",
    "AR(1) 0.5: a change of modes": "0.0",
    "AR(1) 0.5: a slow loss or gain": "0.0",
    "AR(1) 0.5: changes of level per 1,000 revisions": "3.70",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the share of series with each kind of finding, and changes of level."""
    rows: list[Figure] = []
    for number, (name, (scatter, goal)) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([seed, number])
        readings = [read(draw(rng, np.zeros(REVISIONS), scatter)) for _ in range(trials)]
        kinds: dict[str, list[tuple[object, ...]]] = {
            "an excursion": [reading.excursions for reading in readings],
            "a change of noise": [reading.noise_changes for reading in readings],
            "a change of modes": [reading.modes for reading in readings],
            "a slow loss or gain": [reading.slow for reading in readings],
        }
        for kind, found in kinds.items():
            hits = percent(sum(bool(each) for each in found), trials)
            of = None if kind == "an excursion" and scatter.heavy_tails else goal
            rows.append(Figure(f"{name}: {kind}", hits, of))
        counts = mean(1000 * len(reading.changes) / REVISIONS for reading in readings)
        rows.append(Figure(f"{name}: changes of level per 1,000 revisions", counts, digits=2))
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]
