"""What a bisect will cost and how it will end, before it starts and at any moment after.

The same policy is played on from the present evidence in simulated labs, some dozens of times with
a fixed seed. The truth of each trial is drawn from what is believed (`believed`, `worlds`): one
commit or none, and, in trials of their own, several that share the loss (`culprits`). They are
rare, and take so many more boots that one number for both would be true of neither.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from webapp.stats.bisection.believed import Believed, Floats
from webapp.stats.bisection.culprits import Culprits, chance_of_several
from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.plan import Evidence, Plan
from webapp.stats.bisection.playing import play
from webapp.stats.bisection.posterior import posterior
from webapp.stats.bisection.worlds import World, Worlds

TRIALS = 40
SEED = 20

REMEMBERED = 64
"""Forecasts that a process remembers: a draft is shown, shown again, and started."""

ENOUGH_BOOTS, LEAST_TRIALS = 250, 12
"""Simulated boots after which no further trial is begun, and trials that there are in any case:
a long bisect is forecast from fewer trials, so that a forecast takes a moment."""

ENOUGH_SEVERAL, LEAST_SEVERAL = 200, 9
"""The same of several culprits. Of fewer than nine trials not even the longest is what nine in ten
stay within."""

FASTER_AFTER = 16
"""Boots of a simulated bisect from which on it asks for two at a time, from twice as many for three
and so on: half the time, and a boot or two more in a bisect of fifty."""

TOLD_FROM = 0.02
"""Chance of several culprits from which they are simulated."""

TOLD_APART_FROM = 0.1
"""That chance of several machines, or while a bisect runs: simulating takes long there, and from
here on one number for "90 % within" would leave several out."""


@dataclass(frozen=True, slots=True)
class Way:
    """Boots and hours still to come if it is so: median, and what nine in ten stay within."""

    boots_median: float
    boots_p90: float
    hours_median: float
    hours_p90: float
    trials: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """Boots and machine hours still to come (median, and what nine in ten stay within).

    ``outcomes``: the chance of each ending that came up, the likeliest first. ``one``: if a single
    commit did it; ``several``: if several share the loss, which has the chance ``several_chance``;
    None where no trial was of that kind.
    """

    boots_median: float
    boots_p90: float
    hours_median: float
    hours_p90: float
    outcomes: dict[Kind, float]
    trials: int
    one: Way | None = None
    several: Way | None = None
    several_chance: float = 0.0

    @property
    def tells_two(self) -> bool:
        """One number would be true of neither: several culprits take more than one."""
        one, several = self.one, self.several
        return one is not None and several is not None and several.boots_median > one.boots_median


@dataclass(frozen=True, slots=True)
class Trial:
    """How one simulated bisect ended; ``culprits``: how many its truth had."""

    kind: Kind
    boots: int
    hours: float
    culprits: int


Play = Callable[[np.random.Generator, int], Trial]
"""Of a generator and the number of the trial."""


@lru_cache(maxsize=REMEMBERED)
def forecast(
    plan: Plan,
    evidence: Evidence,
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    simulated_from: float = TOLD_FROM,
) -> Forecast:
    """Play the rest of the bisect up to ``trials`` times, fewer when it is long, and as often with
    several culprits, where these have the chance ``simulated_from``.
    """
    now = posterior(plan, evidence)
    seen = Believed.of(plan, evidence)
    chance = chance_of_several(now, seen.data.prior)
    several = Culprits.of([seen], now, [1.0], np.random.default_rng(seed))
    candidates = np.append(now.candidates, now.none)

    def one_or_none(rng: np.random.Generator) -> World:
        drawn = int(rng.choice(len(candidates), p=candidates / candidates.sum())) + 1
        return [seen.draw_one(rng, drawn if drawn <= plan.bad else None)]

    def share(several: Culprits, rng: np.random.Generator) -> World:
        indices, (sizes,) = several.draw(rng)
        return [seen.draw_several(rng, indices, sizes)]

    def played(draw: Callable[[np.random.Generator], World]) -> Play:
        return partial(_play, seen, Worlds.of([seen], draw, np.random.default_rng([seed, 2])))

    return forecast_from(
        played(one_or_none),
        None if several is None else played(partial(share, several)),
        chance,
        trials=trials,
        seed=seed,
        simulated_from=simulated_from,
    )


def _play(seen: Believed, worlds: Worlds, rng: np.random.Generator, number: int) -> Trial:
    (truth,) = worlds.played(number)
    lab, _ = seen.lab(rng, truth)
    final, outcome = play(seen.plan, seen.evidence, lab, faster_after=FASTER_AFTER)
    before = seen.evidence
    hours = final.hours - before.hours
    return Trial(outcome.kind, final.effort - before.effort, hours, len(truth[2]))


def forecast_from(
    one: Play,
    several: Play | None,
    several_chance: float,
    *,
    trials: int,
    seed: int,
    simulated_from: float = TOLD_FROM,
) -> Forecast:
    """The forecast of trials with one culprit or none and of some with several, each weighed with
    its chance.
    """
    usual = _played(one, [seed], trials, LEAST_TRIALS, ENOUGH_BOOTS)
    rare: list[Trial] = []
    if several is not None and several_chance >= simulated_from:
        rare = _played(several, [seed, 1], trials, LEAST_SEVERAL, ENOUGH_SEVERAL)
    share = several_chance if rare else 0.0
    weights = np.append(
        np.full(len(usual), (1 - share) / len(usual)), np.full(len(rare), share / (len(rare) or 1))
    )
    every = [*usual, *rare]
    chances: Counter[Kind] = Counter()
    for trial, weight in zip(every, weights.tolist(), strict=True):
        chances[trial.kind] += weight
    way = _way(every, weights)
    guilty = [trial for trial in usual if trial.culprits]
    return Forecast(
        boots_median=way.boots_median,
        boots_p90=way.boots_p90,
        hours_median=way.hours_median,
        hours_p90=way.hours_p90,
        outcomes=dict(chances.most_common()),
        trials=len(every),
        one=_way(guilty) if guilty else None,
        several=_way(rare) if rare else None,
        several_chance=several_chance,
    )


def _played(play_one: Play, seed: list[int], trials: int, least: int, enough: int) -> list[Trial]:
    found: list[Trial] = []
    while len(found) < trials:
        if len(found) >= least and sum(trial.boots for trial in found) >= enough:
            break
        found.append(play_one(np.random.default_rng([*seed, len(found)]), len(found)))
    return found


def _way(trials: Sequence[Trial], weights: Floats | None = None) -> Way:
    weights = np.full(len(trials), 1 / len(trials)) if weights is None else weights
    boots = np.array([trial.boots for trial in trials], np.float64)
    hours = np.array([trial.hours for trial in trials])
    return Way(
        boots_median=quantile(boots, weights, 0.5),
        boots_p90=quantile(boots, weights, 0.9),
        hours_median=quantile(hours, weights, 0.5),
        hours_p90=quantile(hours, weights, 0.9),
        trials=len(trials),
    )


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """The value that a further one stays within with the chance ``share``: of n equal weights the
    k-th value has k/(n + 1) (Weibull 1939; Hyndman and Fan 1996, definition 6). With k/n, as a
    sample's own quantile, one of a dozen would be kept in less often than it says.
    """
    order = np.argsort(values, kind="stable")
    positions = np.cumsum(weights[order]) * len(values) / (len(values) + 1)
    return float(np.interp(share, positions, values[order]))
