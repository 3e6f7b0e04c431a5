"""Summaries that several pages share: what a commit did, over all series that were compared at it;
what is claimed of a table of comparisons, in words; and what was measured of variants.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet

from webapp.alerts import queries
from webapp.analysis.models import Finding, Tally, Verdict
from webapp.analysis.queries import CommitPoint, Side, side_of
from webapp.charts.text import MARKS, cost_points, direction, half_width
from webapp.pages.parts.links import compare_link
from webapp.results.models import Hardware, Point, Revision, Series, Variant
from webapp.results.queries import NamedSeries, variants_at
from webapp.stats import compare
from webapp.stats.compare import Across, Mean, Outcome

ONE_BUILD = "one build a side"
"""Stands instead of a verdict: nothing is proven by it."""


@dataclass(frozen=True, slots=True)
class Largest:
    """The change that stands for a commit. ``basis`` is the state of its finding; ``error`` half
    its 95 % interval. ``size`` is in percent, of what an option costs in points.
    """

    series: NamedSeries
    verdict: str
    size: float | None
    error: float | None
    basis: str

    @property
    def seen_as(self) -> str:
        """The verdict that gives its colour."""
        is_open = self.basis == Finding.State.ONE_BUILD
        return Verdict.CANNOT_TELL if is_open else self.verdict


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """What is flagged at one revision, over all series, the largest change among it, and which
    commits that may have begun at. ``let_through`` are the verdicts that pass the gate for
    headlines.
    """

    revision: Revision
    tally: Tally
    let_through: frozenset[Verdict] = frozenset()
    largest: Largest | None = None
    suspicion: queries.Suspicion | None = None

    @property
    def is_cause(self) -> bool:
        """Whether the change may be called this commit's: no other shares the suspicion."""
        return self.suspicion is None or self.suspicion.commit is not None

    @property
    def text(self) -> str:
        """The verdict over all series, in a word or two."""
        if len(self.let_through) > 1:
            return "mixed"
        if self.let_through:
            return "regression" if Verdict.WORSE in self.let_through else "improvement"
        if self.largest and self.largest.basis == Finding.State.ONE_BUILD:
            return ONE_BUILD
        tally = self.tally
        if not tally.compared:
            return "not compared"
        is_open = tally.cannot_tell or tally.regressed or tally.improved
        return "cannot tell" if is_open else "no change flagged"

    @property
    def marks(self) -> str:
        """The marks of the verdicts it holds, for those who do not see colours."""
        return "".join(
            MARKS[verdict]
            for verdict, is_there in (
                (Verdict.WORSE, Verdict.WORSE in self.let_through),
                (Verdict.BETTER, Verdict.BETTER in self.let_through),
                (Verdict.CANNOT_TELL, self.text in (Verdict.CANNOT_TELL, ONE_BUILD)),
            )
            if is_there
        )

    @property
    def css_class(self) -> str:
        """The CSS class of the verdicts together."""
        classes = {"regression": "worse", "improvement": "better", "mixed": "mixed"}
        return classes.get(self.text, "cannot-tell")


def summarise(revisions: Sequence[Revision]) -> list[CommitSummary]:
    """The summaries of ``revisions`` in their order, in five queries."""
    ids = [revision.pk for revision in revisions]
    tallies = queries.tallies_at(ids)
    let_through = _let_through(queries.verdicts_at(ids), tallies)
    rows = queries.largest_at(ids)
    found = {row.revision.pk: _of_finding(row) for row in rows}
    suspicions = queries.suspicions_of_findings(rows)
    shared = {row.revision.pk: suspicions[row.pk] for row in rows}
    return [
        CommitSummary(
            revision,
            tallies[revision.pk],
            let_through.get(revision.pk, frozenset()),
            found.get(revision.pk),
            shared.get(revision.pk),
        )
        for revision in revisions
    ]


def _let_through(
    verdicts: Iterable[queries.VerdictAt], tallies: Mapping[int, Tally]
) -> dict[int, frozenset[Verdict]]:
    """For each revision the verdicts of its findings that pass the gate over all its series. What
    more builds confirmed has passed a limit of its own; one build a side is not a verdict.
    """
    gated: dict[int, list[tuple[Verdict, float]]] = defaultdict(list)
    passed: dict[int, set[Verdict]] = defaultdict(set)
    for one in verdicts:
        if one.is_detected:
            gated[one.revision].append((one.verdict, one.p_value))
        else:
            passed[one.revision].add(one.verdict)
    for revision, found in gated.items():
        passed[revision] |= queries.passing(found, tallies[revision].compared)
    return {revision: frozenset(verdicts) for revision, verdicts in passed.items()}


def _of_finding(row: queries.LargestFinding) -> Largest:
    found = (row.change_pct, row.low_pct, row.high_pct)
    if row.series.is_cost:
        size, low, high = (cost_points(row.level_before, one, row.series.better) for one in found)
    else:
        size, low, high = found
    half = None if low is None or high is None else abs(high - low) / 2
    return Largest(row.series, row.verdict, size, half, row.state)


def counts_text(counts: Mapping[Outcome, int]) -> str:
    """``7 of 15 comparisons prove a difference over the whole table, 2 differ by themselves,
    1 shows by itself none that matters, 5 cannot tell``: as many as stand under each heading.
    """
    proven, alone = counts.get(Outcome.PROVEN, 0), counts.get(Outcome.BY_ITSELF, 0)
    same, unsure = counts.get(Outcome.EQUIVALENT, 0), counts.get(Outcome.CANNOT_TELL, 0)
    verb = "proves" if proven == 1 else "prove"
    parts = [
        f"{proven} of {sum(counts.values())} comparisons {verb} a difference over the whole table",
        f"{alone} {by_itself('differ', alone)}" if alone else "",
        f"{same} {by_itself('show', same)} none that matters" if same else "",
        f"{unsure} cannot tell" if unsure else "",
    ]
    return ", ".join(filter(None, parts))


def by_itself(verb: str, count: int) -> str:
    """``differs by itself``, ``differ by themselves``."""
    return f"{verb}s by itself" if count == 1 else f"{verb} by themselves"


def direction_texts(better: str, unit: str) -> Mapping[compare.Verdict, str]:
    """What better and worse are called in a metric of that ``unit``."""
    gain = 1.0 if better == "more" else -1.0
    return {
        compare.Verdict.WORSE: direction(percent=-gain, better=better, unit=unit),
        compare.Verdict.BETTER: direction(percent=gain, better=better, unit=unit),
    }


def mean_named(across: Across) -> Mean | None:
    """The mean change, where it is proven of the mode."""
    is_named = across.verdict in {compare.Verdict.WORSE, compare.Verdict.BETTER}
    return across.mean if is_named else None


def mean_text(mean: Mean, word: str, total: int) -> str:
    """``3.7 % slower [3.1, 4.2] over 6 machines``, of which there are ``total``."""
    low, high = sorted((abs(mean.low), abs(mean.high)))
    over = str(mean.machines) if mean.machines == total else f"{mean.machines} of {total}"
    interval = f"[{half_width(low)}, {half_width(high)}]"
    return f"{half_width(abs(mean.percent))} % {word} {interval} over {over} machines"


def is_mixed(across: Across) -> bool:
    """Whether one machine alone is proven better, and another worse."""
    return {compare.Verdict.WORSE, compare.Verdict.BETTER} <= set(across.verdicts)


VARIANTS_SHOWN = 100
CHOICES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class VariantLine:
    """A point of a variant; ``link`` compares it with the plain kernel, where that was measured."""

    point: CommitPoint
    link: str


@dataclass(frozen=True, slots=True)
class VariantOfCommit:
    """One variant of a commit; ``link`` compares all of it with the plain kernel, else is empty."""

    variant: Variant
    lines: Sequence[VariantLine]
    link: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A measured variant: its kernel as sides name it, and the comparison with the plain one."""

    label: str
    link: str


@dataclass(frozen=True, slots=True)
class VariantOnHardware:
    """One variant along one tree: how many series it has, and the newest revision measured."""

    variant: Variant
    series: int
    newest: Revision


def variants_of_commit(
    commit: Revision, points: Sequence[CommitPoint], plain: Collection[CommitPoint]
) -> list[VariantOfCommit]:
    """The variants among ``points`` by name, beside the ``plain`` kernel's points; no query."""
    measured = {_subject(point.series) for point in plain}
    lines: dict[Variant, list[VariantLine]] = {}
    for point in sorted(points, key=_order)[:VARIANTS_SHOWN]:
        side = side_of(point.series, commit)
        comparable = _subject(point.series) in measured
        link = compare_link(replace(side, variant=""), side) if comparable else ""
        lines.setdefault(_variant(point), []).append(VariantLine(point, link))
    return [_of_commit(commit, variant, its) for variant, its in lines.items()]


def variants_beside(revisions: Collection[Revision]) -> list[Choice]:
    """What can be held against the plain kernels of ``revisions`` (with trees): one query."""
    named = {revision.pk: revision for revision in revisions}
    rows = variants_at(named, CHOICES_SHOWN)
    return [_choice(named[revision], name) for _, name, revision in rows]


def variants_on(machine: Hardware) -> list[VariantOnHardware]:
    """The variants measured on a machine, by name and tree: two queries at most."""
    newest = list(_newest(series__hardware=machine))
    if not newest:
        return []
    counts = {
        (variant, tree): count
        for variant, tree, count in Series.objects.of_variants()
        .with_points()
        .filter(hardware=machine)
        .order_by()
        .values_list("variant", "tree")
        .annotate(count=Count("pk"))
    }
    return [
        VariantOnHardware(
            _variant(point), counts[point.series.variant_id, point.series.tree_id], point.revision
        )
        for point in newest
    ]


def _newest(**wanted: Any) -> QuerySet[Point]:
    by = ("series__variant__name", "series__tree__name")
    points = Point.objects.of_variants().filter(**wanted)
    named = points.select_related("series__variant", "revision__tree")
    return named.order_by(*by, "-position").distinct(*by)


def _of_commit(commit: Revision, variant: Variant, lines: Sequence[VariantLine]) -> VariantOfCommit:
    side = Side(commit.tree.name, commit.name)
    is_compared = any(line.link for line in lines)
    link = compare_link(side, replace(side, variant=variant.name)) if is_compared else ""
    return VariantOfCommit(variant, lines, link)


def _choice(revision: Revision, variant: str) -> Choice:
    plain = Side(revision.tree.name, revision.name)
    side = replace(plain, variant=variant)
    return Choice(side.kernel, compare_link(plain, side))


def _variant(point: CommitPoint | Point) -> Variant:
    if point.series.variant is None:
        raise ValueError(f"the point of series {point.series_id} is of a plain kernel")
    return point.series.variant


def _order(point: CommitPoint) -> tuple[str, ...]:
    series = point.series
    subject = (series.metric.name, series.mode.name, series.hardware.name)
    return (_variant(point).name, *subject)


def _subject(series: NamedSeries) -> tuple[int, int, int]:
    return series.hardware.pk, series.mode.pk, series.metric.pk
