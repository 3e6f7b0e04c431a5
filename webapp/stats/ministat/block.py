"""The numbers of ``ministat(1)``, which are summaries of sets of samples and differences between
them, and its text, as C's ``printf`` would print it.

Plain floats and no NumPy: sets are small and a worker compares thousands of pairs a second. Sums
run left to right on purpose (``sum`` is compensated from Python 3.12 on), because the reference
program's last printed digit depends on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import copysign, fabs, inf, isfinite, isnan, nan, sqrt
from typing import Literal

from webapp.stats import NotFiniteError, OutOfRangeError, TooFewSamplesError
from webapp.stats.intervals import critical_value

Flavour = Literal["current", "2015", "2016", "2016-onepass"]

LEAST_POINTS = 3
"""ministat refuses smaller sets."""

SYMBOLS = " x+*%#@O"
"""What a cell shows, by the bitwise or of the numbers of the sets that have a point in it."""

MOST_SETS = len(SYMBOLS) - 1
LEAST_WIDTH = 2


@dataclass(frozen=True, slots=True)
class FlavourRules:
    """Which of the three old rules a flavour of the program still has."""

    upper_median: bool
    one_pass_variance: bool
    absolute_relative_error: bool


FLAVOURS: dict[Flavour, FlavourRules] = {
    "current": FlavourRules(False, False, False),
    "2015": FlavourRules(True, True, True),
    "2016": FlavourRules(False, False, True),
    "2016-onepass": FlavourRules(False, True, False),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """One set of samples in ministat's words; everything but ``variance`` in the metric's unit."""

    n: int
    minimum: float
    maximum: float
    median: float
    mean: float
    stddev: float
    variance: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A later set minus the first one.

    ``delta`` and ``error`` (half the width of the interval) are in the metric's unit.
    ``percent`` and ``percent_error`` relate them to the first set's mean and are None when that
    mean is zero. ``proven``: whether zero is outside the interval at ``confidence``.
    """

    delta: float
    error: float
    percent: float | None
    percent_error: float | None
    pooled_stddev: float
    confidence: float
    proven: bool

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper limit of the difference, in the metric's unit."""
        return self.delta - self.error, self.delta + self.error

    @property
    def percent_interval(self) -> tuple[float, float] | None:
        """Lower and upper limit of the relative difference, percent of the first set's mean."""
        if self.percent is None or self.percent_error is None:
            return None
        return self.percent - self.percent_error, self.percent + self.percent_error


def summarize(values: Sequence[float], flavour: Flavour = "current") -> Summary:
    """Summarise ``values``, a sequence of at least three finite numbers in the order measured.

    Raises `TooFewSamplesError` or `NotFiniteError`. Numbers near the ends of the double range
    overflow as they do in C: the summary then holds an infinity or a NaN, and proves nothing.
    """
    points = [float(value) for value in values]
    n = len(points)
    if n < LEAST_POINTS:
        raise TooFewSamplesError(n, LEAST_POINTS)
    total = 0.0
    for point in points:
        if not isfinite(point):
            raise NotFiniteError(point)
        total += point
    rules = FLAVOURS[flavour]
    mean = total / n
    ordered = sorted(points)
    variance = _one_pass(points, total) if rules.one_pass_variance else _two_pass(ordered, mean)
    median = _median(ordered, upper=rules.upper_median)
    return Summary(n, ordered[0], ordered[-1], median, mean, sqrt(variance), variance)


def difference(
    baseline: Summary | Sequence[float],
    other: Summary | Sequence[float],
    confidence: float = 95.0,
    flavour: Flavour = "current",
) -> Difference:
    """``other`` minus ``baseline`` by Student's t with a pooled standard deviation.

    Each side is a `Summary` or the samples themselves. ``confidence`` is one of
    `webapp.stats.intervals.LEVELS`. Raises `StatisticsError` for unusable samples or levels.
    """
    first = baseline if isinstance(baseline, Summary) else summarize(baseline, flavour)
    second = other if isinstance(other, Summary) else summarize(other, flavour)
    return _difference(
        (first.n, first.mean, first.variance),
        (second.n, second.mean, second.variance),
        confidence,
        absolute=FLAVOURS[flavour].absolute_relative_error,
    )


def difference_from_moments(  # noqa: PLR0917 (two triples in the order every text has them)
    n1: int, mean1: float, var1: float, n2: int, mean2: float, var2: float, confidence: float = 95.0
) -> Difference:
    """`difference` from counts, means and variances alone; 1 is the first set.

    Raises `StatisticsError` for fewer than three samples a side, numbers that are not finite,
    negative variances and unknown levels.
    """
    for n in (n1, n2):
        if n < LEAST_POINTS:
            raise TooFewSamplesError(n, LEAST_POINTS)
    for number in (mean1, var1, mean2, var2):
        if not isfinite(number):
            raise NotFiniteError(number)
    if var1 < 0 or var2 < 0:
        raise OutOfRangeError("a variance cannot be negative")
    return _difference((n1, mean1, var1), (n2, mean2, var2), confidence, absolute=False)


def _difference(
    first: tuple[int, float, float],
    second: tuple[int, float, float],
    confidence: float,
    *,
    absolute: bool,
) -> Difference:
    """The formulas, on (n, mean, variance) of each set; ``absolute`` is the relative error of old.

    Otherwise the relative error also carries the first mean's own scatter (delta method).
    """
    n1, mean1, var1 = first
    n2, mean2, var2 = second
    df = n1 + n2 - 2
    t = critical_value(df, confidence)
    pooled = sqrt(((n1 - 1) * var1 + (n2 - 1) * var2) / df)
    error = t * (pooled * sqrt(1 / n1 + 1 / n2))
    delta = mean2 - mean1
    percent = percent_error = None
    if mean1 != 0:
        spread = error
        if not absolute:
            ratio = mean2 / mean1
            scatter = (n2 - 1) * var2 + (n1 - 1) * var1 * ratio * ratio
            spread = t * sqrt(scatter * (n1 + n2) / (n1 * n2 * df))
        percent = delta * 100 / mean1
        percent_error = spread * 100 / fabs(mean1)
    return Difference(delta, error, percent, percent_error, pooled, confidence, fabs(delta) > error)


def _median(ordered: list[float], *, upper: bool) -> float:
    middle = len(ordered) // 2
    if upper or len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle] + ordered[middle - 1]) / 2


def _two_pass(ordered: list[float], mean: float) -> float:
    total = 0.0
    for point in ordered:
        total += (point - mean) * (point - mean)
    return total / (len(ordered) - 1)


def _one_pass(points: list[float], total: float) -> float:
    """Cancellation can bring this below zero, and squares can overflow both terms."""
    squares = 0.0
    for point in points:
        squares += point * point
    if squares == inf:
        return inf
    return max(squares - total * total / len(points), 0.0) / (len(points) - 1)


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
    """ministat's report of a difference from ``baseline``: four lines, or one."""
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
