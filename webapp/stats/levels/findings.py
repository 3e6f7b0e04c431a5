"""Everything that is found in a series, in percent."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt

import numpy as np

from webapp.stats.changes import scale
from webapp.stats.changes.findings import At
from webapp.stats.changes.points import FINEST, Point, Value, half_digit, reduce_points
from webapp.stats.changes.present import percent
from webapp.stats.levels.beginnings import Beginning, beginning_of
from webapp.stats.levels.excursions import excursions
from webapp.stats.levels.modes import Modes, take_out
from webapp.stats.levels.partition import Floats
from webapp.stats.levels.segments import Levels, freedom_between, levels_of
from webapp.stats.levels.slow import slow_move
from webapp.stats.student import TWO_SIDED_95


@dataclass(frozen=True, slots=True)
class Finding:
    """What begins at revision `first`: its size in percent with its 95 % interval.

    `last` is the end of a slow loss or gain, the revision by which an excursion is over, and the
    last one at the new level of a change of level. `before` and `level` are in the metric's unit,
    `score` is the evidence in standard deviations, `previous` the measured revision before `first`
    (of the first one of a series itself).
    """

    first: At
    last: At
    pct: float
    low_pct: float
    high_pct: float
    before: float = 0.0
    level: float = 0.0
    score: float = 0.0
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class Step:
    """A change of level, and where it may have begun.

    `locations` are the measured revisions that may be the first at the new level, with their
    probability; the first is the one before them, with none. `shown_by` is the revision with which
    the evidence for it was complete, by what is known now.
    """

    finding: Finding
    locations: tuple[tuple[At, float], ...]
    shown_by: At
    revisions: tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoiseChange:
    """From revision `first` on, revisions scatter `ratio` times as much (below 1: less)."""

    first: At
    ratio: float
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class ModeChange:
    """From revision `first` on another share (of 1) of the runs is in the lower of two modes.

    `gap_pct` is the lower mode against the upper one: below 0, whichever way is better.
    """

    first: At
    share_before: float
    share_after: float
    gap_pct: float
    previous: At = field(default=At(0, ""))


@dataclass(frozen=True, slots=True)
class Stretch:
    """`count` measured revisions at one level (in the metric's unit, with its 95 % interval).

    `level` is where it begins, `end_level` where it ends: a curve may bend it.
    """

    first: At
    last: At
    count: int
    level: float
    low: float
    high: float
    end_level: float


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a series, kind by kind, each in order along the tree.

    `noise_pct` is the scatter of one revision now; None while too little is known. `stretches` are
    the levels between the `steps`. `has_modes`: runs have two modes, and sizes are those of runs in
    the usual one.
    """

    excursions: tuple[Finding, ...] = ()
    noise_changes: tuple[NoiseChange, ...] = ()
    modes: tuple[ModeChange, ...] = ()
    slow: tuple[Finding, ...] = ()
    noise_pct: float | None = None
    steps: tuple[Step, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    has_modes: bool = False

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The sizes of the steps."""
        return tuple(step.finding for step in self.steps)


def find(points: Iterable[Point]) -> Findings:
    """Return what is found in a series: points in any order, one per revision.

    Revisions without a positive sample are left out. Raises BadSeriesError as `changes.detect`
    does.
    """
    ordered = sorted(points, key=lambda point: point.position)
    return find_in([value for value in reduce_points(ordered) if value is not None])


def find_in(measured: Sequence[Value], *, with_slow: bool = True) -> Findings:
    """Return what is found in revisions that are reduced already, in order along the tree.

    Slow losses and gains are looked for where a caller asks for them.
    """
    values, two = take_out(measured)
    locations = np.array([value.location for value in values])
    found = levels_of(locations, *_of_runs(values), _finest(measured))
    if found is None:
        return Findings()
    at = _Revisions(values)
    begun = _beginnings(found, locations)
    return Findings(
        excursions=tuple(_excursions(values, found, at)),
        noise_changes=tuple(
            NoiseChange(at[i], float(found.scatter[i] / found.scatter[i - 1]), at[i - 1])
            for i in found.calm[1:]
        ),
        modes=tuple(_modes(two, at)) if two else (),
        slow=tuple(_slow(locations, found, at)) if with_slow else (),
        noise_pct=100 * float(found.scatter[-1]),
        steps=tuple(_steps(found, begun, at)),
        stretches=tuple(_stretches(found, begun, at)),
        has_modes=two is not None,
    )


def _of_runs(values: list[Value]) -> tuple[Floats, float]:
    """The variance of one sample inside each build, and one over the samples of a revision."""
    within = np.array([value.variance if value.freedom else 0.0 for value in values])
    return within, float(np.mean([value.share for value in values])) if values else 1.0


def _finest(measured: Sequence[Value]) -> float:
    """The smallest standard deviation of a revision that is believed."""
    least = 1.0
    for value in measured:
        least = min(least, half_digit(value.logs))
        if least <= FINEST:
            return FINEST
    return least


class _Revisions:
    """Where the revisions of a series are; made when asked for, for few are."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values

    def __getitem__(self, index: int) -> At:
        value = self._values[index]
        return At(value.position, value.label)

    def __len__(self) -> int:
        return len(self._values)


def _beginnings(found: Levels, locations: Floats) -> list[Beginning]:
    """Where each level but the first began."""
    return [beginning_of(found, locations, i) for i in range(1, len(found.levels))]


def _steps(found: Levels, begun: Sequence[Beginning], at: _Revisions) -> Iterator[Step]:
    """The changes of level.

    Where a place is told by fewer revisions than lie between two changes, none is told twice.
    """
    for i, beginning in enumerate(begun):
        stop = begun[i + 1].index if i + 1 < len(begun) else len(at)
        yield _step(found, i, beginning, (beginning.index, stop - 1), at)


def _step(
    found: Levels,
    number: int,
    beginning: Beginning,
    ends: tuple[int, int],
    at: _Revisions,
) -> Step:
    before, after = found.levels[number : number + 2]
    gap = after.level - before.level
    variance = before.variance + after.variance + found.of_curve[number]
    freedom = freedom_between(before, after)
    margin = sqrt(scale.as_student(TWO_SIDED_95, freedom) * variance)
    score = scale.as_score(gap * gap / variance, freedom)
    first, last = ends
    base = before.level + float(found.curve[first])
    return Step(
        _sized(
            at, (first, last), (gap, gap - margin, gap + margin), base=base, size=gap, score=score
        ),
        tuple((at[i], chance) for i, chance in beginning.chances),
        at[beginning.shown_by],
        (before.count, after.count),
    )


def _excursions(values: Sequence[Value], found: Levels, at: _Revisions) -> Iterator[Finding]:
    for one in excursions(values, found):
        base = values[one.index].location - one.log
        yield _sized(
            at,
            (one.index, one.recovered_by),
            (one.log, one.low, one.high),
            base=base,
            size=one.log,
            score=abs(float(found.residuals[one.index])),
        )


def _modes(two: Modes, at: _Revisions) -> Iterator[ModeChange]:
    for one in two.changes:
        before = at[max(one.index - 1, 0)]
        yield ModeChange(at[one.index], one.before, one.after, percent(-two.gap), before)


def _slow(locations: Floats, found: Levels, at: _Revisions) -> Iterator[Finding]:
    move = slow_move(locations, found)
    if move is not None:
        yield _sized(
            at,
            (move.first, move.last),
            (move.log, move.low, move.high),
            base=move.base,
            size=move.log,
            score=move.score,
        )


def _stretches(found: Levels, begun: Sequence[Beginning], at: _Revisions) -> Iterator[Stretch]:
    """The levels, each from where a change most likely began to the next."""
    edges = [0, *(one.index for one in begun), len(at)]
    for one, (first, stop) in zip(found.levels, pairwise(edges), strict=True):
        start = one.level + float(found.curve[first])
        end = one.level + float(found.curve[stop - 1])
        margin = sqrt(scale.as_student(TWO_SIDED_95, one.freedom) * one.variance)
        levels = (scale.exponential(log) for log in (start, start - margin, start + margin, end))
        yield Stretch(at[first], at[stop - 1], stop - first, *levels)


def _sized(
    at: _Revisions,
    ends: tuple[int, int],
    logs: tuple[float, float, float],
    *,
    base: float,
    size: float,
    score: float,
) -> Finding:
    """A finding from one revision to another; `logs` are its size with its interval."""
    first, last = ends
    pct, low, high = (percent(one) for one in logs)
    return Finding(
        at[first],
        at[last],
        pct,
        low,
        high,
        before=scale.exponential(base),
        level=scale.exponential(base + size),
        score=score,
        previous=at[max(first - 1, 0)],
    )
