"""Compare any two to seven sets of samples that differ along one axis.

A *side* says which samples: ``tree:revision:hardware:mode:metric``, trailing parts optional, an
empty part meaning all. The parts that every side leaves empty are the axes over which rows are
matched: two revisions give a row for each (hardware, mode, metric) that both have.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.results.models import Hardware, Measurement, Metric, Mode, Revision, Series, Tree
from webapp.stats import ministat

MOST_SIDES = 7
PARTS = ("tree", "revision", "hardware", "mode", "metric")
FREE_PARTS = ("hardware", "mode", "metric")


class SideError(ValueError):
    """A side that cannot be read or found; the message names it and the remedy."""


@dataclass(frozen=True)
class Side:
    """Which samples one side of a comparison takes."""

    tree: str
    revision: str
    hardware: str = ""
    mode: str = ""
    metric: str = ""

    @classmethod
    def parse(cls, text: str) -> "Side":
        parts = text.split(":")
        if not 2 <= len(parts) <= len(PARTS) or not parts[0] or not parts[1]:
            raise SideError(
                f"{text!r} is not a side: write tree:revision[:hardware[:mode[:metric]]], "
                "for example freebsd-head:r303643"
            )
        return cls(*parts)

    def __str__(self) -> str:
        text = f"{self.tree}:{self.revision}:{self.hardware}:{self.mode}:{self.metric}"
        return text.rstrip(":")


@dataclass(frozen=True)
class ComparedSet:
    """The samples of one side in one row, in pooling order, in the metric's unit."""

    side_index: int
    series_id: int
    label: str
    revision: Revision
    hardware: Hardware
    mode: Mode
    samples: tuple[float, ...]
    summary: ministat.Summary | None


@dataclass(frozen=True)
class ComparedRow:
    """Sets that agree in everything but the compared axis.

    ``differences`` and ``verdicts`` have one entry for each set after the first, which is the
    base; a difference is None where ministat refuses (fewer than three samples).
    """

    key_label: str
    metric: Metric
    hardware: Hardware | None
    mode: Mode | None
    sets: tuple[ComparedSet, ...]
    differences: tuple[ministat.Difference | None, ...]
    verdicts: tuple[str, ...]

    @property
    def can_render(self) -> bool:
        return all(one.summary is not None for one in self.sets)

    def ministat_text(self) -> str:
        """The block that ``ministat -s`` prints for these sets, with our labels.

        Raises webapp.stats.errors.TooFewSamplesError where ministat refuses a set.
        """
        return ministat.render([(one.label, one.samples) for one in self.sets], separate_bars=True)


@dataclass(frozen=True)
class ComparedTable:
    """All rows that every side has, and how many some side lacks."""

    sides: tuple[Side, ...]
    revisions: tuple[Revision, ...]
    rows: tuple[ComparedRow, ...]
    unmatched: int


def compare_sides(sides: Sequence[Side]) -> ComparedTable:
    """Match and compare. The number of queries depends on the number of sides only.

    Raises:
        SideError: fewer than two sides or more than seven, a name that is not known, or sides
            that leave different parts open.
    """
    if not 2 <= len(sides) <= MOST_SIDES:
        raise SideError(f"give 2 to {MOST_SIDES} sides, a and b; these are {len(sides)}")
    free = _free_parts(sides)
    revisions = tuple(_revision(side) for side in sides)
    found = [
        _sets(i, side, revision, free)
        for i, (side, revision) in enumerate(zip(sides, revisions, strict=True))
    ]
    everywhere = set.intersection(*(set(sets) for sets in found))
    anywhere = set.union(*(set(sets) for sets in found))
    axis = _label_parts(sides)
    rows = [_row([sets[key] for sets in found], free, axis) for key in sorted(everywhere)]
    return ComparedTable(tuple(sides), revisions, tuple(rows), len(anywhere - everywhere))


def _free_parts(sides: Sequence[Side]) -> tuple[str, ...]:
    shapes = {tuple(part for part in FREE_PARTS if not getattr(side, part)) for side in sides}
    if len(shapes) > 1:
        raise SideError(
            "every side must leave the same parts open; give hardware, mode and metric "
            "in all sides or in none: " + " / ".join(str(side) for side in sides)
        )
    return shapes.pop()


def _label_parts(sides: Sequence[Side]) -> tuple[str, ...]:
    """The parts that tell the sides apart, for the labels of the sets."""
    return tuple(part for part in PARTS if len({getattr(side, part) for side in sides}) > 1)


def _revision(side: Side) -> Revision:
    tree = Tree.objects.filter(name=side.tree).first()
    if tree is None:
        raise SideError(f"no tree {side.tree!r} (in {side})")
    revision = Revision.objects.named(tree=tree, name=side.revision)
    if revision is None:
        raise SideError(f"no revision {side.revision!r} in {side.tree} (in {side})")
    revision.tree = tree
    return revision


@dataclass(frozen=True)
class _Found:
    series: Series
    revision: Revision
    side_index: int
    samples: tuple[float, ...]


def _sets(
    index: int, side: Side, revision: Revision, free: tuple[str, ...]
) -> dict[tuple[str, ...], _Found]:
    fixed: dict[str, Any] = {
        f"series__{part}__name": getattr(side, part) for part in FREE_PARTS if part not in free
    }
    rows = (
        Measurement.objects.counted()
        .filter(run__revision=revision, series__tree=revision.tree, **fixed)
        .select_related("series__hardware__lab", "series__mode", "series__metric")
        .in_pooling_order()
    )
    samples: dict[int, list[float]] = defaultdict(list)
    series: dict[int, Series] = {}
    for row in rows:
        samples[row.series_id] += row.samples
        series[row.series_id] = row.series
    if not series and free != FREE_PARTS:
        raise SideError(f"nothing is measured for {side}")
    return {
        tuple(getattr(one, part).name for part in free): _Found(
            one, revision, index, tuple(samples[pk])
        )
        for pk, one in series.items()
    }


def _row(found: Sequence[_Found], free: tuple[str, ...], axis: tuple[str, ...]) -> ComparedRow:
    first = found[0].series
    sets = tuple(_set(one, axis) for one in found)
    differences = tuple(_difference(sets[0], one) for one in sets[1:])
    return ComparedRow(
        key_label=" ".join(getattr(first, part).name for part in free),
        metric=first.metric,
        hardware=first.hardware if "hardware" not in axis else None,
        mode=first.mode if "mode" not in axis else None,
        sets=sets,
        differences=differences,
        verdicts=tuple(verdict_of(one, first.metric) for one in differences),
    )


def _set(found: _Found, axis: tuple[str, ...]) -> ComparedSet:
    series = found.series
    names: Mapping[str, str] = {
        "tree": found.revision.tree.name,
        "revision": found.revision.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
    }
    shown = [part for part in PARTS if part in {*axis, "revision", "mode"}]
    enough = len(found.samples) >= ministat.LEAST_POINTS
    return ComparedSet(
        side_index=found.side_index,
        series_id=series.pk,
        label=" ".join(names[part] for part in shown),
        revision=found.revision,
        hardware=series.hardware,
        mode=series.mode,
        samples=found.samples,
        summary=ministat.summarize(found.samples) if enough else None,
    )


def _difference(base: ComparedSet, other: ComparedSet) -> ministat.Difference | None:
    if base.summary is None or other.summary is None:
        return None
    return ministat.difference(base.summary, other.summary)


def verdict_of(difference: ministat.Difference | None, metric: Metric) -> str:
    """``better`` or ``worse`` where a difference is proven, else ``cannot tell``."""
    if difference is None or not difference.proven:
        return "cannot tell"
    more = difference.delta > 0
    return "better" if more == (metric.better == Metric.Better.MORE) else "worse"
