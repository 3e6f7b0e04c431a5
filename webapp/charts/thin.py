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
    lost.
    """
    if len(slots) == 0:
        return np.empty(0, dtype=np.intp)
    first, end = bounds
    column = (slots - first) * columns // max(end - first, 1)
    starts = _starts(column)
    part = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(slots)))
    found = [
        at[_starts(part[at])]
        for extreme in (np.minimum, np.maximum)
        for at in (np.flatnonzero(values == extreme.reduceat(values, starts)[part]),)
    ]
    return np.unique(np.r_[0, found[0], found[1], len(slots) - 1])


def _starts(ascending: npt.NDArray[np.int64]) -> Indices:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.r_[True, ascending[1:] != ascending[:-1]])
