"""The histograms of runs, by series and revision."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from webapp.results.models import Histograms, Point, Run, RunHistograms
from webapp.stats.histograms import Histogram


@dataclass(frozen=True, slots=True)
class StoredHistograms:
    """Those of one run that counts."""

    series: int
    revision: int
    session: str
    of_run: Histograms


def histograms_at(
    name: str, series: Collection[int], revisions: Collection[int], asof: datetime | None = None
) -> list[StoredHistograms]:
    """Those called ``name`` of all runs of some series (ids) at some revisions (ids), at a time or
    now."""
    runs = Run.objects.counted_at(asof) if asof else Run.objects.counted()
    found = RunHistograms.objects.filter(
        name=name,
        run__in=runs.filter(revision__in=revisions),
        run__measurements__series__in=series,
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
    """The last ``most`` measured revisions up to a position that have some, in order: the name of
    each, and all its values."""
    points = Point.objects.filter(series=series, position__lte=position).order_by("-position")
    names = dict(points.values_list("revision_id", "revision__name")[:most])
    found: dict[int, list[Histogram]] = {}
    for one in histograms_at(name, [series], names, asof):
        found.setdefault(one.revision, []).extend(one.of_run.histograms)
    return [
        (text, Histogram.together(found[pk])) for pk, text in reversed(names.items()) if pk in found
    ]
