"""Alerts that a bisect holds: the detector alone neither opens them twice nor closes them.

A bisect measures single boots where the step may be. While it does, the detector's estimate of
place and size swings from boot to boot, across thresholds and between commits. What is searched for
is one and the same step all the while, and what the bisect found is better known than what the
detector makes of a few points. So within the bisect's interval, in its series, a finding of the
alerted direction belongs to the alert, whatever its size, and the alert stands without one.

The apps above know of bisects; they say which alerts are held (`on_holding`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from webapp.analysis.models import Finding


@dataclass(frozen=True, slots=True)
class Held:
    """An alert, the series that a bisect measures for it, and its interval: the commits later than
    position ``after`` up to ``last``. ``is_loss``: the level fell there."""

    alert: int
    series: int
    after: int
    last: int
    is_loss: bool

    def covers(self, row: Finding) -> bool:
        """Whether the finding is of the step that is searched for. Needs ``after`` and ``last``."""
        return (
            row.series_id == self.series
            and row.change_pct is not None
            and (row.change_pct < 0) == self.is_loss
            and max(row.after.position, self.after) < min(row.last.position, self.last)
        )


Holder = Callable[[Sequence[int]], Iterable[Held]]
_holders: list[Holder] = []


def on_holding(holder: Holder) -> Holder:
    """Have ``holder`` asked which alerts of trees (ids) are held; it takes one query at most."""
    if holder not in _holders:
        _holders.append(holder)
    return holder


def held_in(trees: Sequence[int]) -> list[Held]:
    """Which alerts of the trees are held, in the order of their alerts."""
    found = (one for holder in _holders for one in holder(trees))
    return sorted(found, key=lambda one: (one.alert, one.series, one.after))
