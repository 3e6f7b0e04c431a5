"""All or nothing: levels that return, with and without one odd revision.

Seventy-five revisions, alternating by ± 5 % at 15, 26, 37, 48, 59 and 68. Found is what lies at
most two revisions off. And two hundred that alternate by ± 3 % at equal distances, as a wave does.
"""

from dataclasses import replace
from math import log1p

import numpy as np

from benchmarks.worlds.figures import Figure, at_least, percent
from benchmarks.worlds.reading import Floats, draw, read

PLACES = (15, 26, 37, 48, 59, 68)
REVISIONS = 75
STEP = 5.0
NEAR = 2
ENOUGH = 5

ODD_AT, ODD = 3, -40.0
"""The one odd revision."""

LONG, LONG_STEP, DISTANCES = 200, 3.0, (30, 40, 50)
"""Revisions that alternate by so many percent, and how far apart: the first after half of it."""

BEFORE: dict[str, str] = {
    "returning levels: at least five of six": "86.2",
    "with one odd revision: at least five of six": "70.2",
    "returning levels: none of six": "7.2",
    "with one odd revision: none of six": "22.5",
}
"""What each figure was when changes of level were all that was found (400 trials)."""


def measure(trials: int, seed: int) -> list[Figure]:
    """Return in how many series the six are found, and none of them."""
    figures = [_found(odd, trials, seed) for odd in (False, True)]
    nothing = [_nothing(odd, trials, seed) for odd in (False, True)]
    even = [_evenly(distance, trials, seed) for distance in DISTANCES]
    return [replace(one, before=BEFORE.get(one.name, "")) for one in (*figures, *nothing, *even)]


def draw_returning(rng: np.random.Generator, *, odd: bool) -> Floats:
    """Return a series whose levels return; `odd`: with one odd revision at its beginning."""
    shift = np.zeros(REVISIONS)
    for number, place in enumerate(PLACES):
        shift[place:] += log1p(STEP / 100) * (1 if number % 2 else -1)
    if odd:
        shift[ODD_AT] += log1p(ODD / 100)
    return draw(rng, shift)


def _counts(odd: bool, trials: int, seed: int) -> list[int]:
    rng = np.random.default_rng([seed, 1, odd])
    readings = (read(draw_returning(rng, odd=odd)) for _ in range(trials))
    return [sum(r.near(place, NEAR) is not None for place in PLACES) for r in readings]


def _named(odd: bool) -> str:
    return "with one odd revision" if odd else "returning levels"


def _found(odd: bool, trials: int, seed: int) -> Figure:
    hits = sum(count >= ENOUGH for count in _counts(odd, trials, seed))
    return Figure(f"{_named(odd)}: at least five of six", percent(hits, trials), at_least(90.0))


def _nothing(odd: bool, trials: int, seed: int) -> Figure:
    hits = sum(not count for count in _counts(odd, trials, seed))
    return Figure(f"{_named(odd)}: none of six", percent(hits, trials))


def _evenly(distance: int, trials: int, seed: int) -> Figure:
    rng = np.random.default_rng([seed, 2, distance])
    places = range(distance // 2, LONG, distance)
    shift = np.zeros(LONG)
    for number, place in enumerate(places):
        shift[place:] += log1p(LONG_STEP / 100) * (1 if number % 2 else -1)
    readings = [read(draw(rng, shift)) for _ in range(trials)]
    found = sum(one.near(place, NEAR) is not None for one in readings for place in places)
    name = f"{LONG} revisions, {LONG_STEP:g} % every {distance}: changes found"
    return Figure(name, percent(found, trials * len(places)))
