"""What was measured of variants, for the pages of commits and machines."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet

from webapp.analysis.queries import CommitPoint, Side, side_of
from webapp.pages.parts.links import compare_link
from webapp.results.models import Hardware, Point, Revision, Series, Variant
from webapp.results.queries import NamedSeries

VARIANTS_SHOWN = 100
CHOICES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class VariantLine:
    """A point of a variant; ``link`` compares it with the plain kernel, empty where that was not
    measured.
    """

    point: CommitPoint
    link: str


@dataclass(frozen=True, slots=True)
class VariantOfCommit:
    """One variant of a commit; ``link`` compares all of it with the plain kernel, empty where
    there is nothing to compare.
    """

    variant: Variant
    lines: Sequence[VariantLine]
    link: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A variant that was measured: its kernel as sides name it, and the comparison with the plain
    one.
    """

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
    """The variants among ``points``, in the order of their names; no query. ``plain`` are the
    points of the plain kernel there.
    """
    measured = {_subject(point.series) for point in plain}
    lines: dict[Variant, list[VariantLine]] = {}
    for point in sorted(points, key=_order)[:VARIANTS_SHOWN]:
        side = side_of(point.series, commit)
        comparable = _subject(point.series) in measured
        link = compare_link(replace(side, variant=""), side) if comparable else ""
        lines.setdefault(_variant(point), []).append(VariantLine(point, link))
    return [_of_commit(commit, variant, its) for variant, its in lines.items()]


def variants_beside(revisions: Collection[Revision]) -> list[Choice]:
    """What can be held against the plain kernels of ``revisions``, which have their trees: one
    query.
    """
    named = {revision.pk: revision for revision in revisions}
    found = Point.objects.of_variants().filter(revision__in=named).order_by()
    rows = sorted(set(found.values_list("position", "series__variant__name", "revision")))
    return [_choice(named[revision], name) for _, name, revision in rows[:CHOICES_SHOWN]]


def variants_on(machine: Hardware) -> list[VariantOnHardware]:
    """The variants measured on a machine, by name and tree: one query, and one more where there are
    any.
    """
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
            _variant(point),
            counts[point.series.variant_id, point.series.tree_id],
            point.revision,
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
