"""Where several proven changes of one commit began, read together.

Each series gives a likelihood for each place. Modes of one machine run the same build, and so do
those of machines that share a build: such series are a cluster. The noise that moves their places
is common to them, so their logarithms are averaged; those of clusters are added, since clusters are
replicas. That is the logarithmic pool of opinions (Genest and Zidek 1986, Statistical Science 1,
114), with weights that add up to one in a cluster.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes.regimes import SURE_SHARE, shortest_range

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


def _log_likelihood(location: Location, grid: Sequence[int]) -> NDArray[np.float64]:
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
