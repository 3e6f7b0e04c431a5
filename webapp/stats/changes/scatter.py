"""How much revisions scatter, and where that changes: from differences, which see no level; and
optimal partitioning, the cheapest way to cut a sequence into stretches of one state each.
"""

from itertools import pairwise
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from webapp.stats.changes.noise import (
    EFFICIENCY,
    GUESS_HALVES,
    GUESS_WEIGHT,
    MEDIAN_OF_SQUARES,
)
from webapp.stats.changes.points import FINEST, Floats

BLOCK = 80
"""Revisions that are read at once. A block is read again from where the best partition first begins
a stretch inside it: short blocks are many, long ones are read again more often (time only)."""


def partition(costs: Floats, penalty: float | Floats, least: int) -> tuple[list[int], list[int]]:
    """Return where each stretch begins, and its state, so that the whole costs least.

    `costs` is (revisions, states): what each revision costs in each state. Every stretch but the
    first costs `penalty` more, which may depend on the revision with which it begins (revisions,),
    and holds at least `least` revisions. Exact over the given states (Jackson et al. 2005); time
    grows as revisions times states. A sequence shorter than two stretches is one.
    """
    count, sums = len(costs), _sums_of(costs)
    # A price for each revision is that of levels, of which there are mostly several.
    if count < 2 * least or (isinstance(penalty, float) and _is_one(sums, penalty)):
        return [0], [int(sums[count].argmin())]
    penalties = np.zeros(count + 1)
    penalties[:count] = penalty
    # What the best partition costs that a stretch begins after, with the price of beginning.
    begins = np.full(count + 1, np.inf)
    begins[0] = 0.0
    # `leads` is the cost of the best partition that ends in a state, less the sum of all its costs:
    # it changes only where a stretch begins, so that no revision is added twice.
    leads = np.empty_like(sums)
    leads[:least] = 0.0
    stop = least
    while stop <= count:
        stop = _read_block(sums, leads, begins, stop, (penalties, least))
    return _traced(sums, leads, begins, least)


def _is_one(sums: Floats, penalty: float) -> bool:
    """Whether one stretch is sure to cost least, which shows in less than half the time: none saves
    more than the one change that it needs, nor the first and the last together more than theirs.
    """
    saved = sums[:, [int(sums[-1].argmin())]] - sums
    lowest = np.fmin.accumulate(saved, axis=0)
    ends = float(saved.max()) + float((saved[-1] - lowest[-1]).max())
    return ends < penalty and float(np.subtract(saved, lowest, out=lowest).max()) <= penalty


def _sums_of(costs: Floats) -> Floats:
    """What the revisions before each one cost in each state, and all: (revisions + 1, states).

    An odd last state is there twice, and never chosen: NumPy adds complex numbers, two states each,
    as fast as single ones.
    """
    if costs.shape[1] % 2:
        costs = np.concatenate((costs, costs[:, -1:]), axis=1)
    sums = np.zeros((len(costs) + 1, costs.shape[1]))
    np.add.accumulate(costs.view(complex), axis=0, out=sums[1:].view(complex))
    return sums


def _read_block(
    sums: Floats, leads: Floats, begins: Floats, first: int, rule: tuple[Floats, int]
) -> int:
    """Fill `begins` and `leads` from row `first` on as far as is sure; return the next row.

    First as if no stretch began inside the block; then with those that begin so. A row is sure
    when all before it came out as supposed.
    """
    penalties, least = rule
    stop = min(first + BLOCK, len(sums))
    block, own, former = leads[first:stop], sums[first:stop], leads[first - 1]
    costs = np.add(former, own)
    # Finding where a row is least takes half as long as finding how little that is.
    least_cost = costs[np.arange(stop - first), costs.argmin(axis=1)]
    np.add(least_cost, penalties[first:stop], out=begins[first:stop])
    earlier = slice(first - least, stop - least)
    np.subtract(begins[earlier, None], sums[earlier], out=block)
    np.minimum(block[0], former, out=block[0])
    # Nothing is NaN here, and `minimum.accumulate` takes twice as long.
    np.fmin.accumulate(block, axis=0, out=block)
    np.add(block, own, out=costs)
    # Another minimum is a smaller one: most often there is none, and none needs to be looked for.
    is_less = np.less(costs, least_cost[:, None])
    at = int(is_less.argmax())
    row: int = at // costs.shape[1]
    if not is_less.item(at):
        return stop
    begins[first + row] = np.minimum.reduce(costs[row]) + penalties[first + row]
    return first + row + 1


def _traced(sums: Floats, leads: Floats, begins: Floats, least: int) -> tuple[list[int], list[int]]:
    """Read the best partition from its end."""
    starts: list[int] = []
    states: list[int] = []
    stop = len(sums) - 1
    while stop > 0:
        state = int((leads[stop] + sums[stop]).argmin())
        last = stop - least + 1
        start = int((begins[:last] - sums[:last, state]).argmin())
        starts.append(start)
        states.append(state)
        stop = start
    return starts[::-1], states[::-1]


CLIP = 2.5
"""Standard deviations that a difference counts at most."""

OF_CLIPPED = 0.9775
"""Mean of the square of a standard normal variable clipped at `CLIP`."""

TAIL = 5.0
"""Degrees of freedom of the t density by which stretches of scatter are compared: heavy tails are
no change of noise."""

DIFFERENCE_CAP = 8.0
"""What one difference costs at most, in twice the log likelihood: an odd revision makes two far
ones, which must not pay for a stretch of their own."""

STATES_APART = 1.25
RATIOS = STATES_APART ** np.arange(-18.0, 19.0)
"""Variances that are tried, in that of all revisions, and the ratio of neighbouring ones."""

PRICE, SAMPLE_PRICE = 20.0, 16.0
"""Of a change of noise between revisions and inside them, in twice the log likelihood: `calm` and
`returning` suffer from smaller ones, `noises` (found within ten revisions) from larger ones."""

LEAST, LEAST_OF_SAMPLES = 6, 4
"""Differences that a stretch of other noise holds at least, and revisions, which have several
samples each, that one of other scatter inside builds does."""

LAST_BIT = 1e-9
"""Standard deviations below which residuals are those of arithmetic."""

LEAST_RATIO = 1.6
"""Ratio of standard deviations below which a change of noise is not worth telling."""

SAMPLE_CAP = 9.0
"""What one revision's inner variance counts at most, in variances of its logarithm."""

JUMP = 10.0
"""What a jump between neighbours counts at least, for it to be a step whatever memory there is, and
never a part of a move: with 16 a machine that wanders hides one more step in a hundred; with no
limit at all memory of .5 makes twice the false changes."""


class Guess(NamedTuple):
    """The variance of a revision that is `expected`, its weight, and the least that is believed."""

    expected: float
    weight: float
    least: float


def median_of(values: Floats) -> float:
    """Return the median of values, (n,), one at least; of few, NumPy's takes ten times as long."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def variance_of(squares: Floats) -> float:
    """Return the variance that squares show (of residuals, or half of those of differences), each
    clipped at `CLIP` standard deviations (Huber's proposal 2) from their median on; 0 of none.
    """
    if not len(squares):
        return 0.0
    ordered = np.sort(squares)
    apart = ordered[int(ordered.searchsorted(0.0, side="right")) :]
    count = len(apart)
    if not count:
        return FINEST**2
    variance = float(apart[(count - 1) // 2] + apart[count // 2]) / 2 / MEDIAN_OF_SQUARES
    for _ in range(8):
        former = variance
        clipped = np.minimum(squares, CLIP * CLIP * variance)
        variance = float(np.add.reduce(clipped)) / len(squares) / OF_CLIPPED
        if variance == former:
            break
    return max(variance, FINEST**2)


def stretches(locations: Floats, within: Floats, finest: float) -> list[int]:
    """Return the index of the first revision of each stretch of equal scatter, of revisions and of
    their samples; 0 is the first. Arguments are those of `levels.levels_of`.
    """
    between = _of_revisions(locations, finest)
    inside = _of_samples(within, finest)
    for one in inside:
        # The differences need longer to show where: the samples know better.
        between = [other for other in between if abs(other - one) > LEAST + LEAST]
    return sorted({0, *between, *inside})


def _of_revisions(locations: Floats, finest: float) -> list[int]:
    """Where the scatter of revisions changes."""
    squares = np.diff(locations) ** 2 / 2
    middle = variance_of(squares)
    if len(squares) < 2 * LEAST or not middle:
        return []
    states = np.maximum(middle * RATIOS, finest**2)
    far = np.divide.outer(squares, TAIL * states)
    np.log1p(far, out=far)
    far *= TAIL + 1
    # An odd difference is as likely in a calm stretch as in another: else one so calm that all of
    # another are odd would be the cheapest for both.
    logs = np.log(states)
    costs = np.minimum(far + logs, DIFFERENCE_CAP + np.maximum(logs, log(middle)), out=far)
    costs *= EFFICIENCY
    # Difference i is that of the revisions i and i + 1.
    return [at + 1 for at in _begun(*partition(costs, PRICE, LEAST), log(STATES_APART))]


def _of_samples(within: Floats, finest: float) -> list[int]:
    """Where the scatter of samples inside a build changes: levels of the variances' logarithms.

    Samples that are all equal scatter by no more than `finest`: a count that was 0 for long and is
    about 30 now began to scatter where it rose.
    """
    known = np.flatnonzero(~np.isnan(within))
    if len(known) < 2 * LEAST:
        return []
    logs = np.log(np.maximum(within[known], finest**2))
    spread = sqrt(variance_of(np.diff(logs) ** 2 / 2))
    states = np.arange(logs.min(), logs.max() + spread, spread / 4)
    costs = np.minimum(((logs[:, None] - states) / spread) ** 2, SAMPLE_CAP)
    found = partition(costs, SAMPLE_PRICE, LEAST_OF_SAMPLES)
    return known[_begun(*found, spread / 4)].tolist()  # type: ignore[no-any-return]


def _begun(starts: list[int], chosen: list[int], apart: float) -> list[int]:
    """Where a stretch begins that scatters otherwise by `LEAST_RATIO`, where logarithms of the
    variances of neighbouring states lie so far `apart`.
    """
    steps = zip(starts[1:], pairwise(chosen), strict=True)
    return [at for at, (one, other) in steps if abs(other - one) * apart / 2 >= log(LEAST_RATIO)]


def inflation_of(residuals: Floats) -> float:
    """Return by how much memory inflates the variance of a mean of many revisions: 1 at least.

    `residuals`, (revisions,), are in standard deviations. Equal values leave those of the last bit,
    all on one side.
    """
    count = len(residuals)
    centred = residuals - residuals.mean()
    total = float(centred @ centred)
    if count < 3 or total <= count * LAST_BIT**2:
        return 1.0
    inflation = 1.0
    for lag in range(1, count // 4 + 1):
        rho = float(centred[lag:] @ centred[:-lag]) / total + 1.0 / count
        # A correlation that chance alone makes shows nothing, and would add up.
        if rho <= 1.0 / sqrt(count):
            break
        inflation += 2 * rho
    return inflation


def inflation_of_mean(inflation: float, count: int) -> float:
    """Return that of a mean of `count` revisions, of AR(1) which has `inflation` in the limit."""
    a = (inflation - 1) / (inflation + 1)
    return float(inflation - 2 * a * (1 - a**count) / (count * (1 - a) ** 2))


def jumps_of(locations: Floats, scatter: Floats) -> Floats:
    """Return the evidence that each revision begins a new level, by its next neighbours alone.

    Memory leaves little of what many revisions show, and nothing of what neighbours do: in an AR(1)
    process a step is a first innovation as large as itself, whatever its coefficient. So the square
    of the distance of two revisions and the two before, in variances of all such distances, is
    taken from what memory makes a change cost. 0 where the four do not agree.
    """
    jumps = np.zeros(len(locations))
    first, second, third, fourth = (locations[i : len(locations) - 3 + i] for i in range(4))
    between = np.maximum(
        np.minimum(third, fourth) - np.maximum(first, second),
        np.minimum(first, second) - np.maximum(third, fourth),
    )
    apart = (third + fourth - first - second) / 2 / scatter[2:-1]
    squares = apart**2
    squares /= variance_of(squares)
    agree = between / scatter[2:-1] >= np.abs(apart) / 2
    jumps[2:-1] = np.where(agree & (squares >= JUMP), squares, 0.0)
    return jumps


def guesses_of(within: Floats, share: float, calm: list[int], finest: float) -> list[Guess]:
    """Return what is believed of each stretch beforehand: that builds scatter as runs do."""
    parts = (within[first:stop] for first, stop in zip(calm, [*calm[1:], len(within)], strict=True))
    positive = (part[part > 0] for part in parts)
    known = [median_of(part) if len(part) else 0.0 for part in positive]
    return [Guess(one * (1 + share), GUESS_WEIGHT if one else 0.0, finest**2) for one in known]


def with_guess(variance: float, own: float, guess: Guess) -> tuple[float, float]:
    """Return a variance that has `own` degrees of freedom together with the guess, and theirs."""
    # As many differences as make so many degrees of freedom let it fade, as in `noise`.
    weight = guess.weight / (1 + (1.5 * own / GUESS_HALVES) ** 2)
    freedom = own + weight
    if not freedom:
        return guess.least, 0.0
    return max((own * variance + weight * guess.expected) / freedom, guess.least), freedom
