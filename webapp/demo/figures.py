"""The figures of a ministat block, as they are printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.stats import ministat


@dataclass(frozen=True, slots=True)
class RowFigures:
    """One line of the table, in packets/s; every number is as `%.8g` printed it."""

    n: int
    minimum: float
    maximum: float
    median: float
    mean: float
    stddev: float

    def fit(self, samples: Sequence[float]) -> bool:
        """Whether ministat prints these figures for `samples`."""
        found = ministat.summarize(samples)
        figures = (found.minimum, found.maximum, found.median, found.mean, found.stddev)
        return len(samples) == self.n and same_digits(self.printed, figures, 8)

    @property
    def printed(self) -> tuple[float, ...]:
        """The figures in the order of the table's columns."""
        return self.minimum, self.maximum, self.median, self.mean, self.stddev


@dataclass(frozen=True, slots=True)
class DifferenceFigures:
    """What is printed below a row that differs from the first; numbers as `%g` printed them."""

    delta: float
    error: float
    percent: float
    percent_error: float
    pooled: float

    def fit(self, found: ministat.Difference) -> bool:
        """Whether ministat prints these figures for `found`."""
        if not found.proven or found.percent is None or found.percent_error is None:
            return False
        figures = (
            found.delta,
            found.error,
            found.percent,
            found.percent_error,
            found.pooled_stddev,
        )
        return same_digits(self.printed, figures, 6)

    @property
    def printed(self) -> tuple[float, ...]:
        """The figures in the order of print."""
        return self.delta, self.error, self.percent, self.percent_error, self.pooled


def same_digits(printed: Sequence[float], found: Sequence[float], digits: int) -> bool:
    """Whether two rows of numbers look the same with `digits` significant digits."""
    return all(f"{a:.{digits}g}" == f"{b:.{digits}g}" for a, b in zip(printed, found, strict=True))
