"""An alert that a bisect holds: the detector alone neither opens it twice nor closes it. Pure.

A bisect measures single boots where the step may be. While it does, the detector's estimate of
place and size swings from boot to boot, across thresholds and between commits. What is searched for
is one and the same step all the while, and what the bisect found is better known than what the
detector makes of a few points. So within the bisect's interval, in its series, a finding of the
alerted direction belongs to the alert, whatever its size, and the alert stands without one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """An alert, the series that a bisect measures for it, and its interval: the commits later than
    position ``after`` up to ``last``. ``is_loss``: the level fell there."""

    alert: int
    series: int
    after: int
    last: int
    is_loss: bool

    def covers(self, *, series: int, after: int, last: int, change_pct: float | None) -> bool:
        """Whether a finding that suspects a commit later than position ``after`` up to ``last`` is
        of the step that is searched for.
        """
        return (
            series == self.series
            and change_pct is not None
            and (change_pct < 0) == self.is_loss
            and max(after, self.after) < min(last, self.last)
        )
