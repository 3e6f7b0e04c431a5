"""The plot of ``ministat(1)``: stacked points over one or more rows of bars, in a frame."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from webapp.stats.errors import OutOfRangeError
from webapp.stats.ministat.numbers import Summary

SYMBOLS = " x+*%#@O"
"""What a cell shows, by the bitwise or of the numbers of the sets that have a point in it."""

MOST_SETS = len(SYMBOLS) - 1
LEAST_WIDTH = 2


def draw(
    points: Sequence[Sequence[float]],
    summaries: Sequence[Summary],
    *,
    width: int,
    separate_bars: bool,
) -> list[str]:
    """The lines of the plot for sets of points and their summaries, in the same order.

    Raises `OutOfRangeError` when ``width`` is below 2 columns.
    """
    if width < LEAST_WIDTH:
        raise OutOfRangeError(f"a plot {width} columns wide: at least {LEAST_WIDTH} are needed")
    low = min(min(s.minimum, s.mean - s.stddev) for s in summaries)
    high = max(max(s.maximum, s.mean + s.stddev) for s in summaries)
    step = (high - low) / (width - 1)
    if not isfinite(step):
        return ["[no plot, span is not finite]"]
    if step == 0:
        return ["[no plot, span is zero width]"]
    canvas = _Canvas(low - step / 2, step, width)
    for number, (values, summary) in enumerate(zip(points, summaries, strict=True), start=1):
        canvas.stack(values, number)
        canvas.bar(summary, number if separate_bars else 1)
    return canvas.lines()


@dataclass(slots=True)
class _Canvas:
    origin: float
    step: float
    width: int
    rows: list[list[int]] = field(default_factory=list)
    bars: list[list[str]] = field(default_factory=list)

    def column(self, value: float) -> int:
        """Rounding of ``origin`` can carry a value past the edge when the span is a few ulps."""
        return min(max(int((value - self.origin) / self.step), 0), self.width - 1)

    def stack(self, values: Sequence[float], number: int) -> None:
        """Add one set's points; the plot then is as high as this set, whatever was drawn above."""
        heights = [0] * self.width
        for value in values:
            heights[self.column(value)] += 1
        tallest = max(heights)
        del self.rows[tallest:]
        self.rows += [[0] * self.width for _ in range(tallest - len(self.rows))]
        for column, height in enumerate(heights):
            for row in self.rows[:height]:
                row[column] |= number

    def bar(self, summary: Summary, row_number: int) -> None:
        """Draw one standard deviation to both sides of the mean, then the median and the mean."""
        if len(self.bars) < row_number:
            self.bars.append([" "] * self.width)
        row = self.bars[row_number - 1]
        right = self.column(summary.mean + summary.stddev)
        left = self.column(summary.mean - summary.stddev)
        row[right] = row[left] = "|"
        for column in range(left + 1, right):
            if row[column] == " ":
                row[column] = "_"
        row[self.column(summary.median)] = "M"
        row[self.column(summary.mean)] = "A"

    def lines(self) -> list[str]:
        frame = f"+{'-' * self.width}+"
        stacks = ["".join(SYMBOLS[cell] for cell in row) for row in reversed(self.rows)]
        inside = stacks + ["".join(bar) for bar in self.bars]
        return [frame, *(f"|{line}|" for line in inside), frame]
