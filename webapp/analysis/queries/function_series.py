"""What functions cost along a tree, on one machine in one mode, read from its profiles.

Nothing of it is stored: no alert and no mail can come of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, F, Window

from webapp.analysis.queries.profiled import MOST_COUNTS, TOO_LARGE, boots_of, idle_patterns
from webapp.analysis.queries.sides import SideError
from webapp.events.queries import ONE_EPOCH, Epochs, epochs_of
from webapp.results.models import WAITING_FROM, Profile, Run, Series
from webapp.results.queries import PACKETS, Newest, call_tree_reader, fitting, rates_of_runs
from webapp.stats.profiles.calls import Function
from webapp.stats.profiles.function_series import (
    MOST_FUNCTIONS,
    FunctionCosts,
    FunctionSeries,
    ProfiledRevision,
    changed_among,
    costliest,
    function_costs,
    series_of,
)

MOST_READ = 200
"""Profiles that are read, of the newest revisions: five boots of each of forty."""

MOST_COUNTS_READ, ANY_TABLE = 3 * MOST_COUNTS, 2**62
"""Counts in the call trees that are read, one after the other: a table is of boots alone."""

MOST_SHOWN = 12
"""Functions that are shown where the address names none."""

FEW = 4
"""The same where none is proven to have changed."""


@dataclass(frozen=True)
class AskedFunctions:
    """Functions on one machine in one mode along a tree, as ``name@module``, or ``name`` alone;
    without any those that changed. Costs are their own, or with all they call.
    """

    tree: str
    hardware: str
    mode: str
    variant: str = ""
    functions: tuple[str, ...] = ()
    with_calls: bool = False

    def __post_init__(self) -> None:
        """Raises SideError for what leaves something open, and for too much."""
        if not (self.tree and self.hardware and self.mode):
            raise SideError("tree, hardware and mode: name all three; /profiles/ lists them")
        if len(self.functions) > MOST_FUNCTIONS:
            raise SideError(
                f"{len(self.functions)} functions are named (fn); {MOST_FUNCTIONS} of a machine "
                "and mode can be shown at a time: leave some out"
            )


@dataclass(frozen=True)
class FunctionHistory:
    """Series of functions, and what they were read from. ``runs`` has a run of each profiled
    revision by its name, the newest first; ``others`` are functions that can be asked for;
    ``is_changed``: nobody asked for these series, their functions are proven to have changed, so
    many as ``changed`` in all. Of ``stored`` profiles the newest ``profiles`` were read.
    """

    asked: AskedFunctions
    runs: Mapping[str, Run]
    profiles: int
    stored: int
    costs: FunctionCosts
    series: Sequence[FunctionSeries]
    others: Sequence[Function]
    changed: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there are older profiles that were not read."""
        return self.profiles < self.stored

    @property
    def unit(self) -> str:
        """What costs are given in."""
        first = self.costs.labels[0] if self.costs.revisions else "the first revision"
        return f"% of the packet of {first}"

    @property
    def boots(self) -> int:
        """How many boots take part."""
        return sum(len(one.samples) for one in self.costs.revisions)


def stored_profiles(asked: AskedFunctions) -> Sequence[Newest]:
    """The newest profiles without their call trees, those of the newest revision first, with how
    many are ``stored``; one query. Raises SideError where there is none, or one too large.
    """
    found = (
        Profile.objects.counted()
        .filter(
            run__revision__tree__name=asked.tree,
            run__revision__position__lt=WAITING_FROM,
            run__hardware__name=asked.hardware,
            run__mode__name=asked.mode,
            run__variant__name=asked.variant or None,
        )
        .with_subjects()
        .defer("calls")
        .annotate(stored=Window(Count("pk")), names=F("functions__len"))
        .order_by("-run__revision__position", "run", "iteration", "pk")
    )
    newest = list(found[:MOST_READ])
    if not newest:
        kernel = f"{asked.tree} with {asked.variant}" if asked.variant else asked.tree
        raise SideError(
            f"no profile of {asked.mode} on {asked.hardware} along {kernel} is stored; "
            "/profiles/ lists what is profiled"
        )
    profiles = fitting(newest, MOST_COUNTS_READ, ANY_TABLE)
    if not profiles:
        raise SideError(f"the newest profile of {asked.mode} on {asked.hardware} {TOO_LARGE}")
    return profiles


def function_history(asked: AskedFunctions, profiles: Sequence[Newest]) -> FunctionHistory:
    """The series of the functions that ``asked`` names, from ``profiles`` of `stored_profiles`; six
    queries and one more where an event at a time begins an epoch. Raises SideError for a function
    that no profile has.
    """
    epochs, patterns = _epochs(profiles[0].run), idle_patterns()
    costs = function_costs(_revisions(_in_time(profiles, epochs)), patterns)
    largest = costliest(costs, patterns, with_calls=asked.with_calls)
    chosen = [_index(costs, one) for one in asked.functions] if costs.revisions else []
    series = series_of(costs, chosen or largest, epochs.starts, with_calls=asked.with_calls)
    changed = [] if chosen else changed_among(series)
    return FunctionHistory(
        asked,
        {one.run.revision.name: one.run for one in profiles},
        len(profiles),
        profiles[0].stored,
        costs,
        series if chosen else changed[:MOST_SHOWN] or series[:FEW],
        [costs.functions[at] for at in largest],
        len(changed),
    )


def _index(costs: FunctionCosts, text: str) -> int:
    name, mark, module = text.rpartition("@")
    at = costs.at(Function(name, module) if mark else Function(text, ""))
    if at is None:
        raise SideError(
            f"no profile that takes part has the function {text} (fn); leave it out for those that "
            "changed"
        )
    return at


def _epochs(run: Run) -> Epochs:
    """Those of the series of packets per second that the run is in."""
    found = Series.objects.measured().filter(
        tree=run.revision.tree_id,
        hardware=run.hardware_id,
        mode=run.mode_id,
        variant=run.variant_id,
        metric__unit=PACKETS,
    )
    series = list(found.select_related("hardware")[:1])
    return next(iter(epochs_of(series).values()), ONE_EPOCH)


def _in_time(profiles: Sequence[Profile], epochs: Epochs) -> list[Profile]:
    """Without those of runs that were measured at earlier revisions after their epoch was over."""
    return [one for one in profiles if not _is_late(one.run, epochs)]


def _is_late(run: Run, epochs: Epochs) -> bool:
    measured, position = run.measured_at, run.revision.position
    return measured is not None and any(
        measured >= since and position < start for since, start in epochs.late_runs
    )


def _revisions(profiles: Sequence[Profile]) -> Iterator[ProfiledRevision]:
    read, rates = call_tree_reader(profiles), rates_of_runs({one.run_id for one in profiles})
    for revision, group in groupby(profiles, key=lambda one: one.run.revision):
        its = list(group)
        runs = rates.keys() & {one.run_id for one in its}
        side = boots_of(its, {one.pk: read(one) for one in its}, {run: rates[run] for run in runs})
        yield ProfiledRevision(revision.position, revision.name, side)
