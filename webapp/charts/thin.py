"""Fewer points of a long series for the same picture: the extremes of each column. Pure."""

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]


def extremes(
    slots: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    *,
    bounds: tuple[int, int],
    columns: int,
) -> Indices:
    """Indices of the smallest and the largest value in each of ``columns`` equal parts of
    ``bounds``, and of the first and last point; in order. ``slots`` ascend.

    A drawing of these covers the same pixels of each column as one of all, so that no excursion is
    lost. In one pass: sorted by column and value, an extreme is where the column changes.
    """
    if len(slots) == 0:
        return np.empty(0, dtype=np.intp)
    first, end = bounds
    column = (slots - first) * columns // max(end - first, 1)
    order = np.lexsort((values, column))
    ordered = column[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    ends = np.r_[starts[1:] - 1, len(ordered) - 1]
    return np.unique(np.r_[0, order[starts], order[ends], len(slots) - 1])
