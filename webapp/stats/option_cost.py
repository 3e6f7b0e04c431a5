"""What an option costs: samples with it over samples without it, in pairs.

A pair cancels whatever both sides share: the day, the machine, its boot where both were measured
in one. It never cancels the build, for a kernel with the option is another build than one without.
So a ratio scatters by the builds of both sides, and no number of pairs of the same two builds
reduces that; the pairs of two builds are the samples of one pair of builds.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import fsum, isfinite
from typing import TypeVar

WHOLE = 100.0
"""Percent: the option costs nothing."""

Item = TypeVar("Item")
Boot = Sequence[float]
Build = Sequence[Boot]


@dataclass(frozen=True, slots=True)
class PairedRun:
    """What is paired of a run. ``boots`` are the indices of the boots of its samples (None: not
    stated), ``session`` names what was measured together (empty: not stated), ``day`` when.
    """

    key: int
    build: str
    samples: Sequence[float]
    boots: Sequence[int] | None = None
    session: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Ratios:
    """The pairs of one build with the option, or of several that share a partner: with over
    without, in percent. ``run`` is the key of the first run with the option; ``boots`` count pairs
    of boots, None where a run of either side did not state its own.
    """

    run: int
    samples: list[float]
    boots: list[int] | None


def ratios(with_it: Sequence[PairedRun], without: Sequence[PairedRun]) -> list[Ratios]:
    """The pairs of the runs of one revision on one machine, whose sides come in a fixed order.

    Runs of one session are paired. Where no session has both sides, those of one day (UTC) are,
    and where no day has either, all runs of the revision. Only the closest of these counts, so
    that a later session adds to a point and a later day does not.

    Builds are paired with builds, within them boots with boots, within these samples with samples,
    always in their order. Of two numbers the smaller one counts: the longer side is dealt to that
    many groups, and a group stands for the mean of its samples. So no sample serves two pairs, and
    ratios are as independent as what they are made of. Pairs that have no ratio (nothing above 0
    on the side without, or a quotient beyond the double range) are left out.
    """
    found = []
    usable = [[run for run in side if run.samples] for side in (with_it, without)]
    for one, other in _together(*usable):
        found += _of_session(one, other)
    return found


def _together(
    with_it: Sequence[PairedRun], without: Sequence[PairedRun]
) -> list[tuple[list[PairedRun], list[PairedRun]]]:
    for name in ("session", "day"):
        one, other = _grouped(with_it, name), _grouped(without, name)
        if both := [(one[key], other[key]) for key in one if key in other]:
            return both
    return [(list(with_it), list(without))] if with_it and without else []


def _grouped(runs: Sequence[PairedRun], name: str) -> Mapping[Hashable, list[PairedRun]]:
    """Runs by what they state, those that state nothing left out."""
    found: dict[Hashable, list[PairedRun]] = {}
    for run in runs:
        if stated := getattr(run, name):
            found.setdefault(stated, []).append(run)
    return found


def _of_session(with_it: Sequence[PairedRun], without: Sequence[PairedRun]) -> list[Ratios]:
    one, other = _builds(with_it), _builds(without)
    tells_boots = all(run.boots is not None for run in [*with_it, *without])
    first = {run.build: run.key for run in reversed(with_it)}
    names, number = list(one), min(len(one), len(other))
    found = []
    for mine, its in zip(_deal(names, number), _deal(list(other.values()), number), strict=True):
        boots = [boot for name in mine for boot in one[name]]
        pairs = _of_boots(boots, [boot for build in its for boot in build])
        samples = [ratio for _, ratio in pairs]
        if samples:
            indices = [boot for boot, _ in pairs] if tells_boots else None
            found.append(Ratios(first[mine[0]], samples, indices))
    return found


def _builds(runs: Sequence[PairedRun]) -> Mapping[str, list[list[float]]]:
    """By build the samples of each of its boots; of a run that states none they are of one."""
    found: dict[str, dict[Hashable, list[float]]] = {}
    for run in runs:
        boots = found.setdefault(run.build, {})
        for at, value in enumerate(run.samples):
            boots.setdefault((run.key, run.boots and run.boots[at]), []).append(value)
    return {build: list(boots.values()) for build, boots in found.items()}


def _of_boots(one: Build, other: Build) -> list[tuple[int, float]]:
    """The ratios of two builds, each with the number of its pair of boots."""
    number = min(len(one), len(other))
    found = []
    for boot, (mine, its) in enumerate(zip(_deal(one, number), _deal(other, number), strict=True)):
        over, under = [value for each in mine for value in each], [v for each in its for v in each]
        pairs = min(len(over), len(under))
        for top, bottom in zip(_deal(over, pairs), _deal(under, pairs), strict=True):
            ratio = _ratio(top, bottom)
            if ratio is not None:
                found.append((boot, ratio))
    return found


def _ratio(top: Sequence[float], bottom: Sequence[float]) -> float | None:
    below = _mean(bottom)
    if not below > 0:
        return None
    ratio = WHOLE * (_mean(top) / below)
    return ratio if isfinite(ratio) else None


def _mean(values: Sequence[float]) -> float:
    """Without a sum that leaves the range of a double."""
    return fsum(value / len(values) for value in values)


def _deal(items: Sequence[Item], groups: int) -> list[Sequence[Item]]:
    """``items`` in that many runs of neighbours, whose lengths differ by one at the most."""
    return [
        items[len(items) * at // groups : len(items) * (at + 1) // groups] for at in range(groups)
    ]
