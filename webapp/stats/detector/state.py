"""What is known of a series after some of its revisions: bounded, plain, storable."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.stats import changes
from webapp.stats.changes.points import reduce_points
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
    fold = changes.advance(state.fold, points)
    window = state.window.copy()
    for value in reduce_points(points):
        if value is not None:
            window.add(value)
    return State(fold, window)
