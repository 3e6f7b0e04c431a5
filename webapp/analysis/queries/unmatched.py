"""What a comparison leaves out because not every side has it, each combination with the reason; why
nothing is measured for a side, and what to name in its place.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from django.db.models import Exists, OuterRef

from webapp.analysis.queries.sides import FREE_PARTS, Side
from webapp.results.models import Measurement, ModeName, Point, Revision, Run, Series
from webapp.results.queries import rows_of

Key = tuple[str, ...]
Reason = Literal["only one side measured", "another variant", "another machine", "not measured"]

# What the revisions of the sides were measured as besides the kernel that each asks for.
OTHER_KERNELS = """
SELECT DISTINCT side.number, machine.name, mode.name, metric.name, COALESCE(variant.name, '')
  FROM unnest(%(sides)s::int[], %(revisions)s::bigint[], %(variants)s::text[],
              %(machines)s::text[]) AS side (number, revision, variant, machine)
  JOIN results_point AS point ON point.revision_id = side.revision
  JOIN results_series AS series ON series.id = point.series_id
  JOIN results_hardware AS machine ON machine.id = series.hardware_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
 WHERE COALESCE(variant.name, '') <> side.variant
   AND side.machine IN ('', machine.name)
   AND (%(asof)s::timestamptz IS NULL OR EXISTS (
       SELECT FROM results_measurement AS measurement
         JOIN results_run AS run ON run.id = measurement.run_id
        WHERE measurement.series_id = series.id AND run.revision_id = side.revision
          AND run.received_at <= %(asof)s
          AND (run.withdrawn_at IS NULL OR run.withdrawn_at > %(asof)s)))
 ORDER BY 1, 2, 3, 4, 5
"""

OFFERED = 5
"""Names that a message offers."""

REPEATED = 80
"""Characters of a name that a message repeats."""


class Unmatched(NamedTuple):
    """A combination that the sides of numbers ``lacking`` have not. ``others`` are the variants, or
    the machines, that these were measured as, or on, instead. What every side names is empty.
    """

    hardware: str
    mode: str
    metric: str
    measured: tuple[int, ...]
    lacking: tuple[int, ...]
    reason: Reason
    others: tuple[str, ...] = ()

    def text(self, names: Sequence[str]) -> str:
        """Why it is not compared, with the ``names`` of the sides."""
        measured, lacking = (
            " and ".join(names[at] for at in its) for its in (self.measured, self.lacking)
        )
        others = ", ".join(self.others)
        if self.reason == "another variant":
            return f"{lacking} was measured as another variant: {others}"
        if self.reason == "another machine":
            return f"{lacking} was measured on another machine: {others}"
        return f"only {measured} was measured" if measured else "measured in neither"


def unmatched_of(
    kernels: Sequence[tuple[int, Side, Revision]],
    free: Sequence[str],
    found: Sequence[Collection[Key]],
    asof: datetime | None,
) -> tuple[Unmatched, ...]:
    """What some sides have and others lack: ``kernels`` are what each (by its number) asks for, and
    ``found`` the names of the ``free`` parts that it has. One statement where there is such.
    """
    everywhere = set.intersection(*map(set, found))
    left = [set(its) - everywhere for its in found]
    keys = sorted(set().union(*left))
    others = _other_kernels(kernels, free, asof) if keys else {}
    return tuple(_unmatched(key, free, left, others) for key in keys)


def _unmatched(
    key: Key,
    free: Sequence[str],
    found: Sequence[Collection[Key]],
    kernels: Mapping[tuple[int, Key], Sequence[str]],
) -> Unmatched:
    lacking = tuple(at for at, its in enumerate(found) if key not in its)
    variants = tuple(dict.fromkeys(name for at in lacking for name in kernels.get((at, key), ())))
    machines = () if variants else _other_machines(key, free, [found[at] for at in lacking])
    names = dict(zip(free, key, strict=True))
    hardware, mode, metric = (names.get(part, "") for part in FREE_PARTS)
    measured = tuple(at for at in range(len(found)) if at not in lacking)
    reason: Reason = "another machine" if machines else "only one side measured"
    if variants:
        reason = "another variant"
    return Unmatched(hardware, mode, metric, measured, lacking, reason, variants or machines)


def _other_machines(
    key: Key, free: Sequence[str], found: Sequence[Collection[Key]]
) -> tuple[str, ...]:
    """Those on which the same is left over."""
    if "hardware" not in free:
        return ()
    at = free.index("hardware")
    rest = (*key[:at], *key[at + 1 :])
    same = (one for its in found for one in its if (*one[:at], *one[at + 1 :]) == rest)
    return tuple(sorted({one[at] for one in same}))


def _other_kernels(
    kernels: Sequence[tuple[int, Side, Revision]], free: Sequence[str], asof: datetime | None
) -> Mapping[tuple[int, Key], list[str]]:
    """By the number of a side and what rows are matched by, the kernels that it does not ask for
    (*plain*: that without variant)."""
    asked: dict[str, Any] = {
        "sides": [number for number, _, _ in kernels],
        "revisions": [revision.pk for _, _, revision in kernels],
        "variants": [side.variant for _, side, _ in kernels],
        "machines": [side.hardware for _, side, _ in kernels],
        "asof": asof,
    }
    rows = rows_of(OTHER_KERNELS, asked)
    others: dict[tuple[int, Key], list[str]] = {}
    for number, *names, variant in rows:
        parts = dict(zip(FREE_PARTS, names, strict=True))
        key = tuple(parts[part] for part in free)
        others.setdefault((number, key), []).append(variant or "plain")
    return others


def measured_in_neither(
    revisions: Sequence[Revision], known: Collection[Key], asof: datetime | None
) -> tuple[Unmatched, ...]:
    """What was measured of the trees of ``revisions``, but is none of ``known`` (hardware, mode,
    metric); one statement.
    """
    points = Exists(Point.objects.filter(series=OuterRef("pk")))
    if asof is not None:
        points = Exists(Measurement.objects.counted_at(asof).filter(series=OuterRef("pk")))
    trees = {revision.tree_id for revision in revisions}
    series = Series.objects.plain().measured().filter(points, tree__in=trees)
    names = set(series.values_list("hardware__name", "mode__name", "metric__name"))
    lacking = tuple(range(len(revisions)))
    return tuple(Unmatched(*key, (), lacking, "not measured") for key in sorted(names - set(known)))


def unmeasured(side: Side, revision: Revision) -> str:
    """The message: which part of ``side`` is no name of anything measured on its tree, else as
    which variants, else at which revisions nearest to this one there is something.
    """
    unknown = next(filter(None, _unknown(side, revision)), "")
    remedy = unknown or _as_variants(side, revision) or _nearest(side, revision)
    return f"nothing is measured for {side}{remedy}"


def _unknown(side: Side, revision: Revision) -> Iterator[str]:
    """Of each part what is wrong with its name; empty: it is known."""
    series = Series.objects.filter(tree=revision.tree)
    for part in ("hardware", "mode", "metric"):
        wanted = side.mode_name if part == "mode" else getattr(side, part)
        if wanted:
            yield _no_name(part, [wanted], set(series.values_list(f"{part}__name", flat=True)))
    if side.options:
        modes = map(ModeName.parse, series.values_list("mode__name", flat=True).distinct())
        yield _no_name("option", side.options, {one for mode in modes for one in mode.options})
    if side.session:
        runs = Run.objects.filter(revision=revision).exclude(session="")
        yield _no_name("session", side.sessions, set(runs.values_list("session", flat=True)))


def _no_name(part: str, wanted: Collection[str], known: Collection[str]) -> str:
    """``: no hardware 'Atm': Atom/T540 is known``; empty where one of those wanted is known."""
    if set(wanted) & set(known):
        return ""
    name = next(iter(wanted))[:REPEATED]
    near = get_close_matches(name, known, OFFERED) or sorted(known)[:OFFERED]
    offered = f", as {' or '.join(near)}" if near else ""
    return f": no {part} is called {name!r} there{offered}"


def _as_variants(side: Side, revision: Revision) -> str:
    """Where the revision was measured as another variant only."""
    found = (
        Point.objects.of_revision(revision)
        .of_variants()
        .exclude(series__variant__name=side.variant)
    )
    names = sorted(set(found.values_list("series__variant__name", flat=True)))
    if not names:
        return ""
    written = [str(Side(side.tree, side.revision, variant=name)) for name in names]
    more = ", …" if len(written) > OFFERED else ""
    return f"; variants are measured there: {', '.join(written[:OFFERED])}{more}"


def _nearest(side: Side, revision: Revision) -> str:
    """Where other revisions were measured so: those before and after."""
    named: dict[str, Any] = {"hardware": side.hardware, "mode": side.mode_name}
    named |= {"metric": side.metric, "variant": side.variant}
    wanted = {f"series__{part}__name": name for part, name in named.items() if name}
    points = Point.objects.filter(series__tree=revision.tree, **wanted)
    if not side.variant:
        points = points.filter(series__variant=None)
    both = (
        points.filter(position__lt=revision.position).order_by("-position"),
        points.filter(position__gt=revision.position).order_by("position"),
    )
    names = [one.revision.name for its in both for one in its.select_related("revision")[:1]]
    if not names:
        return ""
    are = "revisions are" if len(names) > 1 else "revision is"
    return f"; the nearest measured {are} {' and '.join(names)}"
