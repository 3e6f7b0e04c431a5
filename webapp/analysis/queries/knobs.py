"""One knob, all its values: what was measured at one revision in modes that differ in it alone."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from django.db import connection

from webapp.results.models import Mode, ModeName, Point, Revision, Series

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")
# The newest revision at which one curve has two values.
NEWEST = """
SELECT point.revision_id
  FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS measured (series, curve, value)
  JOIN results_point AS point ON point.series_id = measured.series
 GROUP BY measured.curve, point.revision_id, point.position
HAVING count(DISTINCT measured.value) > 1
 ORDER BY point.position DESC LIMIT 1
"""

Measured = Mapping[int, tuple[str, str]]
"""Series → its curve (the mode without the knob) and its value."""


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
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, [ids, list(curves), list(values)])
        row = cursor.fetchone()
    return Revision.objects.get(pk=row[0]) if row else None


def knob_number(value: str) -> float | None:
    """The number that the value of a knob is; None: it is none."""
    return float(value) if _NUMBER.fullmatch(value) else None


def _order(one: CurvePoint) -> tuple[float, str]:
    return (inf if one.number is None else one.number, one.value)
