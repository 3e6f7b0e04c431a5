"""What sides of a comparison are called."""

from collections.abc import Sequence
from dataclasses import replace

from webapp.analysis.queries import Side, differing_parts
from webapp.results.models import ModeName
from webapp.results.queries import called


def titles_of(sides: Sequence[Side]) -> list[str]:
    """Each side by what tells it apart from the others; one query where that is the machine."""
    differing = differing_parts(sides)
    if "hardware" in differing:
        sides = for_people(sides)
    named = [_mode_of(side) for side in sides]
    shared = frozenset.intersection(*(frozenset(one.options if one else ()) for one in named))
    return [
        " ".join(_part_text(side, part, shared) for part in differing) or str(side)
        for side in sides
    ]


def for_people(sides: Sequence[Side]) -> list[Side]:
    """The same with machines as people call them; one query, none where no machine is named."""
    names = called({side.hardware for side in sides if side.hardware})
    return [replace(one, hardware=names.get(one.hardware, one.hardware)) for one in sides]


def _mode_of(side: Side) -> ModeName | None:
    """The mode or the workload that it takes; None: several, or one of no such name."""
    try:
        return side.workload or (ModeName.parse(side.mode_name) if side.mode_name else None)
    except ValueError:
        return None


def _part_text(side: Side, part: str, shared: frozenset[str]) -> str:
    """``shared`` are the options that the modes of all sides have in common."""
    if part == "mode" and (name := _mode_of(side)):
        return str(ModeName.of(name.workload, name.traffic, set(name.options) - shared))
    value: str = getattr(side, part)
    return value or {"mode": "without", "hardware": "all hardware"}.get(part, "")


def subject_of(sides: Sequence[Side], titles: Sequence[str]) -> str:
    """What the headline is about: the option, else B against A."""
    base, *others = sides
    options = [" ".join(side.options) for side in others]
    if all(options) and not base.options:
        return ", ".join(options)
    return f"{', '.join(titles[1:])} against {titles[0]}"
