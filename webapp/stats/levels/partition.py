"""Optimal partitioning: the cheapest way to cut a sequence into stretches of one state each."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
    # `lead` is the cost of the best partition that ends in a state, less the sum of all its costs:
    # it changes only where a stretch begins, so that no revision is added twice.
    lead = np.zeros(costs.shape[1])
    whole = np.empty_like(lead)
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    for stop in range(least, count + 1):
        start = stop - least
        if best[start] < np.inf:
            np.subtract(best[start] + penalty, sums[start], out=whole)
            np.minimum(lead, whole, out=lead)
        np.add(lead, sums[stop], out=whole)
        best[stop] = whole.min()
    return _traced(sums, best + penalty, least)


def _traced(sums: Floats, begins: Floats, least: int) -> tuple[list[int], list[int]]:
    """Read the best partition from its end; `begins` is what it costs to begin a stretch there."""
    starts: list[int] = []
    states: list[int] = []
    stop = len(sums) - 1
    while stop > 0:
        last = stop - least + 1
        whole = (begins[:last, None] - sums[:last]).min(axis=0) + sums[stop]
        state = int(whole.argmin())
        start = int((begins[:last] - sums[:last, state]).argmin())
        starts.append(start)
        states.append(state)
        stop = start
    return starts[::-1], states[::-1]
