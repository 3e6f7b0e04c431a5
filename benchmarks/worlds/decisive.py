"""One build a side: how often two points alone raise an alert, with a change and without one.

Each series has one build of five runs on either side; its scatter of builds is drawn anew from what
real year series show, or fixed. A loss counts where it is found at its commit and reaches the alert
threshold of 2 %.
"""

from collections import Counter
from math import log, log1p

import numpy as np

from benchmarks.worlds.figures import Figure, Interval, at_most, percent
from webapp.stats.metrics import SMALLEST_EFFECT_PCT
from webapp.stats.single_build import (
    Build,
    Known,
    Measured,
    NoisePrior,
    chance,
    judge,
    learn,
    pairs_of,
)

MEDIAN, SPREAD = 0.018, 1.6
"""Scatter of builds in one-year series of a real lab, lognormal: wider than what is believed."""

RUN = 0.01
RUNS = 5
FIXED = (0.03, 0.05)
SERIES = (3, 9, 30)
PAIRS_A_TRIAL = 4
"""Pairs without a change that are drawn for each trial asked for: the goal is rare."""

GOAL = at_most(0.5)
GUESS = NoisePrior()
LOSSES = (-11.4, -20.0)
LEARNED_FROM = 8
LEARNED_FREEDOM = 20.0
THRESHOLD = -log1p(-SMALLEST_EFFECT_PCT / 100)
NOT_SURE = 0.05
"""The chance that it is smaller than the threshold at which an alert still opens."""

Rng = np.random.Generator


def measure(trials: int, seed: int) -> list[Figure]:
    """Return the figures of pairs without a change, alone and by commit, and of losses."""
    return [*_null(trials, seed), *_by_commit(trials, seed), *_losses(trials, seed)]


def _null(trials: int, seed: int) -> list[Figure]:
    pairs = PAIRS_A_TRIAL * trials
    rng = np.random.default_rng([seed, 1])
    drawn = _scatters(rng, pairs, None)
    figures = [
        Figure(
            "no change, builds 1.8 % × 1.6: pairs that alert", _alone(rng, drawn), GOAL, "0.0", 2
        )
    ]
    figures += [
        Figure(
            f"no change, builds {100 * build:g} %: pairs that alert",
            _alone(rng, _scatters(rng, pairs, build)),
            digits=2,
        )
        for build in FIXED
    ]
    learned = learn(
        Known(100 * FIXED[1] * float(one), LEARNED_FREEDOM)
        for one in np.sqrt(rng.chisquare(LEARNED_FREEDOM, LEARNED_FROM) / LEARNED_FREEDOM)
    )
    name = f"the same 5 %, learned from {LEARNED_FROM} series of the machine and workload"
    measured = _alone(rng, _scatters(rng, pairs, FIXED[1]), learned)
    return [*figures, Figure(name, measured, digits=2), _confirmed_without_change(rng, pairs)]


def _by_commit(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, build in enumerate((None, *FIXED)):
        rng = np.random.default_rng([seed, 2, number])
        called = "1.8 % × 1.6" if build is None else f"{100 * build:g} %"
        for series in SERIES:
            hits = sum(
                any(_alerts(rng, one, pairs=series) for one in _scatters(rng, series, build))
                for _ in range(trials)
            )
            name = f"no change, builds {called}: commits of {series} series that alert"
            figures.append(Figure(name, percent(hits, trials), digits=2))
    return figures


def _losses(trials: int, seed: int) -> list[Figure]:
    rng = np.random.default_rng([seed, 3])
    figures = []
    for loss in LOSSES:
        drawn = _scatters(rng, trials, None)
        after: Counter[str] = Counter(_after_a_second_build(rng, build, loss) for build in drawn)
        found = trials - after["not found"]
        name = f"loss of {-loss:g} %, builds 1.8 % × 1.6"
        figures.append(Figure(f"{name}: pairs that alert", percent(found, trials)))
        share = percent(after["confirmed"], found)
        figures.append(Figure(f"{name}: of these, confirmed by a second build", share))
    return figures


def _scatters(rng: Rng, count: int, build: float | None) -> list[float]:
    if build is not None:
        return [build] * count
    return list(MEDIAN * np.exp(log(SPREAD) * rng.standard_normal(count)))


def _alone(rng: Rng, scatters: list[float], belief: NoisePrior | None = None) -> Interval:
    hits = sum(_alerts(rng, one, belief=belief or GUESS) for one in scatters)
    return percent(hits, len(scatters))


def _alerts(rng: Rng, build: float, *, belief: NoisePrior = GUESS, pairs: int = 1) -> bool:
    return _state([_build(rng, build)], [_build(rng, build)], belief, pairs) == "open"


def _confirmed_without_change(rng: Rng, pairs: int) -> Figure:
    """Of pairs without a change whose second side was built twice before anybody looked."""
    hits = sum(
        _state([_build(rng, one)], [_build(rng, one), _build(rng, one)]) == "confirmed"
        for one in _scatters(rng, pairs, None)
    )
    name = "no change, builds 1.8 % × 1.6: confirmed with two builds after"
    return Figure(name, percent(hits, pairs), GOAL, digits=2)


def _after_a_second_build(rng: Rng, build: float, loss: float) -> str:
    old, new, again = (_build(rng, build, one) for one in (0.0, loss, loss))
    if _state([old], [new]) != "open":
        return "not found"
    return _state([old], [new, again])


def _state(old: list[Build], new: list[Build], belief: NoisePrior = GUESS, pairs: int = 1) -> str:
    found = pairs_of([Measured(1, tuple(old)), Measured(2, tuple(new))])
    if not found:
        return "withdrawn"
    judged = judge(found[0], belief, pairs)
    small = chance(judged.step.evidence, belief, beyond=THRESHOLD) > NOT_SURE
    return "small" if small and judged.state == "open" else judged.state


def _build(rng: Rng, scatter: float, change: float = 0.0) -> Build:
    units = rng.normal(log1p(change / 100) + scatter * rng.standard_normal(), RUN, RUNS)
    return Build(float(units.mean()), float(((units - units.mean()) ** 2).sum()), RUNS)
