"""Where what was typed contradicts what was measured."""

import re

from webapp.experiments.models import Experiment

_COMMIT = re.compile(r"\b[rn]?(\d{6,7})\b", re.ASCII)
"""How people write a commit of a counted history."""


def contradictions(experiment: Experiment) -> list[str]:
    """A sentence for each typed line that names commits of which none was measured.

    Needs `with_subjects`. Names without a number (hashes) are not looked for: prose is full of
    words that look like one.
    """
    names = [side.revision.name for side in experiment.sides.all()]
    measured = dict.fromkeys(names)
    numbers = {found[1] for name in measured if (found := _COMMIT.fullmatch(name))}
    if not numbers:
        return []
    typed = [experiment.question] if experiment.is_typed else []
    lines = []
    for line in [*typed, *experiment.bullets]:
        named = {number: text for text, number in _commits(line)}
        if named and not named.keys() & numbers:
            is_are = f"the data are of {', '.join(measured)}"
            lines.append(f"Typed: {', '.join(named.values())}; {is_are}.")
    return lines


def _commits(line: str) -> list[tuple[str, str]]:
    """Each commit as it is written, and its number."""
    return [(found[0], found[1]) for found in _COMMIT.finditer(line)]
