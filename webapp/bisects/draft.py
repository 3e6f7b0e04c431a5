"""A bisect that is not stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.bisects.models import Bisect, BisectBoot
from webapp.bisects.prior import Weighed, likelier_sentence, prior_sentence, weighed
from webapp.bisects.sentences import gaps_sentence
from webapp.results.models import Revision


@dataclass(frozen=True, slots=True)
class Draft:
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
    def unlikely(self) -> list[Weighed]:
        """The candidates that begin with less weight, and why."""
        return weighed(self.bisect.unlikely, self.revisions)

    @property
    def likelier(self) -> list[Weighed]:
        """Those that begin with more weight by what profiles prove to have changed, and why."""
        return weighed(self.bisect.likelier, self.revisions)

    @property
    def likelier_sentence(self) -> str:
        """How many these are, in a sentence; empty: none."""
        return likelier_sentence(self.bisect)

    @property
    def prior_sentence(self) -> str:
        """How many candidates begin with less weight, in a sentence."""
        return prior_sentence(self.bisect)

    @property
    def gaps_sentence(self) -> str:
        """That it cannot end with one commit everywhere, where history has gaps."""
        return gaps_sentence(self.names, self.bisect.gaps)

    @property
    def names(self) -> list[str]:
        """The names of the revisions, by index."""
        return [revision.name for revision in self.revisions]
