"""Which kernels have profiles: those nearest to a change, and how addresses name them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import QuerySet, Value

from webapp.analysis.queries.compared import ComparedSet
from webapp.analysis.queries.sides import Side
from webapp.results.models import WAITING_FROM, Run, Series

Kernel = tuple[int, int | None, int, int]
"""Ids of revision, variant, hardware and mode."""


class Subject(NamedTuple):
    """What is measured, by ids; without a variant the plain kernel."""

    tree: int
    hardware: int
    mode: int
    variant: int | None

    @classmethod
    def of(cls, series: Series) -> "Subject":
        """That of a series."""
        return cls(series.tree_id, series.hardware_id, series.mode_id, series.variant_id)


class Gap(NamedTuple):
    """Where a change lies: after position ``until``, at the latest at ``since``; other changes lie
    outside of ``within``.
    """

    subject: Subject
    until: int
    since: int
    within: tuple[int, int] = (0, WAITING_FROM - 1)

    @classmethod
    def before(cls, subject: Subject, position: int) -> "Gap":
        """Right before a position."""
        return cls(subject, position - 1, position)


def pair_around(subject: Subject, position: int) -> tuple[str, str] | None:
    """The profiled kernels nearest to ``position`` of the tree, before it and from it on, as
    addresses; None where a side has none.
    """
    (ends,) = nearest_runs([Gap.before(subject, position)])
    return (address_of(ends[0]), address_of(ends[1])) if ends else None


def nearest_runs(gaps: Sequence[Gap]) -> list[tuple[Run, Run] | None]:
    """The runs with profiles nearest to each gap, before and after it, in one query; None where a
    side has none.
    """
    sides = [one for number, gap in enumerate(gaps) for one in _sides_of(gap, number)]
    found: list[dict[bool, Run]] = [{} for _ in gaps]
    for run in sides[0].union(*sides[1:], all=True):
        found[run.gap][run.is_before] = run
    return [(ends[True], ends[False]) if len(ends) == 2 else None for ends in found]


def _sides_of(gap: Gap, number: int) -> list[QuerySet[Any]]:
    subject = gap.subject
    runs = (
        Run.objects.counted()
        .filter(
            profiles__isnull=False,
            hardware=subject.hardware,
            mode=subject.mode,
            variant=subject.variant,
            revision__tree=subject.tree,
            revision__position__range=gap.within,
        )
        .select_related("revision__tree", "hardware", "mode", "variant")
        .annotate(gap=Value(number))
    )
    before = runs.filter(revision__position__lte=gap.until).annotate(is_before=Value(True))
    after = runs.filter(revision__position__gte=gap.since).annotate(is_before=Value(False))
    return [
        before.order_by("-revision__position", "-pk")[:1],
        after.order_by("revision__position", "pk")[:1],
    ]


def kernel_of(one: Run | ComparedSet) -> Kernel:
    """The ids of what a run, or a set of a comparison, was measured of."""
    return one.revision.pk, one.variant.pk if one.variant else None, one.hardware.pk, one.mode.pk


def profiled_among(kernels: Collection[Kernel]) -> set[Kernel]:
    """The ``kernels`` that have profiles; one query."""
    revisions, _, machines, modes = zip(*kernels, strict=True) if kernels else ((), (), (), ())
    runs = Run.objects.counted().filter(
        profiles__isnull=False,
        revision__in=set(revisions),
        hardware__in=set(machines),
        mode__in=set(modes),
    )
    found = runs.order_by().values_list("revision", "variant", "hardware", "mode").distinct()
    return set(kernels).intersection(found)


def parts_of(run: Run) -> tuple[str, ...]:
    """Kernel, mode and machine, for people."""
    kernel = f"{run.revision}~{run.variant}" if run.variant else str(run.revision)
    return kernel, str(run.mode), str(run.hardware)


def title_of(run: Run) -> str:
    """The kernel of a run and how it was measured, for people."""
    kernel, mode, hardware = parts_of(run)
    return f"{kernel}, {mode} on {hardware}"


def address_of(one: Run | ComparedSet) -> str:
    """The side that has all profiles of the kernel of a run, or of a set of a comparison, on its
    machine, in its mode.
    """
    revision, variant = one.revision, one.variant.name if one.variant else ""
    side = Side(revision.tree.name, revision.name, one.hardware.name, one.mode.name)
    return str(replace(side, variant=variant))
