"""The noise that detection is measured in, and series with many changes."""

from dataclasses import dataclass
from functools import cache
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes.points import Point, reduce_points
from webapp.stats.simulate import Scatter, draw_levels, draw_samples

Floats = NDArray[np.float64]

SAMPLES = 5
"""Samples of a revision, as in the archive."""

RUNS = (0.005, 0.01, 0.03)
BUILDS = (0.3, 2.0)

MEMORY = 0.3
MUCH_MEMORY = 0.5
"""AR(1) coefficients of the cells with memory; the second is harder than any archive series."""

CHANGES_PER_REVISION = 1 / 60
"""How often a series of the archive changes: 34 sure and 13 probable changes in 764 revisions
of 14 series, about one in sixteen; most labs are calmer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of noise: its name and its scatter."""

    name: str
    scatter: Scatter
    is_clean: bool

    def sd(self) -> float:
        """The standard deviation of one revision's value on the log scale, by simulation."""
        return _sd_of(self.scatter)


@cache
def _sd_of(scatter: Scatter) -> float:
    rng = np.random.default_rng(1)
    values = draw_samples(rng, draw_levels(rng, 40, 250, scatter), SAMPLES, scatter)
    locations = [
        value.location for row in values for value in reduce_points(series_of(row)) if value
    ]
    return float(np.std(locations))


def _cells(kind: str, *, is_clean: bool, **more: float | bool) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"run {100 * run:g} %, build {build:g}x, {kind}",
            Scatter(run=run, build=build * run, **more),  # type: ignore[arg-type]
            is_clean,
        )
        for run in RUNS
        for build in BUILDS
    )


CLEAN = _cells("clean", is_clean=True)
HEAVY = _cells("heavy-tailed", is_clean=False, heavy_tails=True)
BIMODAL = _cells("bimodal", is_clean=False, two_modes=True)
REMEMBERING = _cells(f"AR(1) {MEMORY}", is_clean=False, memory=MEMORY)
MUCH = _cells(f"AR(1) {MUCH_MEMORY}", is_clean=False, memory=MUCH_MEMORY)
ALL = (*CLEAN, *HEAVY, *BIMODAL, *REMEMBERING, *MUCH)

MIXED = (CLEAN[2], CLEAN[3], HEAVY[2], HEAVY[3], BIMODAL[3], REMEMBERING[2])
"""A mixture for calibration: mostly calm, some of each kind of trouble."""


def series_of(values: Floats) -> list[Point]:
    """Return points from (revisions, samples) values."""
    return [Point(i, str(i), row) for i, row in enumerate(values.tolist())]


def random_steps(rng: np.random.Generator, cell: Cell, revisions: int) -> tuple[Floats, list[int]]:
    """Return log levels with steps at random indices, and those indices.

    Step sizes are log-uniform between half and ten standard deviations of one revision.
    """
    sd = hypot(cell.scatter.build, 1.1 * cell.scatter.run / sqrt(SAMPLES))
    levels = draw_levels(rng, 1, revisions, cell.scatter)[0]
    indices = [i for i in range(8, revisions - 2) if rng.random() < CHANGES_PER_REVISION]
    for index in indices:
        size = sd * np.exp(rng.uniform(np.log(0.5), np.log(10.0)))
        levels[index:] += size * rng.choice((-1.0, 1.0))
    return levels, indices
