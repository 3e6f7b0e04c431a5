"""One row of a comparison with all that stands behind it: samples, ministat's block, power."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.urls import reverse

from webapp.accounts.services import is_triager
from webapp.analysis.queries import (
    BLOCK_IGNORES,
    BUILDS_DIFFER,
    EPOCH_BETWEEN,
    RUNS_DISAGREE,
    BlockOptions,
    ComparedRow,
    ComparedSet,
    ComparedTable,
    Side,
    address_of,
    compare_link,
    kernel_of,
    moment_of,
    profiled_among,
)
from webapp.charts import strip
from webapp.charts.strip import Strip
from webapp.jobs.models import Job
from webapp.pages.compare.report import TOO_FEW
from webapp.pages.compare.tails import Tails, tails_of
from webapp.pages.compare.verdict import compared_sentence
from webapp.pages.parts.job_offers import Ask, Offer, builds_ask, offers
from webapp.pages.parts.links import diff_link, with_query
from webapp.pages.parts.power import boots_to_ask_for, power_line
from webapp.stats.compare import Comparison

CONFIDENCE = 95.0


@dataclass(frozen=True, slots=True)
class Judged:
    """One set against the base; ``power`` says what it would take to prove a small change.

    ``boots`` is how many to ask an agent for. ``is_parted``: an epoch of the machine begins between
    the two.
    """

    set: ComparedSet
    comparison: Comparison
    sentence: str
    reason: str
    power: str
    boots: int
    is_parted: bool
    epoch_text = EPOCH_BETWEEN

    @property
    def label(self) -> str:
        """What the page calls it: the verdict, or why nothing can be told where that has a name."""
        if self.comparison.runs_disagree:
            return RUNS_DISAGREE
        return BUILDS_DIFFER if self.comparison.builds_differ else self.comparison.verdict.value


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an open row shows. ``ministat`` is empty where a set is too small for it; ``block`` is
    the address of the block of these very sessions, empty where a set holds several.
    """

    row: ComparedRow
    others: Sequence[Judged]
    options: BlockOptions
    alone: str
    block: str
    profiles: Sequence[tuple[str, str]]
    offers: Sequence[Offer]
    tails: Tails | None
    block_ignores = BLOCK_IGNORES
    too_few = TOO_FEW

    @property
    def ministat(self) -> str:
        """ministat's block; empty where a set has too few samples."""
        return self.row.ministat_text(self.options) if self.row.can_render else ""

    @property
    def image(self) -> str:
        """The samples of each set as an SVG of strips."""
        return strip.draw([_strip(one) for one in self.row.sets], unit=self.row.metric.unit)

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


def evidence_of(request: HttpRequest, table: ComparedTable, options: BlockOptions) -> Evidence:
    """The evidence of the one row of ``table``; for triagers with what agents can be asked for."""
    (row,) = table.rows
    sides = _sides(table.sides, row)
    others = [_judged(row, index) for index in range(len(row.judged))]
    asof = moment_of(request.GET.get("asof", ""))
    return Evidence(
        row=row,
        others=others,
        options=options,
        alone=compare_link(*sides),
        block=_block(sides, row, options),
        profiles=_profiles(row),
        offers=_offers(row, others) if is_triager(request.user) else [],
        tails=tails_of(sides, row, asof),
    )


def _profiles(row: ComparedRow) -> list[tuple[str, str]]:
    """The differences of profiles of the base and each other set, where both have some: the name
    of the other, and the address.
    """
    base, *others = row.sets
    profiled = profiled_among([kernel_of(one) for one in row.sets])
    return [
        (one.label, diff_link(address_of(base), address_of(one)))
        for one in others
        if profiled.issuperset({kernel_of(base), kernel_of(one)})
    ]


def _sides(sides: Sequence[Side], row: ComparedRow) -> list[Side]:
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


def _judged(row: ComparedRow, index: int) -> Judged:
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


def _block(sides: Sequence[Side], row: ComparedRow, options: BlockOptions) -> str:
    """Of one session a side: a session that is measured later does not change it."""
    if any(len(one.sessions) != 1 for one in row.sets):
        return ""
    pinned = [
        replace(side, session=one.sessions[0]) for side, one in zip(sides, row.sets, strict=True)
    ]
    return compare_link(*pinned, page="compare_text", more=options.query)


def _offers(row: ComparedRow, others: Sequence[Judged]) -> list[Offer]:
    """More runs of each set, as many boots as the power planner names; of the base, the most. More
    builds of both sides where one of each cannot tell. A job measures plain kernels only.
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


def _strip(one: ComparedSet) -> Strip:
    # The 95 % interval of the mean by the set's own units, Student's t; None where unknown
    return Strip(one.label, one.samples, one.mean, one.units.interval(CONFIDENCE))
