"""How long to stay away from a server that does not answer."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0


@dataclass
class Pauses:
    """Doubles from `first` to `longest` seconds. Half of each pause is drawn at random, so that the
    agents of a server that was restarted do not all come back at once."""

    first: float = FIRST_SECONDS
    longest: float = LONGEST_SECONDS
    _next: float = field(default=0.0, init=False)

    def next(self, at_least: float | None = None) -> float:
        """Seconds until the next try: each pause twice the last, less up to half at random."""
        now = self._next or self.first
        self._next = min(self.longest, 2 * now)
        return max(now * random.uniform(0.5, 1.0), at_least or 0.0)  # noqa: S311 (no secret)

    def reset(self) -> None:
        """Begin anew with the first pause."""
        self._next = 0.0
