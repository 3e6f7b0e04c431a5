"""Which sides the runs of one directory are: kernels, else sets of options, else workloads."""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from webapp.analysis.queries import MOST_SIDES, OPTION_MARK, TRAFFIC_MARK, Side
from webapp.results.models import ModeName

LEAST_SIDES = 2
PLAIN_WORDS = (
    {"default", "defaults"},
    {"base", "baseline", "stock", "generic", "vanilla", "plain"},
    {"off", "without", "no", "none", "disabled", "disable", "unpatched", "null"},
)
"""What labs call the side that others are measured against, the surest first."""

PLAIN_WORKLOADS = ("forwarding", "fastforwarding")
WORD_ENDS = re.compile(r"[^a-z0-9]+")
NUMBERS = re.compile(r"\d+(?:\.\d+)?")


class NoSides(ValueError):
    """The runs are no two to seven sides; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run measured, by names. ``configuration`` is what its lab called the setup."""

    tree: str
    revision: str
    position: float
    variant: str
    hardware: str
    mode: ModeName
    session: str
    configuration: str = ""

    @property
    def kernel(self) -> tuple[str, str, str]:
        """Tree, revision, variant."""
        return self.tree, self.revision, self.variant


@dataclass(frozen=True, slots=True)
class Way:
    """One way to take sides. ``rank`` orders them, the baseline first; runs of one ``cell`` are
    compared; ``called`` is what its sides are."""

    called: str
    side: Callable[[Measured], Side]
    cell: Callable[[Measured], Hashable]
    rank: Callable[[Measured], tuple[object, ...]]
    is_of_one_kernel: bool = True


def arrange(found: Sequence[Measured]) -> list[Side]:
    """The sides, the baseline first, in the first way that fits: the earliest kernel without a
    suffix, the set of options or the workload that is called off, default or base, the plain
    workload. Traffic is never a side: inet6 is compared with inet6.

    Raises NoSides: no way fits.
    """
    tried = [_tried(way, found) for way in WAYS]
    for sides in tried:
        if not isinstance(sides, str):
            return sides
    raise NoSides(next(filter(None, map(str, tried)), ONE_SIDE))


ONE_SIDE = "one side only: one kernel, one set of options, one workload"


def _tried(way: Way, found: Sequence[Measured]) -> list[Side] | str:
    """The sides, or why there are none; empty: there is one."""
    ranked = {way.side(one): way.rank(one) for one in sorted(found, key=way.rank, reverse=True)}
    sides = sorted(ranked, key=lambda side: ranked[side])
    if len(sides) < LEAST_SIDES or (
        way.is_of_one_kernel and len({one.kernel for one in found}) > 1
    ):
        return ""
    if len(sides) > MOST_SIDES:
        return f"{len(sides)} {way.called}, and a report has at most {MOST_SIDES} sides"
    cells = [{way.cell(one) for one in found if way.side(one) == side} for side in sides]
    if not set.intersection(*cells):
        return f"{len(sides)} {way.called}, but nothing was measured with all of them"
    return sides


def rank_of_name(name: str) -> tuple[float, ...]:
    """Lower for a name that others are measured against: one of `PLAIN_WORDS`, else one of
    `PLAIN_WORKLOADS`."""
    words = set(WORD_ENDS.split(name.lower()))
    for rank, plain in enumerate(PLAIN_WORDS):
        if words & plain:
            return (rank,)
    among = PLAIN_WORKLOADS.index(name) if name in PLAIN_WORKLOADS else inf
    return (len(PLAIN_WORDS), among)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(one) for one in NUMBERS.findall(text))


def _kernel(one: Measured) -> Side:
    return Side(one.tree, one.revision, variant=one.variant, session=one.session)


def _with_options(one: Measured) -> Side:
    options = "".join(f"{OPTION_MARK}{option}" for option in sorted(one.mode.options))
    return Side(one.tree, one.revision, mode=options, variant=one.variant, session=one.session)


def _workload(one: Measured) -> Side:
    """In every traffic, where it names one."""
    any_traffic = ModeName(one.mode.workload + TRAFFIC_MARK, None, one.mode.options)
    mode = str(any_traffic if one.mode.traffic else one.mode)
    return Side(one.tree, one.revision, mode=mode, variant=one.variant, session=one.session)


def _of_kernel(one: Measured) -> tuple[object, ...]:
    """A branch by its version, one without (head) last; then the commit, the plain kernel."""
    branch = _numbers(one.tree) or (inf,)
    return branch, one.tree, one.position, one.variant.count("+") + bool(one.variant), one.variant


def _of_options(one: Measured) -> tuple[object, ...]:
    options = " ".join(sorted(one.mode.options))
    return rank_of_name(one.configuration), len(one.mode.options), _numbers(options), options


def _of_workload(one: Measured) -> tuple[object, ...]:
    name = one.mode.workload
    return rank_of_name(name), _numbers(name), name, str(one.mode)


WAYS = (
    Way(
        "kernels", _kernel, lambda one: (one.hardware, one.mode), _of_kernel, is_of_one_kernel=False
    ),
    Way(
        "sets of options",
        _with_options,
        lambda one: (one.hardware, one.mode.workload, one.mode.traffic),
        _of_options,
    ),
    Way("workloads", _workload, lambda one: (one.hardware, one.mode.traffic), _of_workload),
)


def index_of(sides: Sequence[Side], name: str, labels: Sequence[str] = ()) -> int | None:
    """Which of the sides somebody calls ``name``: its label, one of its parts, else a word that no
    other side has; None: none or several."""
    parts = [set(_parts(side)) for side in sides]
    for own, label in zip(parts, labels, strict=False):
        own |= {label}
    words = [{word for part in own for word in WORD_ENDS.split(part.lower())} for own in parts]
    for named, sought in ((parts, name), (words, name.lower())):
        found = [index for index, own in enumerate(named) if sought in own]
        if len(found) == 1:
            return found[0]
    return None


def _parts(side: Side) -> Iterator[str]:
    """By which a side is called."""
    yield from filter(None, (str(side), side.revision, side.kernel, side.variant, *side.options))
    if name := side.workload or (ModeName.parse(side.mode_name) if side.mode_name else None):
        yield from (name.workload, str(name), *name.options)
