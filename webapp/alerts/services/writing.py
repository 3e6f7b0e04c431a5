"""Write what was planned for the alerts of a tree, and the events that tell it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from webapp.alerts.models import Alert, AlertEvent, AlertFinding
from webapp.alerts.plan import changes as plan
from webapp.alerts.plan.changes import CommitRange
from webapp.alerts.services.events import RESTORED, Change, open_alert, write
from webapp.analysis.models import Finding
from webapp.results.models import Revision

Kind = AlertEvent.Kind
State = Alert.State
Resolution = Alert.Resolution
NAMED_IN_AN_EVENT = 6


def write_changes(
    tree: int,
    changes: Sequence[plan.PlannedChange],
    alerts: Iterable[Alert],
    findings: Iterable[Finding],
    *,
    now: datetime,
) -> None:
    """Do what was planned of ``alerts`` and ``findings`` as they were read, in its order.

    The caller holds ``lock_trees``.
    """
    writer = _Writer(tree, changes, alerts, findings, now)
    for change in changes:
        writer.do(change)
    store_members(writer.members)
    write(list(writer.alerts.values()))


class _Writer:
    """The rows that a plan is about, by the numbers that it gives them."""

    def __init__(
        self,
        tree: int,
        changes: Iterable[plan.PlannedChange],
        alerts: Iterable[Alert],
        findings: Iterable[Finding],
        now: datetime,
    ) -> None:
        self.tree = tree
        self.now = now
        self.alerts = {alert.pk: Change(alert, now) for alert in alerts}
        self.findings = {row.pk: row for row in findings}
        self.members: dict[int, int | None] = {}
        self.revisions = _revisions(tree, changes)

    def do(self, change: plan.PlannedChange) -> None:
        ACTS[type(change)](self, change)

    def open(self, change: plan.Open) -> None:
        self.alerts[change.alert] = open_alert(
            self.tree,
            self.fields(change.commits),
            change.verdict,
            is_history=change.is_history,
            is_one_build=change.is_one_build,
            now=self.now,
        )

    def move(self, change: plan.Move) -> None:
        alert = self.alerts[change.alert].alert
        now_at = self.revisions[change.commits.likeliest]
        self.alerts[change.alert].note(Kind.MOVED, f"from {alert.likeliest} to {now_at}")
        self.point(alert, change.commits)

    def refine(self, change: plan.Refine) -> None:
        self.alerts[change.alert].note(Kind.REFINED)
        self.point(self.alerts[change.alert].alert, change.commits)

    def point(self, alert: Alert, commits: CommitRange) -> None:
        for name, value in self.fields(commits).items():
            setattr(alert, name, value)

    def fields(self, commits: CommitRange) -> dict[str, int]:
        return {
            "revision_id": self.revisions[commits.suspect].pk,
            "after_id": self.revisions[commits.after].pk,
            "likeliest_id": self.revisions[commits.likeliest].pk,
        }

    def turn(self, change: plan.Turn) -> None:
        row = self.alerts[change.alert]
        row.note(Kind.TURNED, f"from {change.was} to {change.verdict}")
        row.alert.verdict = change.verdict

    def mark_one_build(self, change: plan.MarkOneBuild) -> None:
        row = self.alerts[change.alert]
        row.note(Kind.ONE_BUILD if change.is_one_build else Kind.CONFIRMED)
        row.alert.one_build = change.is_one_build

    def leave(self, change: plan.Leave) -> None:
        rows = [self.findings[number] for number in change.findings]
        self.alerts[change.alert].note(Kind.LEFT, names_of(rows), rows)
        for row in rows:
            self.members.setdefault(row.pk, None)

    def join(self, change: plan.Join) -> None:
        rows = [self.findings[number] for number in change.findings]
        row = self.alerts[change.alert]
        row.note(Kind.JOINED, names_of(rows), rows)
        self.members |= dict.fromkeys(change.findings, row.alert.pk)

    def take_up(self, change: plan.TakeUp) -> None:
        row, other = self.alerts[change.alert], self.alerts[change.other].alert
        kind = Kind.SNOOZED if change.state == "snoozed" else Kind.REOPENED
        row.note(kind, f"alert {other.pk}, which it was a duplicate of, is part of it now")
        fields = {
            name: getattr(other, name) for name in RESTORED if name not in ("state", "triaged")
        }
        row.enter(State(change.state), **fields)
        row.alert.triaged = change.triaged

    def mark_history(self, change: plan.MarkHistory) -> None:
        row = self.alerts[change.alert]
        row.alert.history = change.is_history
        if change.is_event:
            row.note(Kind.HISTORY, "" if change.is_history else "no longer")
        else:
            row.touch()

    def stand(self, change: plan.Stand) -> None:
        row = self.alerts[change.alert]
        row.alert.is_active = True
        row.note(Kind.REACTIVATED)
        if change.state is not None:
            row.enter(State(change.state))

    def settle(self, change: plan.Settle) -> None:
        row = self.alerts[change.alert]
        sleeps = change.news == "snoozed"
        row.note(Kind(change.news), "from runs uploaded as history" if sleeps else "")
        since = {"recovered_since": self.now} if change.state == "recovered" else {}
        row.enter(State(change.state), **since)

    def retire(self, change: plan.Retire) -> None:
        row = self.alerts[change.alert]
        heir = None if change.heir is None else self.alerts[change.heir].alert
        row.alert.is_active = False
        row.note(Kind.RETRACTED, f"its findings point at alert {heir.pk} now" if heir else "")
        if not change.is_closed:
            return
        if heir is None:
            row.enter(State.RESOLVED, resolution=Resolution.RETRACTED)
        else:
            row.enter(State.RESOLVED, resolution=Resolution.DUPLICATE, duplicate_of=heir)


ACTS: Mapping[type[plan.PlannedChange], Callable[[_Writer, Any], None]] = {
    plan.Open: _Writer.open,
    plan.Move: _Writer.move,
    plan.Refine: _Writer.refine,
    plan.Turn: _Writer.turn,
    plan.MarkOneBuild: _Writer.mark_one_build,
    plan.Leave: _Writer.leave,
    plan.Join: _Writer.join,
    plan.TakeUp: _Writer.take_up,
    plan.MarkHistory: _Writer.mark_history,
    plan.Stand: _Writer.stand,
    plan.Settle: _Writer.settle,
    plan.Retire: _Writer.retire,
}
"""What is done for each change that a plan may hold."""


def _revisions(tree: int, changes: Iterable[plan.PlannedChange]) -> dict[int, Revision]:
    """Those that a plan points at, by position."""
    ranges = [
        change.commits
        for change in changes
        if isinstance(change, plan.Open | plan.Move | plan.Refine)
    ]
    wanted = {
        at for commits in ranges for at in (commits.suspect, commits.after, commits.likeliest)
    }
    if not wanted:
        return {}
    rows = Revision.objects.filter(tree=tree, position__in=wanted)
    return {row.position: row for row in rows}


def store_members(members: Mapping[int, int | None]) -> None:
    """Let each finding (id) be held by its alert (id), or by none."""
    if not members:
        return
    AlertFinding.objects.filter(finding__in=members).delete()
    AlertFinding.objects.bulk_create(
        AlertFinding(finding_id=finding, alert_id=alert)
        for finding, alert in sorted(members.items(), key=itemgetter(0))
        if alert is not None
    )


def names_of(rows: Sequence[Finding]) -> str:
    """The series of findings in a few words, for an event."""
    named = [f"{row.series.subject} on {row.series.hardware}" for row in rows[:NAMED_IN_AN_EVENT]]
    more = len(rows) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
