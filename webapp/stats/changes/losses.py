"""What stands lost now, and which changes a later one took back: pure functions of the levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, hypot, log

from webapp.stats.better import Better
from webapp.stats.changes.findings import At, Change, Segment

RESTORED = 0.75
"""Share of the way back to the old level from which on a change counts as recovered."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A proven loss: `before` is the last revision at the level before, `since` the first one of a
    step, or where a slow loss (`is_slow`) begins.
    """

    before: At
    since: At
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class NetLoss:
    """What stands lost now: `level` today against `level_before`, in the metric's unit.

    `change_pct` is the level today against the one before in percent, `low_pct` to `high_pct` its
    95 % interval. `since` is the first revision of the earliest loss that stands, or where it began
    by and by (`is_slow`).
    """

    since: At
    is_slow: bool
    level_before: float
    level: float
    change_pct: float
    low_pct: float
    high_pct: float


def net_loss(segments: Sequence[Segment], losses: Sequence[Loss], better: Better) -> NetLoss | None:
    """Return the loss that stands, None where today's level is proven below none of those before.

    `segments` and `losses` are in order along the tree, of one epoch. Gains before the earliest
    loss that stands do not count, those after it do, and so does drift. The half-widths of both
    levels' intervals add in quadrature on the log scale (Zou and Donner 2008, Statistics in
    Medicine 27, 1693, formula 2).
    """
    if any(each.level <= 0 or each.end_level <= 0 or each.low <= 0 for each in segments):
        return None
    sign = 1.0 if better == "more" else -1.0
    for loss in losses:
        before = _at(segments, loss.before)
        if before is None or _is_won_back(before, segments, loss.before, sign):
            continue
        now = segments[-1]
        gap, half = log(now.end_level / before.level), hypot(before.half, _half(now))
        if sign * gap + half < 0:
            ends = (gap, gap - half, gap + half)
            change, low, high = (100 * expm1(each) for each in ends)
            levels = before.level, now.end_level
            return NetLoss(loss.since, loss.is_slow, *levels, change, low, high)
    return None


@dataclass(frozen=True, slots=True)
class _Level:
    """A level in the metric's unit, and the half-width of its 95 % interval on the log scale."""

    level: float
    half: float


def _half(segment: Segment) -> float:
    return log(segment.high / segment.low) / 2


def _at(segments: Sequence[Segment], at: At) -> _Level | None:
    """The level at a measured revision; of a segment that drifts, on the line between its ends."""
    for one in reversed(segments):
        if one.first.position <= at.position:
            length = one.last.position - one.first.position
            share = min((at.position - one.first.position) / length, 1.0) if length else 0.0
            return _Level(one.level * exp(share * log(one.end_level / one.level)), _half(one))
    return None


def _is_won_back(before: _Level, segments: Sequence[Segment], at: At, sign: float) -> bool:
    """Whether a level after `at` reached the one before: within its interval, and nearer to that
    than to the lowest so far.
    """
    lowest = 0.0
    for one in segments:
        if one.first.position <= at.position:
            continue
        for level in (one.level, one.end_level):
            gap = sign * log(level / before.level)
            if gap + hypot(before.half, _half(one)) >= 0 and gap >= lowest / 2:
                return True
            lowest = min(lowest, gap)
    return False


def recoveries(changes: Sequence[Change]) -> tuple[Change | None, ...]:
    """For each change the first later one that took it back; None where the level stays.

    `changes` are in order along the tree. A change is taken back by the first confirmed change of
    the opposite direction whose new level is at least `RESTORED` of the way back to the level
    before. Levels are compared, not sizes: the end of a later dip gives an earlier loss nothing
    back. A candidate, which rests on the newest revision alone, neither recovers nor is recovered.
    """
    return tuple(_recovery(change, changes[i + 1 :]) for i, change in enumerate(changes))


def _recovery(change: Change, later: Sequence[Change]) -> Change | None:
    lost = change.before - change.level
    if change.state != "confirmed" or not lost:
        return None
    for other in later:
        opposite = other.state == "confirmed" and other.verdict != change.verdict
        if opposite and (other.level - change.level) / lost >= RESTORED:
            return other
    return None
