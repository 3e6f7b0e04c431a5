"""Read the call trees of profiles, and the rates that go with them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, QuerySet, Window
from django.db.models.expressions import RawSQL
from django.db.models.functions import RowNumber

from webapp.results.models import Point, Run, RunHistograms
from webapp.results.models.profiles import Profile, ProfiledFunction
from webapp.results.models.runs import Measurement
from webapp.stats.histograms import Histogram, Histograms
from webapp.stats.profiles.calls import Calls, Function, unpacked


@dataclass(frozen=True, slots=True)
class StoredHistograms:
    """The histograms of one run that counts."""

    series: int
    revision: int
    session: str
    of_run: Histograms


PACKETS = "packets/s"
"""The unit of the rate that a cost per packet is computed with."""

NODE = 16
"""What a node of a call tree weighs beside its counts, in counts of a CPU: it is Python's where
trees are added."""

Newest = Any
"""A profile that `newest` found, with what it annotates."""


def newest(found: QuerySet[Profile], most: int, *, by: Sequence[str] = ()) -> QuerySet[Newest]:
    """The ``most`` newest of ``found``, of each group of equal columns ``by``, without call trees;
    with how many are ``stored``, and how many functions each one ``names``.
    """
    columns = [F(one) for one in by] or None
    order = ("-received_at", "-pk")
    return (
        found.defer("calls", "functions")
        .annotate(
            rank=Window(RowNumber(), partition_by=columns, order_by=order),
            stored=Window(Count("pk"), partition_by=columns),
            names=F("functions__len"),
        )
        .filter(rank__lte=most)
        .order_by("rank", *order)
    )


def fitting(profiles: Sequence[Newest], most_counts: int, most_cells: int) -> Sequence[Newest]:
    """The first of ``profiles`` that are small enough to be compared together: with so many counts
    in their call trees, and cells in a table of all their CPUs by all their functions.

    An upload may be as large as a whole page can bear, and there may be
    hundreds.
    """
    counts = cpus = names = 0
    for at, one in enumerate(profiles):
        counts += (len(one.expected) + NODE) * one.nodes
        cpus += len(one.expected)
        names += one.names
        if counts > most_counts or cpus * names > most_cells:
            return profiles[:at]
    return profiles


def call_trees(profiles: Collection[int]) -> dict[int, Calls]:
    """The call trees of profiles by their ids; one query for the functions of all."""
    stored = Profile.objects.filter(pk__in=profiles).values_list("pk", "calls", "functions")
    rows = list(stored)
    known = _functions(functions for _, _, functions in rows)
    return {
        pk: unpacked(bytes(calls), [known[one] for one in functions])
        for pk, calls, functions in rows
    }


def call_tree_reader(profiles: Sequence[Profile]) -> Callable[[Profile], Calls]:
    """Reads what the call trees of profiles are made of, in two queries, and makes them one by one:
    all at once would take a hundred times as much memory.
    """
    known = _functions(profile.functions for profile in profiles)
    ids = [one.pk for one in profiles]
    packed = dict(Profile.objects.filter(pk__in=ids).values_list("pk", "calls"))

    def read(profile: Profile) -> Calls:
        return unpacked(bytes(packed[profile.pk]), [known[one] for one in profile.functions])

    return read


def _functions(ids: Iterable[Sequence[int]]) -> dict[int, Function]:
    """The functions of profiles; one query."""
    wanted = sorted({one for each in ids for one in each})
    # With `= ANY (…)` a plan that PostgreSQL kept from when the table was small would look through
    # the whole array for each row: ten seconds for 65,536 functions.
    rows = ProfiledFunction.objects.filter(pk__in=RawSQL("SELECT unnest(%s::bigint[])", [wanted]))
    named = rows.values_list("pk", "name", "module")
    return {pk: Function(name, module) for pk, name, module in named}


def profiles_of_runs(runs: Iterable[int]) -> QuerySet[Profile]:
    """The profiles of runs (ids), those of withdrawn runs left out, with what a page names."""
    return Profile.objects.counted().filter(run__in=list(runs)).with_subjects()


def rates_of_runs(runs: Iterable[int]) -> dict[int, list[float]]:
    """The packets per second of runs (ids) that measured them: the samples that count. A sample of
    0 is left out: what forwarded nothing has no cost per packet.
    """
    rows = Measurement.objects.counted().filter(
        run__in=list(runs), series__metric__unit=PACKETS, series__metric__of__isnull=True
    )
    found = {row.run_id: [rate for rate in row.counted[0] if rate > 0] for row in rows}
    return {run: rates for run, rates in found.items() if rates}


def histograms_at(
    name: str, series: Collection[int], revisions: Collection[int], asof: datetime | None = None
) -> list[StoredHistograms]:
    """Histograms ``name`` of all runs of series (ids) at revisions (ids), at a time or now."""
    runs = Run.objects.counted_at(asof) if asof else Run.objects.counted()
    found = RunHistograms.objects.filter(
        name=name, run__in=runs.filter(revision__in=revisions), run__measurements__series__in=series
    ).order_by("run__uuid")
    return [
        StoredHistograms(one.run_series, one.run.revision_id, one.run.session, one.unpacked)
        for one in found.annotate(run_series=F("run__measurements__series"))
        .select_related("run")
        .only("name", "boots", "data", "run__revision_id", "run__session")
    ]


def histograms_until(
    name: str, series: int, position: int, most: int, asof: datetime | None = None
) -> list[tuple[str, Histogram]]:
    """The last ``most`` measured revisions up to a position that have some: names, values."""
    points = Point.objects.filter(series=series, position__lte=position).order_by("-position")
    names = dict(points.values_list("revision_id", "revision__name")[:most])
    found: dict[int, list[Histogram]] = {}
    for one in histograms_at(name, [series], names, asof):
        found.setdefault(one.revision, []).extend(one.of_run.histograms)
    return [
        (text, Histogram.together(found[pk])) for pk, text in reversed(names.items()) if pk in found
    ]
