"""What is to be done to the alerts of a tree, so that they are in line with its findings. Pure.

Which commits are suspected by which findings is a function of the data; which alert stands for a
commit is history: an alert keeps its number, its state and its log when its commit moves. While
nobody triaged an alert, its state is a function of its findings: new, snoozed when they come from
history, recovered? when all of them recovered. What a person decided is changed only by news.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import AlertVerdict, Evidence, Group, group, join
from webapp.alerts.plan import changes
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


class Draft:
    """Alerts by their numbers, and the changes that were made to them, in order."""

    def __init__(self, alerts: Iterable[changes.KnownAlert]) -> None:
        self.alerts = {alert.number: alert for alert in alerts}
        self.changes: list[changes.PlannedChange] = []

    def add(self, change: changes.ToKnown) -> None:
        """Plan a change, and go on from the alert as it is after it."""
        self.alerts[change.alert] = change.on(self.alerts[change.alert])
        self.changes.append(change)

    def open(
        self,
        commits: changes.CommitRange,
        verdict: AlertVerdict,
        *,
        is_history: bool,
        is_one_build: bool = False,
    ) -> int:
        """A new alert; what it is called is larger than any number here, as its own will be."""
        called = max(self.alerts, default=0) + 1
        change = changes.Open(called, commits, verdict, is_history, is_one_build)
        self.alerts[called] = change.made()
        self.changes.append(change)
        return called


WORKED_ON: tuple[changes.State, ...] = ("new", "acknowledged", "investigating", "reopened")
TAKEN_BACK = ("retracted", "duplicate")

Paired = list[tuple[Conclusion, int]]


def plan_changes(known: changes.Known) -> list[changes.PlannedChange]:
    """Open, move, merge and retract alerts; in the order in which it is to be done, and logged.
    Nothing where they are in line.
    """
    draft = Draft(known.alerts)
    conclusions = conclude(
        known.findings,
        holds=known.holds,
        received=known.received,
        assigned=known.assigned,
        anchors={alert.number: alert.commits.suspect for alert in known.alerts},
    )
    pairing = pair(known, draft.alerts, conclusions)
    active = [alert.number for alert in known.alerts if alert.is_active]
    paired = [(one, _pair_with_alert(draft, number, one)) for one, number in pairing.pairs]
    after = _hand_over(draft, known.findings, paired)
    kept = _kept(known, paired, pairing)
    leaving = [
        (number, _heir(number, known.findings, after)) for number in active if number not in kept
    ]
    for number, heir in leaving:
        if heir is not None:
            take_up(draft, heir, number)
    for one, number in paired:
        settle(draft, number, one)
    for number, heir in leaving:
        retire(draft, number, heir)
    return draft.changes


def _pair_with_alert(draft: Draft, number: int | None, one: Conclusion) -> int:
    """Let an alert point where its group does, or open one; its number."""
    group = one.group
    commits = changes.CommitRange(group.suspect, group.after, group.likeliest)
    if number is None:
        return draft.open(
            commits, group.verdict, is_history=one.is_history, is_one_build=one.is_one_build
        )
    alert = draft.alerts[number]
    if alert.named is not None and group.after < alert.named <= group.suspect:
        commits = changes.CommitRange(group.suspect, group.after, alert.named)
    if commits != alert.commits:
        is_same = commits.likeliest == alert.commits.likeliest
        draft.add(changes.Refine(number, commits) if is_same else changes.Move(number, commits))
    if alert.verdict != group.verdict:
        draft.add(changes.Turn(number, alert.verdict, group.verdict))
    if alert.one_build != one.is_one_build:
        draft.add(changes.MarkOneBuild(number, one.is_one_build))
    return number


def _hand_over(draft: Draft, findings: Sequence[changes.KnownFinding], paired: Paired) -> Owners:
    """Give each finding to its alert, note on both what moved, and give back who holds what now."""
    after = {row.finding: number for one, number in paired for row in one.group.members}
    moved: dict[tuple[int, type[changes.Leave | changes.Join]], list[int]] = defaultdict(list)
    for row in findings:
        to = after.get(row.number)
        if row.alert == to:
            continue
        if row.alert is not None:
            moved[row.alert, changes.Leave].append(row.number)
        if to is not None:
            moved[to, changes.Join].append(row.number)
    for (number, change), rows in moved.items():
        draft.add(change(number, tuple(rows)))
    return after


def _kept(known: changes.Known, paired: Paired, pairing: Pairing) -> set[int]:
    """The alerts that stand: findings back them, or a bisect holds them. None holds those whose
    findings people gave to others just now.
    """
    given = {row.finding for one in pairing.assigned for row in one.group.members}
    given_away = {row.alert for row in known.findings if row.number in given}
    backed = {number for _, number in paired}
    return backed | {one.alert for one in known.holds if one.alert not in given_away}


def _heir(number: int, findings: Sequence[changes.KnownFinding], after: Owners) -> int | None:
    """The alert that took over most findings of one that is left without; the oldest in a tie."""
    went = Counter(
        heir
        for row in findings
        if row.alert == number
        and (heir := after.get(row.number) or after.get(row.superseded_by or 0)) is not None
    )
    return min(went, key=lambda heir: (-went[heir], heir), default=None)


def settle(draft: Draft, number: int, conclusion: Conclusion) -> None:
    """Bring the state in line with findings that back the alert.

    What somebody was written to about is no history any more, whatever became of its runs.
    """
    alert = draft.alerts[number]
    is_history = conclusion.is_history and not alert.mailed
    if alert.history != is_history:
        draft.add(changes.MarkHistory(number, is_history, is_event=alert.triaged))
    if not alert.is_active:
        draft.add(changes.Stand(number, _state_when_active_again(alert)))
    now = draft.alerts[number]
    if now.triaged:
        settled = _triaged(now, is_recovered=conclusion.is_recovered)
    else:
        settled = _untouched(now, is_history=is_history, is_recovered=conclusion.is_recovered)
    if settled is not None:
        draft.add(settled)


def retire(draft: Draft, number: int, heir: int | None) -> None:
    """Close an alert whose findings are gone, or belong to ``heir`` now.

    A person's resolution stays; that the findings are gone is reported all the same.
    """
    draft.add(changes.Retire(number, heir, is_closed=draft.alerts[number].state != "resolved"))


def take_up(draft: Draft, number: int, other: int) -> None:
    """Let a duplicate of ``other``, which waits or sleeps, do that in its place: it gets the
    findings, and both closed would hide them.
    """
    was = draft.alerts[other]
    if draft.alerts[number].duplicate_of == other and was.state != "resolved":
        draft.add(changes.TakeUp(number, other, was.state, was.triaged))


def _state_when_active_again(alert: changes.KnownAlert) -> changes.State | None:
    if alert.state != "resolved" or alert.resolution not in TAKEN_BACK:
        return None
    return "reopened" if alert.triaged else "new"


def _untouched(
    alert: changes.KnownAlert, *, is_history: bool, is_recovered: bool
) -> changes.Settle | None:
    """The resting state. What closed itself after quiet days stays so while it is recovered."""
    if alert.state == "resolved" and (is_recovered or is_history):
        return None
    if is_history:
        settled = changes.Settle(alert.number, "snoozed", "snoozed")
    elif is_recovered:
        settled = changes.Settle(alert.number, "recovered", "recovered")
    else:
        news: changes.News = "woke" if alert.state == "snoozed" else "returned"
        settled = changes.Settle(alert.number, news, "new")
    return None if alert.state == settled.state else settled


def _triaged(alert: changes.KnownAlert, *, is_recovered: bool) -> changes.Settle | None:
    if is_recovered and alert.state in WORKED_ON:
        return changes.Settle(alert.number, "recovered", "recovered")
    if not is_recovered and alert.state == "recovered":
        return changes.Settle(alert.number, "returned", "reopened")
    return None
