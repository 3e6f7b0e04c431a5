"""Worlds that break the model of a bisect: what is true in each, and what is asked there."""

from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np

from webapp.stats import OutOfRangeError
from webapp.stats.arrays import Floats
from webapp.stats.bisection.playing import LabChanges

MOST_BESIDE = 10
"""Modes beside the one that is bisected."""


@dataclass(frozen=True, slots=True)
class World:
    """What is not as believed; percentages are signed. Raises `OutOfRangeError`.

    ``true_noise``: true noise of boots and runs over the believed. ``hidden_build``: scatter of
    builds absent from the history. ``drift``: of the machine, a boot. ``lab_step`` comes
    after ``lab_step_at`` boots. ``flaky``: share of boots that are off by ``flaky_pct``.
    ``culprits``: steps of several commits, in place of the one. ``misleading_prior``: weight of
    the true culprit where the others have 1. ``outside``: 0, or on which side of the range the
    culprit lies: −1 before the good end, +1 behind the bad one. ``beside``: modes that each boot
    measures as well, with the same noise; they have ``beside_share`` of every step, and follow the
    machine unless they are ``beside_still``.
    """

    true_noise: float = 1.0
    hidden_build: float = 0.0
    drift: float = 0.0
    lab_step: float = 0.0
    lab_step_at: int = 10
    flaky: float = 0.0
    flaky_pct: float = -8.0
    culprits: tuple[float, ...] = ()
    misleading_prior: float = 1.0
    outside: int = 0
    beside: int = 0
    beside_share: float = 0.0
    beside_still: bool = False

    def __post_init__(self) -> None:
        for name, value, is_possible in (
            ("true noise", self.true_noise, self.true_noise > 0),
            ("hidden build noise", self.hidden_build, self.hidden_build >= 0),
            ("lab step at", self.lab_step_at, self.lab_step_at >= 0),
            ("flaky", self.flaky, 0 <= self.flaky < 1),
            ("beside", self.beside, 0 <= self.beside <= MOST_BESIDE),
            ("beside share", self.beside_share, abs(self.beside_share) <= 10),
            ("outside", self.outside, self.outside in (-1, 0, 1)),
            ("misleading prior", self.misleading_prior, 0 < self.misleading_prior <= 1),
            *((name, pct, pct > -100) for name, pct in self._percentages()),
        ):
            if not (np.isfinite(value) and is_possible):
                raise OutOfRangeError(f"{name}: {value:g} makes no sense")

    def _percentages(self) -> list[tuple[str, float]]:
        named = [("drift", self.drift), ("lab step", self.lab_step), ("flaky pct", self.flaky_pct)]
        return named + [("culprits", pct) for pct in self.culprits]

    @property
    def changes(self) -> LabChanges:
        """What the lab does, log percent."""
        return LabChanges(
            drift=100 * log1p(self.drift / 100),
            step=100 * log1p(self.lab_step / 100),
            step_at=self.lab_step_at,
            flaky=self.flaky,
            flaky_effect=100 * log1p(self.flaky_pct / 100),
        )


AS_MODELLED = World()


def draw_culprits(rng: np.random.Generator, commits: int, count: int) -> tuple[int, ...]:
    """The candidates that are guilty, in order; several lie at least an eighth apart where that
    leaves a choice, since two neighbours are one finding.
    """
    if count == 1:
        return (int(rng.integers(1, commits + 1)),)
    apart = min(commits // 8, (commits - 1) // count)
    while True:
        drawn = np.sort(rng.choice(commits, count, replace=False)) + 1
        if all(b - a >= apart for a, b in pairwise(drawn.tolist())):
            return tuple(drawn.tolist())


def levels_of(commits: int, culprits: tuple[int, ...], steps: tuple[float, ...]) -> Floats:
    """Levels of the revisions 0 … N, log percent, with a step at each culprit."""
    levels = np.zeros(commits + 1)
    for culprit, step in zip(culprits, steps, strict=True):
        levels[culprit:] += step
    return levels
