"""Which files a commit touched, as far as they are kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

MOST_PATHS = 200
"""Kept of one commit. Few commits touch more (imports of foreign sources, sweeps over a whole
tree), and these are read as touching something that matters."""

LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True)
class Paths:
    """The first ``MOST_PATHS`` of the ``count`` different files that a commit touched."""

    kept: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, paths: Iterable[str]) -> Self:
        """Of all files that were touched; one too long to keep is counted all the same."""
        different = dict.fromkeys(paths)
        short = [path for path in different if len(path) <= LONGEST_PATH]
        return cls(tuple(short[:MOST_PATHS]), len(different))
