"""Two ranges of revisions compared by their levels: release against release.

A range is written where a side names its revision: ``tree:FROM..TO``, both included, or
``tree:NAME±K`` (also ``NAME+-K``), the revision with the K measured ones before and after it. Both
ends are revisions, releases or branch points. Variant, hardware, mode or options, metric and
sessions follow as in any side.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, groupby
from statistics import fmean
from typing import Any
from urllib.parse import unquote

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import JSONField

from webapp.analysis.queries.sides import (
    AROUND,
    BETWEEN,
    MODE,
    Side,
    SideError,
    free_parts,
    is_range,
    matched_mode,
    options_of,
    revisions_of,
)
from webapp.results.models import CostSamples, Measurement, Point, Revision, Series, counted
from webapp.stats.metrics import MARGIN_PCT, is_gain
from webapp.stats.ranges import FEWEST, RangeChange, compare_ranges, verdicts

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
    """By what rows are matched over, the series and its mean at each revision, in order. Raises
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
    """What the side asks of the series."""
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
    are distinguished by asking for one session, unless that holds several.
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


WRITTEN = "tree:FROM..TO or tree:NAME±K, for example freebsd-head:11.0..r309257"
MOST_AROUND = 1000
SIDES = 2


@dataclass(frozen=True, slots=True)
class RangeRow:
    """One series of ``b`` against ``base``, that of ``a``; ``values`` are the means of the measured
    revisions on either side, and ``change`` is None where these are too few. ``mode`` is the name
    by which rows were matched, without the options that are compared.
    """

    base: Series
    series: Series
    mode: str
    change: RangeChange | None
    values: tuple[Sequence[float], Sequence[float]]
    verdict: str

    @property
    def counts(self) -> tuple[int, int]:
        """How many revisions were measured on either side."""
        a, b = self.values
        return len(a), len(b)

    @property
    def left_out(self) -> tuple[str, str]:
        """How many revisions of either side do not count; empty: all do."""
        if self.change is None:
            return "", ""
        a, b = (
            f"{one.left_out} left out as far off" if one.left_out else ""
            for one in (self.change.a, self.change.b)
        )
        return a, b

    @property
    def reason(self) -> str:
        """Why it is not known, and the remedy; empty where it is compared."""
        if self.change is not None:
            return ""
        a, b = self.counts
        return f"{a} and {b} measured revisions; {FEWEST} are needed on each side: widen the range"


@dataclass(frozen=True, slots=True)
class RangeTable:
    """Two ranges and their rows, gated together; ``unmatched`` series were measured in one only."""

    a: RevisionRange
    b: RevisionRange
    rows: Sequence[RangeRow]
    unmatched: int

    @property
    def counts(self) -> dict[str, int]:
        """How many rows came out how."""
        reached = [row.verdict for row in self.rows]
        return {one: reached.count(one) for one in ("worse", "better", "equivalent", "cannot tell")}


def compare_written_ranges(texts: Sequence[str], asof: datetime | None = None) -> RangeTable:
    """Compare the second range with the first, a row for each series that both have; with ``asof``
    from the runs that had been received by then. Raises SideError: other than two ranges, a name
    that is not known, an end before its beginning, ranges that overlap, or one in which nothing was
    measured.
    """
    if len(texts) != SIDES or not all(is_range(text) for text in texts):
        raise SideError(f"give two ranges, a and b, each written {WRITTEN}")
    a, b = (_range(text, asof) for text in texts)
    free_parts([a.side, b.side])
    _refuse_overlap(a, b)
    compared = options_of([a.side, b.side])
    values = [values_of(one, compared, asof) for one in (a, b)]
    matched = sorted(values[0].keys() & values[1].keys())
    pairs = [(values[0][key][1], values[1][key][1]) for key in matched]
    bases, series = ([side[key][0] for key in matched] for side in values)
    changes = compare_ranges(pairs)
    gains = [
        one is not None and is_gain(one.pct, its.better)
        for one, its in zip(changes, series, strict=True)
    ]
    judged = verdicts(changes, gains, MARGIN_PCT)
    rows = [
        RangeRow(base, its, key[1] or its.mode.name, change, pair, verdict)
        for key, base, its, change, pair, verdict in zip(
            matched, bases, series, changes, pairs, judged, strict=True
        )
    ]
    return RangeTable(a, b, rows, len(values[0].keys() ^ values[1].keys()))


def _range(text: str, asof: datetime | None) -> RevisionRange:
    tree, _, rest = text.partition(":")
    kernel, *others = rest.split(":")
    written, tilde, variant = kernel.partition("~")
    if BETWEEN in variant:
        raise SideError(
            f"{text!r} is not a range: the variant stands once and behind it, as in "
            f"{tree}:FROM..TO~VARIANT"
        )
    around = AROUND.fullmatch(written)
    names = [around["name"]] if around else written.split(BETWEEN)
    if not all(names) or len(names) > SIDES:
        raise SideError(f"{text!r} is not a range: write {WRITTEN}")
    sides = [Side.parse(":".join([tree, name + tilde + variant, *others])) for name in names]
    found = revisions_of(sides)
    side = replace(sides[0], revision=unquote(written))
    if around:
        first, last = _around(text, side, found[0], around["count"], asof)
    else:
        first, last = found
    if first.position > last.position:
        raise SideError(
            f"{text!r}: {first} comes after {last}; write {tree}:{names[-1]}..{names[0]}"
        )
    return RevisionRange(text, side, first, last)


def _around(
    text: str, side: Side, at: Revision, written: str, asof: datetime | None
) -> tuple[Revision, Revision]:
    """The revisions that end a range of so many measured ones to either side."""
    if not written.isdecimal() or not 1 <= int(written[:9]) <= MOST_AROUND:
        raise SideError(f"{text!r}: give 1 to {MOST_AROUND} revisions behind ±")
    count = int(written)
    known = (
        Revision.objects.filter(measured(side, OuterRef("pk"), asof), tree=at.tree_id)
        .placed()
        .only("name", "position", "tree_id")
    )
    before = known.filter(position__lt=at.position).order_by("-position")[:count]
    after = known.filter(position__gt=at.position).order_by("position")[:count]
    return [at, *before][-1], [at, *after][-1]


def _refuse_overlap(a: RevisionRange, b: RevisionRange) -> None:
    first, last = sorted([a, b], key=lambda one: one.first.position)
    if a.first.tree_id != b.first.tree_id or first.last.position < last.first.position:
        return
    if not a.side.is_apart_from(b.side):
        raise SideError(
            f"{a.text} and {b.text} overlap from {last.first} to {first.last}: end the one before "
            "the other begins"
        )
