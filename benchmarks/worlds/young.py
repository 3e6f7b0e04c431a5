"""Young series: how often the first twenty revisions are reported to hold a change, and hold none.

Nothing is known yet of how builds scatter, so that a guess stands for it. Steps early in a series
are measured beside: silence alone would meet every goal.
"""

from collections import Counter
from dataclasses import dataclass, field
from math import log1p

import numpy as np

from benchmarks.cells import SAMPLES, series_of
from benchmarks.worlds.figures import Figure, at_most, percent
from webapp.stats.changes.online import advance_one
from webapp.stats.changes.online_analysis import present
from webapp.stats.changes.online_state import OnlineState
from webapp.stats.changes.points import reduce_points
from webapp.stats.simulate import Scatter, draw_levels, draw_samples

LENGTHS = range(3, 21)
"""Revisions after which a series is looked at."""

SHOWN = (3, 4, 5, 6, 8, 12, 16, 20)
"""Those that have a line of their own, where builds scatter `ASKED` times as much as runs."""

RUN = 0.01
RATIOS = (1, 2, 4, 8)
ASKED = 4
"""Builds as a multiple of runs in which the goal is set."""

GOAL = at_most(2.0)
"""Percent of series without a change, at any length."""

BUILD_OF_STEPS = 0.018
"""Scatter of builds beside steps: the median of a real lab's year series."""

STEPS = (-11.0, -22.0)
BEFORE_STEP = 8
AFTER_STEP = 2
NEAR = 1
"""Revisions around the true one that count as found."""

BEFORE = {
    "builds 1 ×: candidate at the worst length": "0.2",
    "builds 1 ×: confirmed at the worst length": "0.3",
    "builds 1 ×: confirmed at any length": "0.3",
    "builds 2 ×: candidate at the worst length": "1.4",
    "builds 2 ×: confirmed at the worst length": "1.2",
    "builds 2 ×: confirmed at any length": "2.1",
    "builds 4 ×: candidate at 3 revisions": "11.0",
    "builds 4 ×: candidate at 4 revisions": "14.7",
    "builds 4 ×: candidate at 5 revisions": "7.0",
    "builds 4 ×: candidate at 6 revisions": "7.0",
    "builds 4 ×: candidate at 8 revisions": "2.6",
    "builds 4 ×: candidate at 12 revisions": "0.5",
    "builds 4 ×: candidate at 16 revisions": "0.2",
    "builds 4 ×: candidate at 20 revisions": "0.1",
    "builds 4 ×: candidate at the worst length": "14.7",
    "builds 4 ×: confirmed at 3 revisions": "0.0",
    "builds 4 ×: confirmed at 4 revisions": "0.9",
    "builds 4 ×: confirmed at 5 revisions": "5.1",
    "builds 4 ×: confirmed at 6 revisions": "5.9",
    "builds 4 ×: confirmed at 8 revisions": "7.3",
    "builds 4 ×: confirmed at 12 revisions": "5.2",
    "builds 4 ×: confirmed at 16 revisions": "4.4",
    "builds 4 ×: confirmed at 20 revisions": "3.3",
    "builds 4 ×: confirmed at the worst length": "7.3",
    "builds 4 ×: confirmed at any length": "10.9",
    "builds 8 ×: candidate at the worst length": "42.8",
    "builds 8 ×: confirmed at the worst length": "22.1",
    "builds 8 ×: confirmed at any length": "28.2",
    "step of -11 % after 8: confirmed by its second revision": "20.6",
    "step of -22 % after 8: confirmed by its second revision": "21.0",
}
"""What each figure was with a guess worth six revisions, and differences clipped by it."""


@dataclass(slots=True)
class Counts:
    """Series, by length, with a candidate or a confirmed change reported; and ever by then."""

    candidate: Counter[int] = field(default_factory=Counter)
    confirmed: Counter[int] = field(default_factory=Counter)
    ever: int = 0


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the figures of series without a change, and of early steps."""
    figures = []
    for ratio in RATIOS:
        found = look_at(Scatter(run=RUN, build=ratio * RUN), trials, seed)
        lengths = SHOWN if ratio == ASKED else ()
        for kind, counts in (("candidate", found.candidate), ("confirmed", found.confirmed)):
            rows = [(f"at {length} revisions", counts[length]) for length in lengths]
            rows.append(("at the worst length", max(counts[length] for length in LENGTHS)))
            figures += [_figure(f"{kind} {where}", ratio, hits, trials) for where, hits in rows]
        figures.append(_figure("confirmed at any length", ratio, found.ever, trials))
    return figures + [_step(pct, trials, seed) for pct in STEPS]


def look_at(scatter: Scatter, trials: int, seed: int) -> Counts:
    """Read series without a change one revision at a time, and count what is reported of them."""
    rng = np.random.default_rng(seed)
    found = Counts()
    for _ in range(trials):
        levels = draw_levels(rng, 1, LENGTHS[-1], scatter)[0]
        values = draw_samples(rng, levels, SAMPLES, scatter)
        state = OnlineState()
        for length, value in enumerate(reduce_points(series_of(values)), 1):
            if value is not None:
                advance_one(state, value)
            states = {change.state for change in present(state, "more").changes}
            found.candidate[length] += "candidate" in states
            found.confirmed[length] += "confirmed" in states
        found.ever += bool(state.breaks or state.retracted)
    return found


def confirmed_in_time(pct: float, trials: int, seed: int) -> int:
    """Return in how many series a step is confirmed by its second revision, `NEAR` its place."""
    rng = np.random.default_rng(seed)
    scatter = Scatter(run=RUN, build=BUILD_OF_STEPS)
    hits = 0
    for _ in range(trials):
        levels = draw_levels(rng, 1, BEFORE_STEP + AFTER_STEP, scatter)[0]
        levels[BEFORE_STEP:] += log1p(pct / 100)
        state = OnlineState()
        for value in reduce_points(series_of(draw_samples(rng, levels, SAMPLES, scatter))):
            if value is not None:
                advance_one(state, value)
        hits += any(abs(item.index - BEFORE_STEP) <= NEAR for item in state.breaks)
    return hits


def _figure(what: str, ratio: int, hits: int, trials: int) -> Figure:
    name = f"builds {ratio} ×: {what}"
    goal = GOAL if ratio == ASKED and "any" not in what else None
    return Figure(name, percent(hits, trials), goal, BEFORE.get(name, ""))


def _step(pct: float, trials: int, seed: int) -> Figure:
    name = f"step of {pct:g} % after {BEFORE_STEP}: confirmed by its second revision"
    hits = confirmed_in_time(pct, trials, seed)
    return Figure(name, percent(hits, trials), before=BEFORE.get(name, ""))
