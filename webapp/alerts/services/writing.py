"""Write what was planned for the alerts of a tree, and their events; and the alerts of
one machine that blame no commit, slow losses and excursions, which no plan weighs against one
another.

Excursions that several modes of a machine agree on: one alert for that machine at that revision.
Measured in one boot the modes share its trouble, so it accuses no commit: what was odd is this
machine at this revision, and the next one is back.

Slow losses: at most one open alert for each tree and machine, which its series join. No commit is
to blame for a slow loss, so nothing groups it by commits. Whoever is on the same machine while it
goes on loses to the same cause or to several, and one alert is what somebody can look into.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent, AlertFinding
from webapp.alerts.plan import changes as plan
from webapp.alerts.queries.evidence import Odd, excursions, slow_losses, uploaded_as_history
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

    def point(self, alert: Alert, commits: plan.CommitRange) -> None:
        for name, value in self.fields(commits).items():
            setattr(alert, name, value)

    def fields(self, commits: plan.CommitRange) -> dict[str, int]:
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


def add_members(change: Change, rows: Sequence[Finding], members: dict[int, int | None]) -> None:
    """Have the alert of ``change`` hold ``rows``: noted in ``members`` (finding → alert)."""
    joining = [row for row in rows if _alert_of(row) != change.alert.pk]
    if joining:
        change.note(Kind.JOINED, names_of(joining), joining)
        members |= dict.fromkeys((row.pk for row in joining), change.alert.pk)


def retracted(alert: Alert, now: datetime) -> Change:
    """Later runs no longer show it. A person's resolution stays."""
    change = Change(alert, now)
    change.note(Kind.RETRACTED)
    alert.is_active = False
    if alert.state != State.RESOLVED:
        change.enter(State.RESOLVED, resolution=Alert.Resolution.RETRACTED)
    return change


def let_go(
    findings: Sequence[Finding],
    groups: Iterable[Sequence[Finding]],
    changes: Sequence[Change],
    members: dict[int, int | None],
) -> None:
    """Take out of the alerts those of ``findings`` that are in none of ``groups`` any more."""
    kept = {row.pk for rows in groups for row in rows}
    by_alert = {change.alert.pk: change for change in changes}
    leaving: dict[int, list[Finding]] = defaultdict(list)
    for row in findings:
        alert = _alert_of(row)
        if alert is not None and row.pk not in kept:
            members[row.pk] = None
            leaving[alert].append(row)
    for number, rows in leaving.items():
        if number in by_alert:
            by_alert[number].note(Kind.LEFT, names_of(rows), rows)


def _alert_of(row: Finding) -> int | None:
    membership: AlertFinding | None = getattr(row, "membership", None)
    return membership.alert_id if membership else None


def reconcile_excursions(tree: int, findings: Sequence[Finding]) -> None:
    """Open and retract the alerts of machines that were odd at one revision; ``findings`` are those
    of ``alertable_in``. The caller holds ``lock_trees``.
    """
    odd = _of_no_commit(tree, excursions(tree, findings))
    wanted = Q(is_active=True) | Q(revision__in={revision for _, revision in odd})
    stored = Alert.objects.filter(wanted, tree=tree, kind=Alert.Kind.EXCURSION)
    alerts = {_odd(one): one for one in stored.select_related("revision").order_by("pk")}
    now = timezone.now()
    changes: list[Change] = []
    members: dict[int, int | None] = {}
    for key, rows in odd.items():
        alert = alerts.get(key)
        change = _opened(tree, rows, now) if alert is None else _back(alert, now)
        add_members(change, rows, members)
        changes.append(change)
    changes += [
        retracted(one, now) for key, one in alerts.items() if one.is_active and key not in odd
    ]
    let_go(findings, odd.values(), changes, members)
    store_members(members)
    write(changes)


def _of_no_commit(tree: int, odd: Mapping[Odd, list[Finding]]) -> Mapping[Odd, list[Finding]]:
    """Without those at a commit that an alert blames already: one commit has one alert."""
    if not odd:
        return odd
    standing = Alert.objects.of_levels().filter(tree=tree, is_active=True)
    blamed = set(
        standing.filter(likeliest__in={at for _, at in odd}).values_list("likeliest_id", flat=True)
    )
    return {key: rows for key, rows in odd.items() if key[1] not in blamed}


def _odd(alert: Alert) -> Odd:
    return alert.hardware_id or 0, alert.revision_id


def _opened(tree: int, rows: Sequence[Finding], now: datetime) -> Change:
    first = rows[0]
    fields = {
        "kind": Alert.Kind.EXCURSION,
        "hardware_id": first.series.hardware_id,
        "revision_id": first.revision_id,
        "likeliest_id": first.revision_id,
        "after_id": first.after_id,
    }
    is_history = len(uploaded_as_history(rows)) == len(rows)
    verdict = Alert.Verdict.REGRESSION
    return open_alert(tree, fields, verdict, is_history=is_history, now=now, reason="excursion")


def _back(alert: Alert, now: datetime) -> Change:
    """One that is stored; what a person decided of it stays."""
    change = Change(alert, now)
    _reactivate(change)
    return change


def _reactivate(change: Change) -> None:
    alert = change.alert
    if not alert.is_active:
        change.note(Kind.REACTIVATED)
        alert.is_active = True
        if alert.resolution == Alert.Resolution.RETRACTED:
            change.enter(State.REOPENED if alert.triaged else State.NEW)


def reconcile_slow_losses(tree: int, findings: Sequence[Finding]) -> None:
    """Open, extend and retract the slow losses of a tree; ``findings`` are those of
    ``alertable_in``. The caller holds ``lock_trees``.
    """
    lost = slow_losses(tree, findings)
    alerts = _alerts(tree)
    now = timezone.now()
    changes: list[Change] = []
    members: dict[int, int | None] = {}
    for hardware, rows in lost.items():
        alert = next((one for one in alerts if one.hardware_id == hardware), None)
        change = (
            _slow_loss_opened(tree, hardware, rows, now) if alert is None else Change(alert, now)
        )
        _settle(change, rows, is_new=alert is None)
        add_members(change, rows, members)
        changes.append(change)
    ended = [one for one in alerts if one.is_active and one.hardware_id not in lost]
    changes += [retracted(alert, now) for alert in ended]
    let_go(findings, lost.values(), changes, members)
    store_members(members)
    write(changes)


def _alerts(tree: int) -> list[Alert]:
    """The slow losses that may go on, those that wait for somebody first, then the newest."""
    stored = Alert.objects.filter(tree=tree, kind=Alert.Kind.SLOW)
    may = stored.filter(is_active=True) | stored.exclude(state=State.RESOLVED)
    may |= stored.filter(resolution=Alert.Resolution.RETRACTED)
    parts = ("revision", "after", "likeliest", "named")
    return sorted(may.select_related(*parts), key=lambda one: (not one.is_open, -one.pk))


def _slow_loss_opened(tree: int, hardware: int, rows: Sequence[Finding], now: datetime) -> Change:
    fields = {"kind": Alert.Kind.SLOW, "hardware_id": hardware, **_window(rows)}
    is_history = len(uploaded_as_history(rows)) == len(rows)
    return open_alert(
        tree, fields, Alert.Verdict.REGRESSION, is_history=is_history, now=now, reason="slow loss"
    )


def _window(rows: Sequence[Finding]) -> dict[str, int]:
    """From the first revision of the windows to the last: ``after`` up to ``revision``."""
    begin = min(rows, key=lambda row: row.after.position)
    end = max(rows, key=lambda row: row.position)
    return {"after_id": begin.after_id, "revision_id": end.last_id, "likeliest_id": end.last_id}


def _settle(change: Change, rows: Sequence[Finding], *, is_new: bool) -> None:
    """The window goes on with each revision, which is no news; that it is back is."""
    alert = change.alert
    window = _window(rows)
    if not is_new and any(getattr(alert, name) != value for name, value in window.items()):
        for name, value in window.items():
            setattr(alert, name, value)
        Alert.objects.filter(pk=alert.pk).update(**window)
    _reactivate(change)
    if alert.history and not is_new and len(uploaded_as_history(rows)) < len(rows):
        change.note(Kind.WOKE)
        alert.history = False
        if alert.state == State.SNOOZED and not alert.triaged:
            change.enter(State.NEW)
