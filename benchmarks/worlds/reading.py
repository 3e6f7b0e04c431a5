"""What is found in one simulated series, in a form that every world of one series counts from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import SAMPLES, series_of
from benchmarks.worlds.figures import Interval
from webapp.stats.changes import Change, Finding, detect
from webapp.stats.simulate import Scatter, draw_levels, draw_samples

Floats = NDArray[np.float64]

USUAL = Scatter(run=0.01, build=0.01)
"""1 % each, unless a world differs."""

SD = sqrt(USUAL.build**2 + USUAL.run**2 / SAMPLES)
"""The scatter of one revision there, run part and build part."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding: the index of its first revision and its size with its 95 % interval.

    `here` is how likely a change of level is to have begun there.
    """

    index: int
    pct: float
    low: float
    high: float
    here: float = 0.0

    def holds(self, pct: float) -> bool:
        """Whether the interval holds the true size, in percent."""
        return self.low <= pct <= self.high


@dataclass(frozen=True, slots=True)
class Reading:
    """All findings of a series, kind by kind, and the scatter of one revision in percent."""

    changes: tuple[Found, ...]
    excursions: tuple[Found, ...] = ()
    slow: tuple[Found, ...] = ()
    noise_changes: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    noise_pct: float | None = None

    def near(self, index: int, by: int = 1) -> Found | None:
        """The change of level that lies at most `by` revisions from `index`."""
        return next((one for one in self.changes if abs(one.index - index) <= by), None)


def read(values: Floats) -> Reading:
    """Return what is found in (revisions, samples) values: changes of level that are confirmed."""
    found = detect(series_of(values))
    others = found.others
    return Reading(
        changes=tuple(_change(one) for one in found.analysis.changes if one.state == "confirmed"),
        excursions=_found(others.excursions),
        slow=_found(others.slow),
        noise_changes=tuple(one.first.position for one in others.noise_changes),
        modes=tuple(one.first.position for one in others.modes),
        noise_pct=others.noise_pct,
    )


def _change(one: Change) -> Found:
    at = one.revision.position
    return Found(at, one.change_pct, one.low_pct, one.high_pct, one.here)


def _found(findings: Sequence[Finding]) -> tuple[Found, ...]:
    return tuple(Found(one.first.position, one.pct, one.low_pct, one.high_pct) for one in findings)


def draw(rng: np.random.Generator, shift: Floats, scatter: Scatter = USUAL) -> Floats:
    """Return (revisions, samples) values of a series whose log level is `shift`."""
    levels = shift + draw_levels(rng, 1, len(shift), scatter)[0]
    return draw_samples(rng, levels, SAMPLES, scatter)


def mean(counts: Iterable[float]) -> Interval:
    """Return the mean of a count a series, with the normal 95 % interval."""
    values = np.array(list(counts), dtype=float)
    half = 1.96 * float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    middle = float(values.mean())
    return middle, max(middle - half, 0.0), middle + half
