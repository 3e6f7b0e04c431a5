"""From when to when a fact had a value: a function of what was observed, in whatever order it came.

Nothing here does input or output. An observation is a time and a value; of two at one time the one
whose value sorts first counts as the earlier.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

Observation = tuple[datetime, str]


class Interval(NamedTuple):
    """A value from the first observation to the last that has no other value between them."""

    first: datetime
    value: str
    last: datetime

    def is_cut_by(self, one: Observation) -> bool:
        """Whether it would be cut in two by ``one``."""
        return self.value != one[1] and (self.first, self.value) < one < (self.last, self.value)


def intervals_of(observations: Iterable[Observation]) -> list[Interval]:
    """The intervals of a fact, in order."""
    found: list[Interval] = []
    for at, value in sorted(set(observations)):
        if found and found[-1].value == value:
            found[-1] = found[-1]._replace(last=at)
        else:
            found.append(Interval(at, value, at))
    return found


def ends(intervals: Iterable[Interval]) -> Iterator[Observation]:
    """What an interval was made from, as far as it needs to be known while nothing cuts it."""
    for one in intervals:
        yield one.first, one.value
        yield one.last, one.value


def cut(intervals: Sequence[Interval], new: Collection[Observation]) -> list[Interval]:
    """The intervals that ``new`` observations cut: how they fall apart is told by their other
    observations alone."""
    return [one for one in intervals if any(one.is_cut_by(seen) for seen in new)]


class Step(NamedTuple):
    """A value that came after another one."""

    at: datetime
    old: str
    new: str


def steps_after(intervals: Sequence[Interval], since: datetime) -> list[Step]:
    """The changes among ``intervals`` after ``since``."""
    return [
        Step(new.first, old.value, new.value)
        for old, new in pairwise(intervals)
        if new.first > since
    ]
