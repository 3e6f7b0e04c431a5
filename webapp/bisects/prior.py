"""How likely each candidate is before anything is measured: by the files that it touched."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.bisects.models import Bisect
from webapp.bisects.path_patterns import PathPattern
from webapp.results.models import Revision

UNLIKELY = 0.05
"""Weight of a candidate that touches only what cannot matter, where the others have 1. Not less:
the list is a person's opinion of paths, a build may well read a file that looks like documentation,
and a new layout of the image alone can move a benchmark. At one in twenty a search passes it by,
and boots that contradict overrule it (three natural-log units of evidence)."""

NO_PATH = "no file"
PATTERNS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Prior:
    """``weights`` of the candidates, None where all are as likely; ``unlikely``: index → why."""

    weights: list[float] | None
    unlikely: dict[int, str]


def prior_of(revisions: Sequence[Revision], patterns: Sequence[PathPattern]) -> Prior:
    """Of the candidates of a bisect along ``revisions``, the good one first.

    A revision whose paths are not known, or were cut, keeps its whole weight.
    """
    unlikely = {
        index: why
        for index, revision in enumerate(revisions)
        if index > 0 and (why := _why_unlikely(revision, patterns))
    }
    if not unlikely:
        return Prior(None, {})
    weights = [UNLIKELY if index in unlikely else 1.0 for index in range(1, len(revisions))]
    return Prior(weights, unlikely)


@dataclass(frozen=True, slots=True)
class Unlikely:
    """A candidate that began with less weight, and why in words."""

    revision: Revision
    why: str


def unlikely_of(bisect: Bisect, revisions: Sequence[Revision]) -> list[Unlikely]:
    """Those of a bisect along ``revisions``, in their order."""
    rows = sorted((int(index), why) for index, why in bisect.unlikely.items())
    return [Unlikely(revisions[index], why) for index, why in rows]


def prior_sentence(bisect: Bisect) -> str:
    """``12 of 64 commits touch only what cannot matter: …``; empty where there are none."""
    count = len(bisect.unlikely)
    if not count:
        return ""
    of = f"{count} of {bisect.last_index} commit{'' if bisect.last_index == 1 else 's'}"
    touch, they = ("touches", "it begins") if count == 1 else ("touch", "they begin")
    return (
        f"{of} {touch} only what cannot matter: {they} with {100 * UNLIKELY:.0f} % of the weight "
        "of any other."
    )


def _why_unlikely(revision: Revision, patterns: Sequence[PathPattern]) -> str:
    """``only share/man/, *.md``; empty where something that it touches may matter."""
    if revision.paths is None or not revision.has_all_paths:
        return ""
    found: dict[str, None] = {}
    for path in revision.paths:
        first = next((one.text for one in patterns if one.matches(path)), None)
        if first is None:
            return ""
        found[first] = None
    return f"only {_listed(list(found))}" if found else NO_PATH


def _listed(patterns: Sequence[str]) -> str:
    more = len(patterns) - PATTERNS_SHOWN
    shown = ", ".join(patterns[:PATTERNS_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
