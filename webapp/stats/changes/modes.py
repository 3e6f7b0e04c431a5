"""Whether the samples of a revision fall into two modes."""

from math import sqrt

import numpy as np

from webapp.stats.changes.state import State

LEAST_SAMPLES = 20
"""Samples needed before two modes are spoken of."""

LEAST_SHARE = 0.15
"""Share of the samples that the smaller mode holds at least: less are odd samples."""

LEAST_DISTANCE = 3.5
"""Ashman's D of the two modes: 2 separates them cleanly when the split is known beforehand; a
split chosen as the best one reaches 2.7 on normal samples, so more is asked for."""

LEAST_MIXED = 1 / 3
"""Share of the revisions that hold samples of both modes: else it is builds that differ."""


def has_two(state: State) -> bool:
    """Return whether the newest revisions of the last regime show two modes of samples."""
    if not state.regimes:
        return False
    rows = state.samples[-min(state.regimes[-1].count, len(state.samples)) :]
    logs = np.sort(np.array([log for row in rows for log in row]))
    n = len(logs)
    if n < LEAST_SAMPLES or logs[0] == logs[-1]:
        return False
    cut = _best_cut(logs)
    low, high = logs[:cut], logs[cut:]
    if min(len(low), len(high)) < LEAST_SHARE * n:
        return False
    inner = sqrt((float(low.var()) + float(high.var())) / 2)
    if float(high.mean() - low.mean()) <= LEAST_DISTANCE * inner:
        return False
    mixed = sum(1 for row in rows if min(row) < high[0] <= max(row))
    return mixed >= LEAST_MIXED * len(rows)


def _best_cut(logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """The cut of sorted values that leaves the smallest sum of squares inside both parts."""
    centred = logs - logs.mean()
    left = np.arange(1, len(logs))
    between = np.cumsum(centred)[:-1] ** 2 / (left * (len(logs) - left))
    return int(np.argmax(between)) + 1
