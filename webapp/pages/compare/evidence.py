"""One row of a comparison with all that stands behind it: samples, ministat's block, power."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from math import log, sqrt
from statistics import fmean, variance

from django.http import HttpRequest
from django.urls import reverse

from webapp.accounts.services import is_triager
from webapp.analysis import queries
from webapp.charts import quantiles, small
from webapp.charts.quantiles import Curve
from webapp.charts.small import Strip
from webapp.charts.text import half_width
from webapp.jobs.models import Job
from webapp.pages.compare.report import TOO_FEW, compared_sentence
from webapp.pages.parts.figures import Drawn, OverRevisions, as_json, over_revisions
from webapp.pages.parts.job_offers import (
    Ask,
    Offer,
    boots_to_ask_for,
    builds_ask,
    offers,
    power_line,
)
from webapp.pages.parts.links import diff_link, with_query
from webapp.results.queries import histograms_at
from webapp.stats.compare import Comparison
from webapp.stats.histograms import (
    DERIVED,
    Histogram,
    Histograms,
    derived_name,
    histogram_name,
    least_values,
)
from webapp.stats.metrics import worth_telling
from webapp.stats.power import NoiseLevels, Plan, provable_change

PERCENT = 100


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of each set, the mean of its boots; None where none has enough values. ``power``
    is what the scatter of the boots lets a comparison detect, ``link`` the comparison in it."""

    quantile: str
    means: Sequence[float | None]
    power: str
    link: str


@dataclass(frozen=True, slots=True)
class Tails:
    """What a page shows of histograms. ``over_revisions`` is None where few revisions have any."""

    name: str
    labels: Sequence[str]
    curves: Drawn
    rows: Sequence[Quantile]
    over_revisions: OverRevisions | None


CONFIDENCE = 95.0


@dataclass(frozen=True, slots=True)
class Judged:
    """One set against the base; ``power`` is what it would take to prove a small change.

    ``boots`` is how many to ask an agent for. ``is_parted``: an epoch of the machine begins between
    the two.
    """

    set: queries.ComparedSet
    comparison: Comparison
    sentence: str
    reason: str
    power: str
    boots: int
    is_parted: bool
    epoch_text = queries.EPOCH_BETWEEN

    @property
    def label(self) -> str:
        """What the page calls it: the verdict, or why there is none where that has a name."""
        if self.comparison.runs_disagree:
            return queries.RUNS_DISAGREE
        return (
            queries.BUILDS_DIFFER
            if self.comparison.builds_differ
            else self.comparison.verdict.value
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an open row shows. ``ministat`` is empty where a set is too small for it; ``block`` is
    the address of the block of these very sessions, empty where a set holds several.
    """

    row: queries.ComparedRow
    others: Sequence[Judged]
    options: queries.BlockOptions
    alone: str
    block: str
    profiles: Sequence[tuple[str, str]]
    offers: Sequence[Offer]
    tails: Tails | None
    block_ignores = queries.BLOCK_IGNORES
    too_few = TOO_FEW

    @property
    def ministat(self) -> str:
        """ministat's block; empty where a set has too few samples."""
        return self.row.ministat_text(self.options) if self.row.can_render else ""

    @property
    def image(self) -> str:
        """The samples of each set as an SVG of strips."""
        return small.draw_strips([_strip(one) for one in self.row.sets], unit=self.row.metric.unit)

    @property
    def trend(self) -> str:
        """The chart of the series of plain kernels in it; empty where there is none."""
        sets = [one for one in self.row.sets if one.variant is None]
        if not sets:
            return ""
        parts = [
            ("tree", sets[0].revision.tree.name),
            ("metric", self.row.metric.name),
            *(("hardware", name) for name in dict.fromkeys(one.hardware.name for one in sets)),
            *(("mode", name) for name in dict.fromkeys(one.mode.name for one in sets)),
        ]
        return with_query(reverse("trends"), parts)

    @property
    def is_starved(self) -> bool:
        """Whether no agent that could measure it has asked for work lately."""
        return bool(self.offers) and not any(offer.is_served for offer in self.offers)


def evidence_of(
    request: HttpRequest, table: queries.ComparedTable, options: queries.BlockOptions
) -> Evidence:
    """The evidence of the one row of ``table``; for triagers with what agents can be asked for."""
    (row,) = table.rows
    sides = _sides(table.sides, row)
    others = [_judged(row, index) for index in range(len(row.judged))]
    asof = queries.moment_of(request.GET.get("asof", ""))
    return Evidence(
        row=row,
        others=others,
        options=options,
        alone=queries.compare_link(*sides),
        block=_block(sides, row, options),
        profiles=_profiles(row),
        offers=_offers(row, others) if is_triager(request.user) else [],
        tails=tails_of(sides, row, asof),
    )


def _profiles(row: queries.ComparedRow) -> list[tuple[str, str]]:
    """Links to differences of profiles of the base and each other set, by the names of these."""
    base, *others = row.sets
    profiled = queries.profiled_among([queries.kernel_of(one) for one in row.sets])
    return [
        (one.label, diff_link(queries.address_of(base), queries.address_of(one)))
        for one in others
        if profiled.issuperset({queries.kernel_of(base), queries.kernel_of(one)})
    ]


def _sides(sides: Sequence[queries.Side], row: queries.ComparedRow) -> list[queries.Side]:
    """The sides that mean this row alone, whatever else is measured. A former name of the mode is
    what was asked for, and stays.
    """
    return [
        replace(
            side,
            hardware=one.hardware.name,
            mode=side.mode_name or one.mode.name,
            metric=row.metric.name,
        )
        for side, one in zip(sides, row.sets, strict=True)
    ]


def _judged(row: queries.ComparedRow, index: int) -> Judged:
    base, one, comparison = row.sets[0], row.sets[index + 1], row.judged[index]
    return Judged(
        set=one,
        comparison=comparison,
        sentence=compared_sentence(comparison, better=row.better, unit=row.metric.unit),
        reason=row.reasons[index],
        power=power_line(base, one, comparison),
        boots=boots_to_ask_for(base, one, comparison),
        is_parted=row.parted[index],
    )


def _block(
    sides: Sequence[queries.Side], row: queries.ComparedRow, options: queries.BlockOptions
) -> str:
    """Of one session a side: a session that is measured later does not change it."""
    if any(len(one.sessions) != 1 for one in row.sets):
        return ""
    pinned = [
        replace(side, session=one.sessions[0]) for side, one in zip(sides, row.sets, strict=True)
    ]
    return queries.compare_link(*pinned, page="compare_text", more=options.query)


def _offers(row: queries.ComparedRow, others: Sequence[Judged]) -> list[Offer]:
    """More runs of each set, as many boots as the power planner names; of the base, the most. More
    builds of both sides where one of each cannot prove a change. A job measures plain kernels only.
    """
    most = max(other.boots for other in others)
    boots = [most, *(other.boots for other in others)]
    asks = [
        Ask(Job.Purpose.MORE_RUNS, [one.revision], one.hardware, one.mode, number)
        for one, number in zip(row.sets, boots, strict=True)
        if one.variant is None
    ]
    base = row.sets[0]
    builds = [
        builds_ask([base.revision, other.set.revision], base.hardware, base.mode)
        for other in others
        if other.comparison.one_build
        and base.variant is None
        and other.set.series_id == base.series_id
    ]
    return offers([*builds, *asks])


def _strip(one: queries.ComparedSet) -> Strip:
    # The 95 % interval of the mean by the set's own units, Student's t; None where unknown
    return Strip(one.label, one.samples, one.mean, one.units.interval(CONFIDENCE))


def tails_of(
    sides: Sequence[queries.Side], row: queries.ComparedRow, asof: datetime | None
) -> Tails | None:
    """The histograms of a row in a metric that is derived of some; None: its metric is not."""
    name = histogram_name(row.metric.name)
    if name is None:
        return None
    found = _stored(name, row.sets, asof)
    if not all(found):
        return None
    boots = [[one for each in side for one in each.histograms] for side in found]
    unit_of = "boots" if all(each.boots for side in found for each in side) else "runs"
    labels = [one.label for one in row.sets]
    unit = row.metric.unit
    base = row.sets[0]
    newest = max(one.revision.position for one in row.sets if one.series_id == base.series_id)
    curves = list(map(partial(_curve, unit_of), labels, boots))
    return Tails(
        name=name,
        labels=labels,
        curves=Drawn(
            quantiles.curves(curves, unit=unit), as_json(quantiles.curves_figure(curves, unit=unit))
        ),
        rows=[_quantile(one, name, sides, boots, unit_of) for one in DERIVED],
        over_revisions=over_revisions(name, base.series_id, newest, asof, unit=unit),
    )


def _stored(
    name: str, sets: Sequence[queries.ComparedSet], asof: datetime | None
) -> list[list[Histograms]]:
    """The histograms of the runs of each set."""
    series, revisions = {one.series_id for one in sets}, {one.revision.pk for one in sets}
    found = histograms_at(name, series, revisions, asof)
    return [
        [
            each.of_run
            for each in found
            if (each.series, each.revision) == (one.series_id, one.revision.pk)
            and each.session in one.sessions
        ]
        for one in sets
    ]


def _curve(unit_of: str, label: str, boots: Sequence[Histogram]) -> Curve:
    label = f"{label}, {len(boots)} {unit_of if len(boots) > 1 else unit_of[:-1]}"
    whole = Histogram.together(boots)
    return Curve(label, whole.total, whole.curve(), [one.curve() for one in boots])


def _quantile(
    quantile: str,
    name: str,
    sides: Sequence[queries.Side],
    boots: Sequence[Sequence[Histogram]],
    unit_of: str,
) -> Quantile:
    derived = [[one.derived().get(quantile) for one in side] for side in boots]
    values = [[one for one in side if one is not None] for side in derived]
    metric = derived_name(name, quantile)
    return Quantile(
        quantile,
        [fmean(side) if side else None for side in values],
        _power(quantile, values, unit_of),
        queries.compare_link(*(replace(side, metric=metric) for side in sides)),
    )


def _power(quantile: str, sides: Sequence[Sequence[float]], unit_of: str) -> str:
    """The change that the boots or runs there are detect in 80 of 100 cases, or why none is."""
    if not all(sides):
        return f"needs {least_values(quantile):,} values in each of the {unit_of}"
    fewest = min(map(len, sides))
    if fewest == 1 or min(chain.from_iterable(sides)) <= 0:
        return f"needs two {unit_of} a side" if fewest == 1 else "not known: some are 0"
    logs = [[log(value) for value in side] for side in sides]
    df = sum(len(side) - 1 for side in logs)
    scatter = sqrt(sum(variance(side) * (len(side) - 1) for side in logs) / df)
    noise = NoiseLevels(run=0.0, boot=PERCENT * scatter, df=df)
    percent = worth_telling(provable_change(Plan(1, fewest, 1), noise))
    with_boots = f"with {fewest} {unit_of} a side"
    return f"≥ {half_width(percent)} % {with_boots}" if percent else f"nothing {with_boots}"
