"""What was measured with and without an option, and of one knob in all its values, at one
revision.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from webapp.results.models import Mode, ModeName, Point, Revision, Series
from webapp.results.queries import rows_of

# Series of plain kernels in modes with an option, each with its twin: the same but for it. What is
# asked for is found first: in one join of nine tables PostgreSQL's search for the best order takes
# longer than all else.
TWINS = """
WITH asked AS MATERIALIZED (
    SELECT option.name, mode.id AS with_id, base.id AS without_id
      FROM results_mode AS mode
     CROSS JOIN LATERAL unnest(mode.options) AS option (name)
      JOIN results_mode AS base
        ON base.workload = mode.workload AND base.traffic = mode.traffic
       AND base.options = array_remove(mode.options, option.name)
     WHERE (%(option)s = '' OR option.name = %(option)s)
       AND (%(mode)s = '' OR base.name = %(mode)s)
), machine AS MATERIALIZED (
    SELECT hardware.id
      FROM results_hardware AS hardware JOIN labs_lab AS lab ON lab.id = hardware.lab_id
     WHERE (%(hardware)s = '' OR hardware.name = %(hardware)s)
       AND (%(simulated)s OR NOT lab.simulated)
), twins AS (
    SELECT asked.name, series.tree_id, series.id AS with_id, twin.id AS without_id,
           series.hardware_id, series.mode_id
      FROM asked
      JOIN results_series AS series
        ON series.mode_id = asked.with_id AND series.variant_id IS NULL
      JOIN results_series AS twin
        ON twin.tree_id = series.tree_id AND twin.hardware_id = series.hardware_id
       AND twin.mode_id = asked.without_id AND twin.metric_id = series.metric_id
       AND twin.variant_id IS NULL
      JOIN machine ON machine.id = series.hardware_id
     WHERE (%(tree)s = ''
            OR series.tree_id = (SELECT id FROM results_tree WHERE name = %(tree)s))
)
"""
MEASURED = (
    TWINS
    + """
SELECT twins.name, tree.name, count(DISTINCT twins.mode_id), count(DISTINCT twins.hardware_id)
  FROM twins JOIN results_tree AS tree ON tree.id = twins.tree_id
 GROUP BY twins.name, tree.name
 ORDER BY count(*) DESC, twins.name, tree.name
 LIMIT %(most)s
"""
)
# Of each pair of series the newest revision of both: a step back along the index or a few.
NEWEST = (
    TWINS  # noqa: S608 (no value of a request is in this text)
    + """
SELECT tree.name, revision.name
  FROM twins
 CROSS JOIN LATERAL (
       SELECT point.revision_id, point.position FROM results_point AS point
        WHERE point.series_id = twins.with_id
          AND EXISTS (SELECT 1 FROM results_point AS other
                       WHERE other.series_id = twins.without_id
                         AND other.revision_id = point.revision_id)
        ORDER BY point.position DESC LIMIT 1) AS newest
  JOIN results_tree AS tree ON tree.id = twins.tree_id
  JOIN results_revision AS revision ON revision.id = newest.revision_id
 GROUP BY tree.name, revision.name, revision.committed_at, newest.position
 ORDER BY newest.position DESC, count(*) DESC LIMIT 1
"""
)

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")
# The newest revision at which one curve has two values.
NEWEST_OF_KNOB = """
SELECT point.revision_id
  FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS measured (series, curve, value)
  JOIN results_point AS point ON point.series_id = measured.series
 GROUP BY measured.curve, point.revision_id, point.position
HAVING count(DISTINCT measured.value) > 1
 ORDER BY point.position DESC LIMIT 1
"""

Measured = Mapping[int, tuple[str, str]]
"""Series → its curve (the mode without the knob) and its value."""


class MeasuredOption(NamedTuple):
    """An option that was measured beside its absence in ``tree``: in how many modes, on how many
    machines.
    """

    name: str
    tree: str
    modes: int
    machines: int


def measured_options(*, simulated: bool, most: int) -> list[MeasuredOption]:
    """The options that were measured both ways on the same machine, the most widely measured first,
    at most so many; those of ``simulated`` machines too. One statement.
    """
    return [
        MeasuredOption._make(row)
        for row in rows_of(MEASURED, _asked(simulated=simulated) | {"most": most})
    ]


def newest_with_both(
    option: str, *, tree: str = "", hardware: str = "", mode: str = "", simulated: bool
) -> tuple[str, str] | None:
    """Tree and revision, by name, that were measured last with and without ``option``, on one
    machine and in one mode (without it) where given. None: there is none. One statement.
    """
    asked = _asked(option=option, tree=tree, hardware=hardware, mode=mode, simulated=simulated)
    found: Sequence[tuple[str, str]] = rows_of(NEWEST, asked)
    return found[0] if found else None


def _asked(
    *, option: str = "", tree: str = "", hardware: str = "", mode: str = "", simulated: bool
) -> dict[str, str | bool | int]:
    return {
        "option": option,
        "tree": tree,
        "hardware": hardware,
        "mode": mode,
        "simulated": simulated,
    }


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What was measured at one ``value`` of the knob; ``number`` is None where that is none."""

    value: str
    number: float | None
    series: Series
    point: Point


@dataclass(frozen=True, slots=True)
class Curve:
    """The values of a knob in one mode, which is named without it, in the order of the numbers."""

    mode: str
    points: Sequence[CurvePoint]


@dataclass(frozen=True, slots=True)
class Curves:
    """All of one knob at ``revision``; None and no curve: nothing was measured there."""

    revision: Revision | None = None
    curves: Sequence[Curve] = ()


def curves_of(*, tree: str, hardware: str, metric: str, knob: str, revision: str = "") -> Curves:
    """The curves of a knob, by names. Without ``revision`` at the newest one that was measured at
    more than one value in some mode. At most four statements, however many values there are.
    """
    rows = (
        Series.objects.named()
        .plain()
        .filter(tree__name=tree, hardware__name=hardware, metric__name=metric)
    )
    series = {row.pk: row for row in rows}
    found = {pk: _curve_and_value(row.mode, knob) for pk, row in series.items()}
    measured = {pk: one for pk, one in found.items() if one}
    if not measured:
        return Curves()
    at = _named(series[min(measured)], revision) if revision else _newest(measured)
    if at is None:
        return Curves()
    by_mode: defaultdict[str, list[CurvePoint]] = defaultdict(list)
    for point in Point.objects.filter(series__in=measured, revision=at):
        mode, value = measured[point.series_id]
        by_mode[mode].append(CurvePoint(value, knob_number(value), series[point.series_id], point))
    curves = [Curve(mode, sorted(points, key=_order)) for mode, points in sorted(by_mode.items())]
    return Curves(at, curves) if curves else Curves()


def _curve_and_value(mode: Mode, knob: str) -> tuple[str, str] | None:
    name = ModeName.of(mode.workload, mode.traffic, mode.options)
    found = name.at_knob(knob)
    return (str(found[0]), found[1]) if found else None


def _named(series: Series, name: str) -> Revision | None:
    return Revision.objects.placed().named(tree=series.tree, name=name)


def _newest(measured: Measured) -> Revision | None:
    ids = sorted(measured)
    curves, values = zip(*(measured[pk] for pk in ids), strict=True)
    rows = rows_of(NEWEST_OF_KNOB, [ids, list(curves), list(values)])
    return Revision.objects.get(pk=rows[0][0]) if rows else None


def knob_number(value: str) -> float | None:
    """The number that the value of a knob is; None: it is none."""
    return float(value) if _NUMBER.fullmatch(value) else None


def _order(one: CurvePoint) -> tuple[float, str]:
    return (inf if one.number is None else one.number, one.value)
