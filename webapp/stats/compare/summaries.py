"""Summaries of many sets as columns: what comparisons of many pairs compute with."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webapp.stats.compare.levels import FINEST, Level, Summary

LEVELS = (Level.RUN, Level.BOOT, Level.BUILD)
"""What the codes of a unit in `Comparisons`, and the places in `Summaries.sides`, stand for."""

_NAMES = tuple(level.value for level in LEVELS)
_NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_COLUMNS = len(_NOTHING)
_UNITS = 4
"""The place of ``units`` among the columns of a `Side`."""


class Summaries:
    """One side of every row, as columns: made once from summaries, compared as often as wanted.

    ``log`` says which rows have logarithms; ``boots`` is 0 where they are not known, ``totals`` NaN
    where samples are no counts. ``sides`` has the shape (2 scales, 3 levels, 6 columns of `Side`,
    rows), zeros where a level has no two units; ``floors`` (rows, 2 scales) is what equal values
    leave open (`Summary.floor`).
    """

    def __init__(self, rows: Iterable[Summary | Mapping[str, Any]]) -> None:
        """Of summaries, or of what `Summary.to_data` gave: of hundreds of stored points no object
        is made.
        """
        kept = [row.to_data() if isinstance(row, Summary) else row for row in rows]
        self.builds = np.array([row["builds"] for row in kept], np.float64)
        self.boots = np.array([row["boots"] or 0 for row in kept], np.float64)
        self.n = np.array([row["n"] for row in kept], np.float64)
        # What was stored before counts were told apart has no total.
        self.totals = np.array([row.get("total") for row in kept], np.float64)
        self.exponent = np.array([row["exponent"] for row in kept], np.int64)
        self.log = np.array([bool(row["log"]) for row in kept], np.bool_)
        scales = (side for row in kept for side in (row["linear"], row["log"] or {}))
        columns = [side.get(name, _NOTHING) for side in scales for name in _NAMES]
        shape = (len(kept), 2, len(LEVELS), _COLUMNS)
        self.sides = np.array(columns, np.float64).reshape(shape).transpose(1, 2, 3, 0)
        digits = np.array([row["digit"] for row in kept], np.float64)
        self.floors = _floors(digits, self.exponent, np.abs(self.sides[0, 0, 0]), self.log)

    def __len__(self) -> int:
        return len(self.builds)

    def only(self, rows: NDArray[np.bool_]) -> "Summaries":
        """The same columns of some rows."""
        found = Summaries(())
        for name in ("builds", "boots", "n", "totals", "exponent", "log", "floors"):
            setattr(found, name, getattr(self, name)[rows])
        found.sides = self.sides[..., rows]
        return found

    def units(self, level: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """How many units each row has at its ``level``, a place in `LEVELS`."""
        counts: NDArray[np.int64] = self.sides[0, level, _UNITS, np.arange(len(self))].astype(int)
        return counts


def _floors(
    digits: NDArray[np.float64],
    exponent: NDArray[np.int64],
    level: NDArray[np.float64],
    log: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """`Summary.floor` of every row, on both scales; 0 where there are no logarithms."""
    linear = np.maximum(np.ldexp(digits / 2, -exponent), FINEST * level)
    return np.stack([linear, np.where(log, linear / np.where(log, level, 1.0), 0.0)], axis=1)
