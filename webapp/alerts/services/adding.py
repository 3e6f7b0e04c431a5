"""Give what people assigned to alerts to those alerts, beside what the grouping gives them."""

from collections.abc import Sequence
from dataclasses import replace

from webapp.alerts.services.evidence import Conclusion, joined
from webapp.alerts.services.log import Change

Pairs = list[tuple[Conclusion, Change | None]]


def add_assigned(
    pairs: Pairs,
    assigned: Sequence[Conclusion],
    ids: dict[int, int],
    changes: dict[int, Change],
) -> Pairs:
    """``pairs`` with what was ``assigned``: it joins the group of its alert, or is the alert's all.

    What is too small to open an alert makes none stand by itself. ``ids`` are those of revisions
    by position; where an alert stays although its findings point elsewhere, its own are added.
    """
    added = list(pairs)
    places = {change.alert.pk: i for i, (_, change) in enumerate(pairs) if change is not None}
    taken = {ids[one.group.suspect] for one, _ in pairs}
    for one in assigned:
        change = changes[one.group.alert or 0]
        at = places.get(change.alert.pk)
        if at is not None:
            added[at] = joined(added[at][0], one), change
        elif one.group.openers:
            added.append((_alone(one, change, taken, ids, changes), change))
    return added


def take_held(pairs: Pairs, held_by: dict[int, int]) -> tuple[Pairs, list[Conclusion]]:
    """``pairs`` without what would open an alert although another is held for all that opens it,
    and that as assigned to the held one. ``held_by`` are those alerts by finding.
    """
    kept, taken = [], []
    for one, change in pairs:
        holders = {held_by.get(row.finding) for row in one.group.openers}
        alert = holders.pop() if change is None and len(holders) == 1 else None
        if alert is None:
            kept.append((one, change))
        else:
            taken.append(replace(one, group=replace(one.group, alert=alert)))
    return kept, taken


def _alone(
    one: Conclusion,
    change: Change,
    taken: set[int],
    ids: dict[int, int],
    changes: dict[int, Change],
) -> Conclusion:
    """Where the findings point; where the alert stands, if another alert has that commit."""
    others = {other.alert.revision_id for other in changes.values() if other is not change}
    if ids[one.group.suspect] not in taken | others:
        return one
    alert = change.alert
    stands = (alert.revision, alert.after, alert.likeliest)
    ids |= {revision.position: revision.pk for revision in stands}
    suspect, after, likeliest = (revision.position for revision in stands)
    return replace(one, group=replace(one.group, suspect=suspect, after=after, likeliest=likeliest))
