"""The commits at which the newest revisions of many series moved together.

Each series says of a place (the first revision at a new level) by how many standard deviations its
revisions from there on lie off those before. At every place the scores of all series that measured
it are added up and divided by the standard deviation of that sum (`dependence`), which is
Stouffer's method (Stouffer et al., The American Soldier, 1949, volume 1, page 45) for scores that
correlate. A single score counts as `DRAWN_IN` at most, so that one wild series is no agreement.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from webapp.stats.agreeing.dependence import LEAST, clusters_of, correlation, variance_of_sum
from webapp.stats.changes.models import shortest_range
from webapp.stats.changes.review import SURE_SHARE

Floats = NDArray[np.float64]

DRAWN_IN = 3.2
"""A series' score counts as so much at most (Huber 1964), less than a candidate needs: several must
agree."""

AGREES = 1.0
"""Score from which on a series agrees with the others."""

LEAST_SERIES = 3
LEAST_SHARE = 1 / 3
"""How many series must agree: so many, and this share of those that measured the place."""

LOOKS = 1.1
"""Independent looks that the places after one new revision are worth: the share of commits without
a change that begin to be shown, over the normal tail (`python -m benchmarks.worlds --only
agreeing`)."""

FALSE_CANDIDATES = 0.00025
"""Share of revisions without a change at which one series shows a candidate (from the same)."""

MOST_CANDIDATES = 9
"""Series whose candidates would be false as often: more series make it no laxer."""


@dataclass(frozen=True, slots=True)
class SeriesRecent:
    """`recent.Recent` of one series, without its deviations, and whose series it is."""

    series: int
    machine: int
    at: Sequence[int]
    scores: Sequence[float]
    gaps: Sequence[float]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A place at which several series moved together, positions along the tree.

    The commits in question are those later than `after` up to and including `last` (95 %),
    `likeliest` the likeliest first one measured, with the probability `here`. `series` agree out
    of `received` that measured it, on `machines` out of `received_machines`. `score` is the
    combined normal score, `false_share` how often a commit without any change shows as much.
    `change` is the median of those that agree, on the log scale, positive is better.
    """

    after: int
    likeliest: int
    last: int
    here: float
    verdict: Literal["better", "worse"]
    series: tuple[int, ...]
    received: int
    machines: int
    received_machines: int
    score: float
    false_share: float
    change: float

    def overlaps(self, other: "Agreement") -> bool:
        """Whether both say the same of a commit that both have in question."""
        shares = max(self.after, other.after) < min(self.last, other.last)
        return shares and self.verdict == other.verdict


def limit(received: int) -> float:
    """Return the combined score that is shown where `received` series measured a commit.

    A commit without a change reaches it as often as one of so many series shows a candidate
    falsely, `MOST_CANDIDATES` at most.
    """
    share = min(received, MOST_CANDIDATES) * FALSE_CANDIDATES / LOOKS
    return float(-special.ndtri(share / 2.0))


def false_share(score: float) -> float:
    """Return the share of commits without a change at which the scan reaches `score`."""
    return min(1.0, LOOKS * erfc(score / sqrt(2.0)))


@dataclass(frozen=True, slots=True)
class _Grid:
    """Every series' score at every place (0 where it has none), in order along the tree."""

    positions: NDArray[np.int64]
    scores: Floats
    gaps: Floats
    has: NDArray[np.bool_]
    counts: Floats
    totals: Floats

    @classmethod
    def of(cls, rows: Sequence[SeriesRecent]) -> "_Grid":
        positions = np.array(sorted({at for row in rows for at in row.at}), dtype=np.int64)
        scores, gaps = np.zeros((2, len(positions), len(rows)))
        has = np.zeros(scores.shape, dtype=bool)
        for number, row in enumerate(rows):
            ends = np.searchsorted(positions, row.at)
            for m, (score, gap) in enumerate(zip(row.scores, row.gaps, strict=True)):
                cells = slice(ends[m + 1] + 1, ends[m] + 1)
                scores[cells, number], gaps[cells, number], has[cells, number] = score, gap, True
        drawn_in = np.clip(scores, -DRAWN_IN, DRAWN_IN)
        return cls(positions, scores, gaps, has, has.sum(axis=1), drawn_in.sum(axis=1))


def suspects(rows: Sequence[SeriesRecent]) -> int | None:
    """Return the first place worth a closer look, or None.

    As if series of a machine strayed together as little as is ever assumed, and no build were on
    several machines: `agreements` finds nothing anywhere else, whatever it is told of them.
    """
    if len(rows) < LEAST_SERIES:
        return None
    grid = _Grid.of(rows)
    clusters = clusters_of([row.machine for row in rows])
    hits = np.flatnonzero(_shown(grid, _scores(grid, rows, clusters, {})))
    return int(grid.positions[hits[0]]) if len(hits) else None


def agreements(
    rows: Sequence[SeriesRecent],
    deviations: Mapping[int, Mapping[int, float]],
    builds: Iterable[tuple[int, str]] = (),
) -> list[Agreement]:
    """Return the places at which the newest revisions of `rows` agree, in order along the tree.

    `rows` in any order, `deviations` (`recent.Recent`) by series, `builds` as (machine, build) of
    the revisions since `suspects`. Each series takes part in one agreement at most.
    """
    rows = sorted(rows, key=lambda row: row.series)
    first = suspects(rows)
    if first is None:
        return []
    grid = _Grid.of(rows)
    clusters = clusters_of([row.machine for row in rows], builds)
    correlations = {
        cluster: correlation(
            [deviations.get(r.series, {}) for r in rows if clusters[r.machine] == cluster], first
        )
        for cluster in set(clusters.values())
    }
    scores = _scores(grid, rows, clusters, correlations)
    left = _shown(grid, scores)
    found = []
    while left.any():
        best = int(np.argmax(np.where(left, np.abs(scores), -1.0)))
        found.append(_agreement(grid, rows, scores, best))
        left &= ~(grid.has & grid.has[best]).any(axis=1)
    return sorted(found, key=lambda one: one.likeliest)


def _scores(
    grid: _Grid,
    rows: Sequence[SeriesRecent],
    clusters: Mapping[int, int],
    correlations: Mapping[int, float],
) -> Floats:
    """The combined normal score of each place."""
    names = sorted(set(clusters.values()))
    columns = {name: i for i, name in enumerate(names)}
    member = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        member[number, columns[clusters[row.machine]]] = 1.0
    known = np.array([correlations.get(name, LEAST) for name in names])
    variance = variance_of_sum(grid.has @ member, known)
    return np.asarray(grid.totals / np.sqrt(np.maximum(variance, 1.0)))


def _shown(grid: _Grid, scores: Floats) -> NDArray[np.bool_]:
    signs = np.sign(scores)
    agree = (grid.scores * signs[:, None] >= AGREES).sum(axis=1)
    limits = np.array([np.inf, *map(limit, range(1, int(grid.counts.max(initial=0)) + 1))])
    enough = (agree >= LEAST_SERIES) & (agree >= LEAST_SHARE * grid.counts)
    return np.asarray(enough & (np.abs(scores) >= limits[grid.counts.astype(int)]))


def _agreement(grid: _Grid, rows: Sequence[SeriesRecent], scores: Floats, best: int) -> Agreement:
    sign = 1.0 if scores[best] > 0 else -1.0
    low, high, here = _where(grid, sign * scores, best)
    chosen = np.flatnonzero(grid.scores[best] * sign >= AGREES).tolist()
    measured = np.flatnonzero(grid.has[best]).tolist()
    return Agreement(
        after=int(grid.positions[max(low - 1, 0)]),
        likeliest=int(grid.positions[best]),
        last=int(grid.positions[high]),
        here=here,
        verdict="better" if sign > 0 else "worse",
        series=tuple(rows[i].series for i in chosen),
        received=int(grid.counts[best]),
        machines=len({rows[i].machine for i in chosen}),
        received_machines=len({rows[i].machine for i in measured}),
        score=float(abs(scores[best])),
        false_share=false_share(float(abs(scores[best]))),
        change=median(float(grid.gaps[best, i]) for i in chosen),
    )


def _where(grid: _Grid, along: Floats, best: int) -> tuple[int, int, float]:
    """The first and last place that hold 95 % around the best, and the probability of that.

    With a step of unknown height at one of the places, all equally likely beforehand, half the
    squared score is the gain in log likelihood there (the drop in the sum of squares, in
    variances); a place that the evidence speaks against gains nothing.
    """
    is_possible = (grid.has & grid.has[best]).any(axis=1)
    low, high = best, best
    while low > 0 and is_possible[low - 1]:
        low -= 1
    while high < len(along) - 1 and is_possible[high + 1]:
        high += 1
    gain = np.maximum(along[low : high + 1], 0.0) ** 2 / 2.0
    gain[best - low] = max(gain[best - low], gain.max())
    mass = np.exp(gain - gain.max())
    mass /= mass.sum()
    first, last = shortest_range(mass, SURE_SHARE)
    first, last = min(first, best - low), max(last, best - low)
    return low + first, low + last, float(mass[best - low])
