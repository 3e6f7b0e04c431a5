"""Which of the believed worlds a forecast plays: a dozen that stand for all of them.

A forecast has time for a dozen bisects, and nine tenths of them are told. A dozen drawn one by one
holds too few hard worlds now and then, and because the seed is fixed every forecast of that kind
would then promise too much. So many worlds are drawn, which costs next to nothing, sorted by how
hard they are, and played from evenly spread places of that order (stratified sampling). Each is as
likely to be played as before, whatever the order is worth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from webapp.stats.bisection.believed import Believed, Truth

POOL = 128
"""Worlds that are drawn; a forecast plays three dozen of them at most."""

STRIDE = (sqrt(5) - 1) / 2
"""Of the order, from one world to the next: the multiples of the golden ratio's fraction, less
whole numbers, are spread evenly however many of them are taken."""

World = Sequence[Truth]
"""What is true of each series."""


@dataclass(frozen=True, slots=True)
class Worlds:
    """``truths``: some worlds, the easy ones first."""

    truths: tuple[World, ...]

    @classmethod
    def of(
        cls,
        series: Sequence[Believed],
        draw: Callable[[np.random.Generator], World],
        rng: np.random.Generator,
    ) -> "Worlds":
        """From what ``draw`` makes, a truth of each of the ``series``."""
        drawn = [draw(rng) for _ in range(POOL)]
        return cls(tuple(sorted(drawn, key=lambda world: hardness(series, world))))

    def played(self, number: int) -> World:
        """That of trial ``number``, from 0 on; the first is of middling hardness."""
        place = (0.5 + number * STRIDE) % 1
        return self.truths[int(place * len(self.truths))]


def hardness(series: Sequence[Believed], world: World) -> float:
    """About how many boots it takes to tell the commits of a world: the sum over them of 1/s, where
    s sums the squared step over the variance of a boot and its build, over all series. 0 without a
    step, which is found soon.
    """
    told: dict[int, float] = {}
    for one, (node, _, steps) in zip(series, world, strict=True):
        boot = one.plan.noise.boot_variance(one.plan.runs) * float(one.data.nodes.within[node])
        variance = boot + float(one.data.nodes.build[node])
        for commit, size in steps.items():
            told[commit] = told.get(commit, 0.0) + size * size / variance
    return sum(1 / each if each else inf for each in told.values())
