"""What a bisect over several machines or modes will cost and how it will end.

As `forecast`: the policy is played on in simulated labs. A trial draws one commit from the common
posterior, and whether it moves each subject, or several commits; what a machine does is common to
its modes; machines work side by side, so that hours are those from now to the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from math import prod

import numpy as np

from webapp.stats.bisection.believed import Believed, Floats, Truth
from webapp.stats.bisection.culprits import Culprits, chance_of_several
from webapp.stats.bisection.forecast import (
    REMEMBERED,
    SEED,
    TOLD_FROM,
    TRIALS,
    Forecast,
    Play,
    Trial,
    forecast_from,
)
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.playing import SimulatedLab
from webapp.stats.bisection.playing_together import play_together
from webapp.stats.bisection.subjects import Subject, check_subjects
from webapp.stats.bisection.tally import tally
from webapp.stats.bisection.worlds import World, Worlds


def forecast_together(
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


@lru_cache(maxsize=REMEMBERED)
def _forecast(
    subjects: tuple[Subject, ...], trials: int, seed: int, simulated_from: float
) -> Forecast:
    known = views(subjects, [tally(one.plan, one.evidence) for one in subjects])
    series = [Believed.of(one.plan, one.evidence) for one in subjects]
    now, moves = known[0].posterior, [1 - one.spared for one in subjects]
    several = Culprits.of(series, now, moves, np.random.default_rng(seed))

    def played(draw: Callable[[np.random.Generator], World]) -> Play:
        worlds = Worlds.of(series, draw, np.random.default_rng([seed, 2]))
        return partial(_play, subjects, series, worlds)

    return forecast_from(
        played(partial(_one_or_none, series, known)),
        None if several is None else played(partial(_several, series, several)),
        chance_of_several(now, series[0].data.prior),
        trials=trials,
        seed=seed,
        simulated_from=simulated_from,
    )


def _one_or_none(
    series: Sequence[Believed], known: Sequence[View], rng: np.random.Generator
) -> World:
    now = known[0].posterior
    chances = np.append(now.candidates, now.none)
    drawn = int(rng.choice(len(chances), p=chances / chances.sum())) + 1
    its = drawn if drawn <= len(now.candidates) else None
    moves = draw_moves([one.moved for one in known], rng)
    return [
        one.draw_one(rng, its if moved else None) for one, moved in zip(series, moves, strict=True)
    ]


def draw_moves(moved: Sequence[float], rng: np.random.Generator) -> tuple[bool, ...]:
    """Which subjects a commit moves that moves at least one of them, each with its own chance.

    That it moves none is "no step", which is drawn on its own.
    """
    sets = [each for each in product((False, True), repeat=len(moved)) if any(each)]
    chance = np.array(
        [
            prod(own if is_moved else 1 - own for own, is_moved in zip(moved, each, strict=True))
            for each in sets
        ]
    )
    if not chance.any():
        return tuple(at == int(np.argmax(moved)) for at in range(len(moved)))
    return sets[int(rng.choice(len(sets), p=chance / chance.sum()))]


def _several(series: Sequence[Believed], several: Culprits, rng: np.random.Generator) -> World:
    indices, sizes = several.draw(rng)
    return [one.draw_several(rng, indices, its) for one, its in zip(series, sizes, strict=True)]


def _play(
    subjects: Sequence[Subject],
    series: Sequence[Believed],
    worlds: Worlds,
    rng: np.random.Generator,
    number: int,
) -> Trial:
    truths = worlds.played(number)
    before = sum(one.evidence.effort for one in subjects)
    played = play_together(subjects, _labs(subjects, series, truths, rng))
    culprits = max(len(steps) for _, _, steps in truths)
    return Trial(played.outcome.kind, played.effort - before, played.hours, culprits)


def _labs(
    subjects: Sequence[Subject],
    series: Sequence[Believed],
    truths: Sequence[Truth],
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
