"""Where what was typed contradicts what was measured."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from webapp.experiments.models import QUESTION_MAX, Experiment
from webapp.experiments.typed import key_of, read_typed


@dataclass(frozen=True, slots=True)
class AsTyped:
    """``heading`` is the line of the title; empty: the title is not the README's. ``blocks`` are
    its blocks by what they print."""

    heading: str
    blocks: Mapping[Hashable, str]

    def block(self, text: str) -> str:
        """``text`` with the white space of the README, where that has the block."""
        return self.blocks.get(key_of(text), text)


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


def as_typed(experiment: Experiment) -> AsTyped:
    """Of an experiment that came with no README, nothing."""
    read = read_typed(experiment.readme)
    is_title = bool(read.title) and read.title[:QUESTION_MAX] == experiment.question
    blocks = {key_of(one.text): one.text for one in read.blocks}
    return AsTyped(read.heading if is_title else "", blocks)
