"""What sides of a comparison are called."""

from collections.abc import Sequence

from webapp.analysis.queries import Side, differing_parts


def titles_of(sides: Sequence[Side]) -> list[str]:
    """Each side by what tells it apart from the others."""
    differing = differing_parts(sides)
    return [" ".join(_part_text(side, part) for part in differing) or str(side) for side in sides]


def _part_text(side: Side, part: str) -> str:
    value: str = getattr(side, part)
    return value or {"mode": "without", "hardware": "all hardware"}.get(part, "")


def subject_of(sides: Sequence[Side], titles: Sequence[str]) -> str:
    """What the headline is about: the option, else B against A."""
    base, *others = sides
    options = [" ".join(side.options) for side in others]
    if all(options) and not base.options:
        return ", ".join(options)
    return f"{', '.join(titles[1:])} against {titles[0]}"
