"""One measured figure of a world, its goal, and the table that shows them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks import intervals

Interval = tuple[float, float, float]
"""A value, and the lower and upper end of its 95 % interval."""

HEADER = ("figure", "before", "asked", "measured", "second seed", "verdict")


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound that the true figure is asked to keep."""

    sign: Literal["≤", "≥"]
    bound: float

    def is_met(self, measured: Interval) -> bool:
        """Return whether the interval reaches the goal: the figure may be as good as asked."""
        _, low, high = measured
        return low <= self.bound if self.sign == "≤" else high >= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a world's table.

    `before` is what the code gave before it was changed for this figure, as it was measured then.
    """

    name: str
    measured: Interval
    goal: Goal | None = None
    before: str = ""
    digits: int = 1


Measure = Callable[[int, int], list[Figure]]
"""From trials and seed to figures: always the same ones, in the same order."""


def at_most(bound: float) -> Goal:
    """Return the goal of a figure that must not be larger."""
    return Goal("≤", bound)


def at_least(bound: float) -> Goal:
    """Return the goal of a figure that must not be smaller."""
    return Goal("≥", bound)


def percent(hits: int, trials: int) -> Interval:
    """Return a share in percent, with Wilson's interval."""
    share, low, high = intervals.share(hits, trials)
    return 100 * share, 100 * low, 100 * high


def table(figures: Sequence[Figure], second: Sequence[Figure]) -> str:
    """Return the table in Markdown; `second` are the same figures from another seed."""
    rows = [_row(one, other) for one, other in zip(figures, second, strict=True)]
    return intervals.table(HEADER, rows)


def verdict(figure: Figure) -> str:
    """Return whether the figure meets its goal, in a word; nothing where none is set."""
    if figure.goal is None:
        return ""
    return "met" if figure.goal.is_met(figure.measured) else "**not met**"


def _row(figure: Figure, other: Figure) -> tuple[str, ...]:
    goal = figure.goal
    return (
        figure.name,
        figure.before,
        f"{goal.sign} {goal.bound:g}" if goal else "",
        intervals.with_range(figure.measured, figure.digits),
        f"{other.measured[0]:.{other.digits}f}",
        verdict(figure),
    )
