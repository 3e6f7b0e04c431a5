"""From what is known of a tree to what is to be done to its alerts.

The state of an alert as the system sees it, beside what people decided.

While nobody triaged an alert, its state is a function of its findings: new, snoozed when they come
from history, recovered? when all of them recovered. What a person decided is changed only by news.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from webapp.alerts.grouping import AlertVerdict
from webapp.alerts.plan import changes
from webapp.alerts.plan.pairing import Conclusion, Owners, Pairing, conclude, pair


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
            commits,
            group.verdict,
            is_history=one.is_history,
            is_one_build=one.is_one_build,
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
    """Give each finding to its alert, say on both what moved, and give back who holds what now."""
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

    A person's resolution stays; that the findings are gone is told all the same.
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
