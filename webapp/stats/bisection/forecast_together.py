"""What a bisect over several machines or modes will cost and how it will end.

As `forecast`: the policy is played on in simulated labs. A trial draws one commit from the common
posterior, and whether it moves each subject; machines work side by side, so that hours are those
from now to the end.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.forecast import (
    ENOUGH_BOOTS,
    LEAST_TRIALS,
    REMEMBERED,
    SEED,
    TRIALS,
    Forecast,
    draw_builds,
)
from webapp.stats.bisection.joint import View, views
from webapp.stats.bisection.noise import Noise
from webapp.stats.bisection.playing import SimulatedLab, step_levels
from webapp.stats.bisection.playing_together import play_together
from webapp.stats.bisection.subjects import Subject, check_subjects
from webapp.stats.bisection.tally import tally


def forecast_together(
    subjects: Sequence[Subject], *, trials: int = TRIALS, seed: int = SEED
) -> Forecast:
    """Play the rest of the bisect up to ``trials`` times, fewer when it is long."""
    check_subjects(subjects)
    return _forecast(tuple(subjects), trials, seed)


@lru_cache(maxsize=REMEMBERED)
def _forecast(subjects: tuple[Subject, ...], trials: int, seed: int) -> Forecast:
    seen = views(subjects, [tally(one.plan, one.evidence) for one in subjects])
    before = sum(one.evidence.effort for one in subjects)
    ends: list[tuple[Kind, int, float]] = []
    for i in range(trials):
        labs = _labs(subjects, seen, np.random.default_rng([seed, i]))
        played = play_together(subjects, labs)
        ends.append((played.outcome.kind, played.effort - before, played.hours))
        if i + 1 >= LEAST_TRIALS and sum(boots for _, boots, _ in ends) >= ENOUGH_BOOTS:
            break
    kinds = Counter(kind for kind, _, _ in ends)
    boots, hours = [count for _, count, _ in ends], [time for _, _, time in ends]
    return Forecast(
        boots_median=float(np.median(boots)),
        boots_p90=float(np.percentile(boots, 90)),
        hours_median=float(np.median(hours)),
        hours_p90=float(np.percentile(hours, 90)),
        outcomes={kind: count / len(ends) for kind, count in kinds.most_common()},
        trials=len(ends),
    )


def _labs(
    subjects: Sequence[Subject], seen: Sequence[View], rng: np.random.Generator
) -> list[SimulatedLab]:
    """Labs with one truth that the evidence allows. A commit that moves any moves the likeliest."""
    now = seen[0].posterior
    chances = np.append(now.candidates, now.none)
    drawn = int(rng.choice(len(chances), p=chances / chances.sum())) + 1
    moved = [bool(rng.random() < one.moved) for one in seen]
    moved[int(np.argmax([one.moved for one in seen]))] = True
    return [
        _lab(subject, view, drawn if moves else 0, rng)
        for subject, view, moves in zip(subjects, seen, moved, strict=True)
    ]


def _lab(subject: Subject, view: View, drawn: int, rng: np.random.Generator) -> SimulatedLab:
    plan, now = subject.plan, view.posterior
    culprit = drawn if 0 < drawn <= plan.bad else None
    levels = now.good_level + step_levels(plan.bad, culprit, now.effect)
    scale = now.boot_sd / plan.noise.boot_variance(plan.runs) ** 0.5
    noise = Noise(plan.noise.run * scale, plan.noise.boot * scale, now.build_sd)
    lab = SimulatedLab(rng, levels, noise)
    draw_builds(lab, plan, subject.evidence.boots)
    return lab
