"""Samples that an alert's findings do not rest on, because they may be wrong."""

from collections.abc import Sequence
from typing import Any

from webapp.alerts.queries.rows import rows_of
from webapp.analysis.models import Finding
from webapp.results.models import Point

LEFT_OUT = """
SELECT point.id
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (series, revision)
  JOIN results_point AS point ON point.series_id = wanted.series
       AND point.revision_id = wanted.revision
 WHERE point.left_out IS NOT NULL
"""


def left_out_beside(findings: Sequence[Finding]) -> list[Point]:
    """The points on either side of each finding that lack samples of their runs, along the
    tree; one statement where there are none, which is nearly always.
    """
    wanted = {pair for row in findings for pair in _sides_of(row)}
    if not wanted:
        return []
    series, revisions = (list(column) for column in zip(*wanted, strict=True))
    ids = [pk for (pk,) in rows_of(LEFT_OUT, [series, revisions])]
    if not ids:
        return []
    found = Point.objects.filter(pk__in=ids)
    rows = found.with_subjects().select_related("revision__tree").order_by("position", "pk")
    return list(rows)


def left_out_of(finding: Finding, points: Sequence[Point]) -> list[dict[str, Any]]:
    """Those of ``points`` (of `left_out_beside`) that this finding rests on, as data: the revision,
    how many samples of how many are left out, by what kinds, and that in words.
    """
    sides = _sides_of(finding)
    return [
        {"revision": point.revision.name, **found.to_data(), "text": found.text}
        for point in points
        if (point.series_id, point.revision_id) in sides and (found := point.excluded)
    ]


def _sides_of(row: Finding) -> set[tuple[int, int]]:
    """Series and revision of the points on either side of it."""
    ends = (row.previous_id, row.revision_id, row.after_id, row.last_id)
    return {(row.series_id, revision) for revision in ends}
