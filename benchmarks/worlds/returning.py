"""All or nothing: levels that return, with and without one odd revision, and insertions.

Seventy-five revisions, alternating by ± 5 % at 15, 26, 37, 48, 59 and 68. Found is what lies at
most two revisions off.
"""

from collections import Counter
from dataclasses import replace
from math import log, log1p

import numpy as np

from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import Floats, Reading, draw, read

PLACES = (15, 26, 37, 48, 59, 68)
REVISIONS = 75
STEP = 5.0
NEAR = 2
ENOUGH = 5

ODD_AT, ODD = 3, -40.0
"""The one odd revision."""

INSERTED = (-60.0, -40.0, -15.0, -4.0, 4.0, 15.0, 60.0)
"""Sizes, in percent, of a revision inserted anywhere."""

FAR = 6
"""Findings more than so many revisions away must keep their place, size and existence."""

SIZE_MOVES, NOISE_MOVES = 0.1, 0.1
"""By which share of its interval a size may move, and by which share the noise."""

BEFORE: dict[str, str] = {
    "returning levels: at least five of six": "86.2",
    "with one odd revision: at least five of six": "70.2",
    "returning levels: none of six": "7.2",
    "with one odd revision: none of six": "22.5",
    "one revision inserted: a finding disappears or moves": "12.5",
    "one revision inserted: a size moves": "62.0",
    "one revision inserted: the noise moves": "57.2",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return in how many series the six are found, and what one more revision overturns."""
    figures = [_found(odd, trials, seed) for odd in (False, True)]
    nothing = [_nothing(odd, trials, seed) for odd in (False, True)]
    figures += [*nothing, *_insertions(trials, seed)]
    return [replace(one, before=BEFORE.get(one.name, "")) for one in figures]


def _values(rng: np.random.Generator, *, odd: bool) -> Floats:
    shift = np.zeros(REVISIONS)
    for number, place in enumerate(PLACES):
        shift[place:] += log1p(STEP / 100) * (1 if number % 2 else -1)
    if odd:
        shift[ODD_AT] += log1p(ODD / 100)
    return draw(rng, shift)


def _counts(odd: bool, trials: int, seed: int) -> list[int]:
    rng = np.random.default_rng([seed, 1, odd])
    readings = (read(_values(rng, odd=odd)) for _ in range(trials))
    return [sum(r.near(place, NEAR) is not None for place in PLACES) for r in readings]


def _named(odd: bool) -> str:
    return "with one odd revision" if odd else "returning levels"


def _found(odd: bool, trials: int, seed: int) -> Figure:
    hits = sum(count >= ENOUGH for count in _counts(odd, trials, seed))
    return Figure(f"{_named(odd)}: at least five of six", percent(hits, trials), at_least(90.0))


def _nothing(odd: bool, trials: int, seed: int) -> Figure:
    hits = sum(not count for count in _counts(odd, trials, seed))
    return Figure(f"{_named(odd)}: none of six", percent(hits, trials))


def _insertions(trials: int, seed: int) -> list[Figure]:
    """How often inserting one revision disturbs what lies more than `FAR` revisions away."""
    rng = np.random.default_rng([seed, 2])
    disturbed: Counter[str] = Counter()
    for _ in range(trials):
        values = _values(rng, odd=False)
        at = int(rng.integers(0, REVISIONS + 1))
        size = log1p(float(rng.choice(INSERTED)) / 100)
        row = float(np.exp(np.mean(np.log(values[max(at - 1, 0)]))))
        extra = row * np.exp(size + 0.01 * rng.standard_normal(values.shape[1]))
        disturbed.update(_disturbed(read(values), read(np.insert(values, at, extra, axis=0)), at))
    return [
        Figure(f"one revision inserted: {what}", percent(disturbed[what], trials), at_most(1.0))
        for what in ("a finding disappears or moves", "a size moves", "the noise moves")
    ]


def _disturbed(plain: Reading, other: Reading, at: int) -> set[str]:
    found = set()
    for change in plain.changes:
        place = change.index + (change.index >= at)
        if abs(place - at) <= FAR:
            continue
        same = other.near(place, 0)
        if same is None:
            found.add("a finding disappears or moves")
        elif abs(same.pct - change.pct) > SIZE_MOVES * (change.high - change.low):
            found.add("a size moves")
    noises = plain.noise_pct, other.noise_pct
    if noises[0] and noises[1] and abs(log(noises[1] / noises[0])) > log1p(NOISE_MOVES):
        found.add("the noise moves")
    return found
