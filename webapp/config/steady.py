"""A clock that nobody can set, for beat.

Celery's beat keeps the wall time at which each entry is due next: when the clock is set back three
days, it sends nothing for three days.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class SteadyClock:
    """Wall time as it was at the start, and what the machine's own counter shows has passed."""

    def __init__(
        self, wall: Callable[[], float] = time.time, counter: Callable[[], float] = time.monotonic
    ) -> None:
        self._counter = counter
        self._begin = datetime.fromtimestamp(wall(), UTC)
        self._offset = counter()

    def __call__(self) -> datetime:
        """Now, as if the clock had never been set since."""
        return self._begin + timedelta(seconds=self._counter() - self._offset)
