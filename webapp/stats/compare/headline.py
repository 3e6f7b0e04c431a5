"""What a table of comparisons counts: each cell by its verdict alone and by what the gate over all
of them (`webapp.stats.compare.sweep`) leaves of it.
"""

from dataclasses import dataclass
from enum import StrEnum

from webapp.stats.compare.comparing import Verdict
from webapp.stats.false_discovery import LEVEL

PROVEN = (Verdict.WORSE, Verdict.BETTER)
ORDER = (*PROVEN, Verdict.EQUIVALENT, Verdict.CANNOT_TELL)


class Outcome(StrEnum):
    """What a cell counts as in a table, in the order in which a page shows them."""

    PROVEN = "proven over the whole table"
    BY_ITSELF = "differs by itself, not proven over the whole table"
    EQUIVALENT = "by itself no difference that matters"
    CANNOT_TELL = "cannot tell"


def outcome(alone: Verdict, together: Verdict) -> Outcome:
    """By a cell's verdict by itself, and by the one it keeps beside all others."""
    if together in PROVEN:
        return Outcome.PROVEN
    if alone in PROVEN:
        return Outcome.BY_ITSELF
    return Outcome.EQUIVALENT if alone is Verdict.EQUIVALENT else Outcome.CANNOT_TELL


@dataclass(frozen=True, slots=True)
class Look:
    """One cell: its verdict, and the chance of a difference as large where there is none.

    The p-value of what has no interval, or none that counts the noise between builds, is 1.
    """

    verdict: Verdict
    p: float


@dataclass(frozen=True, slots=True)
class Headline:
    """What may be told of all cells together.

    ``verdicts`` has one entry a cell, *cannot tell* where it does not pass; ``alone`` are their
    verdicts by themselves.
    """

    verdicts: tuple[Verdict, ...]
    alone: tuple[Verdict, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What each cell counts as."""
        return tuple(map(outcome, self.alone, self.verdicts))

    @property
    def differing(self) -> int:
        """How many cells are better or worse by themselves, whether they pass or not."""
        return sum(one in PROVEN for one in self.alone)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many cells have which verdict, the worse first; those that none has are left out."""
        counted = {verdict: self.verdicts.count(verdict) for verdict in ORDER}
        return {verdict: count for verdict, count in counted.items() if count}

    @property
    def expected(self) -> float:
        """How many cells would differ at 95 % by chance alone."""
        return LEVEL * len(self.verdicts)

    @property
    def text(self) -> str:
        """``3 of 9 differ at 95 %, about 0.5 expected by chance``."""
        total = len(self.verdicts)
        return (
            f"{self.differing} of {total} differ at 95 %, about {self._chance} expected by chance"
        )

    @property
    def by_chance(self) -> str:
        """``by chance about 0.5 would differ at 95 %``, beside the counts of all outcomes."""
        return f"by chance about {self._chance} would differ at 95 %"

    @property
    def _chance(self) -> str:
        return f"{self.expected:.0f}" if self.expected >= 2 else f"{self.expected:.2g}"
