"""Which directories an archive has, and which faults: dealt like cards, so that small archives have
every kind as well."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Generic, TypeVar

from benchmarks.archives import directories, files
from benchmarks.archives.plan import Draw, PlannedDirectory, PlannedRun
from benchmarks.archives.sound import SOUND

DIRECTORIES = 30
FAULTY_DIRECTORIES = 0.5
"""Chance that a directory is of a kind of its own."""

FAULTY_RUNS = 0.2
"""Chance that a run has a fault of its own, whatever its directory is."""


Card = TypeVar("Card")


class Deck(Generic[Card]):
    """Deals each of some cards once in a random order, then again."""

    def __init__(self, rng: Random, cards: Sequence[Card]) -> None:
        self._rng = rng
        self._cards = cards
        self._left: list[Card] = []

    def deal(self) -> Card:
        if not self._left:
            self._left = self._rng.sample(self._cards, len(self._cards))
        return self._left.pop()

    def put_back(self, cards: Sequence[Card]) -> None:
        """These come next."""
        self._left += cards


def plan(draw: Draw, count: int = DIRECTORIES) -> list[PlannedDirectory]:
    """About so many directories; a copy comes with what it is a copy of."""
    rng = draw.rng
    kinds, shapes = Deck(rng, list(directories.KINDS)), Deck(rng, SOUND)
    planned: list[PlannedDirectory] = []
    for _ in range(count):
        if rng.random() < FAULTY_DIRECTORIES:
            kind = kinds.deal()
            directory = directories.KINDS[kind](draw)
            directory.kind = kind
        else:
            directory = shapes.deal()(draw)
        planned += [directory, *([directory.copy_of] if directory.copy_of else [])]
    _spoil_runs(rng, planned)
    return planned


def _spoil_runs(rng: Random, planned: Sequence[PlannedDirectory]) -> None:
    kinds = Deck(rng, list(files.KINDS))
    for directory in planned:
        for run in directory.runs if directory.takes_faults else ():
            if rng.random() < FAULTY_RUNS:
                kinds.put_back(list(_unfitting(rng, directory, run, kinds)))


def _unfitting(
    rng: Random, directory: PlannedDirectory, run: PlannedRun, kinds: Deck[str]
) -> Iterator[str]:
    """Give the run the next fault that fits it; those before."""
    for _ in files.KINDS:
        kind = kinds.deal()
        sign = files.KINDS[kind](rng, directory, run)
        if sign is not None:
            run.fault, run.fault_sign = kind, sign
            return
        yield kind
