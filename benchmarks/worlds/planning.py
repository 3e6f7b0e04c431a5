"""Plans from few boots: how often they keep what they promise.

The scatter that a plan is made for is itself an estimate. Promised is to prove the change in 80 of
100 cases; kept is it where the true scatter gives that power.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.worlds.figures import Figure, Interval, at_least, percent
from webapp.stats.power import NoiseLevels, Plan, plan_for

SIGMA_PCT = 1.0
CHANGES_PCT = (1.0, 2.0)
BOOTS = 3
"""Of each side that the estimate comes from."""

Values = NDArray[np.float64]

PROMISED = 0.80
MOST = Plan(builds=1, boots=400, runs=1)
BEFORE = {
    "kept": "43",
    "mean": "69",
    "tenth": "34",
}
"""Planned by the estimate itself, for the first of the changes."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return how plans from `BOOTS` against `BOOTS` boots fare, for each change."""
    rng = np.random.default_rng(seed)
    return [figure for change in CHANGES_PCT for figure in _of_change(change, trials, rng)]


def _of_change(change: float, trials: int, rng: np.random.Generator) -> list[Figure]:
    df = 2 * (BOOTS - 1)
    estimates = SIGMA_PCT * np.sqrt(rng.chisquare(df, trials) / df)
    powers = np.array([_power(change, _planned(change, one, df)) for one in estimates.tolist()])
    kept = int((powers >= PROMISED).sum())
    name = f"{BOOTS} against {BOOTS} boots, a change of {change:g} %"
    before = BEFORE if change == CHANGES_PCT[0] else {}
    figures = {
        "kept": ("plans that keep the promise", percent(kept, trials), at_least(80.0)),
        "mean": ("power on average", _mean(100 * powers), None),
        "tenth": ("power that nine plans in ten reach", _tenth(100 * powers), None),
    }
    return [
        Figure(f"{name}: {text}", figure, goal, before.get(key, ""))
        for key, (text, figure, goal) in figures.items()
    ]


def _planned(change: float, estimate: float, df: int) -> int:
    """Boots a side."""
    plan = plan_for(change, NoiseLevels(run=0.0, boot=estimate, df=df), most=MOST).plan
    return MOST.boots if plan is None else plan.boots


@cache
def _power(change: float, boots: int) -> float:
    """Of Student's t with the true scatter, two-sided at 95 %: the non-central distribution."""
    df, effect = 2 * boots - 2, np.log1p(change / 100) / (SIGMA_PCT / 100)
    distance = effect * np.sqrt(boots / 2)
    limit = stats.t.ppf(0.975, df)
    # The other side adds nothing; beyond the range of the distribution's series it is certain.
    return 1.0 - float(np.nan_to_num(special.nctdtr(df, distance, limit)))


def _mean(values: Values) -> Interval:
    """With its 95 % interval by Student's t."""
    mean, half = float(values.mean()), 0.0
    if values.std() > 0:
        half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return mean, mean - half, mean + half


def _tenth(values: Values) -> Interval:
    """The lowest decile with its 95 % interval by order statistics."""
    ordered = np.sort(values)
    low, high = (int(stats.binom.ppf(q, len(values), 0.1)) for q in (0.025, 0.975))
    return float(np.percentile(values, 10)), float(ordered[low]), float(ordered[high])
