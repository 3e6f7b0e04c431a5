"""The iterations of one run beside each other: what shows only by comparison."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping

from labagent.readers.logs.base import Outline

MINIMUM_TO_COMPARE = 3
"""Iterations from which on the one that differs can be told from the others."""

FEW_SECONDS = 0.9
"""Share of the median number of seconds. In the netbenches archive no whole log has less."""


def compare_iterations(outlines: Mapping[str, Outline]) -> Iterator[tuple[str, str]]:
    """An iteration, and what it lacks that the others have."""
    if len(outlines) < MINIMUM_TO_COMPARE:
        return
    median = statistics.median(outline.seconds for outline in outlines.values())
    header, count = Counter(one.header for one in outlines.values()).most_common(1)[0]
    for iteration, one in outlines.items():
        others = [other for key, other in outlines.items() if key != iteration]
        if one.header != header and count == len(others):
            yield iteration, f"{one.header} lines before the first second, the others {header}"
        if one.seconds < FEW_SECONDS * median:
            yield iteration, f"{one.seconds} seconds, the others {median:g}"
        elif not one.closed and all(other.closed for other in others):
            yield iteration, f"no closing line, which the others have, after {one.seconds} seconds"


def repeated(digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """An iteration whose log is another one's, to the byte."""
    first: dict[str, str] = {}
    for iteration, digest in digests.items():
        if digest in first:
            yield iteration, f"the same file as iteration {first[digest]}"
        first.setdefault(digest, iteration)


def missing_iterations(iterations: Mapping[str, object]) -> list[int]:
    """Numbers from 1 to the highest that no log has; none where the numbers are no count."""
    numbers = {int(name) for name in iterations if len(name) <= 4}
    highest = max(numbers, default=0)
    lost = sorted(set(range(1, highest)) - numbers)
    return lost if len(lost) < len(numbers) else []
