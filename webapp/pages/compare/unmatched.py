"""What a comparison leaves out, a line for each reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webapp.analysis.queries import Unmatched

LAST = "not measured"
"""The reason that stands behind all others."""


@dataclass(frozen=True, slots=True)
class NotCompared:
    """All that is left out for one ``reason``: modes by the name of their machine, which is empty
    where every side names it.
    """

    reason: str
    modes: Mapping[str, Sequence[str]]
    is_last: bool

    @property
    def combinations(self) -> int:
        """How many machines and modes that is."""
        return sum(map(len, self.modes.values()))

    def text(self, most: int) -> str:
        """All in a line, with ``most`` so many modes of a machine."""
        parts = []
        for hardware, modes in self.modes.items():
            more = len(modes) - most
            named = ", ".join(modes[:most]) + (f" and {more} more" if more > 0 else "")
            parts.append(f"{hardware}: {named}" if hardware else named)
        return f"{self.reason}: {'; '.join(parts)}"


def not_compared(unmatched: Sequence[Unmatched], names: Sequence[str]) -> list[NotCompared]:
    """What was measured on some sides, that of most combinations first, then what on none; sides
    are called ``names``. A metric is named where there are several.
    """
    several = len({one.metric for one in unmatched}) > 1
    found: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for one in unmatched:
        metric = one.metric if several or not one.mode else ""
        subject = " ".join(filter(None, [one.mode, metric])) or "all"
        its = found.setdefault((one.text(names), one.reason == LAST), {})
        its.setdefault(one.hardware, []).append(subject)
    lines = [NotCompared(reason, its, is_last) for (reason, is_last), its in found.items()]
    return sorted(lines, key=lambda line: (line.is_last, -line.combinations))
