"""What several series show together: where the proven changes of one commit began, and one revision
at which several modes of a machine are off, and back afterwards.

Each series gives a likelihood for each place of a change. Modes of one machine run the same build,
and so do those of machines that share a build: such series are a cluster. The noise that moves
their places is common to them, so their logarithms are averaged; those of clusters are added, since
clusters are replicas. That is the logarithmic pool of opinions (Genest and Zidek 1986, Statistical
Science 1, 114), with weights that add up to one in a cluster.

A lone excursion must be eight standard deviations off (`webapp.stats.changes.level_findings`).
Where several modes of one machine are off at one revision, five will do. They shared the machine,
its build and mostly its boot: an excursion is of this machine at this revision, never of a commit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import log, sqrt

import numpy as np

from webapp.stats.arrays import Floats
from webapp.stats.changes import At, Finding, Findings, scale
from webapp.stats.changes.points import Value
from webapp.stats.changes.regimes import SURE_SHARE, shortest_range
from webapp.stats.intervals import TWO_SIDED_95
from webapp.stats.metrics import ALONE

FLOOR = 1e-3
"""A series' probability of a place that it speaks against, at least: no series alone rules it out,
for its noise may be other than it is thought to be."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where one series saw a change begin.

    `at` are positions where it may have begun with the probability `mass`; the first of them is
    the revision before, with none. `build` is what its likeliest revision was measured with; ""
    where that is not known.
    """

    machine: int
    at: Sequence[int]
    mass: Sequence[float]
    build: str = ""


@dataclass(frozen=True, slots=True)
class CommonLocation:
    """The commits later than `after` up to and including `last` hold the beginning with 95 %.

    `likeliest` is the likeliest position, with the probability `here`.
    """

    after: int
    likeliest: int
    last: int
    here: float


def common_location(locations: Sequence[Location]) -> CommonLocation:
    """Return where the changes of `locations`, in any order, began if they began together.

    Places are the steps between neighbouring positions that any of the series measured, all equally
    likely beforehand. Needs at least one location.
    """
    grid = sorted({at for location in locations for at in location.at})
    machines = [location.machine for location in locations]
    clusters = clusters_of(machines, [(location.machine, location.build) for location in locations])
    sizes = dict.fromkeys(clusters.values(), 0)
    for machine in machines:
        sizes[clusters[machine]] += 1
    support = np.zeros(len(grid) - 1)
    for location in sorted(locations, key=lambda one: (one.machine, *one.at, *one.mass)):
        support += _log_likelihood(location, grid) / sizes[clusters[location.machine]]
    mass = np.exp(support - support.max())
    mass /= mass.sum()
    low, high = shortest_range(mass, SURE_SHARE)
    best = int(np.argmax(mass))
    return CommonLocation(grid[low], grid[best + 1], grid[high + 1], float(mass[best]))


def _log_likelihood(location: Location, grid: Sequence[int]) -> Floats:
    """Of each step of the grid: that of the series' own step which it lies in."""
    found = []
    own = 0
    for position in grid[1:]:
        while own < len(location.at) and location.at[own] < position:
            own += 1
        mass = location.mass[own] if own < len(location.at) else 0.0
        found.append(log(max(mass, FLOOR)))
    return np.array(found)


def clusters_of(machines: Sequence[int], builds: Iterable[tuple[int, str]] = ()) -> dict[int, int]:
    """Return the cluster of each machine: its smallest member.

    Machines that measured the same build, by (machine, build), are of one cluster.
    """
    cluster = {machine: machine for machine in machines}
    by_build: dict[str, list[int]] = {}
    for machine, build in builds:
        if build and machine in cluster:
            by_build.setdefault(build, []).append(machine)
    for its in by_build.values():
        for a, b in combinations(sorted(set(its)), 2):
            low, high = sorted((cluster[a], cluster[b]))
            cluster = {m: low if c == high else c for m, c in cluster.items()}
    return cluster


TOGETHER = 5.0
"""Standard deviations of each where several modes agree. See docs/figures.md for how often none of
anything makes them agree."""

FEWEST_MODES = 2
SHARE = 0.5
"""Of the modes that the machine measured at the revision, at least these must agree: of twenty, two
are no trouble of the machine."""

AGREE = 0.5
"""Share of the way back to the level that no sample may have gone: then the samples agree."""

LEAST_FREEDOM = 8.0
"""Degrees of freedom, at least, of the scatter of a series: its stretches are short otherwise."""


def modes_agree(off: int, measured: int) -> bool:
    """Whether `off` of the `measured` modes of a machine make a revision one of its own."""
    return off >= FEWEST_MODES and off >= SHARE * measured


def faint_excursions(values: Sequence[Value], found: Findings) -> list[Finding]:
    """Return what is an excursion only if other modes agree, in order along the tree.

    `values` are the reduced revisions that `found` was found in. Where runs have two modes there is
    none, and the newest revision is none: the next one will decide.
    """
    if not found.stretches or found.noise_pct is None or found.has_modes:
        return []
    freedom = max(len(values) - 2.0 * len(found.stretches), LEAST_FREEDOM)
    levels, scatter = _expected(values, found)
    off = np.array([value.location for value in values]) - levels
    scores = np.abs(off) / scatter
    excursions: list[Finding] = []
    for i in map(int, np.flatnonzero((scores >= TOGETHER) & (scores < ALONE))):
        back = next((j for j in range(i + 1, len(values)) if scores[j] < TOGETHER), None)
        if i == 0 or back is None or not _agree(values[i], levels[i]):
            continue
        margin = sqrt(scale.as_student(TWO_SIDED_95, freedom)) * scatter[i]
        pct, low, high = (scale.percent(float(off[i] + by)) for by in (0.0, -margin, margin))
        excursions.append(
            Finding(
                _at(values[i]),
                _at(values[back]),
                pct,
                low,
                high,
                before=scale.exponential(float(levels[i])),
                level=scale.exponential(float(levels[i] + off[i])),
                score=float(scores[i]),
                previous=_at(values[i - 1]),
            )
        )
    return excursions


def _expected(values: Sequence[Value], found: Findings) -> tuple[Floats, Floats]:
    """The log level of each revision and how far one scatters around it, (revisions,)."""
    at = np.array([value.position for value in values])
    levels = np.empty(len(values))
    for one in chain.from_iterable(each.lines for each in found.stretches):
        inside = at >= one.first.position
        span = max(one.last.position - one.first.position, 1)
        way = np.clip((at[inside] - one.first.position) / span, 0.0, 1.0)
        begin, end = np.log(one.level), np.log(one.end_level)
        levels[inside] = begin + way * (end - begin)
    levels[at < found.stretches[0].first.position] = np.log(found.stretches[0].level)
    scatter = np.full(len(values), (found.noise_pct or 0.0) / 100)
    for change in found.noise_changes:
        scatter[at < change.first.position] /= change.ratio
    return levels, scatter


def _agree(value: Value, level: float) -> bool:
    off = value.location - level
    return len(value.logs) > 1 and all((log - level) / off > AGREE for log in value.logs)


def _at(value: Value) -> At:
    return At(value.position, value.label)
