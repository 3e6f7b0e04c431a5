"""Bring the agreeing candidates of a tree in line with what its series say now.

They are shown and nothing else: no event, no mail, no alert comes of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import expm1
from typing import Any

from django.db.models import Exists, OuterRef

from webapp.alerts.models import Agreement
from webapp.analysis.models import SeriesAnalysis
from webapp.results.models import Revision, Run, Tree
from webapp.stats.agreeing import Agreement as Found
from webapp.stats.agreeing import SeriesRecent, agreements, suspects

COMPARED = (
    "after_id",
    "last_id",
    "here",
    "verdict",
    "series",
    "received",
    "machines",
    "received_machines",
    "score",
    "false_share",
    "change_pct",
)
DIGITS = 6
"""Sums are taken in the order of ids, which is that of arrival: the last digits say nothing."""


def reconcile_agreements(tree: int) -> None:
    """Store what the newest revisions of a tree's series show together, and nothing else.

    A function of what is stored of the series: safe to run twice, in any order. The caller holds
    ``lock_trees``. When nothing changed, nothing is written.
    """
    rows, has_stored = _read(tree)
    wanted = _wanted(tree, _found(tree, rows))
    if not wanted and not has_stored:
        return
    stored = {row.likeliest_id: row for row in Agreement.objects.filter(tree=tree)}
    gone = [row.pk for at, row in stored.items() if at not in wanted]
    if gone:
        Agreement.objects.filter(pk__in=gone).delete()
    new = [Agreement(tree_id=tree, likeliest_id=at, **its) for at, its in wanted.items()]
    Agreement.objects.bulk_create([row for row in new if row.likeliest_id not in stored])
    for row in new:
        old = stored.get(row.likeliest_id)
        if old is not None and any(getattr(old, name) != getattr(row, name) for name in COMPARED):
            Agreement.objects.filter(pk=old.pk).update(
                **{name: getattr(row, name) for name in COMPARED}
            )


def _read(tree: int) -> tuple[list[SeriesRecent], bool]:
    """What the series say, and whether anything is stored of them together; one statement."""
    has_stored = Exists(Agreement.objects.filter(tree=OuterRef("series__tree")))
    analyses = SeriesAnalysis.objects.filter(series__tree=tree).order_by("series_id")
    found = list(
        analyses.annotate(has_stored=has_stored).values_list(
            "series_id", "series__hardware_id", "recent", "has_stored"
        )
    )
    rows = [
        SeriesRecent(series, machine, recent["at"], recent["scores"], recent["gaps"])
        for series, machine, recent, _ in found
        if recent is not None
    ]
    return rows, any(stored for *_, stored in found)


def _found(tree: int, rows: Sequence[SeriesRecent]) -> list[Found]:
    first = suspects(rows)
    if first is None:
        return []
    alike = [row for row in rows if row.at[0] >= first]
    return agreements(rows, _deviations(alike), _builds(tree, alike, first))


def _deviations(rows: Sequence[SeriesRecent]) -> Mapping[int, Mapping[int, float]]:
    found = SeriesAnalysis.objects.filter(series__in=[row.series for row in rows]).order_by()
    return {
        series: dict(zip(stored["at"], stored["off"], strict=True))
        for series, stored in found.values_list("series_id", "deviations")
    }


def _builds(tree: int, rows: Iterable[SeriesRecent], first: int) -> list[tuple[int, str]]:
    """What was measured from a position on, as (machine, build)."""
    runs = (
        Run.objects.counted()
        .plain()
        .filter(
            revision__tree=tree,
            revision__position__gte=first,
            hardware__in={row.machine for row in rows},
        )
    )
    return list(runs.order_by().values_list("hardware_id", "build_id").distinct())


def _wanted(tree: int, found: Sequence[Found]) -> dict[int, dict[str, Any]]:
    """The rows to be stored, by their likeliest revision.

    Where a revision is not there, its place changed: its series are analysed anew, and then this.
    """
    positions = {at for one in found for at in (one.after, one.likeliest, one.last)}
    if not positions:
        return {}
    revisions = Revision.objects.filter(tree=Tree(pk=tree), position__in=positions)
    ids = dict(revisions.values_list("position", "pk"))
    return {
        ids[one.likeliest]: _fields(one, ids)
        for one in found
        if {one.after, one.likeliest, one.last} <= ids.keys()
    }


def _fields(one: Found, ids: Mapping[int, int]) -> dict[str, Any]:
    return {
        "after_id": ids[one.after],
        "last_id": ids[one.last],
        "here": round(one.here, DIGITS),
        "verdict": one.verdict,
        "series": len(one.series),
        "received": one.received,
        "machines": one.machines,
        "received_machines": one.received_machines,
        "score": round(one.score, DIGITS),
        "false_share": round(one.false_share, DIGITS),
        "change_pct": round(100.0 * expm1(one.change), DIGITS),
    }
