"""Runs that disagree: how often uploads of one revision are marked, alike or not.

Two to four uploads of five runs each (1 %), every one of a build of its own unless stated. Its runs
have a boot each, or share one; the series is new, or forty revisions old.
"""

from collections.abc import Sequence
from itertools import product
from math import exp, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.worlds.figures import Figure, at_most, percent
from webapp.stats.upload_consistency import History, Upload, history_of, judge, upload_of

MEDIAN, SPREAD = 0.018, 1.6
"""Scatter of builds in one-year series of a real lab, lognormal: wider than what is believed."""

RUN = 0.01
RUNS = 5
UPLOADS = (2, 3, 4)
BUILDS = (None, 0.01, 0.018, 0.03, 0.05)
BOOTS = (1, 3)
"""Scatter of boots, in multiples of that of runs."""

REVISIONS = 40
TIMES = (2, 3, 5)
"""Sizes of a true difference, in standard deviations of the difference of two uploads."""

WILD = 0.5
CONFIGURATION = 20.0
GOAL = at_most(0.5)

Rng = np.random.Generator
Floats = NDArray[np.float64]


class World:
    """How uploads come to be; ``build`` None: drawn anew, 0: all are of one build."""

    def __init__(self, rng: Rng, build: float | None, boots: int, *, own: bool, old: bool) -> None:
        self.rng, self.build, self.boot = rng, build, RUN * boots
        self.has_own_boots, self.is_old = own, old

    def build_noise(self) -> float:
        """The scatter between builds in one series."""
        drawn = MEDIAN * exp(log(SPREAD) * self.rng.standard_normal())
        return drawn if self.build is None else self.build

    def upload_noise(self, build: float) -> float:
        """The standard deviation of the mean of an upload."""
        boots = RUNS if self.has_own_boots else 1
        return sqrt(build**2 + self.boot**2 / boots + RUN**2 / RUNS)

    def upload(self, name: str, build: float, shift: float = 0.0, *, wild: bool = False) -> Upload:
        """One upload; one of its samples is half of what it should be where it is ``wild``."""
        of_boots = self.boots()
        level = shift + build * self.rng.standard_normal()
        return self.of_build(name, name if build else "one", level + of_boots, wild=wild)

    def boots(self) -> Floats:
        """How far the boot of each run lies off, on the log scale."""
        drawn = self.boot * self.rng.standard_normal(RUNS)
        return drawn if self.has_own_boots else np.repeat(drawn[:1], RUNS)

    def of_build(
        self, name: str, build: str, levels: Floats, *, session: str = "", wild: bool = False
    ) -> Upload:
        """One upload of a build, whose runs have these levels (on the log scale)."""
        boots = list(range(RUNS)) if self.has_own_boots else [0] * RUNS
        logs = levels + RUN * self.rng.standard_normal(RUNS)
        samples = np.exp(logs)
        samples[0] *= WILD if wild else 1.0
        found = upload_of(name, build, samples.tolist(), boots, session)
        if found is None:
            raise AssertionError("every sample is positive")
        return found

    def history(self, build: float) -> History | None:
        """What the series shows, where it is old enough."""
        if not self.is_old:
            return None
        logs = self.upload_noise(build) * self.rng.standard_normal(REVISIONS)
        return history_of([(float(exp(one)), 1) for one in logs])

    def is_marked(self, uploads: int, times: float = 0.0, **how: float | bool) -> bool:
        """Whether one point is marked; the last upload differs by ``times`` the noise."""
        build = self.build_noise()
        shift = times * sqrt(2) * self.upload_noise(build) + log1p(how.get("percent", 0) / 100)
        its = [self.upload(str(one), build) for one in range(uploads - 1)]
        its.append(self.upload("last", build, shift, wild=bool(how.get("wild"))))
        return marks(its, self.history(build))


def marks(uploads: Sequence[Upload], history: History | None) -> bool:
    """Return whether a point of these uploads is marked."""
    found = judge(uploads, history)
    return found is not None and found.is_beyond_noise


def measure(trials: int, seed: int) -> list[Figure]:
    """Return false marks, by world and by the number of uploads, and how often a cause is seen."""
    return [*_null(trials, seed), *_special(trials, seed), *_power(trials, seed)]


def _null(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, (old, build, boots, own) in enumerate(
        product((False, True), (*BUILDS, 0.0), BOOTS, (True, False))
    ):
        rng = np.random.default_rng([seed, 1, number])
        world = World(rng, build, boots, own=own, old=old)
        hits = sum(world.is_marked(UPLOADS[one % len(UPLOADS)]) for one in range(trials))
        name = f"no cause, {_named(world, boots)}: marked"
        figures.append(Figure(name, percent(hits, trials), GOAL, digits=2))
    return figures


def _special(trials: int, seed: int) -> list[Figure]:
    figures = []
    for uploads in UPLOADS:
        world = World(np.random.default_rng([seed, 2, uploads]), None, 1, own=True, old=False)
        hits = sum(world.is_marked(uploads) for _ in range(trials))
        name = f"no cause, {_named(world, 1)}, {uploads} uploads: marked"
        figures.append(Figure(name, percent(hits, trials), GOAL, digits=2))
    world = World(np.random.default_rng([seed, 3]), None, 1, own=True, old=False)
    hits = sum(world.is_marked(2, wild=True) for _ in range(trials))
    name = f"no cause, {_named(world, 1)}, one sample at half: marked"
    return [*figures, Figure(name, percent(hits, trials), GOAL, digits=2)]


def _power(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, (old, own, times) in enumerate(product((False, True), (True, False), TIMES)):
        world = World(np.random.default_rng([seed, 4, number]), None, 1, own=own, old=old)
        hits = sum(world.is_marked(2, times) for _ in range(trials))
        name = f"{times} × the noise apart, {_named(world, 1)}: marked"
        figures.append(Figure(name, percent(hits, trials)))
    for number, (old, own) in enumerate(product((False, True), (True, False))):
        world = World(np.random.default_rng([seed, 5, number]), None, 1, own=own, old=old)
        hits = sum(world.is_marked(2, percent=CONFIGURATION) for _ in range(trials))
        name = f"{CONFIGURATION:g} % apart, {_named(world, 1)}: marked"
        figures.append(Figure(name, percent(hits, trials)))
    return figures


def _named(world: World, boots: int) -> str:
    builds = {None: "builds 1.8 % × 1.6", 0.0: "one build"}
    build = builds.get(world.build) or f"builds {100 * (world.build or 0):g} %"
    age = f"{REVISIONS} revisions" if world.is_old else "new series"
    return (
        f"{age}, {build}, boots {boots} ×, {'a boot a run' if world.has_own_boots else 'one boot'}"
    )
