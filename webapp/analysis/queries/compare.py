"""Compare any two to seven sets of samples that differ along one axis.

A *side* (``webapp.analysis.queries.sides``) is which samples. The parts that every side leaves
empty are the axes over which rows are matched: two revisions give a row for each (hardware, mode,
metric) that both have.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from webapp.analysis.queries.compared import ComparedRow, ComparedSet, ComparedTable
from webapp.analysis.queries.series_state import SeriesFacts, facts_of
from webapp.analysis.queries.sides import (
    FREE_PARTS,
    MODE,
    Side,
    SideError,
    differing_parts,
    free_parts,
    matched_mode,
    options_of,
    require_no_shared_runs,
    require_sides,
    revisions_of,
)
from webapp.analysis.queries.unmatched import unmatched_of, unmeasured
from webapp.events.queries import ONE_EPOCH, Epochs, epochs_of
from webapp.results.models import CostSamples, LeftOut, Measurement, Point, Revision, Series
from webapp.stats.compare import Samples, pool

SAME_POINT = {"series": OuterRef("series"), "revision": OuterRef("run__revision")}
RATIOS = ("series_id", "samples", "boots", "run__session", "run__kernel__build_id")
MEASURED = (*RATIOS, "left_out", "validity")
"""The columns that a set is made of."""

Rows = Sequence[Measurement] | Sequence[CostSamples]


FactsOf = Callable[[Iterable[Series]], Mapping[int, SeriesFacts]]
"""How series (with metric and what else they name loaded) are judged, by their ids."""


def compare_sides(
    sides: Sequence[Side],
    asof: datetime | None = None,
    judged_by: FactsOf = facts_of,
    only: Collection[int] | None = None,
) -> ComparedTable:
    """Match and compare. The number of queries depends on the number of sides only, and on
    whether any lacks something.

    With ``asof`` of the runs that had been received at that time, and were not withdrawn then;
    ``judged_by``: what else was known of the series of the base: by default, what is today; with
    ``only`` no other series (by id) are read. Raises SideError: fewer than two sides or more than
    seven, a name that is not known, or sides that leave different parts open.
    """
    require_sides(sides)
    free, compared = free_parts(sides), options_of(sides)
    revisions = revisions_of(sides)
    known: dict[int, Series] = {}
    found = [
        _sets(_Wanted(i, side, revision, asof, only), free, compared, known)
        for i, (side, revision) in enumerate(zip(sides, revisions, strict=True))
    ]
    require_no_shared_runs(sides, revisions)
    everywhere = set.intersection(*(set(sets) for sets in found))
    axis = _label_parts(sides)
    facts = judged_by(found[0][key].series for key in everywhere)
    matched = {key: [sets[key] for sets in found] for key in sorted(everywhere)}
    series = {one.series.pk: one.series for sets in matched.values() for one in sets}
    epochs = epochs_of(list(series.values()))
    rows = [
        _row(dict(zip(free, key, strict=True)), sets, axis, facts, epochs)
        for key, sets in matched.items()
    ]
    kernels = list(zip(range(len(sides)), sides, revisions, strict=True))
    unmatched = unmatched_of(kernels, free, found, asof)
    return ComparedTable(tuple(sides), revisions, tuple(rows), unmatched)


def _label_parts(sides: Sequence[Side]) -> tuple[str, ...]:
    """The parts that distinguish the sides, for the labels of the sets. Sessions do only where
    nothing else does: naming them must not change a block that was published without.
    """
    found = differing_parts(sides)
    return tuple(part for part in found if part != "session") or found


@dataclass(frozen=True)
class _Found:
    series: Series
    revision: Revision
    side_index: int
    samples: Samples
    disagrees: bool
    sessions: tuple[str, ...]
    left_out: LeftOut | None
    sent_mode: str

    @property
    def kernel(self) -> str:
        """The revision with the variant that was measured of it; without where the mode's former
        name shows it.
        """
        name, variant = self.revision.name, self.series.variant
        return f"{name}~{variant}" if variant and not self.sent_mode else name

    @property
    def mode(self) -> str:
        """The mode as it was asked for, where that is its former name."""
        return self.sent_mode or self.series.mode.name


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What one side asks for: the runs of its revision, at a time or now, of some series or all."""

    index: int
    side: Side
    revision: Revision
    asof: datetime | None
    only: Collection[int] | None


def _sets(
    wanted: _Wanted, free: tuple[str, ...], compared: Collection[str], known: dict[int, Series]
) -> dict[tuple[str, ...], _Found]:
    """By what rows are matched. Series that no side had before are added to ``known``."""
    side, revision = wanted.side, wanted.revision
    of_kernel = Q(series__variant__name=side.variant) if side.variant else Q(series__variant=None)
    rows: Rows = list(_measured(wanted, of_kernel & _fixed(side, free)))
    if not rows and side.metric and not side.variant:
        rows = list(_costs(wanted, _fixed(side, free)))
    if not rows and side.mode_name and not side.variant:
        # An address from before rules distinguished the options of a mode from variants of the
        # kernel
        sent = Q(run__as_sent__mode=side.mode_name)
        rows = list(_measured(wanted, sent & _fixed(side, {*free, MODE})))
    _add_series(known, rows)
    of_series: dict[int, list[Measurement | CostSamples]] = defaultdict(list)
    for row in rows:
        if matched_mode(side, known[row.series_id].mode.parts, compared) is not None:
            of_series[row.series_id].append(row)
    if not of_series and not side.is_whole_revision:
        raise SideError(unmeasured(side, revision))
    pooled = (_pool(wanted, known[pk], measurements) for pk, measurements in of_series.items())
    found = [one for one in pooled if one is not None]
    if of_series and not found and free != FREE_PARTS:
        raise SideError(
            f"no sample that was measured for {side} counts: all are left out, and the page of the "
            "commit has why and counts them again"
        )
    return {_key(side, one.series, free, compared): one for one in found}


def _key(
    side: Side, series: Series, free: tuple[str, ...], compared: Collection[str]
) -> tuple[str, ...]:
    """By what rows are matched."""
    names = {part: getattr(series, part).name for part in free}
    if "mode" in names:
        names["mode"] = matched_mode(side, series.mode.parts, compared)
    return tuple(names.values())


def _fixed(side: Side, free: Collection[str]) -> Q:
    """What the side asks of the series and their runs."""
    parts = (part for part in FREE_PARTS if part not in free)
    fixed = Q(**{f"series__{part}__name": getattr(side, part) for part in parts})
    if side.session:
        fixed &= Q(run__session__in=side.sessions)
    return fixed


def _measured(wanted: _Wanted, fixed: Q) -> Iterable[Measurement]:
    """The measurements of its revision that are ``fixed`` so, in pooling order."""
    revision, asof = wanted.revision, wanted.asof
    counted = Measurement.objects.counted_at(asof) if asof else Measurement.objects.counted()
    if wanted.only is not None:
        counted = counted.filter(series__in=wanted.only)
    return (
        counted.filter(fixed, run__revision=revision, series__tree=revision.tree)
        .annotate(disagrees=Exists(Point.objects.that_disagree().filter(**SAME_POINT)))
        .select_related("run__kernel")
        .only(*MEASURED)
        .in_pooling_order()
    )


def _costs(wanted: _Wanted, fixed: Q) -> Iterable[CostSamples]:
    """The same of what an option costs, which a side names by its metric."""
    asof, samples = wanted.asof, CostSamples.objects
    counted = samples.counted_at(asof) if asof else samples.counted()
    if wanted.only is not None:
        counted = counted.filter(series__in=wanted.only)
    return (
        counted.filter(fixed, run__revision=wanted.revision)
        .annotate(disagrees=Exists(Point.objects.that_disagree().filter(**SAME_POINT)))
        .select_related("run__kernel")
        .only(*RATIOS)
        .in_pooling_order()
    )


def _add_series(known: dict[int, Series], rows: Rows) -> None:
    """Those of ``rows``, each once for all sides: most are of several."""
    missing = {row.series_id for row in rows} - known.keys()
    if missing:
        known |= Series.objects.named().in_bulk(missing)


def _pool(
    wanted: _Wanted, series: Series, rows: Sequence[Measurement | CostSamples]
) -> _Found | None:
    """The samples of one side in one ``series`` that count; None: none does. Runs that disagree are
    distinguished by asking for one session, unless that holds several.
    """
    side = wanted.side
    counting = [(row, *row.counted) for row in rows]
    counting = [one for one in counting if one[1]]
    if not counting:
        return None
    samples = pool((values, boots, row.run.kernel.build_id) for row, values, boots in counting)
    left_out = LeftOut.of_measurements((len(row.samples), row.left_out, row.marks) for row in rows)
    disagrees = bool(getattr(rows[0], "disagrees"))  # noqa: B009 (annotated by both reads)
    sessions = tuple(dict.fromkeys(sorted(row.run.session for row, _, _ in counting)))
    is_one = bool(side.session) and len(counting) == 1
    is_former = side.mode_name not in {"", series.mode.name}
    return _Found(
        series=series,
        revision=wanted.revision,
        side_index=wanted.index,
        samples=samples,
        disagrees=disagrees and not is_one,
        sessions=sessions,
        left_out=left_out,
        sent_mode=side.mode_name if is_former else "",
    )


def _row(
    names: Mapping[str, str],
    found: Sequence[_Found],
    axis: tuple[str, ...],
    facts: Mapping[int, SeriesFacts],
    epochs: Mapping[int, Epochs],
) -> ComparedRow:
    first = found[0].series
    sets = tuple(_set(one, axis) for one in found)
    machine = str(first.hardware) if "hardware" in names else ""
    rest = [name for part, name in names.items() if part != "hardware"]
    return ComparedRow(
        key_label=" ".join(names.values()),
        title=": ".join(filter(None, [machine, " ".join(rest)])),
        mode_label=names.get(MODE, first.mode.name),
        metric=first.metric,
        better=first.better,
        hardware=first.hardware if "hardware" not in axis else None,
        mode=first.mode if "mode" not in axis else None,
        sets=sets,
        facts=facts[first.pk],
        parted=tuple(_are_parted(found[0], one, epochs) for one in found[1:]),
    )


def _are_parted(base: _Found, other: _Found, epochs: Mapping[int, Epochs]) -> bool:
    """Whether an epoch of their machine begins between two sets, in the series of either."""
    if base.series.hardware_id != other.series.hardware_id:
        return False
    if base.revision.tree_id != other.revision.tree_id:
        return False
    ends = base.revision.position, other.revision.position
    return any(epochs.get(one.series.pk, ONE_EPOCH).part(*ends) for one in (base, other))


def _set(found: _Found, axis: tuple[str, ...]) -> ComparedSet:
    series = found.series
    names: Mapping[str, str] = {
        "tree": found.revision.tree.name,
        "kernel": found.kernel,
        "hardware": str(series.hardware),
        "mode": found.mode,
        "metric": series.metric.name,
        "session": " ".join(found.sessions),
    }
    shown = [part for part in names if part in {*axis, "kernel", "mode"}]
    return ComparedSet(
        side_index=found.side_index,
        series_id=series.pk,
        label=" ".join(names[part] for part in shown),
        revision=found.revision,
        variant=series.variant,
        hardware=series.hardware,
        mode=series.mode,
        levels=found.samples,
        disagrees=found.disagrees,
        sessions=found.sessions,
        left_out=found.left_out,
    )
