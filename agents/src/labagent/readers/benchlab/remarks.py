"""What a run says of its own files: seconds that gave nothing, and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Iterator

from labagent.readers.benchlab.drafts import Draft
from labagent.readers.benchlab.measure import Measured

MAX_DOUBTS = 20
"""Doubts about the files of one run that are named; the others are counted."""


def doubt_warnings(draft: Draft) -> Iterator[str]:
    """What is odd about the files, the first twenty."""
    doubts = [*draft.entry.measured.doubts, *(draft.info.doubts if draft.info else ())]
    doubts += [f"{name} lies in two directories: one was read" for name in draft.group.twice]
    yield from doubts[:MAX_DOUBTS]
    if len(doubts) > MAX_DOUBTS:
        yield f"{len(doubts) - MAX_DOUBTS} more doubts about these files"


def problem_warnings(measured: Measured) -> Iterator[str]:
    """Why iterations gave no value."""
    for problem in sorted(set(measured.problems.values())):
        iterations = [i for i, found in measured.problems.items() if found == problem]
        yield f"iteration {', '.join(iterations)} gave no value: {problem}"
