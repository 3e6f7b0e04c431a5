"""How likely each candidate is before anything is measured: by the files that it touched, and by
which of them define a function, as far as names show.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

from webapp.bisects.models import Bisect
from webapp.bisects.path_patterns import PathPattern
from webapp.results.models import Revision
from webapp.stats.profiles.calls import Function

UNLIKELY = 0.05
"""Weight of a candidate that touches only what cannot matter, where the others have 1. Not less:
the list is a person's opinion of paths, a build may well read a file that looks like documentation,
and a new layout of the image alone can move a benchmark. At one in twenty a search passes it by,
and boots that contradict overrule it (three natural-log units of evidence)."""
ELSEWHERE = 0.2
"""Weight of a candidate that touches no file of a function that profiles prove to have changed,
where one that does has 1. The names of files and functions agree by habit, and a function's cost
may change by what another file does, so it is well above `UNLIKELY`."""
KERNEL_SOURCES = "sys/"
"""In a tree that has it, what lies elsewhere is user space."""
NO_PATH = "no file"
SHOWN = 3
SOURCES = frozenset({".c", ".h", ".S", ".s", ".m", ".cc", ".cpp", ".rs"})
KERNEL = ("", "kernel")
"""Modules of functions that are compiled into the kernel, or of which nothing is known."""
FEWEST_LETTERS = 3
"""Of a function's first word that alone names files: `ip` or `in` begin too many."""
DRIVER = "if_"
"""What the files and modules of network drivers begin with, and their functions do not."""


@dataclass(frozen=True, slots=True)
class Prior:
    """``weights`` of the candidates, None where all are as likely; ``unlikely`` and ``likelier``:
    index → why.
    """

    weights: list[float] | None
    unlikely: dict[int, str]
    likelier: dict[int, str]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate that began with another weight than most, and why in words."""

    revision: Revision
    why: str


class ShownPrior:
    """What a page shows of the weights that the candidates of a bisect begin with."""

    __slots__ = ()
    bisect: Bisect
    revisions: Sequence[Revision]

    @property
    def unlikely(self) -> list[Weighed]:
        """The candidates that begin with less weight, and why."""
        return _weighed(self.bisect.unlikely, self.revisions)

    @property
    def likelier(self) -> list[Weighed]:
        """Those that begin with more weight by what profiles prove to have changed, and why."""
        return _weighed(self.bisect.likelier, self.revisions)

    @property
    def likelier_sentence(self) -> str:
        """How many begin with more weight, in a sentence; empty: none."""
        return likelier_sentence(self.bisect)

    @property
    def prior_sentence(self) -> str:
        """How many begin with less weight, in a sentence."""
        return prior_sentence(self.bisect)


def prior_of(
    revisions: Sequence[Revision], patterns: Sequence[PathPattern], changed: Sequence[Function] = ()
) -> Prior:
    """Of the candidates of a bisect along ``revisions``, the good one first. ``changed`` are the
    functions that profiles prove to have changed.

    A revision whose paths are not known, or were cut, keeps its whole weight.
    """
    candidates = list(enumerate(revisions))[1:]
    unlikely = {at: why for at, one in candidates if (why := _why_unlikely(one, patterns))}
    rest = [(at, one) for at, one in candidates if at not in unlikely]
    likelier = _likelier(rest, changed)
    weights = dict.fromkeys(unlikely, UNLIKELY)
    if likelier:
        known = {at for at, one in rest if one.has_all_paths}
        weights |= dict.fromkeys(known - likelier.keys(), ELSEWHERE)
    if not weights:
        return Prior(None, {}, {})
    return Prior([weights.get(at, 1.0) for at, _ in candidates], unlikely, likelier)


def likelier_sentence(bisect: Bisect) -> str:
    """How many candidates touch what profiles prove to have changed; empty where none does."""
    count = len(bisect.likelier)
    if not count:
        return ""
    touch, they = ("touches", "it begins") if count == 1 else ("touch", "they begin")
    return (
        f"{count} of {bisect.last_index} commits {touch} a file that by its name defines a "
        f"function whose cost changed in the profiles around this range: {they} with "
        f"{1 / ELSEWHERE:.0f} times the weight of the others."
    )


def prior_sentence(bisect: Bisect) -> str:
    """``12 of 64 commits touch only what cannot matter: …``; empty where there are none."""
    count = len(bisect.unlikely)
    if not count:
        return ""
    of = f"{count} of {bisect.last_index} commit{'' if bisect.last_index == 1 else 's'}"
    touch, they = ("touches", "it begins") if count == 1 else ("touch", "they begin")
    other = "the likeliest" if bisect.likelier else "any other"
    return (
        f"{of} {touch} only what cannot matter: {they} with {100 * UNLIKELY:.0f} % of the weight "
        f"of {other}."
    )


def defines(path: str, function: Function) -> bool:
    """Whether the file at ``path`` may define ``function``.

    Of a module's function: a source file whose directory or stem is the module's name (`pf`:
    `sys/netpfil/pf/pf.c`). Of the kernel's own: one whose stem is the beginning of the function's
    name, or begins with its first word, if that has three letters (underscores aside:
    `ip_fw_dynamic.c` and `ipfw_lookup_dyn_rule`).
    """
    file = PurePosixPath(path)
    if file.suffix not in SOURCES:
        return False
    stem = file.stem.removeprefix(DRIVER)
    if function.module not in KERNEL:
        return function.module.removeprefix(DRIVER) in {stem, *file.parts[:-1]}
    words = [word for word in function.name.split("_") if word]
    stem = stem.replace("_", "")
    first = words[0] if words else ""
    return stem in accumulate(words) or (len(first) >= FEWEST_LETTERS and stem.startswith(first))


def _weighed(why: Mapping[str, str], revisions: Sequence[Revision]) -> list[Weighed]:
    """The candidates of a bisect along ``revisions`` that ``why`` names by index, in order."""
    rows = sorted((int(index), text) for index, text in why.items())
    return [Weighed(revisions[index], text) for index, text in rows]


def _likelier(
    candidates: Sequence[tuple[int, Revision]], changed: Sequence[Function]
) -> dict[int, str]:
    """Those that touch a file that defines a function of ``changed``, and why; none if all do."""
    paths = {at: one.paths for at, one in candidates if one.paths and one.has_all_paths}
    if any(path.startswith(KERNEL_SOURCES) for those in paths.values() for path in those):
        paths = {
            at: [path for path in those if path.startswith(KERNEL_SOURCES)]
            for at, those in paths.items()
        }
    found = {at: why for at, those in paths.items() if (why := _why_likelier(those, changed))}
    return found if len(found) < len(candidates) else {}


def _why_likelier(paths: Sequence[str], changed: Sequence[Function]) -> str:
    """``sys/netpfil/pf/pf.c (pf_test)``; empty where no path defines a function."""
    found = [
        f"{path} ({', '.join(names[:SHOWN])})"
        for path in paths
        if (names := [one.name for one in changed if defines(path, one)])
    ]
    return _listed(found) if found else ""


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


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - SHOWN
    shown = ", ".join(texts[:SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
