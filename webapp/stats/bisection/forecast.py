"""What a bisect will cost and how it will end, before it starts and at any moment after.

The same policy is played on from the present evidence in simulated labs, some dozens of times with
a fixed seed. The truth of each trial is drawn from what is believed (`believed`, `Worlds`): one
commit or none, and, in trials of their own, several that share the loss. They are rare, and take so
many more boots that one number for both would be true of neither.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from math import inf, prod, sqrt

import numpy as np

from webapp.stats.arrays import Floats
from webapp.stats.bisection import forecast_labs
from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.plan import Subject, check_subjects
from webapp.stats.bisection.playing import SimulatedLab, play

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
"""Boots of a simulated bisect of one series from which on it asks for two at a time, from twice as
many for three and so on: half the time, and a boot or two more in a bisect of fifty."""
TOLD_FROM = 0.02
"""Chance of several culprits from which they are simulated."""
TOLD_APART_FROM = 0.1
"""That chance of several machines, or while a bisect runs: simulating takes long there, and from
here on one number for "90 % within" would leave several out."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How one simulated bisect ended; ``culprits``: how many its truth had."""

    kind: Kind
    boots: int
    hours: float
    culprits: int


Play = Callable[[np.random.Generator, int], Trial]
"""Of a generator and the number of the trial."""
POOL = 128
"""Worlds that are drawn; a forecast plays three dozen of them at most."""
STRIDE = (sqrt(5) - 1) / 2
"""Of the order, from one world to the next: the multiples of the golden ratio's fraction, less
whole numbers, are spread evenly however many of them are taken."""
World = Sequence[forecast_labs.Truth]
"""What is true of each series."""


@dataclass(frozen=True, slots=True)
class Way:
    """Boots and hours still to come if it is so: median, and what nine in ten stay within."""

    boots_median: float
    boots_p90: float
    hours_median: float
    hours_p90: float
    trials: int


@dataclass(frozen=True, slots=True)
class Forecast(Way):
    """Of all trials, each weighed with the chance of its kind.

    ``outcomes``: the chance of each ending that came up, the likeliest first. ``one``: if a single
    commit did it; ``several``: if several share the loss, which has the chance ``several_chance``;
    None where no trial was of that kind.
    """

    outcomes: dict[Kind, float]
    one: Way | None = None
    several: Way | None = None
    several_chance: float = 0.0

    @property
    def shows_two(self) -> bool:
        """One number would be true of neither: several culprits take more than one."""
        one, several = self.one, self.several
        return one is not None and several is not None and several.boots_median > one.boots_median


@dataclass(frozen=True, slots=True)
class Worlds:
    """``truths``: some worlds, the easy ones first."""

    truths: tuple[World, ...]

    @classmethod
    def of(
        cls,
        series: Sequence[forecast_labs.Believed],
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


def forecast(
    subjects: Sequence[Subject],
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    simulated_from: float = TOLD_FROM,
) -> Forecast:
    """Play the rest of the bisect up to ``trials`` times, fewer when it is long, and as often with
    several culprits, where these have the chance ``simulated_from``.
    """
    check_subjects(subjects)
    return _forecast(tuple(subjects), trials, seed, simulated_from)


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
    guilty = [trial for trial in usual if trial.culprits]
    return Forecast(
        **asdict(_way(every, weights)),
        outcomes=dict(chances.most_common()),
        one=_way(guilty) if guilty else None,
        several=_way(rare) if rare else None,
        several_chance=several_chance,
    )


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """The value that a further one stays within with the chance ``share``: of n equal weights the
    k-th value has k/(n + 1) (Weibull 1939; Hyndman and Fan 1996, definition 6). With k/n, as a
    sample's own quantile, one of a dozen would be kept in less often than its level.
    """
    order = np.argsort(values, kind="stable")
    positions = np.cumsum(weights[order]) * len(values) / (len(values) + 1)
    return float(np.interp(share, positions, values[order]))


def hardness(series: Sequence[forecast_labs.Believed], world: World) -> float:
    """About how many boots it takes to separate the commits of a world: the sum over them of 1/s,
    where s sums the squared step over the variance of a boot and its build, over all series. 0
    without a step, which is found soon.
    """
    information: dict[int, float] = {}
    for one, (node, _, steps) in zip(series, world, strict=True):
        boot = one.plan.noise.boot_variance(one.plan.runs) * float(one.data.nodes.within[node])
        variance = boot + float(one.data.nodes.build[node])
        for commit, size in steps.items():
            information[commit] = information.get(commit, 0.0) + size * size / variance
    return sum(1 / each if each else inf for each in information.values())


def draw_moves(moved: Sequence[float], rng: np.random.Generator) -> tuple[bool, ...]:
    """Which subjects a commit moves that moves at least one of them, each with its own chance.

    That it moves none is "no step", which is drawn on its own.
    """
    sets = [each for each in product((False, True), repeat=len(moved)) if any(each)]
    if len(sets) == 1:
        return sets[0]
    chance = np.array(
        [
            prod(own if is_moved else 1 - own for own, is_moved in zip(moved, each, strict=True))
            for each in sets
        ]
    )
    if not chance.any():
        return tuple(at == int(np.argmax(moved)) for at in range(len(moved)))
    return sets[int(rng.choice(len(sets), p=chance / chance.sum()))]


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


@lru_cache(maxsize=REMEMBERED)
def _forecast(
    subjects: tuple[Subject, ...], trials: int, seed: int, simulated_from: float
) -> Forecast:
    known = views(subjects)
    series = [forecast_labs.Believed.of(one.plan, one.evidence) for one in subjects]
    now, moves = known[0].posterior, [1 - one.spared for one in subjects]
    several = forecast_labs.Culprits.of(series, now, moves, np.random.default_rng(seed))

    def played(draw: Callable[[np.random.Generator], World]) -> Play:
        worlds = Worlds.of(series, draw, np.random.default_rng([seed, 2]))
        return partial(_play, subjects, series, worlds)

    return forecast_from(
        played(partial(_one_or_none, series, known)),
        None if several is None else played(partial(_several, series, several)),
        forecast_labs.chance_of_several(now, series[0].data.prior),
        trials=trials,
        seed=seed,
        simulated_from=simulated_from,
    )


def _one_or_none(
    series: Sequence[forecast_labs.Believed], known: Sequence[View], rng: np.random.Generator
) -> World:
    now = known[0].posterior
    chances = np.append(now.candidates, now.none)
    drawn = int(rng.choice(len(chances), p=chances / chances.sum())) + 1
    its = drawn if drawn <= len(now.candidates) else None
    moves = draw_moves([one.moved for one in known], rng)
    return [
        one.draw_one(rng, its if moved else None) for one, moved in zip(series, moves, strict=True)
    ]


def _several(
    series: Sequence[forecast_labs.Believed],
    several: forecast_labs.Culprits,
    rng: np.random.Generator,
) -> World:
    indices, sizes = several.draw(rng)
    return [one.draw_several(rng, indices, its) for one, its in zip(series, sizes, strict=True)]


def _play(
    subjects: Sequence[Subject],
    series: Sequence[forecast_labs.Believed],
    worlds: Worlds,
    rng: np.random.Generator,
    number: int,
) -> Trial:
    truths = worlds.played(number)
    before = sum(one.evidence.effort for one in subjects)
    faster = FASTER_AFTER if len(subjects) == 1 else 0
    played = play(subjects, _labs(subjects, series, truths, rng), faster_after=faster)
    culprits = max(len(steps) for _, _, steps in truths)
    return Trial(played.outcome.kind, played.effort - before, played.hours, culprits)


def _labs(
    subjects: Sequence[Subject],
    series: Sequence[forecast_labs.Believed],
    truths: Sequence[forecast_labs.Truth],
    rng: np.random.Generator,
) -> list[SimulatedLab]:
    """One for each subject. Those of one machine have its boots behind them and move alike."""
    paths: dict[str, Floats] = {}
    begin: dict[str, int] = {}
    labs = []
    for subject, one, truth in zip(subjects, series, truths, strict=True):
        lab, paths[subject.machine] = one.lab(rng, truth, paths.get(subject.machine))
        begin[subject.machine] = max(begin.get(subject.machine, 0), one.begin)
        labs.append(lab)
    for subject, lab in zip(subjects, labs, strict=True):
        lab.booted = begin[subject.machine]
        lab.changes = replace(lab.changes, path_at=lab.booted)
    return labs
