"""What others do, played in the same simulated lab: the yardstick of the tables.

`git_bisect`: one boot of five runs at each step, compared with the good revision by a t-test; a
decision once made is never doubted. `pinpoint_like`: after Chromium's Pinpoint, which compares
neighbours in its list by rank tests and measures more wherever it cannot decide, then looks between
those that differ. Its thresholds are simplified, hence "like".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from webapp.stats.bisection.ending import Kind
from webapp.stats.bisection.playing import SimulatedLab
from webapp.stats.simulate.bisect_cells import Cell, Tried
from webapp.stats.simulate.bisect_worlds import draw_culprits, levels_of

Floats = NDArray[np.float64]

RUNS_A_STEP = 5
CONFIDENCE = 0.95

ATTEMPTS, MOST_ATTEMPTS = 10, 60
DIFFERENT, SAME = 0.01, 0.3
"""p-values below and above which a pair is called different, or is called equal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The candidates that a policy blames (none: it saw no difference) and its boots."""

    blamed: tuple[int, ...]
    boots: int


def try_peer(
    search: Callable[[SimulatedLab, int], Answer], cell: Cell, rng: np.random.Generator
) -> Tried:
    """How one trial of a cell ended where a peer's ``search`` played it."""
    effects = cell.effects
    culprits = draw_culprits(rng, cell.commits, len(effects)) if effects else ()
    levels = levels_of(cell.commits, culprits, effects)
    lab = SimulatedLab(rng, levels, cell.true_noise, changes=cell.world.changes)
    return _of_answer(search(lab, cell.commits), culprits)


def _of_answer(answer: Answer, culprits: tuple[int, ...]) -> Tried:
    kinds = {0: Kind.NOT_REPRODUCED, 1: Kind.SINGLE, 2: Kind.TWO_STEPS}
    kind = kinds.get(len(answer.blamed), Kind.RANGE)
    right = not set(culprits).isdisjoint(answer.blamed) if answer.blamed else not culprits
    return Tried(kind, right, answer.boots, len(answer.blamed))


def git_bisect(lab: SimulatedLab, commits: int) -> Answer:
    """Halve the range by one t-test a step; always names one commit."""
    reference = lab.runs(0, RUNS_A_STEP)
    good, bad, boots = 0, commits, 1
    while bad - good > 1:
        middle = (good + bad) // 2
        boots += 1
        if _differs(reference, lab.runs(middle, RUNS_A_STEP)):
            bad = middle
        else:
            good = middle
    return Answer((bad,), boots)


def _differs(a: Floats, b: Floats) -> bool:
    """Student's two-sided t-test of two samples of the same size."""
    error = sqrt((a.var(ddof=1) + b.var(ddof=1)) / len(a))
    critical = special.stdtrit(2 * len(a) - 2, (1 + CONFIDENCE) / 2)
    return bool(abs(a.mean() - b.mean()) > critical * error)


def pinpoint_like(lab: SimulatedLab, commits: int) -> Answer:
    """Look between all neighbours that differ, measuring more where a rank test is undecided."""
    search = _Pinpoint(lab)
    return Answer(tuple(sorted(search.culprits(0, commits))), search.boots)


@dataclass(slots=True)
class _Pinpoint:
    lab: SimulatedLab
    values: dict[int, list[float]] = field(default_factory=dict)

    @property
    def boots(self) -> int:
        return sum(len(values) for values in self.values.values())

    def culprits(self, first: int, last: int) -> list[int]:
        """Changes between two revisions, each as the first revision that differs."""
        if not self._differ(first, last):
            return []
        if last - first == 1:
            return [last]
        middle = (first + last) // 2
        return self.culprits(first, middle) + self.culprits(middle, last)

    def _differ(self, a: int, b: int) -> bool:
        attempts = ATTEMPTS
        while True:
            p = rank_p(self._measured(a, attempts), self._measured(b, attempts))
            if p < DIFFERENT:
                return True
            if p > SAME or attempts >= MOST_ATTEMPTS:
                return False
            attempts += ATTEMPTS

    def _measured(self, index: int, attempts: int) -> list[float]:
        values = self.values.setdefault(index, [])
        while len(values) < attempts:
            values.append(float(self.lab.runs(index, 1)[0]))
        return values


def rank_p(a: list[float], b: list[float]) -> float:
    """Two-sided p of the rank-sum test, normal approximation without ties (Mann, Whitney 1947)."""
    n, m = len(a), len(b)
    ranks = np.argsort(np.argsort(np.concatenate([a, b])))
    u = float(ranks[:n].sum()) - n * (n - 1) / 2
    score = (abs(u - n * m / 2) - 0.5) / sqrt(n * m * (n + m + 1) / 12)
    return float(2 * special.ndtr(-max(score, 0.0)))
