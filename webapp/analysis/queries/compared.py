"""What a comparison of sides holds: sets of samples or points, in rows, in a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from webapp.analysis.queries.series_state import SeriesFacts
from webapp.analysis.queries.sides import PLAIN_BLOCK, BlockOptions, Side
from webapp.analysis.queries.unmatched import Unmatched
from webapp.analysis.queries.verdicts import (
    JudgedPair,
    ModeClaim,
    PointVerdict,
    TableClaims,
    claims_of,
    judge_pairs,
)
from webapp.results import models
from webapp.stats import ministat
from webapp.stats.compare import Comparison, Headline, Samples, Summary, compare, explain, summarize
from webapp.stats.metrics import Better

OTHER_EPOCH = "another epoch"
"""The tag of a set on the other side of an epoch's beginning."""

EPOCH_BETWEEN = (
    "An epoch begins between the two: something changed in the lab, and what differs may be that "
    "and not the commits"
)
"""The sentence about it, which pages and reports share; the page puts a link before its end."""

BLOCK_IGNORES = (
    "ministat treats samples as independent and ignores build noise; the verdicts do not."
)
"""What to know of every block of a comparison."""


@dataclass(frozen=True)
class ComparedSet:
    """The samples of one side in one row, in pooling order, in the metric's unit, with the boot
    and the build of each as far as known. It ``disagrees`` where its runs do beyond their noise.
    ``sessions`` are those it holds runs of, in order; empty: of runs that name none. The samples
    that do not count are ``left_out`` of all this; None: all count.
    """

    side_index: int
    series_id: int
    label: str
    revision: models.Revision
    variant: models.Variant | None
    hardware: models.Hardware
    mode: models.Mode
    levels: Samples
    disagrees: bool
    sessions: tuple[str, ...]
    left_out: models.LeftOut | None = None

    @property
    def remarks(self) -> list[str]:
        """What to know of its figures: several sessions, samples that do not count."""
        found = [f"sessions {', '.join(self.sessions)}"] if len(self.sessions) > 1 else []
        return [*found, self.left_out.text] if self.left_out else found

    @property
    def samples(self) -> Sequence[float]:
        """The samples alone."""
        return self.levels.values

    @cached_property
    def summary(self) -> ministat.Summary | None:
        """What ministat prints of them; None where it refuses them."""
        enough = len(self.samples) >= ministat.LEAST_POINTS
        return ministat.summarize(self.samples) if enough else None

    @property
    def mean(self) -> float:
        """Their mean as ministat prints it."""
        return self.summary.mean if self.summary else fmean(self.samples)

    @cached_property
    def units(self) -> Summary:
        """Mean and scatter by run, boot and build."""
        return summarize(self.levels)

    @property
    def build_names(self) -> frozenset[str]:
        """The set's builds by the digests of their ids."""
        return digests_of({str(one) for one in self.levels.builds or ()})

    def is_of_the_builds_of(self, other: "ComparedSet") -> bool:
        """Whether both hold samples of the very same builds."""
        return set(self.levels.builds or ()) == set(other.levels.builds or ())


@dataclass(frozen=True)
class ComparedRow:
    """Sets that agree in everything but the compared axis.

    ``key_label`` has the names of what they agree in, ``title`` the same for people;
    ``mode_label`` is the name of the mode without the options that are compared. The first set is
    the base, whose series has which way is ``better``, and by whose ``facts`` the others are
    judged. ``parted`` has one entry for each of these: an epoch of the machine begins between the
    two, so that what differs may be the machine.

    ``differences`` and ``judged`` have such entries too. They are computed when they are asked for:
    a table of hundreds of rows is judged in one call (`as_points`) and never asks.
    """

    key_label: str
    title: str
    mode_label: str
    metric: models.Metric
    better: Better
    hardware: models.Hardware | None
    mode: models.Mode | None
    sets: tuple[ComparedSet, ...]
    facts: SeriesFacts
    parted: tuple[bool, ...]

    @cached_property
    def differences(self) -> tuple[ministat.Difference | None, ...]:
        """ministat's result; None where it refuses (fewer than three samples)."""
        return tuple(_difference(self.sets[0], one) for one in self.sets[1:])

    @cached_property
    def judged(self) -> tuple[Comparison, ...]:
        """What the verdicts rest on, with the noise between builds that the facts give."""
        return tuple(_judge(self.sets[0], one, self.facts) for one in self.sets[1:])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One verdict for each set after the base."""
        return tuple(one.verdict.value for one in self.judged)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each verdict came out so: the rule and its figures, a sentence each."""
        return tuple(explain(one) for one in self.judged)

    @property
    def cautions(self) -> tuple[str, ...]:
        """For each set after the base a sentence on what else may differ; empty: nothing."""
        return tuple(f"{EPOCH_BETWEEN}." if parted else "" for parted in self.parted)

    @property
    def remarks_on_sets(self) -> list[str]:
        """What to know of the figures of single sets, after their labels."""
        return [f"{one.label}: {text}" for one in self.sets for text in one.remarks]

    @property
    def remarks(self) -> list[str]:
        """What to know of its figures beside the verdicts, the same on the page and in every
        export: samples that do not count, sets of several sessions, epochs between sets.
        """
        epochs = [
            f"{one.label}: {EPOCH_BETWEEN}"
            for one, parted in zip(self.sets[1:], self.parted, strict=True)
            if parted
        ]
        return [*self.remarks_on_sets, *epochs]

    @property
    def can_render(self) -> bool:
        """Whether every set has the samples that ministat's block needs."""
        return all(one.summary is not None for one in self.sets)

    def ministat_text(self, options: BlockOptions = PLAIN_BLOCK) -> str:
        """The block that ``ministat`` prints for these sets, with our labels: as ``ministat -s``
        unless ``options`` differ.

        Raises webapp.stats.TooFewSamplesError where ministat refuses a set.
        """
        return options.render([(one.label, one.samples) for one in self.sets])


@dataclass(frozen=True)
class ComparedTable:
    """All rows that every side has, and what some side lacks."""

    sides: tuple[Side, ...]
    revisions: tuple[models.Revision, ...]
    rows: tuple[ComparedRow, ...]
    unmatched: tuple[Unmatched, ...]


def digests_of(build_ids: Iterable[str]) -> frozenset[str]:
    """Of each build by itself, as a point keeps that of its only one."""
    return frozenset(models.digest_of_builds([one]) for one in build_ids)


def _judge(base: ComparedSet, other: ComparedSet, facts: SeriesFacts) -> Comparison:
    return compare(
        base.levels,
        other.levels,
        better=facts.better,
        margin=facts.margin_pct,
        build_noise=facts.build_noise,
        belief=facts.belief,
        same_build=base.is_of_the_builds_of(other),
        runs_disagree=base.disagrees or other.disagrees,
    )


def _difference(base: ComparedSet, other: ComparedSet) -> ministat.Difference | None:
    if base.summary is None or other.summary is None:
        return None
    return ministat.difference(base.summary, other.summary)


class SidePoint(NamedTuple):
    """What one side has in one row: of which series and ``revision``, how many samples, and their
    mean in the metric's unit; whether its runs disagree, and what of them does not count.
    """

    series_id: int
    revision: models.Revision
    hardware: models.Hardware
    simulated: bool
    mode: str
    metric: str
    unit: str
    better: Better
    variant: str
    n: int
    mean: float
    disagrees: bool
    left_out: models.LeftOut | None


class PointRow(NamedTuple):
    """Points that agree in everything but the compared axis, the base first.

    ``mode`` is the name by which it was matched, without the options that are compared.
    ``judged`` and ``parted`` (an epoch of the machine begins between the two) have an entry for
    each point after the base.
    """

    mode: str
    points: tuple[SidePoint, ...]
    judged: tuple[PointVerdict, ...]
    parted: tuple[bool, ...]

    @property
    def base(self) -> SidePoint:
        """What the others are held to."""
        return self.points[0]

    @property
    def left_out(self) -> tuple[str, ...]:
        """A clause for each side some of whose samples do not count."""
        return tuple(one.left_out.text for one in self.points if one.left_out)


@dataclass(frozen=True)
class PointTable:
    """All rows that every side has, and what only some have. Where there is a ``key``, two tables
    of one key have the same sides, revisions and rows.
    """

    sides: tuple[Side, ...]
    revisions: tuple[models.Revision, ...]
    rows: tuple[PointRow, ...]
    unmatched: tuple[Unmatched, ...]
    key: bytes = b""

    @cached_property
    def claims(self) -> TableClaims:
        """What may be claimed of the table."""
        return claims_of(
            [
                JudgedPair(row.mode, row.base.metric, index, row.base.better, judged)
                for row in self.rows
                for index, judged in enumerate(row.judged)
            ]
        )

    @property
    def modes(self) -> Sequence[ModeClaim]:
        """What may be claimed of each mode over its machines."""
        return self.claims.modes

    @property
    def headline(self) -> Headline:
        """What may be claimed of each pair alone, row by row."""
        return self.claims.headline


def as_points(table: ComparedTable) -> PointTable:
    """The same table of what was compared by samples, all pairs judged in one call."""
    judged = judge_pairs(
        {
            (number, index): (_Set(row.sets[0]), _Set(other), row.facts)
            for number, row in enumerate(table.rows)
            for index, other in enumerate(row.sets[1:])
        }
    )
    rows = (
        _as_row(row, tuple(judged[number, index] for index in range(len(row.sets) - 1)))
        for number, row in enumerate(table.rows)
    )
    return PointTable(table.sides, table.revisions, tuple(rows), table.unmatched)


@dataclass(frozen=True, slots=True)
class _Set:
    """A set of samples as `judge_pairs` sees it."""

    one: ComparedSet

    @property
    def levels(self) -> Mapping[str, Any]:
        return self.one.units.to_data()

    @property
    def disagrees(self) -> bool:
        return self.one.disagrees

    @property
    def build_names(self) -> frozenset[str]:
        return self.one.build_names

    def is_of_the_builds_of(self, other: "_Set") -> bool:
        """Whether both hold samples of the very same builds."""
        return self.one.is_of_the_builds_of(other.one)


def _as_row(row: ComparedRow, judged: tuple[PointVerdict, ...]) -> PointRow:
    return PointRow(
        mode=row.mode_label,
        points=tuple(_as_point(row, one) for one in row.sets),
        judged=judged,
        parted=row.parted,
    )


def _as_point(row: ComparedRow, one: ComparedSet) -> SidePoint:
    return SidePoint(
        series_id=one.series_id,
        revision=one.revision,
        hardware=one.hardware,
        simulated=one.hardware.lab.simulated,
        mode=one.mode.name,
        metric=row.metric.name,
        unit=row.metric.unit,
        better=row.better,
        variant=one.variant.name if one.variant else "",
        n=len(one.samples),
        mean=one.mean,
        disagrees=one.disagrees,
        left_out=one.left_out,
    )
