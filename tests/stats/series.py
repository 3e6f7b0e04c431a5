"""Series for the tests of change detection, and their mirror images."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.online import detect
from webapp.stats.changes import Analysis, Findings, Point
from webapp.stats.changes.level_findings import find_in
from webapp.stats.changes.points import reduce_points
from webapp.stats.metrics import Better
from webapp.stats.simulate import Event, Scatter, Simulated, make_series

QUIET = Scatter(run=0.01, build=0.005)
"""A lab like the good ones of the archive: 1 % from run to run, 0.5 % from build to build."""


def worlds(*each: Any, first: int = 1) -> list[Any]:
    """Parameters of a simulation: `make test` plays the first, `make bench-test` the others."""
    others = [one if isinstance(one, tuple) else (one,) for one in each[first:]]
    return [*each[:first], *(pytest.param(*one, marks=pytest.mark.bench) for one in others)]


def points_of(series: Simulated) -> list[Point]:
    rows = zip(series.positions, series.samples, series.boots, series.builds, strict=True)
    return [
        Point(position, f"r{position}", samples, boots, [build] * len(samples))
        for position, samples, boots, build in rows
    ]


def simulated(
    *events: Event, seed: int = 2, revisions: int = 100, scatter: Scatter = QUIET
) -> list[Point]:
    return points_of(make_series(seed=seed, revisions=revisions, scatter=scatter, events=events))


def mirrored(points: Sequence[Point]) -> list[Point]:
    """One over every sample: in logarithms the mirror image, and the other way is better."""
    return [
        replace(point, samples=tuple(1.0 / sample for sample in point.samples)) for point in points
    ]


def find(points: Sequence[Point]) -> Findings:
    """What levels alone show of points in any order."""
    ordered = sorted(points, key=lambda point: point.position)
    return find_in([value for value in reduce_points(ordered) if value is not None])


def seen(points: Sequence[Point], better: Better = "more") -> list[tuple[str, str, str]]:
    return [
        (change.revision.label, change.verdict, change.state)
        for change in detect(points, better=better).changes
    ]


def confirmed(analysis: Analysis) -> list[str]:
    return [change.revision.label for change in analysis.changes if change.state == "confirmed"]
