"""Optimal partitioning: the cheapest way to cut a sequence into stretches of one state each."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 64
"""Revisions that are read at once. A block is read again from where the best partition first begins
a stretch inside it: short blocks are many, long ones are read again more often (time only)."""


def partition(costs: Floats, penalty: float, least: int) -> tuple[list[int], list[int]]:
    """Return where each stretch begins, and its state, so that the whole costs least.

    `costs` is (revisions, states): what each revision costs in each state. Every stretch but the
    first costs `penalty` more, and holds at least `least` revisions. Exact over the given states
    (Jackson et al. 2005); time grows as revisions times states. A sequence shorter than two
    stretches is one.
    """
    count = len(costs)
    sums = np.zeros((count + 1, costs.shape[1]))
    np.cumsum(costs, axis=0, out=sums[1:])
    if count < 2 * least:
        return [0], [int(np.argmin(sums[count]))]
    # What the best partition costs that a stretch begins after, with the price of beginning.
    begins = np.full(count + 1, np.inf)
    begins[0] = 0.0
    # `leads` is the cost of the best partition that ends in a state, less the sum of all its costs:
    # it changes only where a stretch begins, so that no revision is added twice.
    leads = np.zeros_like(sums)
    stop = least
    while stop <= count:
        stop = _read_block(sums, leads, begins, stop, (penalty, least))
    return _traced(sums, leads, begins, least)


def _read_block(
    sums: Floats, leads: Floats, begins: Floats, first: int, rule: tuple[float, int]
) -> int:
    """Fill `begins` and `leads` from row `first` on as far as is sure; return the next row.

    First as if no stretch began inside the block; then with those that begin so. A row is sure
    when all before it came out as supposed.
    """
    penalty, least = rule
    rows = slice(first, min(first + BLOCK, len(sums)))
    earlier = slice(rows.start - least, rows.stop - least)
    block = leads[rows]
    begins[rows] = np.add(leads[first - 1], sums[rows], out=block).min(axis=1) + penalty
    np.subtract(begins[earlier, None], sums[earlier], out=block)
    np.minimum(block[0], leads[first - 1], out=block[0])
    np.minimum.accumulate(block, axis=0, out=block)
    found = (block + sums[rows]).min(axis=1) + penalty
    others = np.flatnonzero(found != begins[rows])
    sure = int(others[0]) + 1 if len(others) else len(found)
    begins[first : first + sure] = found[:sure]
    return first + sure


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
