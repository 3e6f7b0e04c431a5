"""The numbers of ``ministat(1)``: summaries of sets of samples and differences between them.

Plain floats and no NumPy: sets are small and a worker compares thousands of pairs a second.
Sums run left to right on purpose (``sum`` is compensated from Python 3.12 on), because the
reference program's last printed digit depends on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fabs, inf, isfinite, sqrt
from typing import Literal

from webapp.stats.errors import NotFiniteError, OutOfRangeError, TooFewSamplesError
from webapp.stats.student import critical_value

Flavour = Literal["current", "2015", "2016", "2016-onepass"]

LEAST_POINTS = 3
"""ministat refuses smaller sets."""


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
    mean is zero. ``proven`` says whether zero is outside the interval at ``confidence``.
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
    `webapp.stats.student.LEVELS`. Raises `StatisticsError` for unusable samples or levels.
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
    n1: int,
    mean1: float,
    var1: float,
    n2: int,
    mean2: float,
    var2: float,
    confidence: float = 95.0,
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
