"""Noise that changes: it grows threefold, or some of the runs fall into a second mode.

Two hundred revisions, the change at the hundredth. What is reported within ten, twenty and forty
revisions is reported of the series as it was then.
"""

from dataclasses import replace
from math import log1p

import numpy as np

from benchmarks.cells import SAMPLES
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import USUAL, Floats, draw, mean, read
from webapp.stats.simulate import Scatter, draw_levels

REVISIONS, CHANGE = 200, 100
GROWS = 3.0
SOON, LATER, MODES_BY = 10, 20, 40

FINE = Scatter(run=0.01, build=0.005)
MODES = ((0.0, 0.2, -18.0), (0.5, 0.2, -20.0))
"""Share of slow runs before and after the change, and how much slower they are in percent."""

BEFORE: dict[str, str] = {
    "noise grows threefold: changes of level": "4.14",
    "noise grows threefold: reported within 10": "0.0",
    "noise grows threefold: reported within 20": "0.0",
    "noise grows threefold: one change of noise at the end": "0.0",
    "slow runs 0 → 20 %: changes of level": "9.82",
    "slow runs 0 → 20 %: reported within 40": "0.0",
    "slow runs 0 → 20 %: one change of modes at the end": "0.0",
    "slow runs 50 → 20 %: changes of level": "1.16",
    "slow runs 50 → 20 %: reported within 40": "0.0",
    "slow runs 50 → 20 %: one change of modes at the end": "0.0",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what is reported of noise that grows and of runs in two modes."""
    rows = _noise(trials, seed)
    for number, mode in enumerate(MODES):
        rows += _modes(*mode, trials, [seed, 2, number])
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def _noise(trials: int, seed: int) -> list[Figure]:
    rng = np.random.default_rng([seed, 1])
    more = Scatter(run=GROWS * USUAL.run, build=GROWS * USUAL.build)
    standing, soon, later, at_end = [], 0, 0, 0
    for _ in range(trials):
        calm = draw(rng, np.zeros(CHANGE))
        values = np.concatenate((calm, draw(rng, np.zeros(REVISIONS - CHANGE), more)))
        whole = read(values)
        standing.append(len(whole.changes))
        at_end += len(whole.noise_changes) == 1
        soon += bool(read(values[: CHANGE + SOON]).noise_changes)
        later += bool(read(values[: CHANGE + LATER]).noise_changes)
    name = "noise grows threefold"
    return [
        Figure(f"{name}: changes of level", mean(standing), at_most(0.3), digits=2),
        Figure(f"{name}: reported within {SOON}", percent(soon, trials), at_least(80.0)),
        Figure(f"{name}: reported within {LATER}", percent(later, trials), at_least(95.0)),
        Figure(f"{name}: one change of noise at the end", percent(at_end, trials)),
    ]


def _modes(before: float, after: float, gap: float, trials: int, seed: list[int]) -> list[Figure]:
    rng = np.random.default_rng(seed)
    standing, reported, at_end = [], 0, 0
    for _ in range(trials):
        values = with_modes(rng, before, after, gap)
        whole = read(values)
        standing.append(len(whole.changes))
        at_end += len(whole.modes) == 1
        reported += bool(read(values[: CHANGE + MODES_BY]).modes)
    name = f"slow runs {100 * before:g} → {100 * after:g} %"
    return [
        Figure(f"{name}: changes of level", mean(standing), at_most(0.3), digits=2),
        Figure(f"{name}: reported within {MODES_BY}", percent(reported, trials), at_least(90.0)),
        Figure(f"{name}: one change of modes at the end", percent(at_end, trials)),
    ]


def with_modes(rng: np.random.Generator, before: float, after: float, gap: float) -> Floats:
    """Return a series a share of whose runs is `gap` percent off: `before`, then `after`."""
    levels = draw_levels(rng, 1, REVISIONS, FINE)[0]
    values = draw(rng, levels, replace(FINE, build=0.0))
    share = np.where(np.arange(REVISIONS) < CHANGE, before, after)[:, None]
    slow = rng.random((REVISIONS, SAMPLES)) < share
    return np.asarray(values * np.exp(log1p(gap / 100) * slow))
