"""Compare any two to seven sets of samples that differ along one axis.

A *side* says which samples: ``tree:revision:hardware:mode:metric:session``, trailing parts
optional, an empty part meaning all; ``%`` and ``:`` inside a part are percent-encoded. The parts
that every side leaves empty are the axes over which rows are matched: two revisions give a row for
each (hardware, mode, metric) that both have.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from django.db.models import Exists, OuterRef

from webapp.analysis.queries.noise import SeriesFacts, facts_of
from webapp.results.models import (
    Hardware,
    Measurement,
    Metric,
    Mode,
    Point,
    Revision,
    Series,
    Tree,
)
from webapp.stats import ministat
from webapp.stats.better import Better
from webapp.stats.compare import (
    Comparison,
    Headline,
    Samples,
    Summary,
    compare,
    explain,
    headline_of,
    look_at,
    pool,
    summarize,
)

MOST_SIDES = 7
PARTS = ("tree", "revision", "hardware", "mode", "metric", "session")
FREE_PARTS = ("hardware", "mode", "metric")
SAME_POINT = {"series": OuterRef("series"), "revision": OuterRef("run__revision")}


class SideError(ValueError):
    """A side that cannot be read or found; the message names it and the remedy."""


@dataclass(frozen=True)
class Side:
    """Which samples one side of a comparison takes; without a ``session`` those of all."""

    tree: str
    revision: str
    hardware: str = ""
    mode: str = ""
    metric: str = ""
    session: str = ""

    @classmethod
    def parse(cls, text: str) -> "Side":
        """Read ``tree:revision[:hardware[:mode[:metric[:session]]]]``. Raises SideError."""
        parts = [unquote(part, errors="replace") for part in text.split(":")]
        if not 2 <= len(parts) <= len(PARTS) or not parts[0] or not parts[1]:
            raise SideError(
                f"{text!r} is not a side: write "
                "tree:revision[:hardware[:mode[:metric[:session]]]], "
                "for example freebsd-head:r303643, and %3A for a : inside a part"
            )
        if any("\0" in part for part in parts):
            raise SideError(f"{text!r} is not a side: no name holds the character U+0000")
        return cls(*parts)

    def __str__(self) -> str:
        parts = (str(getattr(self, part)) for part in PARTS)
        quoted = (part.replace("%", "%25").replace(":", "%3A") for part in parts)
        return ":".join(quoted).rstrip(":")


@dataclass(frozen=True)
class ComparedSet:
    """The samples of one side in one row, in pooling order, in the metric's unit, with the boot
    and the build of each as far as known. It ``disagrees`` where its runs do beyond their noise.
    ``sessions`` are those it holds runs of, in order; empty: of runs that name none.
    """

    side_index: int
    series_id: int
    label: str
    revision: Revision
    hardware: Hardware
    mode: Mode
    levels: Samples
    summary: ministat.Summary | None
    disagrees: bool
    sessions: tuple[str, ...]

    @property
    def samples(self) -> Sequence[float]:
        """The samples alone."""
        return self.levels.values

    @cached_property
    def units(self) -> Summary:
        """Mean and scatter by run, boot and build."""
        return summarize(self.levels)

    def is_of_the_builds_of(self, other: "ComparedSet") -> bool:
        """Whether both hold samples of the very same builds."""
        return set(self.levels.builds or ()) == set(other.levels.builds or ())


@dataclass(frozen=True)
class ComparedRow:
    """Sets that agree in everything but the compared axis.

    ``differences``, ``judged`` and ``verdicts`` have one entry for each set after the first, which
    is the base, whose series says which way is ``better``. A difference is what ministat says, None
    where it refuses (fewer than three samples); ``judged`` is what the verdict rests on, with the
    noise between builds that the history of the series tells.
    """

    key_label: str
    metric: Metric
    better: Better
    hardware: Hardware | None
    mode: Mode | None
    sets: tuple[ComparedSet, ...]
    differences: tuple[ministat.Difference | None, ...]
    judged: tuple[Comparison, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One verdict for each set after the base."""
        return tuple(one.verdict.value for one in self.judged)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each verdict came out so: the rule and its figures, a sentence each."""
        return tuple(explain(one) for one in self.judged)

    @property
    def can_render(self) -> bool:
        """Whether every set has the samples that ministat's block needs."""
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

    @cached_property
    def headline(self) -> Headline:
        """What all verdicts, row by row, may be said to show together."""
        return headline_of([look_at(one) for row in self.rows for one in row.judged])


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
    facts = facts_of(found[0][key].series for key in everywhere)
    rows = [_row([sets[key] for sets in found], free, axis, facts) for key in sorted(everywhere)]
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
    """The parts that tell the sides apart, for the labels of the sets. Sessions do only where
    nothing else does: naming them must not change a block that was published without.
    """
    found = tuple(part for part in PARTS if len({getattr(side, part) for side in sides}) > 1)
    return tuple(part for part in found if part != "session") or found


def _revision(side: Side) -> Revision:
    tree = Tree.objects.filter(name=side.tree).first()
    if tree is None:
        raise SideError(f"no tree {side.tree!r} (in {side})")
    revision = Revision.objects.placed().named(tree=tree, name=side.revision)
    if revision is None:
        raise SideError(f"no revision {side.revision!r} in {side.tree} (in {side})")
    revision.tree = tree
    return revision


@dataclass(frozen=True)
class _Found:
    series: Series
    revision: Revision
    side_index: int
    samples: Samples
    disagrees: bool
    sessions: tuple[str, ...]


def _sets(
    index: int, side: Side, revision: Revision, free: tuple[str, ...]
) -> dict[tuple[str, ...], _Found]:
    fixed: dict[str, Any] = {
        f"series__{part}__name": getattr(side, part) for part in FREE_PARTS if part not in free
    }
    if side.session:
        fixed["run__session"] = side.session
    rows = (
        Measurement.objects.counted()
        .filter(run__revision=revision, series__tree=revision.tree, **fixed)
        .annotate(disagrees=Exists(Point.objects.that_disagree().filter(**SAME_POINT)))
        .select_related("run", "series__hardware__lab", "series__mode", "series__metric")
        .defer("run__facts", "run__sources", "run__warnings")
        .in_pooling_order()
    )
    of_series: dict[int, list[Measurement]] = defaultdict(list)
    for row in rows:
        of_series[row.series_id].append(row)
    if not of_series and (free != FREE_PARTS or side.session):
        raise SideError(f"nothing is measured for {side}")
    found = (_pool(index, side, revision, measurements) for measurements in of_series.values())
    return {tuple(getattr(one.series, part).name for part in free): one for one in found}


def _pool(index: int, side: Side, revision: Revision, rows: Sequence[Measurement]) -> _Found:
    """The samples of one side in one series. Runs that disagree are told apart by asking for one
    session, unless that holds several.
    """
    samples = pool((row.samples, row.boots, row.run.build_id) for row in rows)
    disagrees: bool = rows[0].disagrees  # type: ignore[attr-defined]
    sessions = tuple(dict.fromkeys(sorted(row.run.session for row in rows)))
    is_one = bool(side.session) and len(rows) == 1
    return _Found(rows[0].series, revision, index, samples, disagrees and not is_one, sessions)


def _row(
    found: Sequence[_Found],
    free: tuple[str, ...],
    axis: tuple[str, ...],
    facts: Mapping[int, SeriesFacts],
) -> ComparedRow:
    first = found[0].series
    sets = tuple(_set(one, axis) for one in found)
    return ComparedRow(
        key_label=" ".join(getattr(first, part).name for part in free),
        metric=first.metric,
        better=first.better,
        hardware=first.hardware if "hardware" not in axis else None,
        mode=first.mode if "mode" not in axis else None,
        sets=sets,
        differences=tuple(_difference(sets[0], one) for one in sets[1:]),
        judged=tuple(_judge(sets[0], one, facts[first.pk]) for one in sets[1:]),
    )


def _judge(base: ComparedSet, other: ComparedSet, facts: SeriesFacts) -> Comparison:
    return compare(
        base.levels,
        other.levels,
        better=facts.better,
        margin=facts.margin_pct,
        build_noise=facts.build_noise,
        same_build=base.is_of_the_builds_of(other),
        runs_disagree=base.disagrees or other.disagrees,
    )


def _set(found: _Found, axis: tuple[str, ...]) -> ComparedSet:
    series = found.series
    names: Mapping[str, str] = {
        "tree": found.revision.tree.name,
        "revision": found.revision.name,
        "hardware": series.hardware.name,
        "mode": series.mode.name,
        "metric": series.metric.name,
        "session": " ".join(found.sessions),
    }
    shown = [part for part in PARTS if part in {*axis, "revision", "mode"}]
    enough = len(found.samples.values) >= ministat.LEAST_POINTS
    return ComparedSet(
        side_index=found.side_index,
        series_id=series.pk,
        label=" ".join(names[part] for part in shown),
        revision=found.revision,
        hardware=series.hardware,
        mode=series.mode,
        levels=found.samples,
        summary=ministat.summarize(found.samples.values) if enough else None,
        disagrees=found.disagrees,
        sessions=found.sessions,
    )


def _difference(base: ComparedSet, other: ComparedSet) -> ministat.Difference | None:
    if base.summary is None or other.summary is None:
        return None
    return ministat.difference(base.summary, other.summary)
