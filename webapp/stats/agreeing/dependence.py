"""How much several series of one commit say together: modes of one machine say less than machines.

Modes of one machine run the same build: what that build happened to be moves them together. So do
the modes of several machines that run one build. Such series are a *cluster*. For k normal scores
with variance 1 whose pairs correlate by r, the sum has the variance k (1 + (k - 1) r): the
effective sample size of cluster sampling (Kish, Survey Sampling, 1965, section 5.4, *deff*), and
Stouffer's method with Strube's correction for tests that depend on each other (Strube 1985).
Clusters are replicas: their variances add.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST = 0.25
"""Correlation of two series of a cluster that is assumed at least."""

EXPECTED = 0.75
"""Correlation that is expected where nothing is measured: builds of one machine as nearly one."""

EXPECTED_WEIGHT = 8.0
"""Shared revisions that this expectation counts for."""


def correlation(deviations: Sequence[Mapping[int, float]], before: int) -> float:
    """Return the correlation of a cluster's series, from their revisions before a position.

    `deviations` are those of each series by position, in standard deviations. The mean product of
    all pairs that share a revision, over the mean square; drawn in towards `EXPECTED`, and never
    below `LEAST`.
    """
    by_revision: dict[int, list[float]] = {}
    for series in deviations:
        for position, off in series.items():
            if position < before:
                by_revision.setdefault(position, []).append(off)
    shared = [its for _, its in sorted(by_revision.items()) if len(its) > 1]
    pairs = sum(len(its) * (len(its) - 1) for its in shared)
    squares = sum(off * off for its in shared for off in its)
    if not squares:
        return EXPECTED
    products = sum(sum(its) ** 2 - sum(off * off for off in its) for its in shared)
    mean_square = squares / sum(len(its) for its in shared)
    measured = products / pairs / mean_square
    weight = EXPECTED_WEIGHT + len(shared)
    drawn_in = (EXPECTED_WEIGHT * EXPECTED + len(shared) * measured) / weight
    return min(max(drawn_in, LEAST), 1.0)


def variance_of_sum(counts: Floats, correlations: Floats) -> Floats:
    """Return the variance of the sum of normal scores.

    `counts`, shape (places, clusters), are the scores of each cluster, `correlations`, shape
    (clusters,), those of their pairs; the result has shape (places,).
    """
    return np.asarray((counts * (1.0 + np.maximum(counts - 1.0, 0.0) * correlations)).sum(axis=1))


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
