"""Runs of two modes: some are slower than the others by a gap that is always the same.

The location of five samples jumps with the number of slow ones among them. So the gap is taken out
before levels are looked for, and the share of slow runs is looked at for itself. Where all runs of
a stretch are in the mode that is not the usual one, that is a level, and is left to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from webapp.stats.changes.points import Floats, Value, of_logs
from webapp.stats.changes.scatter import median_of, partition

LEAST_SAMPLES, LEAST_SPLIT = 4, 5
"""Samples of a revision that can show two modes, and revisions that show both, at least."""

APART = 8.0
"""Gap of two modes in standard deviations inside them, at least (those are taken after the cut at
the widest spacing, which makes them a third too small)."""

LEAST_AGREEING = 0.75
"""Share of the revisions with a spacing of at least half the gap whose gap is the common one: wild
samples of heavy tails lie off by any amount, and noise that grows leaves nothing empty between."""

GAP_WIDTH = 4.0
"""Standard deviations inside a mode by which a revision's gap may differ from the common one."""

NEIGHBOURS, AT_MODE = 8, 0.25
"""Revisions with both modes, before and after, that show where the modes lie for one without, and
share of the gap within which that one lies at one of them."""

SHARES = np.array([0.005, 0.02, 0.05, 0.1, 0.15, *np.linspace(0.2, 0.8, 13), 0.85, 0.9, 0.95,
                   0.98, 0.995])  # fmt: skip
"""Shares of slow runs that are tried."""

PRICE, LEAST = 14.0, 5
"""Of a change of share, in twice the log likelihood (guarded by the rows with both modes from
beginning to end, `calm`), and revisions of a stretch of equal share."""

STRAY, LEAST_CHANGE = 0.05, 0.1
"""Share of the revisions of a stretch that may show both modes by a wild sample, and change of the
share below which nothing is reported."""

LEAST_WHOLE = 3
"""Revisions in a row, all of whose runs are in the mode that is not the usual one, that are a level
and stay as measured. Where at most half of five runs are in it, three such revisions follow each
other by chance once in 30,000 places; two do once in 1,000 (`noises`)."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Two modes, `gap` apart on the log scale (the slow one lies lower), and changes of share: from
    which revision on, how many of the runs are slow before it, and how many after it.
    """

    gap: float
    changes: tuple[tuple[int, float, float], ...]


def take_out(values: Sequence[Value]) -> tuple[list[Value], Modes | None]:
    """Return the values with the gap taken out of the slow runs, and the modes; None: one mode."""
    cuts, lone = _cut(values), (list(values), None)
    if (cuts.count > 0).sum() < LEAST_SPLIT:
        return lone
    width = sqrt(median_of(cuts.variance[cuts.count > 0]))
    wide = np.flatnonzero(cuts.spacing > APART * width)
    if len(wide) < LEAST_SPLIT:
        return lone
    gap = median_of(cuts.gap[wide])
    if gap <= APART * sqrt(median_of(cuts.variance[wide])):
        # Those revisions scatter more than others: their samples lie far apart on either side too.
        return lone
    split = wide[np.abs(cuts.gap[wide] - gap) <= GAP_WIDTH * width]
    between = int((cuts.spacing > gap / 2).sum())
    if len(split) < max(LEAST_SPLIT, LEAST_AGREEING * between):
        return lone
    sizes = np.array([len(value.logs) for value in values])
    lower_is_usual = bool(2 * cuts.count[split].sum() > sizes[split].sum())
    slow = _slow(values, cuts, split, gap, lower_is_usual=lower_is_usual)
    stretches = _stretches(slow.astype(float), sizes, split)
    stays = _whole(slow == (0 if lower_is_usual else sizes))
    taken = list(values)
    for one in stretches:
        if one.is_mixed or lower_is_usual == (one.share > 1 / 2):
            for i in np.flatnonzero(~stays[one.first : one.stop]).tolist():
                at = one.first + i
                taken[at] = _moved(values[at], int(slow[at]), gap, lower_is_usual=lower_is_usual)
    changes = [
        (after.first, before.share, after.share)
        for before, after in pairwise(stretches)
        if abs(after.share - before.share) >= LEAST_CHANGE
        and all(one.is_mixed or lower_is_usual == (one.share > 1 / 2) for one in (before, after))
    ]
    return taken, Modes(gap, tuple(changes))


def _whole(unusual: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which revisions lie among `LEAST_WHOLE` or more neighbours that are all `unusual`."""
    edges = np.flatnonzero(np.diff(unusual.astype(np.intp), prepend=0, append=0))
    whole = np.zeros(len(unusual), dtype=bool)
    for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        whole[first:stop] = stop - first >= LEAST_WHOLE
    return whole


def _moved(value: Value, slow: int, gap: float, *, lower_is_usual: bool) -> Value:
    """The revision with all its samples in the usual mode."""
    is_slow = np.arange(len(value.logs)) < slow
    moves = np.where(is_slow, 0.0, -gap) if lower_is_usual else np.where(is_slow, gap, 0.0)
    return of_logs(value, np.array(value.logs) + moves) if moves.any() else value


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Samples of each revision cut at their widest spacing: `count` lie below it.

    `gap` is that of the parts' means and `high` the upper one, `variance` that inside them. All are
    0 where a revision has too few samples.
    """

    count: NDArray[np.intp]
    spacing: Floats
    gap: Floats
    high: Floats
    variance: Floats


def _cut(values: Sequence[Value]) -> _Cuts:
    shape = len(values)
    cuts = _Cuts(np.zeros(shape, dtype=np.intp), *np.zeros((4, shape)))
    every = [value.logs for value in values]
    lengths = [*map(len, every)]
    sizes = np.array(lengths)
    together = np.fromiter(chain.from_iterable(every), float)
    firsts = np.add.accumulate(sizes) - sizes
    for size in set(lengths) - set(range(LEAST_SAMPLES)):
        members = np.flatnonzero(sizes == size)
        # Samples in rows: there are few of them, and NumPy is quick along what is many.
        logs = together[np.add.outer(np.arange(size), firsts[members])]
        columns = np.arange(len(members))
        spacings = logs[1:] - logs[:-1]
        last = spacings.argmax(axis=0)
        count = last + 1
        sums = np.add.accumulate(logs, axis=0)
        below = sums[last, columns]
        low, high = below / count, (sums[-1] - below) / (size - count)
        off = logs - np.where(np.arange(size)[:, None] < count, low, high)
        off *= off
        cuts.count[members], cuts.spacing[members] = count, spacings[last, columns]
        cuts.gap[members], cuts.high[members] = high - low, high
        cuts.variance[members] = np.add.reduce(off, axis=0) / (size - 2)
    return cuts


def _slow(
    values: Sequence[Value],
    cuts: _Cuts,
    split: NDArray[np.intp],
    gap: float,
    *,
    lower_is_usual: bool,
) -> NDArray[np.intp]:
    """How many samples of each revision are slow.

    One whose samples are all of one mode is of the mode at which it lies, by its neighbours that
    show both; of the usual one where it lies at neither: another level is no mode.
    """
    slow = np.zeros(len(values), dtype=np.intp)
    slow[split] = cuts.count[split]
    highs = cuts.high[split]
    for i in np.setdiff1d(np.arange(len(values)), split).tolist():
        at = int(np.searchsorted(split, i))
        high = median_of(highs[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS])
        logs = values[i].logs
        off = logs[len(logs) // 2] - high
        is_low, is_high = (abs(one) < AT_MODE * gap for one in (off + gap, off))
        slow[i] = len(logs) if is_low or (lower_is_usual and not is_high) else 0
    return slow


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Revisions `first` to before `stop`, a `share` of whose runs is slow.

    `is_mixed`: whether more than a stray one of its revisions shows both modes.
    """

    first: int
    stop: int
    share: float
    is_mixed: bool


def _stretches(slow: Floats, sizes: NDArray[np.intp], split: NDArray[np.intp]) -> list[_Stretch]:
    """The stretches of equal share of slow runs."""
    counts = slow[:, None]
    likely = counts * np.log(SHARES) + (sizes[:, None] - counts) * np.log(1 - SHARES)
    starts, _ = partition(-2 * likely / _excess(slow, sizes), PRICE, LEAST)
    found = []
    for first, stop in pairwise([*starts, len(slow)]):
        both = int(((split >= first) & (split < stop)).sum())
        share = float(slow[first:stop].sum() / sizes[first:stop].sum())
        found.append(_Stretch(first, stop, share, both > STRAY * (stop - first)))
    return found


def _excess(counts: Floats, sizes: NDArray[np.intp]) -> float:
    """By how much shares scatter more than chance makes them: where whole builds fall into a mode.

    By differences of neighbours, which a change of share hardly moves; 1 at least.
    """
    share = float(counts.sum() / sizes.sum())
    expected = share * (1 - share) / float(sizes.mean())
    found = float((np.diff(counts / sizes) ** 2).mean()) / 2
    return max(found / expected, 1.0) if expected else 1.0
