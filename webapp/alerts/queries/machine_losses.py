"""Slow losses and excursions worth an alert of their machine: which findings make which alert.

No commit is to blame for either, so that nothing groups them by commits.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Count

from webapp.alerts.queries.evidence import is_large
from webapp.alerts.queries.min_effects import MinEffects
from webapp.analysis.models import Finding, Verdict
from webapp.results.models import Point
from webapp.stats.odd_machine import modes_agree

Odd = tuple[int, int]  # hardware, revision


def slow_losses(
    tree: int, findings: Sequence[Finding], min_effects: MinEffects | None = None
) -> Mapping[int, list[Finding]]:
    """By machine (id) the losses worth an alert whose windows overlap with that of the one that
    goes on longest, the largest first; ``findings`` are slow ones. Under the thresholds in force
    unless others are given.
    """
    worse = [
        row
        for row in findings
        if row.verdict == Verdict.WORSE and row.state == Finding.State.CONFIRMED
    ]
    if not worse:
        return {}
    least = min_effects or MinEffects.of({row.series_id for row in worse}, tree=tree)
    by_machine: dict[int, list[Finding]] = defaultdict(list)
    for row in worse:
        if is_large(row, least):
            by_machine[row.series.hardware_id].append(row)
    return {hardware: _overlapping(rows) for hardware, rows in by_machine.items()}


def excursions(
    tree: int, findings: Sequence[Finding], min_effects: MinEffects | None = None
) -> Mapping[Odd, list[Finding]]:
    """The losses worth an alert of each machine at each revision where its modes agree, the largest
    first; ``findings`` are excursions. What an option costs is no mode of its own. Under the
    thresholds in force unless others are given.
    """
    worse = [
        row
        for row in findings
        if row.verdict == Verdict.WORSE and row.state in Finding.ALERTED and not row.series.is_cost
    ]
    by_odd: dict[Odd, list[Finding]] = defaultdict(list)
    for row in worse:
        by_odd[row.series.hardware_id, row.revision_id].append(row)
    several = {key: rows for key, rows in by_odd.items() if len(_modes(rows)) > 1}
    if not several:
        return {}
    series = {row.series_id for rows in several.values() for row in rows}
    least = min_effects or MinEffects.of(series, tree=tree)
    large = {key: [row for row in rows if is_large(row, least)] for key, rows in several.items()}
    measured = _measured(list(large))
    return {
        key: sorted(rows, key=_largest_first)
        for key, rows in large.items()
        if modes_agree(len(_modes(rows)), measured.get(key, 0))
    }


def _overlapping(rows: Sequence[Finding]) -> list[Finding]:
    newest = max(rows, key=lambda row: row.position)
    joined = [row for row in rows if newest.after.position < row.position]
    return sorted(joined, key=_largest_first)


def _largest_first(row: Finding) -> tuple[float, int]:
    return row.change_pct or 0.0, row.pk


def _modes(rows: Sequence[Finding]) -> set[int]:
    return {row.series.mode_id for row in rows}


def _measured(odd: Sequence[Odd]) -> dict[Odd, int]:
    """How many modes each machine measured at each revision."""
    counted = (
        Point.objects.that_agree()
        .plain()
        .filter(revision__in={at for _, at in odd}, series__hardware__in={on for on, _ in odd})
        .order_by()
        .values_list("series__hardware", "revision")
        .annotate(modes=Count("series__mode", distinct=True))
    )
    return {(hardware, revision): modes for hardware, revision, modes in counted}
