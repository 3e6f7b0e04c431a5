"""What is known of a series after some of its revisions: bounded, plain, storable."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.stats import changes
from webapp.stats.changes.points import reduce_points
from webapp.stats.detector import rest
from webapp.stats.detector.stored import window_from_data, window_to_data
from webapp.stats.detector.window import Window


@dataclass(slots=True)
class State:
    """A series as far as it was read: the fold's state, and the newest revisions."""

    fold: changes.State
    window: Window = field(default_factory=Window)

    @property
    def length(self) -> int:
        """The number of points that were read."""
        return self.fold.count + len(self.fold.left_out)

    def to_data(self) -> dict[str, Any]:
        """Return numbers, strings, lists and dicts only: what JSON can hold."""
        return {**self.fold.to_data(), "window": window_to_data(self.window)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "State":
        """Return the state that `to_data` wrote, also after a passage through JSON.

        Raises ValueError when another version of the method wrote it.
        """
        data = dict(data)
        window = data.pop("window", {})
        fold = changes.State.from_data(data)
        return cls(fold, window_from_data(window))


def start() -> State:
    """Return the state before the first revision."""
    return State(changes.start())


def advance(state: State, points: Sequence[changes.Point]) -> State:
    """Return the state after `points` as well; `state` itself stays as it is.

    Raises BadSeriesError as `changes.advance` does.
    """
    fold, window = state.fold.copy(), state.window.copy()
    changes.check_order(fold, points)
    length = state.length
    # Before the end of the last block it does not matter where levels were looked for.
    since = rest.last_block_end(length + len(points))
    for point, value in zip(points, reduce_points(points), strict=True):
        length += 1
        before = rest.counts(fold) if length >= since else None
        changes.advance_point(fold, point, value)
        if value is not None:
            window.add(value)
        if before is None:
            continue
        was_stirred, window.is_stirred = window.is_stirred, rest.is_stirred(fold)
        is_due = was_stirred or rest.is_fresh(fold) or rest.counts(fold) != before
        if is_due or rest.ends_block(length):
            window.look_anew()
    return State(fold, window)
