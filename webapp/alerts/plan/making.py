"""From what is known of a tree to what is to be done to its alerts."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from webapp.alerts.plan.changes import (
    Join,
    Leave,
    MarkOneBuild,
    Move,
    PlannedChange,
    Refine,
    Turn,
)
from webapp.alerts.plan.conclusions import Conclusion, conclude
from webapp.alerts.plan.draft import Draft
from webapp.alerts.plan.known import CommitRange, Known, KnownFinding
from webapp.alerts.plan.pairing import Owners, Pairing, pair
from webapp.alerts.plan.states import retire, settle, take_up

Paired = list[tuple[Conclusion, int]]


def plan_changes(known: Known) -> list[PlannedChange]:
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
    commits = CommitRange(group.suspect, group.after, group.likeliest)
    if number is None:
        return draft.open(
            commits,
            group.verdict,
            is_history=one.is_history,
            is_one_build=one.is_one_build,
        )
    alert = draft.alerts[number]
    if alert.named is not None and group.after < alert.named <= group.suspect:
        commits = CommitRange(group.suspect, group.after, alert.named)
    if commits != alert.commits:
        is_same = commits.likeliest == alert.commits.likeliest
        draft.add(Refine(number, commits) if is_same else Move(number, commits))
    if alert.verdict != group.verdict:
        draft.add(Turn(number, alert.verdict, group.verdict))
    if alert.one_build != one.is_one_build:
        draft.add(MarkOneBuild(number, one.is_one_build))
    return number


def _hand_over(draft: Draft, findings: Sequence[KnownFinding], paired: Paired) -> Owners:
    """Give each finding to its alert, say on both what moved, and give back who holds what now."""
    after = {row.finding: number for one, number in paired for row in one.group.members}
    moved: dict[tuple[int, type[Leave | Join]], list[int]] = defaultdict(list)
    for row in findings:
        to = after.get(row.number)
        if row.alert == to:
            continue
        if row.alert is not None:
            moved[row.alert, Leave].append(row.number)
        if to is not None:
            moved[to, Join].append(row.number)
    for (number, change), rows in moved.items():
        draft.add(change(number, tuple(rows)))
    return after


def _kept(known: Known, paired: Paired, pairing: Pairing) -> set[int]:
    """The alerts that stand: findings back them, or a bisect holds them. None holds those whose
    findings people gave to others just now.
    """
    given = {row.finding for one in pairing.assigned for row in one.group.members}
    given_away = {row.alert for row in known.findings if row.number in given}
    backed = {number for _, number in paired}
    return backed | {one.alert for one in known.holds if one.alert not in given_away}


def _heir(number: int, findings: Sequence[KnownFinding], after: Owners) -> int | None:
    """The alert that took over most findings of one that is left without; the oldest in a tie."""
    went = Counter(
        heir
        for row in findings
        if row.alert == number
        and (heir := after.get(row.number) or after.get(row.superseded_by or 0)) is not None
    )
    return min(went, key=lambda heir: (-went[heir], heir), default=None)
