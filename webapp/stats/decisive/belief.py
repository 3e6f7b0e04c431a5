"""What is believed of the noise between builds where a series cannot tell it yet.

One build a side says nothing about how builds scatter. What is known is how builds scatter
elsewhere: the standard deviation is believed to be lognormal around a median. It starts from what
one-year series of a real lab showed, and moves as series of the instance tell their own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp, log, sqrt

MEDIAN_PCT = 1.8
"""Median over series, in percent of the level: fourteen one-year series of a real lab."""

SPREAD = 1.5
"""Two series in three lie within this factor of the median. Those of the lab show 1.6; what is
guessed is never narrower than this, however alike the series of an instance are."""

GUESS_WEIGHT = 4.0
"""Series that the guess counts for when an instance tells its own."""

LEAST_FREEDOM = 8.0
"""Degrees of freedom from which on a series tells its build noise well enough to be learned from
(its standard deviation is then known within about a quarter)."""

LEAST_PCT = 0.3
"""What an estimate of less counts as: an estimate of 0 % has no logarithm, and is not believed."""

HALF_ALIKE = 0.5
"""Weight of a series that shares the hardware or the workload only; one that shares both has 1."""

LEAST_SERIES = 8
"""Series of a machine that tell their build noise from which on they alone are believed."""

MEDIAN_STEP, SPREAD_STEP = 1.2, 1.1
"""The belief moves in steps of these factors: a belief that followed every upload would change
what was concluded of other series with each of them."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The standard deviation between builds is lognormal: ``median_pct`` times or divided by
    ``spread`` in two cases of three. ``of_machine``: the machine's own series tell so much.
    """

    median_pct: float = MEDIAN_PCT
    spread: float = SPREAD
    of_machine: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A series that tells its own build noise, in percent, with its degrees of freedom."""

    build_pct: float
    freedom: float
    same_hardware: bool = True
    same_workload: bool = True

    @property
    def weight(self) -> float:
        """How much it tells about the series in question."""
        if self.freedom < LEAST_FREEDOM or not (self.same_hardware or self.same_workload):
            return 0.0
        return 1.0 if self.same_hardware and self.same_workload else HALF_ALIKE


def learn(known: Iterable[Known]) -> Belief:
    """Return the guess, moved by what is ``known``: the order does not matter. From `LEAST_SERIES`
    of the same hardware on these take its place.

    The logarithms are averaged, the guess among them with `GUESS_WEIGHT`; the spread is that of
    the same weighted logarithms around their mean, at least `SPREAD`. Both are then rounded: the
    median to the nearest step, the spread up to the next.
    """
    told = [one for one in known if one.weight]
    own = [one for one in told if one.same_hardware]
    of_machine = len(own) >= LEAST_SERIES
    rows = sorted((_log(one), one.weight) for one in (own if of_machine else told))
    if not of_machine:
        rows.append((log(MEDIAN_PCT), GUESS_WEIGHT))
    total = sum(weight for _, weight in rows)
    mean = sum(weight * one for one, weight in rows) / total
    squares = sum(weight * (one - mean) ** 2 for one, weight in rows)
    if not of_machine:
        squares += GUESS_WEIGHT * log(SPREAD) ** 2
    steps = round((mean - log(MEDIAN_PCT)) / log(MEDIAN_STEP))
    wider = ceil(round((sqrt(squares / total) - log(SPREAD)) / log(SPREAD_STEP), 9))
    return Belief(
        median_pct=round(MEDIAN_PCT * MEDIAN_STEP**steps, 6),
        spread=round(SPREAD * exp(max(wider, 0) * log(SPREAD_STEP)), 6),
        of_machine=of_machine,
    )


def _log(one: Known) -> float:
    return log(max(one.build_pct, LEAST_PCT))
