"""Sessions from elsewhere: false changes that they make in a series, and true ones they show.

One session measures most of a series of 60 revisions. Another one is off by an effect of its own
(4 %), at some revisions or from one on; or the level truly falls where another session begins, with
an effect or without. *Before* is what is found where all sessions count as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import log, log1p

import numpy as np

from benchmarks.cells import series_of
from benchmarks.worlds.figures import Figure, at_least, at_most, percent
from benchmarks.worlds.reading import USUAL, Floats, draw, mean
from webapp.stats.changes import Change, detect
from webapp.stats.sessions import Measured, sessions_apart

NEAR = 1
"""Revisions from the loss up to which it counts as found."""

EFFECT = 0.04
"""Standard deviation of what a session adds, on the log scale."""

LOSSES = (3.0, 6.0)

Blocks = Sequence[tuple[str, int]]
"""Sessions along the tree, each with how many revisions in a row."""

STRAYS: dict[str, Blocks] = {
    "one revision": [("year", 30), ("other", 1), ("year", 29)],
    "two revisions": [("year", 30), ("other", 2), ("year", 28)],
    "four revisions": [("year", 30), ("other", 4), ("year", 26)],
    "the last revision": [("year", 59), ("other", 1)],
    "the last two revisions": [("year", 58), ("other", 2)],
    "the last four revisions": [("year", 56), ("other", 4)],
    "a new year": [("year", 40), ("other", 30)],
}
"""Where the other session is the only one."""

SEVERAL: dict[str, Blocks] = {
    "four sessions at the end": [("year", 56), *((f"other {one}", 1) for one in range(4))],
    "three of two revisions at the end": [("year", 54), *((f"other {one}", 2) for one in range(3))],
    "three years": [("year", 40), ("other", 30), ("third", 30)],
}
"""Where two of them may agree by accident."""

BEGINNING = 40
TRUE: dict[str, Blocks] = {
    "another session, then the same": [("year", 40), ("other", 2), ("year", 18)],
    "every revision a session": [(str(one), 1) for one in range(60)],
    "every revision a session from there on": [("year", 40), *((str(one), 1) for one in range(20))],
    "sessions of two from there on": [("year", 40), *((str(one), 2) for one in range(10))],
    "sessions of ten": [(str(one), 10) for one in range(7)],
    "a new year and a third": [("year", 40), ("other", 30), ("third", 30)],
}
"""Where the level falls at revision `BEGINNING`."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values of a series, (revisions, samples), and the session of each revision."""

    values: Floats
    sessions: Sequence[str]

    @classmethod
    def draw(
        cls, rng: np.random.Generator, blocks: Blocks, *, effect: float, loss_pct: float = 0.0
    ) -> "Series":
        """Each session but the first has an effect, with that standard deviation."""
        sessions = [name for name, count in blocks for _ in range(count)]
        names = list(dict.fromkeys(sessions))
        own = dict(zip(names, effect * rng.standard_normal(len(names)), strict=True))
        own[names[0]] = 0.0
        shift = np.array([own[name] for name in sessions])
        shift[BEGINNING:] += log1p(loss_pct / 100)
        return cls(draw(rng, shift, USUAL), sessions)

    def changes(self, *, known: bool) -> list[int]:
        """Where confirmed changes begin, with sessions ``known`` or all taken for one."""
        points = series_of(self.values)
        apart = sessions_apart(self._levels()) if known else {}
        begins = [0, *(at for at, one in apart.items() if one.begins), len(points)]
        changes: list[Change] = []
        for low, high in pairwise(begins):
            its = [points[at] for at in range(low, high) if at not in apart or apart[at].begins]
            changes += detect(its).analysis.changes
        return [one.revision.position for one in changes if one.state == "confirmed"]

    def _levels(self) -> list[Measured]:
        means = self.values.mean(axis=1).tolist()
        rows = zip(means, self.sessions, strict=True)
        return [Measured(log(mean), frozenset({session})) for mean, session in rows]


def measure(trials: int, seed: int) -> list[Figure]:
    """Return false changes a series, and how often a true one is found."""
    return [*_false(trials, seed), *_found(trials, seed)]


def _false(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, (name, blocks) in enumerate((STRAYS | SEVERAL).items()):
        rng = np.random.default_rng([seed, 1, number])
        series = [Series.draw(rng, blocks, effect=EFFECT) for _ in range(trials)]
        before, after = (
            mean(len(one.changes(known=known)) for one in series) for known in (False, True)
        )
        goal = at_most(0.1) if name in STRAYS else None
        named = f"{name} off by 4 %: false a series"
        figures.append(Figure(named, after, goal, before=f"{before[0]:.2f}", digits=2))
    return figures


def _found(trials: int, seed: int) -> list[Figure]:
    figures = []
    for number, (pct, effect, name) in enumerate(product(LOSSES, (0.0, 0.01), TRUE)):
        rng = np.random.default_rng([seed, 2, number])
        series = [Series.draw(rng, TRUE[name], effect=effect, loss_pct=-pct) for _ in range(trials)]
        before, after = (
            percent(sum(_is_found(one.changes(known=known)) for one in series), trials)
            for known in (False, True)
        )
        sessions = f", sessions of {100 * effect:g} %" if effect else ""
        named = f"a loss of {pct:g} %, {name}{sessions}: found"
        goal = None if effect or pct < max(LOSSES) else at_least(98.0)
        figures.append(Figure(named, after, goal, before=f"{before[0]:.1f}"))
    return figures


def _is_found(changes: Sequence[int]) -> bool:
    return any(abs(at - BEGINNING) <= NEAR for at in changes)
