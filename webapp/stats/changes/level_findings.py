"""What levels show of a series, in percent: changes and their places, excursions, slow moves."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes import findings, scale
from webapp.stats.changes.curves import within_levels
from webapp.stats.changes.levels import Level, Levels, freedom_between, levels_of
from webapp.stats.changes.modes import take_out
from webapp.stats.changes.points import FINEST, Floats, Value, half_digit
from webapp.stats.changes.scale import percent
from webapp.stats.changes.scatter import inflation_of
from webapp.stats.changes.turns import LEAST, LEFT_OUT
from webapp.stats.intervals import TWO_SIDED_95

LOOK, COVERED = 24, 0.95
"""Revisions on either side of a change that may have been the first of it (at the gap that just
pays for a change, it lies further away less often than once in a thousand times), and probability
that those reported hold it."""

FURTHEST, LEAST_FREEDOM = 8.0, 8.0
"""Standard deviations of one revision from which on it is an excursion (heavy tails reach that less
often than three times in a thousand revisions: `excursions`), and degrees of freedom of the scatter
from which on it is known well enough for that."""

AGREE = 0.5
"""Share of the way back to the level that no sample may have gone: then the samples agree."""

RECENT, RECURRENT = 64, 2
"""Revisions before an excursion, and others among them, from which on it is none: they recur. Where
heavy tails make three in a thousand revisions, three in so many come once in a thousand times. No
more than `window.GUARD`, so that no older revision decides."""

AS_FAR = 0.5
"""Share of its distance, on its side, from which on another one is of its kind."""

LIMIT = 5.0
"""Normal score that a trend must reach (`slow`): with 3 it is found in 1.2 % of series whose builds
stray together by 3 %; with 4.5 of waves that are back more often; with 6 fewer series that lose 5 %
over 200 revisions are found by the 120th."""

SHORTEST, WINDOWS = 60, (1.0, 0.5)
"""Revisions that a trend holds as a rule, and shares of the series, its end, over which one is
looked for; and from where it bends; the strongest counts."""

LEAST_WINDOW = SHORTEST + 6
"""Revisions of the shorter window at least, of which some may be left out. Half of a series of a
hundred is shorter than a trend may be: a loss after a calm half was found in hardly any."""

SHORT, MEMORY = 24, 1.5
"""Revisions of a shorter trend at least (of a young series, or from a bend on), and the most that
memory may inflate its variance. A loss of 10 % over 30 to 45 revisions was reported in none.
Without the limit of memory, one in five series of builds that stray together (AR(1) 0.9) has a
trend before its 64th revision, with it one in ten; of true losses one in twenty comes later."""


def _at(value: Value) -> findings.At:
    return findings.At(*value[:2])


@dataclass(frozen=True, slots=True)
class Beginning:
    """The likeliest first revision at a new level, `index`, and those that may be it.

    `chances` are (index, probability) of the 95 % interval, after the revision before it, with
    none. With revision `shown_by` the evidence was complete, by what is known of both levels.
    """

    index: int
    chances: tuple[tuple[int, float], ...]
    shown_by: int


def beginning_of(found: Levels, locations: Floats, number: int) -> Beginning:
    """Return where level `number` (from 1) of a series of log `locations` began.

    Every place in question is as likely as two levels explain the revisions on its sides. One that
    lies beyond both is of neither: a level never begins with it, though it may have brought it.
    """
    before, after = found.levels[number - 1], found.levels[number]
    if number in found.rollouts:
        # Each revision over which the change came may have brought a part.
        first, stop = found.rollouts[number]
        each = [(at, 1 / (stop - first + 1)) for at in range(first, stop + 1)]
        shown_by = _shown_by(found, before, after, after.first)
        return Beginning(after.first, ((first - 1, 0.0), *each), shown_by)
    # No further than half a level: two changes never change their order.
    first = after.first - min(LOOK, (after.first - before.first - 1) // 2)
    indices = np.arange(first, after.first + min(LOOK, (after.stop - after.first) // 2) + 1)
    rows = slice(before.first, after.stop)
    values, scatter = locations[rows] - found.curve[rows], found.scatter[rows]
    off = np.minimum(abs(values - before.level), abs(values - after.level))
    kept = off < LEFT_OUT * scatter
    # Of two revisions that do not agree neither lies at their level: then both count.
    border = after.first - before.first
    kept[:border] |= not kept[:border].any()
    kept[border:] |= not kept[border:].any()
    weights = np.where(kept, scatter**-2.0, 0.0)
    likely = _likely(values, weights, indices - before.first, found.inflation)
    low, high = _interval(likely)
    index = int(likely.argmax())
    while index < high and not kept[first + index - before.first]:
        index += 1
    places = range(first + low - 1, first + high + 1)
    chances = zip(places, [0.0, *likely[low : high + 1].tolist()], strict=True)
    return Beginning(first + index, tuple(chances), _shown_by(found, before, after, first + index))


def _likely(values: Floats, weights: Floats, indices: NDArray[np.intp], inflation: float) -> Floats:
    """The probability that the second of two levels of `values` begins at each of `indices`.

    The levels are unknown: the likelihood of each place is integrated over both. Memory leaves a
    jump as sharp as it is, and lets what follows stray: with the square root of its inflation of a
    mean, places are as likely as stated (`benchmarks.worlds.standing`).
    """
    mass, total = weights.cumsum(), (weights * (values - values[0])).cumsum()
    left, right = mass[indices - 1], mass[-1] - mass[indices - 1]
    sums = total[indices - 1]
    evidence = np.full(len(indices), -np.inf)
    known = (left > 0) & (right > 0)
    squares = sums[known] ** 2 / left[known] + (total[-1] - sums[known]) ** 2 / right[known]
    evidence[known] = squares / 2 / sqrt(inflation) - np.log(left[known] * right[known]) / 2
    likely = np.exp(evidence - evidence.max())
    return np.asarray(likely / likely.sum())


def _interval(likely: Floats) -> tuple[int, int]:
    """The ends of the likeliest places that hold `COVERED` together."""
    order = (-likely).argsort(kind="stable")
    kept = order[: int(likely[order].cumsum().searchsorted(COVERED)) + 1]
    return int(kept.min()), int(kept.max())


def _shown_by(found: Levels, before: Level, after: Level, index: int) -> int:
    """The revision with which as many as are needed to confirm such a gap were measured."""
    gap = after.level - before.level
    needed = scale.as_student(scale.CONFIRM, float(found.freedom[index]))
    own = float(found.scatter[index]) ** 2 * found.inflation
    last = after.stop - 1
    spare = gap * gap / needed - before.variance
    count = own / spare if spare > 0 else float(last)
    return int(min(index + max(np.ceil(count), LEAST) - 1, last))


def _excursions(values: Sequence[Value], found: Levels) -> Iterator[findings.Finding | None]:
    """The excursions of a series, in order along the tree; each ends where a level is back. None
    stands for one that recurs.

    The newest revision is none: the next one will show. Nor is one of many: a series with heavy
    tails or a rare slow mode has them again and again, and they are no events.
    """
    earlier: list[tuple[int, float]] = []
    is_far = ~(np.abs(found.residuals) < FURTHEST)
    near = np.flatnonzero(~is_far)
    starts = [level.first for level in found.levels]
    for index in np.flatnonzero(is_far).tolist():
        # With an excursion no level begins: it left the one before.
        level = found.levels[max(bisect_left(starts, index) - 1, 0)]
        base = level.level + float(found.curve[index])
        after = near[near > index]
        freedom = float(found.freedom[index])
        if freedom < LEAST_FREEDOM or not len(after) or not _agree(values[index], base):
            continue
        residual = float(found.residuals[index])
        alike = sum(index - i <= RECENT and one / residual >= AS_FAR for i, one in earlier)
        earlier.append((index, residual))
        if alike >= RECURRENT:
            yield None
            continue
        off = values[index].location - base
        margin = sqrt(
            scale.as_student(TWO_SIDED_95, freedom)
            * (float(found.scatter[index]) ** 2 + level.variance)
        )
        base = values[index].location - off
        yield _sized(values, (index, int(after[0])), (off, margin), base=base, score=abs(residual))


def _agree(value: Value, level: float) -> bool:
    """Whether all samples lie on the same side, none of them half of the way back."""
    off = value.location - level
    return len(value.logs) > 1 and all((log - level) / off > AGREE for log in value.logs)


def _slow(locations: Floats, found: Levels, values: Sequence[Value]) -> Iterator[findings.Finding]:
    """The slow loss or gain that a series shows to its end: from where to where its level moved.

    It begins at the log level at its beginning. Where steps lie within, it ends at what the level
    would be without the move plus the move: between both is the move alone.
    """
    count = len(locations)
    lengths = {max(int(share * count), min(LEAST_WINDOW, count)) for share in WINDOWS}
    if found.bend is not None:
        lengths.add(count - found.bend)
    moves = [_trend(locations, found, count - length, values) for length in sorted(lengths)[::-1]]
    move = max(filter(None, moves), key=lambda one: one.score, default=None)
    if move is not None:
        yield move


def _trend(
    locations: Floats, found: Levels, first: int, values: Sequence[Value]
) -> findings.Finding | None:
    """The trend from revision `first` on, None below `LIMIT`: least squares inside levels, which
    takes steps out (Frisch and Waugh 1933).
    """
    kept = np.flatnonzero(np.abs(found.residuals[first:]) < LEFT_OUT) + first
    if len(kept) < SHORT:
        return None
    firsts = [one.first for one in found.levels if kept[0] < one.first <= kept[-1]]
    freedom = len(kept) - len(firsts) - 2
    if freedom < min(len(kept), SHORTEST) // 2:
        return None
    weights = 1 / found.scatter[kept]
    share = (kept - kept[0]) / (kept[-1] - kept[0])
    starts = [0, *kept.searchsorted(firsts).tolist()]
    both = np.column_stack([share, locations[kept]])
    both, means = within_levels(both, weights * weights, starts)
    moved, off = both.T * weights
    size = float(moved @ off) / float(moved @ moved)
    residuals = off - size * moved
    inflation = inflation_of(residuals)
    if len(kept) < SHORTEST and inflation > MEMORY:
        return None
    variance = float(residuals @ residuals) / freedom * inflation / float(moved @ moved)
    if not variance:
        # Equal values whose logarithm is 0: nothing moves, and nothing scatters.
        return None
    own = freedom / inflation
    score = scale.as_score(size * size / variance, own)
    if score < LIMIT:
        return None
    margin = sqrt(scale.as_student(TWO_SIDED_95, own) * variance)
    base = float(means[-1, 1] - size * means[-1, 0])
    return _sized(values, (int(kept[0]), int(kept[-1])), (size, margin), base=base, score=score)


def find_in(measured: Sequence[Value], *, with_slow: bool = True) -> findings.Findings:
    """Return what is found in revisions that are reduced already, in order along the tree.

    Slow losses and gains are looked for where a caller asks for them.
    """
    if len(measured) < scale.LEAST_REVISIONS:
        return findings.Findings()
    values, two = take_out(measured)
    _, _, location, variance, freedom, share, *_ = zip(*values, strict=True)
    locations, within = np.array(location), np.where(freedom, variance, np.nan)
    found = levels_of(locations, within, float(np.mean(share)), _finest(measured))
    if found is None:
        return findings.Findings()
    begun = [beginning_of(found, locations, i) for i in range(1, len(found.levels))]
    odd = list(_excursions(values, found))
    ratios = found.scatter[1:] / found.scatter[:-1]
    return findings.Findings(
        excursions=tuple(filter(None, odd)),
        noise_changes=tuple(
            findings.NoiseChange(_at(values[i]), float(ratios[i - 1]), _at(values[i - 1]))
            for i in found.calm[1:]
        ),
        modes=tuple(
            findings.ModeChange(
                _at(values[i]), before, after, percent(-two.gap), _at(values[max(i - 1, 0)])
            )
            for i, before, after in two.changes
        )
        if two
        else (),
        slow=tuple(_slow(locations, found, values)) if with_slow else (),
        noise_pct=100 * float(found.scatter[-1]),
        steps=tuple(_step(found, i, begun, values) for i in range(len(begun))),
        stretches=tuple(_stretches(found, begun, values)),
        has_modes=two is not None,
        recurring=odd.count(None),
    )


def _finest(measured: Sequence[Value]) -> float:
    """The smallest standard deviation of a revision that is believed."""
    least = 1.0
    for value in measured:
        least = max(min(least, half_digit(value.logs)), FINEST)
        if least == FINEST:
            break
    return least


def _step(
    found: Levels, number: int, begun: Sequence[Beginning], values: Sequence[Value]
) -> findings.Step:
    """The change to level `number` + 1.

    Where fewer revisions show a change than lie between two, none is reported twice.
    """
    before, after = found.levels[number : number + 2]
    gap = after.level - before.level
    variance = before.variance + after.variance + found.of_curve[number]
    freedom = freedom_between(before, after)
    margin = sqrt(scale.as_student(TWO_SIDED_95, freedom) * variance)
    score = scale.as_score(gap * gap / variance, freedom)
    beginning, *later = begun[number:]
    first, last = beginning.index, (later[0].index if later else len(values)) - 1
    base = before.level + float(found.curve[first])
    return findings.Step(
        _sized(values, (first, last), (gap, margin), base=base, score=score),
        tuple((*values[i][:2], chance) for i, chance in beginning.chances),
        _at(values[beginning.shown_by]),
        (before.count, after.count),
    )


def _stretches(
    found: Levels, begun: Sequence[Beginning], values: Sequence[Value]
) -> Iterator[findings.Segment]:
    """The levels, each from where a change most likely began to the next."""
    edges = [0, *(one.index for one in begun), len(values)]
    for one, (first, stop) in zip(found.levels, pairwise(edges), strict=True):
        start = one.level + float(found.curve[first])
        end = one.level + float(found.curve[stop - 1])
        margin = sqrt(scale.as_student(TWO_SIDED_95, one.freedom) * one.variance)
        logs = (start, start - margin, start + margin, end)
        level, low, high, end_level = map(scale.exponential, logs)
        ends = _at(values[first]), _at(values[stop - 1])
        segment = findings.Segment(*ends, stop - first, level, low, high, end_level)
        if (at := found.bend) is not None and first < at < stop - 1:
            level = scale.exponential(one.level + float(found.curve[at]))
            rest = stop - 1 - at
            segment = replace(segment, bend=_at(values[at]), bend_level=level, after_bend=rest)
        yield segment


def _sized(
    values: Sequence[Value],
    ends: tuple[int, int],
    size: tuple[float, float],
    *,
    base: float,
    score: float,
) -> findings.Finding:
    """A finding from one revision to another, off the log level `base` by a `size` ± its margin."""
    (first, last), (log, margin) = ends, size
    return findings.Finding(
        _at(values[first]),
        _at(values[last]),
        percent(log),
        percent(log - margin),
        percent(log + margin),
        before=scale.exponential(base),
        level=scale.exponential(base + log),
        score=score,
        previous=_at(values[max(first - 1, 0)]),
    )
