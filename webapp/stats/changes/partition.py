"""Optimal partitioning: the cheapest way to cut a sequence into stretches of one state each."""

import numpy as np

from webapp.stats.changes.points import Floats

BLOCK = 64
"""Revisions that are read at once. A block is read again from where the best partition first begins
a stretch inside it: short blocks are many, long ones are read again more often (time only)."""


def partition(costs: Floats, penalty: float | Floats, least: int) -> tuple[list[int], list[int]]:
    """Return where each stretch begins, and its state, so that the whole costs least.

    `costs` is (revisions, states): what each revision costs in each state. Every stretch but the
    first costs `penalty` more, which may depend on the revision with which it begins (revisions,),
    and holds at least `least` revisions. Exact over the given states
    (Jackson et al. 2005); time grows as revisions times states. A sequence shorter than two
    stretches is one.
    """
    return partition_of_sums(sums_of(costs), penalty, least)


def sums_of(costs: Floats) -> Floats:
    """Return what the revisions before each one cost in each state, and at last what all do:
    (revisions + 1, states). Several partitions of the same costs need it once.

    An odd last state is there twice, and never chosen: NumPy adds complex numbers, two states each,
    as fast as single ones.
    """
    if costs.shape[1] % 2:
        costs = np.concatenate((costs, costs[:, -1:]), axis=1)
    sums = np.zeros((len(costs) + 1, costs.shape[1]))
    np.add.accumulate(costs.view(complex), axis=0, out=sums[1:].view(complex))
    return sums


def partition_of_sums(
    sums: Floats, penalty: float | Floats, least: int
) -> tuple[list[int], list[int]]:
    """Return what `partition` does, from the costs that `sums_of` added up."""
    count = len(sums) - 1
    penalties = np.zeros(count + 1)
    penalties[:count] = penalty
    if count < 2 * least:
        return [0], [int(sums[count].argmin())]
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
    _accumulate_least(block, costs)
    np.add(block, own, out=costs)
    # Another minimum is a smaller one: most often there is none, and none needs to be looked for.
    is_less = np.less(costs, least_cost[:, None])
    at = int(is_less.argmax())
    row: int = at // costs.shape[1]
    if not is_less.item(at):
        return stop
    begins[first + row] = np.minimum.reduce(costs[row]) + penalties[first + row]
    return first + row + 1


def _accumulate_least(rows: Floats, spare: Floats) -> None:
    """Let each of `rows` be the least of itself and all before it; `spare` is overwritten.

    By doubling (Hillis and Steele 1986): `minimum.accumulate` takes one element at a time.
    """
    source, target, apart = rows, spare, 1
    while apart < len(rows):
        target[:apart] = source[:apart]
        np.minimum(source[apart:], source[:-apart], out=target[apart:])
        source, target, apart = target, source, 2 * apart
    if source is not rows:
        rows[:] = source


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
