"""Levels of a series that is not steps in stationary noise: levels, excursions, scatter, trend.

    findings = find(points)

A pure function of the points of a series, in order along the tree. The method, in words:
docs/statistics.md.
"""

from webapp.stats.levels.findings import (
    Finding,
    Findings,
    ModeChange,
    NoiseChange,
    Step,
    Stretch,
    find,
    find_in,
)

__all__ = [
    "Finding",
    "Findings",
    "ModeChange",
    "NoiseChange",
    "Step",
    "Stretch",
    "find",
    "find_in",
]
