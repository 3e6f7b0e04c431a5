"""The text of ``ministat(1)``, as C's ``printf`` would print it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import copysign, inf, isfinite, isnan, nan

from webapp.stats.errors import OutOfRangeError
from webapp.stats.ministat.numbers import (
    FLAVOURS,
    Difference,
    Flavour,
    Summary,
    difference,
    summarize,
)
from webapp.stats.student import critical_value

SYMBOLS = " x+*%#@O"
"""What a cell shows, by the bitwise or of the numbers of the sets that have a point in it."""

MOST_SETS = len(SYMBOLS) - 1
LEAST_WIDTH = 2


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


DEFAULT_WIDTH = 74
HEADER = "    N           Min           Max        Median           Avg        Stddev"


def render(
    datasets: Sequence[tuple[str, Sequence[float]]],
    *,
    confidence: float = 95.0,
    width: int = DEFAULT_WIDTH,
    plot: bool = True,
    separate_bars: bool = False,
    brief: bool = False,
    quiet: bool = False,
    flavour: Flavour = "current",
) -> str:
    """What ``ministat`` prints for one to seven named sets, each compared with the first.

    ``brief`` leaves out plot and comparison (``-n``), ``quiet`` names and header (``-q``),
    ``plot=False`` is ``-A``, ``separate_bars`` is ``-s``. Raises `StatisticsError`.
    """
    if not 1 <= len(datasets) <= MOST_SETS:
        raise OutOfRangeError(f"{len(datasets)} sets: ministat takes 1 to {MOST_SETS}")
    critical_value(1, confidence)  # an unknown level is refused even where nothing is compared
    summaries = [summarize(values, flavour) for _, values in datasets]
    lines: list[str] = []
    if not quiet:
        lines += [
            f"{symbol} {name}" for symbol, (name, _) in zip(SYMBOLS[1:], datasets, strict=False)
        ]
    if plot and not brief:
        points = [values for _, values in datasets]
        lines += draw(points, summaries, width=width, separate_bars=separate_bars)
    if not quiet:
        lines.append(HEADER)
    lines += _table(summaries, confidence, flavour, brief=brief)
    return "\n".join(lines) + "\n"


def difference_lines(
    found: Difference, baseline: Summary, flavour: Flavour = "current"
) -> list[str]:
    """What ministat says of a difference from ``baseline``: four lines, or one."""
    level = f"{found.confidence:.1f}% confidence"
    if not found.proven:
        return [f"No difference proven at {level}"]
    percent, percent_error = _printed_percentages(found, baseline, flavour)
    return [
        f"Difference at {level}",
        f"\t{_general(found.delta)} +/- {_general(found.error)}",
        f"\t{_general(percent)}% +/- {_general(percent_error)}%",
        f"\t(Student's t, pooled s = {_general(found.pooled_stddev)})",
    ]


def _table(
    summaries: Sequence[Summary], confidence: float, flavour: Flavour, *, brief: bool
) -> Iterator[str]:
    baseline = summaries[0]
    yield _row(SYMBOLS[1], baseline)
    for symbol, summary in zip(SYMBOLS[2:], summaries[1:], strict=False):
        yield _row(symbol, summary)
        if not brief:
            found = difference(baseline, summary, confidence, flavour)
            yield from difference_lines(found, baseline, flavour)


def _row(symbol: str, summary: Summary) -> str:
    numbers = (summary.minimum, summary.maximum, summary.median, summary.mean, summary.stddev)
    columns = (f"{_general(number, 8):>13}" for number in numbers)
    return f"{symbol} {summary.n:3d} {' '.join(columns)}"


def _printed_percentages(
    found: Difference, baseline: Summary, flavour: Flavour
) -> tuple[float, float]:
    """C divides by a zero mean too, and gives the error the sign of the mean."""
    if found.percent is not None and found.percent_error is not None:
        return found.percent, copysign(found.percent_error, baseline.mean)
    absolute = FLAVOURS[flavour].absolute_relative_error
    scatter = found.error if absolute else baseline.variance
    return copysign(inf, found.delta), inf if scatter > 0 else nan


def _general(number: float, digits: int = 6) -> str:
    """C's ``%g``; the NaN that an invalid operation makes on amd64 prints with its sign."""
    return "-nan" if isnan(number) else f"{number:.{digits}g}"


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
