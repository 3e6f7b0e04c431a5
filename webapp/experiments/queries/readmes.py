"""What a report shows as its README has it."""

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


def as_typed(experiment: Experiment) -> AsTyped:
    """Of an experiment that came with no README, nothing."""
    read = read_typed(experiment.readme)
    is_title = bool(read.title) and read.title[:QUESTION_MAX] == experiment.question
    blocks = {key_of(one.text): one.text for one in read.blocks}
    return AsTyped(read.heading if is_title else "", blocks)
