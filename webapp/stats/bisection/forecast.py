"""What a bisect will cost and how it will end, before it starts and at any moment after.

The same policy is played on from the present evidence in a simulated lab, some dozens of
times with a fixed seed. The truth of each trial is drawn from the
posterior: a candidate (or none), with step and noise at their best estimates.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.plan import Boot, Evidence, Plan
from webapp.stats.bisection.playing import SimulatedLab, play, step_levels
from webapp.stats.bisection.posterior import Posterior, posterior

TRIALS = 40
SEED = 20

REMEMBERED = 64
"""Forecasts that a process remembers: a draft is shown, shown again, and started."""

ENOUGH_BOOTS, LEAST_TRIALS = 400, 12
"""Simulated boots after which no further trial is begun, and trials that there are in any case:
a long bisect is forecast from fewer trials, so that a forecast takes a moment."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Boots and machine hours still to come (median, and what nine in ten stay within).

    ``outcomes``: the chance of each ending that came up, the likeliest first.
    """

    boots_median: float
    boots_p90: float
    hours_median: float
    hours_p90: float
    outcomes: dict[Kind, float]
    trials: int


@lru_cache(maxsize=REMEMBERED)
def forecast(plan: Plan, evidence: Evidence, *, trials: int = TRIALS, seed: int = SEED) -> Forecast:
    """Play the rest of the bisect up to ``trials`` times, fewer when it is long."""
    now = posterior(plan, evidence)
    ends: list[tuple[Kind, int, float]] = []
    for i in range(trials):
        ends.append(_play(plan, evidence, now, np.random.default_rng([seed, i])))
        if i + 1 >= LEAST_TRIALS and sum(boots for _, boots, _ in ends) >= ENOUGH_BOOTS:
            break
    kinds = Counter(kind for kind, _, _ in ends)
    boots = [count for _, count, _ in ends]
    hours = [time for _, _, time in ends]
    return Forecast(
        boots_median=float(np.median(boots)),
        boots_p90=float(np.percentile(boots, 90)),
        hours_median=float(np.median(hours)),
        hours_p90=float(np.percentile(hours, 90)),
        outcomes={kind: count / len(ends) for kind, count in kinds.most_common()},
        trials=len(ends),
    )


def _play(
    plan: Plan, evidence: Evidence, now: Posterior, rng: np.random.Generator
) -> tuple[Kind, int, float]:
    lab = _lab(plan, evidence, now, rng)
    final, outcome = play(plan, evidence, lab)
    return outcome.kind, final.effort - evidence.effort, final.hours - evidence.hours


def _lab(plan: Plan, evidence: Evidence, now: Posterior, rng: np.random.Generator) -> SimulatedLab:
    """A lab with one truth that the evidence allows; builds measured so far keep their effects."""
    chances = np.append(now.candidates, now.none)
    drawn = int(rng.choice(len(chances), p=chances / chances.sum())) + 1
    culprit = drawn if drawn <= plan.bad else None
    levels = now.good_level + step_levels(plan.bad, culprit, now.effect)
    scale = now.boot_sd / plan.noise.boot_variance(plan.runs) ** 0.5
    noise = Noise(plan.noise.run * scale, plan.noise.boot * scale, now.build_sd)
    lab = SimulatedLab(rng, levels, noise)
    draw_builds(lab, plan, evidence.boots)
    return lab


def draw_builds(lab: SimulatedLab, plan: Plan, boots: tuple[Boot, ...]) -> None:
    """Effects of the builds that were measured, from what their boots say of them."""
    spread = lab.noise.build**2
    seen: dict[tuple[int, str], tuple[float, float]] = {}
    for boot in boots:
        if spread == 0 or not 0 <= boot.index <= plan.bad:
            continue
        precision, moment = seen.get((boot.index, boot.build), (0.0, 0.0))
        weight = 1 / lab.noise.boot_variance(boot.runs)
        off = boot.value - float(lab.levels[boot.index])
        seen[boot.index, boot.build] = precision + weight, moment + weight * off
    for key, (precision, moment) in seen.items():
        total = precision + 1 / spread
        lab.builds[key] = moment / total + lab.rng.standard_normal() / total**0.5
