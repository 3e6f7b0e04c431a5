"""The profiles that an address names: one by its number, or those of a side (`tree:revision:…`)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q, QuerySet

from webapp.analysis.queries.compared import ComparedSet
from webapp.analysis.queries.named import revisions_of
from webapp.analysis.queries.sides import Side, SideError, matched_mode, options_of
from webapp.results.models import WAITING_FROM, Profile, Run, Series
from webapp.results.queries import call_trees, profiles_of_runs, rates_of_runs
from webapp.stats.profiles.calls import Calls, Function, added
from webapp.stats.profiles.costs import Boot
from webapp.stats.profiles.costs import Side as CostSide
from webapp.stats.profiles.difference import difference
from webapp.stats.profiles.found import Difference
from webapp.stats.profiles.headline import Headline, headline
from webapp.stats.profiles.idle import IDLE

Kernel = tuple[int, int | None, int, int]
"""Ids of revision, variant, hardware and mode."""

NUMBER_MAX = 2**63 - 1  # of a bigint
MOST_PROFILES = 100
"""Profiles that one page adds up, the newest: five boots of each of twenty builds."""


@dataclass(frozen=True)
class ProfiledSide:
    """Profiles of one kernel on one machine in one mode. ``text`` names them in an address;
    ``trees`` are call trees by ids of profiles, ``rates`` packets per second by ids of runs.
    """

    text: str
    title: str
    profiles: Sequence[Profile]
    trees: Mapping[int, Calls]
    rates: Mapping[int, Sequence[float]]

    @property
    def run(self) -> Run:
        """A run of them; all have its machine, mode and revision."""
        return self.profiles[0].run

    @cached_property
    def calls(self) -> Calls:
        """All boots added."""
        return added(self.trees.values())

    @cached_property
    def cost_side(self) -> CostSide:
        """The boots as the statistics take them."""
        return boots_of(self.profiles, self.trees, self.rates)


MOST_CELLS = 24
"""Machines and modes that one page compares."""

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
        """Both sides, each by what tells it from the other."""
        mine, other = (_parts(side.run) for side in (self.a, self.b))
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


class Subject(NamedTuple):
    """What is measured, by ids; without a variant the plain kernel."""

    tree: int
    hardware: int
    mode: int
    variant: int | None

    @classmethod
    def of(cls, series: Series) -> "Subject":
        """That of a series."""
        return cls(series.tree_id, series.hardware_id, series.mode_id, series.variant_id)


def profiled_around(subject: Subject, position: int) -> ProfiledPair | None:
    """The difference of the profiled kernels of `pair_around`; None where a side has none."""
    ends = pair_around(subject, position)
    return profiled_pair(*ends) if ends else None


def profiled_pair(a: str, b: str) -> ProfiledPair:
    """The sides that two addresses name. Raises SideError as `profiled_side` does."""
    one, other = profiled_side(a), profiled_side(b)
    return ProfiledPair(one, other, _history(one.run, [*one.profiles, *other.profiles]))


def pair_around(subject: Subject, position: int) -> tuple[str, str] | None:
    """The profiled kernels nearest to ``position`` of the tree, before it and from it on, as
    addresses; None where a side has none.
    """
    return _nearest(subject, position - 1, position)


def profiled_across(
    subject: Subject, good: int, bad: int, within: tuple[int, int]
) -> ProfiledPair | None:
    """The difference of the profiled kernels nearest to a range, up to position ``good`` and from
    ``bad`` on; None where a side has none ``within`` the first and last position given.
    """
    ends = _nearest(subject, good, bad, within)
    return profiled_pair(*ends) if ends else None


def _nearest(
    subject: Subject, until: int, since: int, within: tuple[int, int] = (0, WAITING_FROM - 1)
) -> tuple[str, str] | None:
    runs = (
        Run.objects.counted()
        .filter(
            profiles__isnull=False,
            hardware=subject.hardware,
            mode=subject.mode,
            variant=subject.variant,
            revision__tree=subject.tree,
            revision__position__range=within,
        )
        .select_related("revision__tree", "hardware", "mode", "variant")
    )
    before = runs.filter(revision__position__lte=until).order_by("-revision__position", "-pk")[:1]
    after = runs.filter(revision__position__gte=since).order_by("revision__position", "pk")[:1]
    ends = sorted(before.union(after), key=lambda run: run.revision.position)
    if [run.revision.position < since for run in ends] != [True, False]:
        return None
    return address_of(ends[0]), address_of(ends[1])


def kernel_of(one: Run | ComparedSet) -> Kernel:
    """The ids of what a run, or a set of a comparison, was measured of."""
    return one.revision.pk, one.variant.pk if one.variant else None, one.hardware.pk, one.mode.pk


def profiled_among(kernels: Collection[Kernel]) -> set[Kernel]:
    """Those of ``kernels`` that have profiles; one query."""
    revisions, _, machines, modes = zip(*kernels, strict=True) if kernels else ((), (), (), ())
    runs = Run.objects.counted().filter(
        profiles__isnull=False,
        revision__in=set(revisions),
        hardware__in=set(machines),
        mode__in=set(modes),
    )
    found = runs.order_by().values_list("revision", "variant", "hardware", "mode").distinct()
    return set(kernels).intersection(found)


def profiled_cells(a: str, b: str) -> list[ProfiledPair]:
    """The pairs of two sides, one for each machine and mode in which both are profiled, in order;
    a mode that differs from another by the options that a side asks for is the same.

    Raises SideError for what is no side, or names none that is known.
    """
    sides = [Side.parse(text) for text in (a, b)]
    compared = options_of(sides)
    found = [_by_subject(side, compared) for side in sides]
    shared = sorted(found[0].keys() & found[1].keys())
    cells = [
        (found[0][subject][-MOST_PROFILES:], found[1][subject][-MOST_PROFILES:])
        for subject in shared[:MOST_CELLS]
    ]
    profiles = [one for cell in cells for those in cell for one in those]
    trees, rates = call_trees(profiles), rates_of_runs({one.run_id for one in profiles})

    def side_of(those: Sequence[Profile]) -> ProfiledSide:
        return _side_of(address_of(those[0].run), those, trees, rates)

    return [ProfiledPair(side_of(a_those), side_of(b_those)) for a_those, b_those in cells]


def _by_subject(side: Side, compared: Collection[str]) -> dict[tuple[str, str], list[Profile]]:
    """The profiles of a side by machine and mode."""
    subjects: dict[tuple[str, str], list[Profile]] = defaultdict(list)
    for one in _of_side(str(side)).order_by("pk"):
        mode = matched_mode(side, one.run.mode.parts, compared)
        if mode is not None:
            subjects[one.run.hardware.name, mode].append(one)
    return subjects


def _side_of(
    text: str,
    profiles: Sequence[Profile],
    trees: Mapping[int, Calls],
    rates: Mapping[int, Sequence[float]],
) -> ProfiledSide:
    runs = {one.run_id for one in profiles}
    return ProfiledSide(
        text=text,
        title=title_of(profiles[0].run),
        profiles=profiles,
        trees={one.pk: trees[one.pk] for one in profiles},
        rates={run: rates[run] for run in runs & rates.keys()},
    )


def profiled_side(text: str) -> ProfiledSide:
    """What ``text`` names. Raises SideError where it names no profile, or those of two machines."""
    found = _numbered(text) if text.isascii() and text.isdigit() else _of_side(text)
    newest = found.order_by("-received_at", "-pk")[:MOST_PROFILES]
    profiles = sorted(newest, key=lambda one: (one.run_id, one.iteration or 0, one.pk))
    if not profiles:
        raise SideError(f"no profile of {text} is stored; `labagent profile` sends one")
    subjects = {(one.run.hardware.name, one.run.mode.name) for one in profiles}
    if len(subjects) > 1:
        named = "; ".join(sorted(f"{hardware}, {mode}" for hardware, mode in subjects)[:4])
        raise SideError(f"{text}: name hardware and mode; profiles are stored of {named}")
    rates = rates_of_runs({one.run_id for one in profiles})
    return _side_of(text, profiles, call_trees(profiles), rates)


def _parts(run: Run) -> tuple[str, ...]:
    kernel = f"{run.revision}~{run.variant}" if run.variant else str(run.revision)
    return kernel, str(run.mode), str(run.hardware)


def title_of(run: Run) -> str:
    """The kernel of a run and how it was measured, for people."""
    kernel, mode, hardware = _parts(run)
    return f"{kernel}, {mode} on {hardware}"


def address_of(one: Run | ComparedSet) -> str:
    """The side that has all profiles of the kernel of a run, or of a set of a comparison, on its
    machine, in its mode.
    """
    revision, variant = one.revision, one.variant.name if one.variant else ""
    side = Side(revision.tree.name, revision.name, one.hardware.name, one.mode.name)
    return str(replace(side, variant=variant))


def _numbered(text: str) -> QuerySet[Profile]:
    return Profile.objects.filter(pk=min(int(text[:19]), NUMBER_MAX)).with_subjects()


def _of_side(text: str) -> QuerySet[Profile]:
    side = Side.parse(text)
    (revision,) = revisions_of([side])
    variant = Q(variant__name=side.variant) if side.variant else Q(variant=None)
    wanted = Q(revision=revision) & variant
    if side.hardware:
        wanted &= Q(hardware__name=side.hardware) | Q(hardware__aliases__name=side.hardware)
    if side.mode and not side.options:
        wanted &= Q(mode__name=side.mode)
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
        builds=tuple(those[0].run.build_id for those in boots),
        plain_pps=tuple(rate for run in sorted(rates) for rate in rates[run]),
    )


def _boot(
    profiles: Sequence[Profile], trees: Mapping[int, Calls], rates: Mapping[int, Sequence[float]]
) -> Boot:
    first = profiles[0]
    announced = [one.announced for one in profiles if one.announced is not None]
    events = [one.event_rate for one in profiles if one.event_rate is not None]
    return Boot(
        calls=added(trees[one.pk] for one in profiles),
        expected=sum(announced) if len(announced) == len(profiles) else None,
        truncated=any(one.is_truncated for one in profiles),
        pps=first.pps,
        run_pps=fmean(rates[first.run_id]) if first.run_id in rates else None,
        cores=first.cores,
        event_rate=fmean(events) if len(events) == len(profiles) else None,
        event=first.event,
        label=first.name,
    )


def _history(run: Run, exclude: Sequence[Profile]) -> list[CostSide]:
    """The newest other kernels that were profiled in several boots on the machine, in the mode."""
    found = (
        Profile.objects.counted()
        .filter(run__hardware=run.hardware_id, run__mode=run.mode_id, is_truncated=False)
        .exclude(pk__in=[one.pk for one in exclude])
        .exclude(run__in={one.run_id for one in exclude})
        .with_subjects()
        .order_by("-received_at", "-pk")[:HISTORY]
    )
    kernels: dict[Kernel, list[Profile]] = defaultdict(list)
    for one in found:
        kernels[kernel_of(one.run)].append(one)
    several = [those for those in kernels.values() if len(_by_boot(those)) > 1]
    trees = call_trees([one for those in several for one in those])
    return [boots_of(those, trees) for those in several]


def idle_patterns() -> tuple[str, ...]:
    """Patterns of functions that run while a CPU is idle: the setting, else those known."""
    return tuple(settings.IDLE_FUNCTIONS) or IDLE


def _by_boot(profiles: Sequence[Profile]) -> list[list[Profile]]:
    """The profiles of each boot; one that names no boot is a boot of its own."""
    boots: dict[tuple[int, str], list[Profile]] = defaultdict(list)
    for one in profiles:
        boots[one.run_id, one.boot or f"profile {one.pk}"].append(one)
    return list(boots.values())
