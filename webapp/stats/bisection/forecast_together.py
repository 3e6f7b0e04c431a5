"""What a bisect over several machines or modes will cost and how it will end.

As `forecast`: the policy is played on in simulated labs. A trial draws one commit from the common
posterior, and whether it moves each subject, or several commits; what a machine does is common to
its modes; machines work side by side, so that hours are those from now to the end.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from webapp.stats.bisection.believed import Believed, Floats, Truth
from webapp.stats.bisection.culprits import Culprits, chance_of_several
from webapp.stats.bisection.forecast import (
    REMEMBERED,
    SEED,
    TOLD_FROM,
    TRIALS,
    Forecast,
    Trial,
    forecast_from,
)
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.playing import SimulatedLab
from webapp.stats.bisection.playing_together import play_together
from webapp.stats.bisection.subjects import Subject, check_subjects
from webapp.stats.bisection.tally import tally


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
    now, moved = known[0].posterior, [one.moved for one in known]
    several = Culprits.of(series, now, moved, np.random.default_rng(seed))
    return forecast_from(
        partial(_one_or_none, subjects, series, known),
        None if several is None else partial(_several, subjects, series, several),
        chance_of_several(now, series[0].data.prior),
        trials=trials,
        seed=seed,
        simulated_from=simulated_from,
    )


def _one_or_none(
    subjects: Sequence[Subject],
    series: Sequence[Believed],
    known: Sequence[View],
    rng: np.random.Generator,
) -> Trial:
    """A commit that moves any moves the likeliest."""
    now = known[0].posterior
    chances = np.append(now.candidates, now.none)
    drawn = int(rng.choice(len(chances), p=chances / chances.sum())) + 1
    moves = [bool(rng.random() < one.moved) for one in known]
    moves[int(np.argmax([one.moved for one in known]))] = True
    is_step = drawn <= len(now.candidates)
    truths = [
        one.draw_one(rng, drawn if is_step and its else None)
        for one, its in zip(series, moves, strict=True)
    ]
    return _play(subjects, series, truths, rng)


def _several(
    subjects: Sequence[Subject],
    series: Sequence[Believed],
    several: Culprits,
    rng: np.random.Generator,
) -> Trial:
    indices, sizes = several.draw(rng)
    truths = [one.draw_several(rng, indices, its) for one, its in zip(series, sizes, strict=True)]
    return _play(subjects, series, truths, rng)


def _play(
    subjects: Sequence[Subject],
    series: Sequence[Believed],
    truths: Sequence[Truth],
    rng: np.random.Generator,
) -> Trial:
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
