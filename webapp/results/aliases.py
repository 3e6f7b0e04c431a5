"""What a lab's names stand for: aliases, where they hold, and the names that a run means by them.

No input and no output. Trees, revisions and hardware come as ids and positions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from webapp.results.modes import ModeName

Kind = Literal["workload", "traffic", "option", "hardware"]


@dataclass(frozen=True, slots=True)
class Filing:
    """Where a run lies: its tree (id), the position of its revision (None: it has none yet), and
    what its result directory and its session are called.
    """

    tree: int
    position: int | None
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an alias holds: None and the empty text leave it open. ``directory`` is a pattern,
    ``*`` standing for anything.
    """

    tree: int | None = None
    first: int | None = None
    last: int | None = None
    directory: str = ""

    @property
    def has_range(self) -> bool:
        """Whether the place of a revision decides."""
        return self.first is not None or self.last is not None

    def contains(self, filing: Filing) -> bool:
        """Whether a run that lies there is meant."""
        if self.tree is not None and filing.tree != self.tree:
            return False
        if self.has_range:
            if filing.position is None:
                return False
            if self.first is not None and filing.position < self.first:
                return False
            if self.last is not None and filing.position > self.last:
                return False
        return not self.directory or any(
            fnmatchcase(name, self.directory) for name in filing.called if name
        )

    def may_meet(self, other: "Scope") -> bool:
        """Whether some run may lie in both. Two patterns are taken to meet."""
        if self.tree is None or other.tree is None:
            return True
        if self.tree != other.tree:
            return False
        return not (_before(self.last, other.first) or _before(other.last, self.first))


@dataclass(frozen=True, slots=True)
class Alias:
    """``name`` stands for ``means`` within ``scope``. Those of hardware are ids as text."""

    number: int
    kind: Kind
    name: str
    means: str
    scope: Scope

    @property
    def particular(self) -> tuple[int, bool, bool, int]:
        """How much it says of where it holds: of several that fit, the greatest counts."""
        scope = self.scope
        return len(scope.directory), scope.has_range, scope.tree is not None, self.number


def meant(
    hardware: int, mode: ModeName, filing: Filing, aliases: Iterable[Alias]
) -> tuple[int, ModeName]:
    """The hardware (id) and the mode that a run means which was sent as of these.

    Each part is looked up once: what an alias gives is not looked up again.
    """
    fitting = sorted(
        (one for one in aliases if one.scope.contains(filing)), key=lambda one: one.particular
    )
    if not fitting:
        return hardware, mode
    found = {(one.kind, one.name): one.means for one in fitting}
    traffic = mode.traffic
    return int(found.get(("hardware", str(hardware)), hardware)), ModeName.of(
        found.get(("workload", mode.workload), mode.workload),
        found.get(("traffic", traffic), traffic) if traffic else None,
        [found.get(("option", option), option) for option in mode.options],
    )


def wrong_with(new: Alias, others: Sequence[Alias]) -> str:
    """Why ``new`` cannot be beside ``others``: a repetition, a chain or a circle. Empty: it can."""
    for one in others:
        if one.kind != new.kind or not one.scope.may_meet(new.scope):
            continue
        if one.name == new.name and one.scope == new.scope:
            return f"alias {one.number} says what this name stands for there; undo it first"
        if one.name == new.means and one.means == new.name:
            return f"alias {one.number} says the opposite: the two would go in a circle"
        if one.name == new.means:
            return (
                f"alias {one.number} lets that name stand for another one: name what is meant in "
                "the end, or undo it first"
            )
        if one.means == new.name:
            return (
                f"alias {one.number} lets another name stand for this one, and aliases do not go "
                "on from one to the next: undo it first, then make both anew"
            )
    return ""


def _before(end: int | None, start: int | None) -> bool:
    return end is not None and start is not None and end < start
