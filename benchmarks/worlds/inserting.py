"""One revision inserted anywhere: what is sure and lies far away must stay as it was.

Series with a step, with levels that return (also with one odd revision), with modes of runs, with
noise that grows, with heavy tails; and one that loses 10 % by and by beside a step, where a curve
and steps compete. A confirmed change whose score is one above its limit must not go; one with a
probability of .99 must keep place and size. Far away is more than six revisions. A trial is a
series and an insertion.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import log, log1p

import numpy as np

from benchmarks.cells import series_of
from benchmarks.worlds.figures import Figure, at_most, percent
from benchmarks.worlds.noises import with_modes
from benchmarks.worlds.reading import USUAL, Floats, draw
from benchmarks.worlds.returning import draw_returning
from webapp.stats.changes import Change, Report, detect
from webapp.stats.simulate import Scatter

INSERTED = (-60.0, -40.0, -15.0, -4.0, 0.0, 4.0, 15.0, 60.0)
"""Sizes, in percent, of the revision that is inserted."""

SURE, ABOVE = 0.99, 1.0
"""Probability of a finding, and by how much its score exceeds the limit, at least."""

FAR, NEAR = 6, 2
"""Revisions beyond which a finding must keep its place, and within which one is the same."""

SIZE_MOVES, NOISE_MOVES = 0.1, 0.1
"""By which share of its interval a size may move, and by which share the noise."""

GONE, PLACE, SIZE, NOISE = (
    "a finding is gone",
    "a sure one lies elsewhere",
    "a sure one's size moves",
    "the noise moves",
)

BEFORE: dict[str, str] = {
    "steps: a finding is gone": "0.7",
    "steps: a sure one lies elsewhere": "0.0",
    "steps: a sure one's size moves": "0.7",
    "steps: the noise moves": "0.7",
    "a slope beside a step: a finding is gone": "6.0",
    "a slope beside a step: a sure one lies elsewhere": "0.0",
    "a slope beside a step: a sure one's size moves": "24.0",
    "a slope beside a step: the noise moves": "0.0",
}
"""What each figure was when curves were looked for without the steps only (150 trials)."""


def _step(rng: np.random.Generator) -> Floats:
    shift = np.zeros(80)
    shift[int(rng.integers(15, 65)) :] += rng.choice((-1.0, 1.0)) * rng.choice((0.04, 0.06, 0.12))
    return draw(rng, shift)


def _noise(rng: np.random.Generator) -> Floats:
    shift = np.where(np.arange(70) < 30, 0.0, -0.08)
    later = draw(rng, np.full(50, -0.08), Scatter(run=3 * USUAL.run, build=3 * USUAL.build))
    return np.concatenate((draw(rng, shift), later))


def _heavy(rng: np.random.Generator) -> Floats:
    shift = np.where(np.arange(100) < 50, 0.0, -0.08)
    return draw(rng, shift, replace(USUAL, heavy_tails=True))


def _slope(rng: np.random.Generator) -> Floats:
    shift = np.linspace(0.0, -0.1, 150)
    shift[80:] += 0.08
    return draw(rng, shift)


STEPPED: tuple[Callable[[np.random.Generator], Floats], ...] = (
    _step,
    lambda rng: draw_returning(rng, odd=False),
    lambda rng: draw_returning(rng, odd=True),
    lambda rng: with_modes(rng, 0.0, 0.2, -18.0),
    _noise,
    _heavy,
)
SLOPED = (_slope,)


def measure(trials: int, seed: int) -> list[Figure]:
    """Return what one more revision overturns; `trials` series with steps, and as many sloped."""
    rows: list[Figure] = []
    for name, worlds in (("steps", STEPPED), ("a slope beside a step", SLOPED)):
        counts: Counter[str] = Counter()
        for number in range(trials):
            rng = np.random.default_rng([seed, len(worlds), number])
            counts.update(disturbed(rng, worlds[number % len(worlds)](rng)))
        rows += [
            Figure(f"{name}: {what}", percent(counts[what], trials), at_most(1.0))
            for what in (GONE, PLACE, SIZE, NOISE)
        ]
    return [replace(row, before=BEFORE.get(row.name, "")) for row in rows]


def disturbed(rng: np.random.Generator, values: Floats) -> set[str]:
    """Insert a revision anywhere into (revisions, samples) values; return what it disturbs."""
    at = int(rng.integers(0, len(values) + 1))
    size = log1p(float(rng.choice(INSERTED)) / 100)
    beside = np.log(values[max(at - 1, 0)]).mean()
    row = np.exp(beside + size + USUAL.run * rng.standard_normal(values.shape[1]))
    findings = detect(series_of(values)), detect(series_of(np.insert(values, at, row, axis=0)))
    return _differences(*findings, at)


def _differences(plain: Report, other: Report, at: int) -> set[str]:
    found = set()
    for one in filter(_is_above, plain.analysis.changes):
        place = one.revision.position + (one.revision.position >= at)
        if abs(place - at) <= FAR:
            continue
        same = next((each for each in other.analysis.changes if _is_same(each, one, place)), None)
        if same is None:
            found.add(GONE)
        elif one.probability < SURE:
            continue
        elif same.revision.position != place:
            found.add(PLACE)
        elif abs(same.change_pct - one.change_pct) > SIZE_MOVES * (one.high_pct - one.low_pct):
            found.add(SIZE)
    noises = plain.others.noise_pct, other.others.noise_pct
    if noises[0] and noises[1] and abs(log(noises[1] / noises[0])) > log1p(NOISE_MOVES):
        found.add(NOISE)
    return found


def _is_above(one: Change) -> bool:
    return one.state == "confirmed" and one.score >= one.needed + ABOVE


def _is_same(each: Change, one: Change, place: int) -> bool:
    is_near = abs(each.revision.position - place) <= NEAR
    return each.state == "confirmed" and each.verdict == one.verdict and is_near
