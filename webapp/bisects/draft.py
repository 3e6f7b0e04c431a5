"""A bisect that is not stored, and why one is refused, in words for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.bisects.models import Bisect, BisectBoot
from webapp.bisects.prior import ShownPrior
from webapp.bisects.sentences import gaps_sentence
from webapp.results.models import Revision


@dataclass(frozen=True, slots=True)
class Draft(ShownPrior):
    """It, with its revisions and the boots that history has. ``crosses_epoch``: an epoch of its
    machine begins between its ends, so that what differs may be the machine.
    ``hours_are_guessed``: no job has run on one of its machines.
    """

    bisect: Bisect
    revisions: Sequence[Revision]
    boots: Sequence[BisectBoot]
    crosses_epoch: bool = False
    hours_are_guessed: bool = False

    @property
    def gaps_sentence(self) -> str:
        """That it cannot end with one commit everywhere, where history has gaps."""
        return gaps_sentence(self.names, self.bisect.gaps)

    @property
    def names(self) -> list[str]:
        """The names of the revisions, by index."""
        return [revision.name for revision in self.revisions]


class BisectError(Exception):
    """It makes no sense now; the message has why and what to do instead."""


class BisectChanged(BisectError):
    """Somebody else, or the system, changed the bisect since it was looked at."""


class BisectRunning(BisectError):
    """One that searches the same is running: it was started before, or the button pressed twice."""

    def __init__(self, bisect: Bisect) -> None:
        super().__init__(f"Bisect {bisect.pk} searches the same already.")
        self.bisect = bisect
