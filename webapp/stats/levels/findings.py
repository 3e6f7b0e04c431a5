"""Everything that is found in a series, in percent."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.changes.findings import At
from webapp.stats.changes.points import Point, Value, reduce_points
from webapp.stats.changes.present import percent
from webapp.stats.levels.excursions import excursions
from webapp.stats.levels.modes import Modes, take_out
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.segments import Levels, levels_of
from webapp.stats.levels.slow import slow_move
from webapp.stats.normal import TWO_SIDED_95


@dataclass(frozen=True, slots=True)
class Finding:
    """What begins at revision `first`: its size in percent with its 95 % interval.

    `last` is the end of a slow loss or gain, the revision by which an excursion is over, and the
    last one at the new level of a change of level.
    """

    first: At
    last: At
    pct: float
    low_pct: float
    high_pct: float


@dataclass(frozen=True, slots=True)
class NoiseChange:
    """From revision `first` on, revisions scatter `ratio` times as much (below 1: less)."""

    first: At
    ratio: float


@dataclass(frozen=True, slots=True)
class ModeChange:
    """From revision `first` on another share (of 1) of the runs is in the lower of two modes.

    `gap_pct` is the lower mode against the upper one: below 0, whichever way is better.
    """

    first: At
    share_before: float
    share_after: float
    gap_pct: float


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a series, kind by kind, each in order along the tree.

    `noise_pct` is the scatter of one revision now; None while too little is known.
    """

    changes: tuple[Finding, ...] = ()
    excursions: tuple[Finding, ...] = ()
    noise_changes: tuple[NoiseChange, ...] = ()
    modes: tuple[ModeChange, ...] = ()
    slow: tuple[Finding, ...] = ()
    noise_pct: float | None = None


def find(points: Iterable[Point]) -> Findings:
    """Return what is found in a series: points in any order, one per revision.

    Revisions without a positive sample are left out. Raises BadSeriesError as `changes.detect`
    does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    measured = [value for value in reduce_points(ordered) if value is not None]
    values, two = take_out(measured)
    found = levels_of(np.array([value.location for value in values]), *_of_runs(values))
    if found is None:
        return Findings()
    at = [At(value.position, value.label) for value in values]
    return Findings(
        changes=tuple(_changes(found, at)),
        excursions=tuple(
            _sized(at[one.index], at[one.recovered_by], one.log, one.low, one.high)
            for one in excursions(values, found)
        ),
        noise_changes=tuple(
            NoiseChange(at[i], float(found.scatter[i] / found.scatter[i - 1]))
            for i in found.calm[1:]
        ),
        modes=tuple(_modes(two, at)) if two else (),
        slow=tuple(_slow(values, found, at)),
        noise_pct=100 * float(found.scatter[-1]),
    )


def _of_runs(values: list[Value]) -> tuple[Floats, float]:
    """The variance of one sample inside each build, and one over the samples of a revision."""
    within = np.array([value.variance if value.freedom else 0.0 for value in values])
    return within, float(np.mean([value.share for value in values])) if values else 1.0


def _changes(found: Levels, at: Sequence[At]) -> Iterator[Finding]:
    square = scale.as_student(TWO_SIDED_95, found.freedom)
    for before, after in zip(found.levels, found.levels[1:], strict=False):
        gap = after.level - before.level
        margin = sqrt(square * (before.variance + after.variance))
        yield _sized(at[after.first], at[after.stop - 1], gap, gap - margin, gap + margin)


def _modes(two: Modes, at: Sequence[At]) -> Iterator[ModeChange]:
    for one in two.changes:
        yield ModeChange(at[one.index], one.before, one.after, percent(-two.gap))


def _slow(values: Sequence[Value], found: Levels, at: Sequence[At]) -> Iterator[Finding]:
    move = slow_move(np.array([value.location for value in values]), found)
    if move is not None:
        yield _sized(at[move.first], at[move.last], move.log, move.low, move.high)


def _sized(first: At, last: At, log: float, low: float, high: float) -> Finding:
    return Finding(first, last, *(percent(one) for one in (log, low, high)))
