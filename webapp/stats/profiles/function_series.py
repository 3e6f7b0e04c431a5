"""What functions cost per packet along a tree: a series each, and where its level changed.

A boot is a sample. A revision takes part if its cost may be claimed (`webapp.stats.profiles.costs`)
beside the newest one of which that is so. Costs are in percent of the packet of the first revision
that takes part.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from webapp.stats import changes
from webapp.stats.arrays import Floats, Ints
from webapp.stats.changes import Analysis, At, Change, Findings, Point, Segment
from webapp.stats.compare import Samples, summarize
from webapp.stats.false_discovery import gate_among
from webapp.stats.profiles.calls import IDLE, Function, idle_functions
from webapp.stats.profiles.costs import Basis, Side, basis
from webapp.stats.profiles.sides import counted, same_functions
from webapp.stats.profiles.testing import TESTED

MOST_FUNCTIONS = 50
"""Series of one machine and mode at a time."""

FEWEST_REVISIONS = 5
"""Levels are shown of so many revisions: a change rests on two on either side."""


@dataclass(frozen=True, slots=True)
class ProfiledRevision:
    """The profiles of one revision: its position along the tree, its name, and its boots."""

    position: int
    name: str
    side: Side


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A revision of which no cost is claimed, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class RevisionCosts:
    """Shares of all samples of the functions of one revision in each of its n boots, ``own`` and
    ``inclusive`` (n, functions), the boots' ``samples`` and the cost of their ``packet`` (n).
    ``is_plain``: the rate of the profiled boots is unknown, that of plain runs is used.
    """

    at: At
    builds: Sequence[str]
    functions: Sequence[Function]
    own: Floats
    inclusive: Floats
    samples: Floats
    packet: Floats
    is_plain: bool

    def shares(self, *, with_calls: bool) -> Floats:
        """What functions themselves took, or with all they called."""
        return self.inclusive if with_calls else self.own


@dataclass(frozen=True, slots=True)
class FunctionCosts:
    """The costs at the revisions that take part, in order; ``indices`` are those of the functions
    of each among the F ``functions`` of all. A matrix of all boots and functions would be large.
    """

    revisions: Sequence[RevisionCosts]
    left_out: Sequence[LeftOut]
    functions: Sequence[Function]
    indices: Sequence[Ints]

    @property
    def labels(self) -> list[str]:
        """The names of the revisions."""
        return [one.at.label for one in self.revisions]

    @property
    def positions(self) -> list[int]:
        """Where they are."""
        return [one.at.position for one in self.revisions]

    @property
    def is_plain(self) -> bool:
        """Whether rates are those of plain runs."""
        return any(one.is_plain for one in self.revisions)

    def largest_share(self, *, with_calls: bool) -> Floats:
        """The largest mean share of each function at any revision (F)."""
        largest = np.zeros(len(self.functions))
        for one, index in zip(self.revisions, self.indices, strict=True):
            np.maximum.at(largest, index, one.shares(with_calls=with_calls).mean(axis=0))
        return largest

    def at(self, function: Function) -> int | None:
        """The index of a function; without a module that of the first one of its name."""
        for at, one in enumerate(self.functions):
            if one == function or (not function.module and one.name == function.name):
                return at
        return None

    def points(self, at: int, *, with_calls: bool, least: float = 0.0) -> list[Point]:
        """The series of a function, of at least so many samples in each boot."""
        unit = 100 / float(self.revisions[0].packet.mean())
        found = []
        for one, index in zip(self.revisions, self.indices, strict=True):
            shares = one.shares(with_calls=with_calls)[:, index == at].sum(axis=1)
            costs = np.maximum(shares, least / one.samples) * one.packet * unit
            boots = range(len(costs))
            found.append(Point(one.at.position, one.at.label, costs.tolist(), boots, one.builds))
        return found


@dataclass(frozen=True, slots=True)
class FunctionSeries:
    """What a function costs at each revision that takes part, with 95 % intervals where there are
    two boots, and what the detector finds. ``analysis`` is None of a function that reaches 0.2 %
    of the samples nowhere: in it nothing is looked for. ``others`` are no changes of level.
    """

    function: Function
    points: Sequence[Point]
    means: Sequence[float]
    intervals: Sequence[tuple[float, float] | None]
    analysis: Analysis | None
    others: Findings = field(default_factory=Findings)

    @property
    def changes(self) -> Sequence[Change]:
        """The function's changes of level, along the tree."""
        return self.analysis.changes if self.analysis else ()

    @property
    def levels(self) -> Sequence[Segment]:
        """The function's levels; none of a series too young to have any."""
        return self.analysis.segments if self.analysis else ()


def function_costs(
    newest_first: Iterable[ProfiledRevision], patterns: Sequence[str] = IDLE
) -> FunctionCosts:
    """Count the functions of revisions. Of each call tree no more is kept than its functions."""
    held_to: ProfiledRevision | None = None
    taken: list[RevisionCosts] = []
    left_out = []
    for one in newest_first:
        to = held_to or one
        found = basis(to.side, one.side, patterns, names=(to.name, one.name))
        if why := _why_not(found, (to.name, one.name)):
            left_out.append(LeftOut(one.name, why))
            continue
        held_to = to
        taken.append(_counted(one, found))
    return _together(taken[::-1], left_out[::-1])


def _why_not(found: Basis, names: tuple[str, str]) -> str:
    """Why the cost of one revision is not claimed beside that of another; else empty. Rates while
    profiled and those of plain runs differ by what profiling costs: a step in every function.
    """
    if not found.is_cost or found.untested:
        return found.untested or found.shares_alone
    if (found.a.freedom > 0) != (found.b.freedom > 0):
        known, unknown = names if found.b.freedom > 0 else names[::-1]
        return f"The packets per second while profiled are known of {known} and not of {unknown}"
    return ""


def series_of(
    costs: FunctionCosts, chosen: Sequence[int], starts: Sequence[int] = (), *, with_calls: bool
) -> list[FunctionSeries]:
    """The series of functions (by index); ``starts`` are the first positions of later epochs."""
    if not chosen:
        return []
    largest = costs.largest_share(with_calls=with_calls)
    return [
        _series(costs, at, starts, with_calls=with_calls, is_tested=bool(largest[at] >= TESTED))
        for at in chosen
    ]


def costliest(
    costs: FunctionCosts, patterns: Sequence[str] = IDLE, *, with_calls: bool
) -> list[int]:
    """The `MOST_FUNCTIONS` functions with the largest shares, idle ones and what nothing is looked
    for in left out.
    """
    if not costs.revisions:
        return []
    largest = costs.largest_share(with_calls=with_calls)
    idle = idle_functions(costs.functions, patterns)
    order = sorted(
        np.flatnonzero((largest >= TESTED) & ~idle).tolist(), key=lambda at: -largest[at]
    )
    return order[:MOST_FUNCTIONS]


def changed_among(series: Sequence[FunctionSeries]) -> list[FunctionSeries]:
    """Functions with a confirmed change that passes a gate (Benjamini and Hochberg), each with the
    smallest p-value of its changes. The scans of neighbouring revisions hardly differ: a look is
    counted for every `FEWEST_REVISIONS` of each function.
    """
    proven = [
        (one, min(each.p_value for each in found))
        for one in series
        if (found := [each for each in one.changes if each.state == "confirmed"])
    ]
    looks = sum(max(len(one.points) // FEWEST_REVISIONS, 1) for one in series)
    gates = gate_among([p_value for _, p_value in proven], looks)
    return [one for (one, _), gate in zip(proven, gates, strict=True) if gate.passes]


def _counted(one: ProfiledRevision, found: Basis) -> RevisionCosts:
    boots = one.side.boots
    counts = counted(boots, first=len(boots), by_section=False)
    samples = counts.samples[:, None]
    return RevisionCosts(
        At(one.position, one.name),
        one.side.builds or [""] * len(boots),
        counts.functions,
        counts.own / samples,
        counts.inclusive / samples,
        counts.samples,
        found.b.cost,
        is_plain=found.b.freedom > 0,
    )


def _together(taken: Sequence[RevisionCosts], left_out: Sequence[LeftOut]) -> FunctionCosts:
    known = list(dict.fromkeys(function for one in taken for function in one.functions))
    functions, same = same_functions(known)
    index = dict(zip(known, same.tolist(), strict=True))
    indices = [np.array([index[each] for each in one.functions], np.int64) for one in taken]
    return FunctionCosts(taken, left_out, functions, indices)


def _series(
    costs: FunctionCosts, at: int, starts: Sequence[int], *, with_calls: bool, is_tested: bool
) -> FunctionSeries:
    points = costs.points(at, with_calls=with_calls)
    summaries = [
        summarize(Samples(one.samples, boots=one.boots, builds=one.builds)) for one in points
    ]
    # Half a sample where a boot has none: detectors work on logarithms.
    above_zero = costs.points(at, with_calls=with_calls, least=0.5)
    return FunctionSeries(
        costs.functions[at],
        points,
        [float(np.mean(one.samples)) for one in points],
        [one.interval() for one in summaries],
        *(_found(above_zero, starts) if is_tested else (None,)),
    )


def _found(points: Sequence[Point], starts: Sequence[int]) -> tuple[Analysis, Findings]:
    """What is found in each epoch alone; noise, and what could be proven, are the last one's."""
    groups = groupby(points, key=lambda point: bisect_right(starts, point.position))
    found = [changes.detect(its, better="less") for _, its in groups]
    *over, last = (one.analysis for one in found)
    proven = [each for one in over for each in one.changes if each.state != "candidate"]
    levels = [
        each
        for one in found
        if one.analysis.count >= FEWEST_REVISIONS
        for each in one.analysis.segments
    ]
    analysis = replace(last, changes=(*proven, *last.changes), segments=tuple(levels))
    others = [one.others for one in found]
    return analysis, replace(
        others[-1],
        excursions=tuple(each for one in others for each in one.excursions),
        noise_changes=tuple(each for one in others for each in one.noise_changes),
        modes=tuple(each for one in others for each in one.modes),
        slow=tuple(each for one in others for each in one.slow),
    )
