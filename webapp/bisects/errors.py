"""What can go wrong with a bisect, in words for people."""

from webapp.bisects.models import Bisect


class BisectError(Exception):
    """It makes no sense now; the message says why and what to do instead."""


class BisectChanged(BisectError):
    """Somebody else, or the system, changed the bisect since it was looked at."""


class BisectRunning(BisectError):
    """One that searches the same is running: it was started before, or the button pressed twice."""

    def __init__(self, bisect: Bisect) -> None:
        super().__init__(f"Bisect {bisect.pk} searches the same already.")
        self.bisect = bisect
