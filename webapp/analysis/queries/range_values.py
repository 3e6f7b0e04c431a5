"""What was measured along a range of revisions: of each series its mean at each of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, groupby
from statistics import fmean
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import JSONField

from webapp.analysis.queries.sides import MODE, Side, SideError, matched_mode
from webapp.results.models import CostSamples, Measurement, Point, Revision, Series, counted

Key = tuple[str, str, str]  # hardware, mode, metric


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The revisions of a tree from ``first`` to ``last``, both included, as ``text`` names them."""

    text: str
    side: Side
    first: Revision
    last: Revision


def measured(side: Side, revision: OuterRef, asof: datetime | None) -> Exists:
    """Whether its kernel was measured at a revision: ever, or by runs received by ``asof``."""
    if asof is None:
        return Exists(Point.objects.filter(**_of_kernel(side), revision=revision))
    return Exists(
        Measurement.objects.counted_at(asof).filter(**_of_kernel(side), run__revision=revision)
    )


def values_of(
    one: RevisionRange, compared: Collection[str], asof: datetime | None
) -> dict[Key, tuple[Series, list[float]]]:
    """By what rows are matched over, the series and its mean at each revision, in order.

    Raises:
        SideError: nothing was measured.
    """
    rows = _of_samples(one, asof) if one.side.session or asof else _of_points(one)
    means: dict[int, list[float]] = defaultdict(list)
    for pk, mean in rows:
        means[pk].append(mean)
    found: dict[Key, tuple[Series, list[float]]] = {}
    for pk, series in Series.objects.named().in_bulk(list(means)).items():
        mode = matched_mode(one.side, series.mode.parts, compared)
        if mode is not None:
            hardware = "" if one.side.hardware else series.hardware.name
            key = (hardware, mode if one.side.is_open(MODE) else "", series.metric.name)
            found[key] = series, means[pk]
    if not found:
        raise SideError(
            f"nothing was measured in {one.text}, {one.first} to {one.last}: widen the range, for "
            f"example {one.side.tree}:{one.first}±10, or leave hardware, mode, variant or session "
            "open"
        )
    return found


def _of_kernel(side: Side) -> dict[str, str | None]:
    return {"series__variant__name": side.variant} if side.variant else {"series__variant": None}


def _fixed(side: Side) -> dict[str, str | None]:
    """What the side says of the series."""
    named = {
        "series__hardware__name": side.hardware,
        "series__mode__name": "" if side.is_open(MODE) else side.mode,
        "series__metric__name": side.metric,
    }
    return _of_kernel(side) | {field: name for field, name in named.items() if name}


def _of_points(one: RevisionRange) -> Iterable[tuple[int, float]]:
    """Series (id) and mean of each revision, along the tree, without those whose runs disagree."""
    return (
        Point.objects.that_agree()
        .filter(**_fixed(one.side), series__tree=one.first.tree_id)
        .filter(position__range=(one.first.position, one.last.position))
        .order_by("series", "position")
        .values_list("series", "mean")
    )


def _of_samples(one: RevisionRange, asof: datetime | None) -> Iterator[tuple[int, float]]:
    """The same of the runs of some sessions, or of those received by ``asof``. Runs that disagree
    are told apart by asking for one session, unless that holds several.
    """
    measurements, costs = Measurement.objects, CostSamples.objects
    rows = chain(
        _samples(one, measurements.counted_at(asof) if asof else measurements.counted()),
        _samples(one, costs.counted_at(asof) if asof else costs.counted()),
    )
    for (series, _, disagrees), group in groupby(rows, key=lambda row: row[:3]):
        counting = [counted(row.samples, row.boots, row.left_out)[0] for row in group]
        samples = [samples for samples in counting if samples]
        if samples and (not disagrees or len(samples) == 1):
            yield series, fmean(chain.from_iterable(samples))


def _samples(
    one: RevisionRange, found: QuerySet[Measurement] | QuerySet[CostSamples]
) -> Iterable[Any]:
    """Their rows in the range, series by series along the tree."""
    of_sessions = Q(run__session__in=one.side.sessions) if one.side.session else Q()
    beside = Point.objects.that_disagree().filter(
        series=OuterRef("series"), revision=OuterRef("run__revision")
    )
    given = {} if found.model is Measurement else {"left_out": Value(None, JSONField())}
    return (
        found.filter(of_sessions, **_fixed(one.side), series__tree=one.first.tree_id)
        .filter(run__revision__position__range=(one.first.position, one.last.position))
        .annotate(disagrees=Exists(beside), **given)
        .order_by("series", "run__revision__position", "run__uuid")
        .values_list(
            "series", "run__revision", "disagrees", "samples", "boots", "left_out", named=True
        )
    )
