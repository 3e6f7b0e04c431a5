"""Which alert stands for which group: an alert keeps its number when its commit moves."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence, Group, group, join
from webapp.alerts.plan.changes import Known, KnownAlert, KnownFinding, KnownHold


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A group with what decides the state it rests in while nobody triages it."""

    group: Group
    is_history: bool
    is_recovered: bool
    is_one_build: bool = False


Owners = Mapping[int, int]
"""Alerts by finding, both as ids."""
Alerts = Mapping[int, KnownAlert]
Pairs = list[tuple[Conclusion, int | None]]
"""Groups, each with its alert, None: one that is to be opened."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The groups of a tree with their alerts, and which of those people filled by hand."""

    pairs: Pairs
    assigned: Sequence[Conclusion]


def pair(known: Known, alerts: Alerts, conclusions: Sequence[Conclusion]) -> Pairing:
    """Each group with its alert, what people gave to alerts among it."""
    bisected = _bisected(known.findings, known.holds, alerts)
    owners = {**_owners(known.findings, bisected), **known.back}
    own = [one for one in conclusions if one.group.alert is None]
    assigned = [one for one in conclusions if one.group.alert is not None]
    free = _free(alerts, own, known.back.values())
    pairs, taken = _assign_bisected(_pair(own, alerts, free, owners), bisected)
    return Pairing(_add_assigned(pairs, [*assigned, *taken], alerts), assigned)


def _bisected(
    findings: Sequence[KnownFinding], holds: Sequence[KnownHold], alerts: Alerts
) -> dict[int, int]:
    """By finding, the active alert whose bisect measures there."""
    active = [one for one in holds if one.alert in alerts and alerts[one.alert].is_active]
    return {
        row.number: one.alert
        for row in findings
        if row.is_proven
        for one in reversed(active)  # the first one stays
        if one.covers(row)
    }


def _owners(findings: Sequence[KnownFinding], bisected: Owners) -> dict[int, int]:
    """The alert of each finding; a new one has that of the finding it replaces, or
    the one whose bisect measures there.
    """
    owners = {row.number: row.alert for row in findings if row.alert is not None}
    for row in findings:
        if row.superseded_by is not None and row.number in owners:
            owners.setdefault(row.superseded_by, owners[row.number])
    for finding, alert in bisected.items():
        owners.setdefault(finding, alert)
    return owners


def _free(alerts: Alerts, own: Sequence[Conclusion], back: Collection[int]) -> set[int]:
    """The alerts whose commit is no longer suspected: they may move. Those that get something
    ``back`` need not stand.
    """
    suspects = {one.group.suspect for one in own}
    may = [alert for alert in alerts.values() if alert.is_active or alert.number in back]
    return {alert.number for alert in may if alert.commits.suspect not in suspects}


def _pair(
    own: Sequence[Conclusion], alerts: Alerts, free: set[int], owners: Owners
) -> list[tuple[Conclusion, int | None]]:
    """Each group with its alert: the one of its commit; else the oldest free one that holds most of
    its findings; else none yet.
    """
    at_commit = {alert.commits.suspect: number for number, alert in alerts.items()}
    pairs: Pairs = []
    for one in own:
        number = at_commit.get(one.group.suspect)
        if number is None:
            number = _moved(one, free, owners)
            free -= {number}
        pairs.append((one, number))
    return pairs


def _moved(one: Conclusion, free: set[int], owners: Owners) -> int | None:
    before = Counter(
        number for row in one.group.openers if (number := owners.get(row.finding)) in free
    )
    return min(before, key=lambda number: (-before[number], number or 0), default=None)


def _assign_bisected(pairs: Pairs, bisected: Owners) -> tuple[Pairs, list[Conclusion]]:
    """``pairs`` without what would open an alert although one bisect searches for all that opens
    it, and that as assigned to the alert of that bisect.
    """
    kept: Pairs = []
    taken = []
    for one, number in pairs:
        owners = {bisected.get(row.finding) for row in one.group.openers}
        alert = owners.pop() if number is None and len(owners) == 1 else None
        if alert is None:
            kept.append((one, number))
        else:
            taken.append(replace(one, group=replace(one.group, alert=alert)))
    return kept, taken


def _add_assigned(pairs: Pairs, assigned: Sequence[Conclusion], alerts: Alerts) -> Pairs:
    """``pairs`` with what was ``assigned``: it joins the group of its alert, or is the alert's all.

    What is too small to open an alert makes none stand by itself.
    """
    added = list(pairs)
    positions = {number: at for at, (_, number) in enumerate(pairs) if number is not None}
    taken = {one.group.suspect for one, _ in pairs}
    for one in assigned:
        alert = alerts[one.group.alert or 0]
        at = positions.get(alert.number)
        if at is not None:
            added[at] = joined(added[at][0], one), alert.number
        elif one.group.openers:
            added.append((_alone(one, alert, taken, alerts), alert.number))
    return added


def _alone(one: Conclusion, alert: KnownAlert, taken: set[int], alerts: Alerts) -> Conclusion:
    """Where the findings point; where the alert stands, if another alert has that commit."""
    others = {other.commits.suspect for other in alerts.values() if other is not alert}
    if one.group.suspect not in taken | others:
        return one
    at = alert.commits
    stays = replace(one.group, suspect=at.suspect, after=at.after, likeliest=at.likeliest)
    return replace(one, group=stays)


def conclude(
    findings: Sequence[KnownFinding],
    *,
    holds: Sequence[KnownHold] = (),
    received: Mapping[int, int],
    assigned: Sequence[Assigned] = (),
    anchors: Mapping[int, int],
) -> list[Conclusion]:
    """The groups of the proven findings; arguments as for ``group`` and ``is_large``."""
    proven = {row.number: row for row in findings if row.is_proven}
    evidence = [_evidence(row, holds) for row in proven.values()]
    groups = group(evidence, received, assigned, anchors)
    return [_conclusion(one, proven) for one in groups]


def joined(own: Conclusion, assigned: Conclusion) -> Conclusion:
    """``own`` with what people added to it; what opens nothing decides nothing."""
    return Conclusion(
        group=join(own.group, assigned.group),
        is_history=own.is_history and assigned.is_history,
        is_recovered=own.is_recovered and assigned.is_recovered,
        is_one_build=own.is_one_build and assigned.is_one_build,
    )


def is_large(row: KnownFinding, holds: Sequence[KnownHold]) -> bool:
    """Whether it reaches its threshold; what a hold covers does, as what opened its alert did."""
    return row.evidence.is_large or any(one.covers(row) for one in holds)


def _evidence(row: KnownFinding, holds: Sequence[KnownHold]) -> Evidence:
    large = is_large(row, holds)
    return row.evidence if row.evidence.is_large == large else replace(row.evidence, is_large=large)


def _conclusion(one: Group, proven: Mapping[int, KnownFinding]) -> Conclusion:
    openers = [proven[row.finding] for row in one.openers]
    return Conclusion(
        group=one,
        is_history=all(row.is_history for row in openers),
        is_recovered=all(row.is_recovered for row in openers),
        is_one_build=all(row.is_one_build for row in openers),
    )
