"""Whose profile a file is, by its name: `bench.PREFIX[.ITERATION][.manual][.pmc].graph`.

Some names lack `bench.`; `.stack`, `.folded` and `.folded.txt` hold folded stacks, and now and then
a `.svg` does.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

FIRST = "1"
"""The iteration that is profiled where the name of a profile tells none."""

GRAPH = ".graph"
PICTURE = ".svg"
BINARY = ".pmc.out"
FOLDED = (".folded.txt", ".folded", ".stack")
_ADDED = frozenset({"pmc", "manual"})


@dataclass(frozen=True)
class ProfileName:
    """A name taken apart: `stem` without what says the format, `parts` without what says that it is
    a profile, `suffix` what says the format. `manual`: taken by hand, at a time of its own."""

    stem: str
    parts: tuple[str, ...]
    suffix: str
    manual: bool = False

    def owner(self, prefixes: Container[str]) -> tuple[str, str | None] | None:
        """The prefix of the run, and the iteration where the name tells it; None: of none of these.

        A configuration may be a number: bench.pf.2.graph is of the run pf.2 where there is no pf.
        """
        before, last = ".".join(self.parts[:-1]), self.parts[-1] if self.parts else ""
        if last.isascii() and last.isdecimal() and before in prefixes:
            return before, last
        whole = ".".join(self.parts)
        return (whole, None) if whole in prefixes else None


def profile_name(name: str) -> ProfileName | None:
    """The parts of a profile's name, None for a file that is not named like one."""
    lower = name.lower()
    found = (one for one in (GRAPH, *FOLDED, PICTURE, BINARY) if lower.endswith(one))
    suffix = next(found, None)
    if suffix is None:
        return None
    stem = name[: -len(suffix)]
    parts = stem.split(".")
    if parts[0] == "bench":
        del parts[0]
    added = set()
    while parts and parts[-1].lower() in _ADDED:
        added.add(parts.pop().lower())
    return ProfileName(stem, tuple(parts), suffix, "manual" in added)
