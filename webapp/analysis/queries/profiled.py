"""The profiles that an address names: one by its number, or those of a side (`tree:revision:…`)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from statistics import fmean
from types import MappingProxyType

from django.conf import settings
from django.db.models import Q, QuerySet

from webapp.analysis.queries import profiled_kernels
from webapp.analysis.queries.sides import Side, SideError, matched_mode, options_of, revisions_of
from webapp.results.models import Profile, Run
from webapp.results.queries import (
    Newest,
    call_trees,
    fitting,
    newest,
    profiles_of_runs,
    rates_of_runs,
)
from webapp.stats.profiles import Boot, Difference, Headline, difference, headline
from webapp.stats.profiles.calls import IDLE, Calls, Function, added, summed
from webapp.stats.profiles.costs import Side as CostSide

NUMBER_MAX = 2**63 - 1  # of a bigint
MOST_PROFILES = 100
"""Profiles of a side that are added, the newest: five boots of each of twenty builds."""

MOST_COUNTS, MOST_ROWS_TIMES_FUNCTIONS = 8_000_000, 4_000_000
"""Of a side that is compared with one other (`fitting`); several pairs share them. The largest
profile that is stored fits, and about forty of the largest that labs sent; what a page takes then
is 750 MB at most (`benchmarks.profiles`)."""


TOO_LARGE = "is too large to be drawn; send one of a shorter time, or sampled more rarely"


@dataclass(frozen=True)
class ProfiledSide:
    """Profiles of one kernel on one machine in one mode. ``text`` names them in an address;
    ``trees`` are call trees by ids of profiles, ``rates`` packets per second by ids of runs.
    ``stored`` profiles are there, of which the newest that are few and small enough are added.
    """

    text: str
    title: str
    profiles: Sequence[Profile]
    trees: Mapping[int, Calls]
    rates: Mapping[int, Sequence[float]]
    stored: int

    @property
    def run(self) -> Run:
        """A run of them; all have its machine, mode and revision."""
        return self.profiles[0].run

    @cached_property
    def calls(self) -> Calls:
        """All boots added, and all CPUs."""
        return summed([list(self.trees.values())])

    @cached_property
    def cost_side(self) -> CostSide:
        """The boots as the statistics take them."""
        return boots_of(self.profiles, self.trees, self.rates)


Cell = tuple[Sequence[Newest], Sequence[Newest]]
"""The profiles of two sides, the newest first."""

MOST_CELLS = 24
"""Machines and modes that one page compares."""

KERNEL = ("run__revision", "run__variant", "run__hardware", "run__mode")
SUBJECT = ("run__hardware", "run__mode")

HISTORY = 40
"""Profiles of other kernels whose scatter counts with that of the sides' own boots."""

LINES = 3
"""Functions that an alert and its mail name."""


@dataclass(frozen=True)
class ProfiledPair:
    """Two sides, and the difference of their profiles; ``history`` are other kernels of the machine
    in the mode.
    """

    a: ProfiledSide
    b: ProfiledSide
    history: Sequence[CostSide] = ()

    @cached_property
    def found(self) -> Difference:
        """What functions cost on both sides."""
        sides = self.a.cost_side, self.b.cost_side
        return difference(*sides, history=self.history, patterns=idle_patterns())

    @property
    def names(self) -> tuple[str, str]:
        """Both sides, each by what distinguishes it."""
        mine, other = (profiled_kernels.parts_of(side.run) for side in (self.a, self.b))
        shown = [
            ", ".join(x for x, y in zip(one, two, strict=True) if x != y) or one[0]
            for one, two in ((mine, other), (other, mine))
        ]
        return shown[0], shown[1]

    @cached_property
    def headline(self) -> Headline:
        """The difference in a few sentences."""
        return headline(self.found, *self.names)

    @property
    def changed(self) -> list[Function]:
        """The functions that are proven to have changed, that of the headline first."""
        first = [(one.function, one.module) for one in self.headline.parts if one.is_proven]
        rows = [(one.function, one.module) for one in self.found.rows if one.is_claimed]
        return [Function(*one) for one in dict.fromkeys([*first, *rows])]

    @property
    def lines(self) -> list[str]:
        """The proven changes of `LINES` functions, in words."""
        unit = "of a packet" if self.found.is_cost else "of the samples"
        claimed = [row for row in self.found.rows if row.is_claimed][:LINES]
        return [
            f"{row.function}: {row.a_pct:.1f} % {unit} became {row.b_pct:.1f} %, {row.verdict}"
            for row in claimed
        ]


def profiled_pair(a: str, b: str) -> ProfiledPair:
    """The sides that two addresses name. Raises SideError as `profiled_side` does."""
    found = _pairs([(_newest(a), _newest(b))], with_history=True)
    if not found:
        raise SideError(f"the newest profile of {a} or {b} {TOO_LARGE}")
    pair = found[0]
    return replace(pair, a=replace(pair.a, text=a), b=replace(pair.b, text=b))


def profiled_around(gaps: Sequence[profiled_kernels.Gap]) -> list[ProfiledPair]:
    """The differences of the profiled kernels nearest to each gap, of those that have profiles on
    both sides; in a fixed number of queries.
    """
    found = [ends for ends in profiled_kernels.nearest_runs(gaps) if ends]
    if not found:
        return []
    kernels = {profiled_kernels.kernel_of(run) for ends in found for run in ends}
    stored: dict[profiled_kernels.Kernel, list[Profile]] = {kernel: [] for kernel in kernels}
    for one in newest(_any_of(KERNEL, kernels), MOST_PROFILES, by=KERNEL):
        stored[profiled_kernels.kernel_of(one.run)].append(one)
    cells = dict.fromkeys(
        (profiled_kernels.kernel_of(a), profiled_kernels.kernel_of(b)) for a, b in found
    )
    return _pairs([(stored[a], stored[b]) for a, b in cells], with_history=True)


def profiled_cells(a: str, b: str) -> list[ProfiledPair]:
    """The pairs of two sides, one for each machine and mode in which both are profiled, in order;
    a mode that differs from another by the options that a side asks for is the same.

    Raises SideError for what is no side, names none that is known, or is too large for one page.
    """
    sides = [Side.parse(text) for text in (a, b)]
    compared = options_of(sides)
    found = [_by_subject(side, compared) for side in sides]
    shared = sorted(found[0].keys() & found[1].keys())[:MOST_CELLS]
    pairs = _pairs([(found[0][one], found[1][one]) for one in shared], with_history=False)
    if len(pairs) < len(shared):
        raise SideError(
            f"{len(shared)} machines and modes are profiled, too much to be added on one page; "
            "name hardware and mode"
        )
    return pairs


def _by_subject(side: Side, compared: Collection[str]) -> dict[tuple[str, str], list[Profile]]:
    """The profiles of a side by machine and mode, the newest first."""
    subjects: dict[tuple[str, str], list[Profile]] = defaultdict(list)
    most = MOST_CELLS * MOST_PROFILES
    for one in newest(_of_side(str(side)), MOST_PROFILES, by=KERNEL)[:most]:
        mode = matched_mode(side, one.run.mode.parts, compared)
        if mode is not None:
            subjects[one.run.hardware.name, mode].append(one)
    return subjects


def profiled_side(text: str) -> ProfiledSide:
    """What ``text`` names. Raises SideError where it names no profile, or those of two machines."""
    profiles = fitting(_newest(text), MOST_COUNTS, MOST_ROWS_TIMES_FUNCTIONS)
    if not profiles:
        raise SideError(f"the newest profile of {text} {TOO_LARGE}")
    rates = rates_of_runs({one.run_id for one in profiles})
    return replace(_side_of(profiles, call_trees([one.pk for one in profiles]), rates), text=text)


def _newest(text: str) -> Sequence[Newest]:
    """Those of the side that ``text`` names."""
    found = _numbered(text) if text.isascii() and text.isdigit() else _of_side(text)
    profiles = list(newest(found, MOST_PROFILES))
    if not profiles:
        raise SideError(f"no profile of {text} is stored; `labagent profile` sends one")
    subjects = {(one.run.hardware.name, one.run.mode.name) for one in profiles}
    if len(subjects) > 1:
        named = "; ".join(sorted(f"{hardware}, {mode}" for hardware, mode in subjects)[:4])
        raise SideError(f"{text}: name hardware and mode; profiles are stored of {named}")
    return profiles


def _pairs(cells: Sequence[Cell], *, with_history: bool) -> list[ProfiledPair]:
    """The pairs of those cells that fit on one page, in a fixed number of queries."""
    if not cells:
        return []
    most = MOST_COUNTS // len(cells), MOST_ROWS_TIMES_FUNCTIONS // len(cells)
    fit = [(fitting(a, *most), fitting(b, *most)) for a, b in cells]
    fit = [(a, b) for a, b in fit if a and b]
    sides = [one for cell in fit for side in cell for one in side]
    history = _history(sides, most) if with_history and fit else {}
    others = [one for kernels in history.values() for those in kernels for one in those]
    trees = call_trees([one.pk for one in (*sides, *others)])
    rates = rates_of_runs({one.run_id for one in sides})
    return [
        ProfiledPair(
            _side_of(a, trees, rates),
            _side_of(b, trees, rates),
            [boots_of(those, trees) for those in history.get(_subject_of(a[0]), ())],
        )
        for a, b in fit
    ]


def _side_of(
    profiles: Sequence[Newest], trees: Mapping[int, Calls], rates: Mapping[int, Sequence[float]]
) -> ProfiledSide:
    ordered = sorted(profiles, key=lambda one: (one.run_id, one.iteration or 0, one.pk))
    runs = {one.run_id for one in ordered}
    return ProfiledSide(
        text=profiled_kernels.address_of(ordered[0].run),
        title=profiled_kernels.title_of(ordered[0].run),
        profiles=ordered,
        trees={one.pk: trees[one.pk] for one in ordered},
        rates={run: rates[run] for run in runs & rates.keys()},
        stored=profiles[0].stored,
    )


def _numbered(text: str) -> QuerySet[Profile]:
    return Profile.objects.filter(pk=min(int(text[:19]), NUMBER_MAX)).with_subjects()


def _of_side(text: str) -> QuerySet[Profile]:
    side = Side.parse(text)
    (revision,) = revisions_of([side])
    variant = Q(variant__name=side.variant) if side.variant else Q(variant=None)
    wanted = Q(revision=revision) & variant
    if side.hardware:
        wanted &= Q(hardware__name=side.hardware) | Q(hardware__aliases__name=side.hardware)
    if side.mode_name:
        wanted &= Q(mode__name=side.mode_name)
    if side.sessions:
        wanted &= Q(session__in=side.sessions)
    runs = Run.objects.counted().filter(wanted, profiles__isnull=False).distinct()
    return profiles_of_runs(runs.values_list("pk", flat=True))


def boots_of(
    profiles: Sequence[Profile],
    trees: Mapping[int, Calls],
    rates: Mapping[int, Sequence[float]] = MappingProxyType({}),
) -> CostSide:
    """Profiles of one kernel, machine and mode as the statistics take them."""
    boots = _by_boot(profiles)
    return CostSide(
        boots=tuple(_boot(those, trees, rates) for those in boots),
        builds=tuple(those[0].run.kernel.build_id for those in boots),
        plain_pps=tuple(rate for run in sorted(rates) for rate in rates[run]),
    )


def _boot(
    profiles: Sequence[Profile], trees: Mapping[int, Calls], rates: Mapping[int, Sequence[float]]
) -> Boot:
    first = profiles[0]
    announced = [one.announced for one in profiles if one.announced is not None]
    events = [one.event_rate for one in profiles if one.event_rate is not None]
    return Boot(
        calls=added([trees[one.pk] for one in profiles]),
        expected=sum(announced) if len(announced) == len(profiles) else None,
        truncated=any(one.is_truncated for one in profiles),
        pps=first.pps,
        run_pps=fmean(rates[first.run_id]) if first.run_id in rates else None,
        cores=first.cores,
        event_rate=fmean(events) if len(events) == len(profiles) else None,
        event=first.event,
        label=first.name,
    )


def _history(
    sides: Sequence[Profile], most: tuple[int, int]
) -> dict[tuple[int, int], list[list[Profile]]]:
    """The newest other kernels that were profiled in several boots, by machine and mode."""
    subjects = {_subject_of(one) for one in sides}
    found = _any_of(SUBJECT, subjects).filter(is_truncated=False)
    found = found.exclude(run__in={one.run_id for one in sides})
    others: dict[tuple[int, int], list[Profile]] = defaultdict(list)
    for one in newest(found, HISTORY, by=SUBJECT):
        others[_subject_of(one)].append(one)
    return {subject: _of_several_boots(fitting(those, *most)) for subject, those in others.items()}


def _of_several_boots(profiles: Sequence[Profile]) -> list[list[Profile]]:
    kernels: dict[profiled_kernels.Kernel, list[Profile]] = defaultdict(list)
    for one in profiles:
        kernels[profiled_kernels.kernel_of(one.run)].append(one)
    return [those for those in kernels.values() if len(_by_boot(those)) > 1]


def _subject_of(one: Profile) -> tuple[int, int]:
    return one.run.hardware_id, one.run.mode_id


def _any_of(columns: Sequence[str], rows: Iterable[tuple[int | None, ...]]) -> QuerySet[Profile]:
    """The profiles of which ``columns`` are one of ``rows``."""
    wanted = reduce(or_, (Q(**dict(zip(columns, row, strict=True))) for row in rows))
    return Profile.objects.counted().filter(wanted).with_subjects()


def idle_patterns() -> tuple[str, ...]:
    """Patterns of functions that run while a CPU is idle: the setting, else those known."""
    return tuple(settings.IDLE_FUNCTIONS) or IDLE


def _by_boot(profiles: Sequence[Profile]) -> list[list[Profile]]:
    """The profiles of each boot; one that names no boot is a boot of its own."""
    boots: dict[tuple[int, str], list[Profile]] = defaultdict(list)
    for one in profiles:
        boots[one.run_id, one.boot or f"profile {one.pk}"].append(one)
    return list(boots.values())
