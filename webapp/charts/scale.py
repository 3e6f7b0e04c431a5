"""Axes, which is how far they reach and where their ticks are, and fewer points of a long series
for the same picture. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isclose, isfinite, log10
from statistics import median
from sys import float_info

import numpy as np
import numpy.typing as npt

from webapp.charts.text import LARGE, number, thousands_of, with_sign

LEAST_SPAN = 0.025
"""The y axis reaches at least this share of the level to either side: noise is no drama."""

PADDING = 0.06
WHISKER_SHARE = 0.25
"""Whiskers may widen the axis by at most this share of what the values span (or LEAST_SPAN
spans); longer ones, as two samples have, are cut by the frame instead of flattening the line."""

Indices = npt.NDArray[np.intp]
Values = npt.NDArray[np.float64]
TICK_ROOM, NARROW_TICK_ROOM = 10, 5
"""Characters that the margin of a chart, and of one on a phone, has for the number at a tick."""
MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map of ``low … high`` onto pixels ``start … end`` (which may run downwards)."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where ``value`` is drawn, in pixels; beyond the ends as well."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def all(self, values: Values) -> Values:
        """The same of an array of values."""
        with np.errstate(over="ignore"):
            share = (values - self.low) / (self.high - self.low)
            return self.start + share * (self.end - self.start)

    @property
    def slope(self) -> float:
        """Pixels for a unit."""
        return (self.end - self.start) / (self.high - self.low)

    def clamped(self, value: float) -> float:
        """Where ``value`` is drawn, in pixels; at the nearer end where it lies beyond."""
        return self(min(max(value, self.low), self.high))


def y_range(
    centres: Sequence[float],
    lows: Sequence[float | None] = (),
    highs: Sequence[float | None] = (),
    *,
    least_span: float = LEAST_SPAN,
) -> tuple[float, float]:
    """The range of a y axis around ``centres`` (the drawn values) and their whiskers.

    It never reaches less than ``least_span`` of the level (the median) to either side.
    No values give (0, 1).
    """
    values = _usable(centres)
    if not values:
        return 0.0, 1.0
    level = median(values)
    least = abs(level) * least_span or 1.0
    low, high = min(values[0], level - least), max(values[-1], level + least)
    reach = (high - low) * WHISKER_SHARE
    if ends := _usable(lows):
        low = min(low, max(ends[0], low - reach))
    if ends := _usable(highs):
        high = max(high, min(ends[-1], high + reach))
    pad = (high - low) * PADDING
    # What was stored before samples had bounds may lie at the end of the range of a double, where
    # neither the range nor a place beyond it may overflow.
    return max(low - pad, -float_info.max / 4), min(high + pad, float_info.max / 4)


def _usable(values: Sequence[float | None]) -> list[float]:
    """In order, without what is not known or not finite."""
    known = np.array(values, np.float64)
    return np.sort(known[np.isfinite(known)]).tolist()  # type: ignore[no-any-return]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers inside ``low … high``, about ``about`` of them and at least two, for one number
    is no scale; steps of 1, 2 or 5 × 10ⁿ.
    """
    span = high - low
    if not isfinite(span) or span <= 0:
        return []
    step = _round_step(span / about)
    first, last = ceil(low / step), floor(high / step)
    if first >= last:
        return ticks(low, high, 2 * about)
    return [index * step for index in range(first, last + 1)]


def _round_step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough))
    for factor in (1, 2, 5):
        if rough <= factor * power:
            return factor * power
    return 10 * power


def spread_labels(count: int, about: int) -> list[int]:
    """Indices of about ``about`` of ``count`` places to label, evenly apart, the last included."""
    if count <= 0:
        return []
    step = max(1, ceil(count / about))
    return list(range(count - 1, -1, -step))[::-1]


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


def tick_texts(values: Sequence[float], *, room: int = TICK_ROOM) -> list[str]:
    """The numbers at the ticks of one axis: in full where each fits into ``room`` characters, else
    all with the letter of the largest one's thousands and the decimals that keep them apart.
    """
    texts = [number(value) for value in values]
    if max(map(len, texts), default=0) <= room:
        return texts
    letter, unit = thousands_of(max(map(abs, values)))
    if not letter:
        return texts
    shown = [value / unit for value in values]
    decimals = next(
        (
            few
            for few in range(MOST_DECIMALS)
            if all(isclose(one, round(one, few), abs_tol=1e-9) for one in shown)
        ),
        MOST_DECIMALS,
    )
    return [with_sign(f"{one:,.{decimals}f} {letter}" if one else "0") for one in shown]


def level_text(value: float) -> str:
    """``value`` in full where `TICK_ROOM` holds it, else to four digits: ``94.17 G``."""
    text = number(value)
    if len(text) <= TICK_ROOM or not 1e3 <= abs(value) < LARGE:
        return text
    letter, unit = thousands_of(abs(value))
    return with_sign(f"{value / unit:.4g} {letter}")
