"""Summaries of many sets as columns: what comparisons of many pairs compute with."""

from collections.abc import Mapping, Sequence

import numpy as np

from webapp.stats.compare.levels import Level, Side, Summary

LEVELS = (Level.RUN, Level.BOOT, Level.BUILD)
"""What the codes of a unit in `Comparisons`, and the places in `Summaries.sides`, stand for."""

_NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_COLUMNS = len(_NOTHING)


class Summaries:
    """One side of every row, as columns: made once from summaries, compared as often as wanted.

    ``log`` says which rows have logarithms; ``boots`` is 0 where they are not known, ``totals`` NaN
    where samples are no counts. ``sides`` has the shape (2 scales, 3 levels, 6 columns of `Side`,
    rows), zeros where a level has no two units.
    """

    def __init__(self, rows: Sequence[Summary]) -> None:
        self.builds = np.array([row.builds for row in rows], np.float64)
        self.boots = np.array([row.boots or 0 for row in rows], np.float64)
        self.n = np.array([row.n for row in rows], np.float64)
        totals = [np.nan if row.total is None else row.total for row in rows]
        self.totals = np.array(totals, np.float64)
        self.exponent = np.array([row.exponent for row in rows], np.int64)
        self.log = np.array([row.log is not None for row in rows], np.bool_)
        self.floors = np.array(
            [(row.floor("linear"), row.floor("log") if row.log else 0.0) for row in rows],
            np.float64,
        ).reshape(len(rows), 2)
        columns = [[_columns(scale) for scale in (row.linear, row.log or {})] for row in rows]
        shape = (len(rows), 2, len(LEVELS), _COLUMNS)
        self.sides = np.array(columns, np.float64).reshape(shape).transpose(1, 2, 3, 0)

    def __len__(self) -> int:
        return len(self.builds)


def _columns(sides: Mapping[Level, Side]) -> list[Sequence[float]]:
    return [_of_side(sides[level]) if level in sides else _NOTHING for level in LEVELS]


def _of_side(side: Side) -> Sequence[float]:
    return side.mean, side.sd, side.share, side.df, side.units, side.between
