"""Read the call trees of profiles, and the rates that go with them."""

from collections.abc import Callable, Iterable, Sequence

from django.db.models import QuerySet

from webapp.results.models.profiles import Profile, ProfiledFunction
from webapp.results.models.runs import Measurement
from webapp.stats.profiles.calls import Calls, unpacked

PACKETS = "packets/s"
"""The unit of the rate that a cost per packet is computed with."""


def call_trees(profiles: Sequence[Profile]) -> dict[int, Calls]:
    """The call trees of profiles by their ids; one query for the functions of all."""
    wanted = {one for profile in profiles for one in profile.functions}
    rows = ProfiledFunction.objects.in_bulk(wanted)
    return {
        one.pk: unpacked(bytes(one.calls), [rows[pk].function for pk in one.functions])
        for one in profiles
    }


def call_tree_reader(profiles: Sequence[Profile]) -> Callable[[Profile], Calls]:
    """Reads what the call trees of profiles are made of, in two queries, and makes them one by one:
    all at once would take a hundred times as much memory.
    """
    wanted = {one for profile in profiles for one in profile.functions}
    rows = ProfiledFunction.objects.in_bulk(wanted)
    ids = [one.pk for one in profiles]
    packed = dict(Profile.objects.filter(pk__in=ids).values_list("pk", "calls"))

    def read(profile: Profile) -> Calls:
        return unpacked(bytes(packed[profile.pk]), [rows[pk].function for pk in profile.functions])

    return read


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
