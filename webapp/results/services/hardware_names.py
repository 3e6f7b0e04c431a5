"""From the names of hardware in a document to its rows, and what to say where that fails."""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence

from webapp.results.errors import Problem
from webapp.results.models import Hardware, HardwareAlias

NEAREST_SHOWN = 3
Named = Collection[tuple[str, str]]  # where in the document, and the name there


def hardware_named(names: Iterable[str]) -> dict[str, Hardware]:
    """By present name, then by former one, in two queries; without what nobody registered."""
    wanted = set(names)
    found = {row.name: row for row in Hardware.objects.filter(name__in=wanted)}
    if missing := wanted - found.keys():
        former = HardwareAlias.objects.filter(name__in=missing).select_related("hardware")
        found |= {alias.name: alias.hardware for alias in former}
    return found


def unknown_hardware(named: Named, found: Mapping[str, Hardware]) -> list[Problem]:
    """A problem for each name that is not among ``found``, with the nearest that are registered."""
    missing = [(path, name) for path, name in named if name not in found]
    if not missing:
        return []
    known = list(Hardware.objects.values_list("name", flat=True))
    return [Problem(path, _not_registered(name, known)) for path, name in missing]


def foreign_hardware(named: Named, found: Mapping[str, Hardware], lab: int) -> list[Problem]:
    """A problem for each hardware that belongs to another lab than ``lab`` (an id)."""
    return [
        Problem(path, f"{name!r} belongs to another lab than this token")
        for path, name in named
        if found[name].lab_id != lab
    ]


def _not_registered(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, NEAREST_SHOWN, cutoff=0.3)
    hint = f"; the nearest known: {', '.join(near)}" if near else ""
    return (
        f"{name!r} is not registered{hint}. Register it with `labagent hardware add {name}`, "
        "or send with --register"
    )
