"""Changes of an alert together with the events that record them, and the holds of bisects.

What a bisect found is kept with its alert, and outweighs what the detector makes likeliest.

A bisect measured the suspects one by one, the detector only what happened to be uploaded. Its word
holds as long as the findings still suspect the commit it named; when they move on, it is kept as
data and no longer shown as the likeliest.

Holds are written under ``lock_trees``, so that a hold that begins or ends meets the alert as
somebody who resolves or reopens it leaves it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent, AlertHold
from webapp.analysis.models import Finding
from webapp.queueing import Task, queue_on_commit
from webapp.results.models import Revision, Series
from webapp.results.services import lock_trees

RESTORED = (
    "state",
    "triaged",
    "resolution",
    "resolution_revision_id",
    "duplicate_of_id",
    "snoozed_until",
    "snoozed_until_revision",
    "snoozed_until_position",
    "recovered_since",
)
"""What people change, and an undo puts back."""

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)

Reason = AlertHold.Reason


@contextmanager
def quietly() -> Iterator[None]:
    """Changes of alerts within follow from another analysis of the same runs: they are in the log,
    and nobody is notified.
    """
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


OPENING = ("opened", "woke", "returned", "standing")
"""Kinds of events after which an alert waits for somebody."""

NEW_EVIDENCE = (*OPENING, "joined", "confirmed")
"""Kinds of events after which people are to know of an alert that only another analysis opened."""

WRITTEN = (
    *(name.removesuffix("_id") for name in RESTORED),
    *("revision", "after", "likeliest", "named", "named_probability", "verdict"),
    *("is_active", "is_quiet", "history", "one_build", "updated_at", "version"),
)


class Change:
    """One alert being changed by the system: its events, collected until it is written."""

    def __init__(self, alert: Alert, now: datetime) -> None:
        self.alert = alert
        self.now = now
        self.events: list[AlertEvent] = []
        self.is_changed = False
        self.was_resolved = alert.is_resolved_by_people

    def touch(self) -> None:
        """Have the alert written; its version grows once, however much changes."""
        if not self.is_changed:
            self.is_changed = True
            self.alert.version += 1
            self.alert.updated_at = self.now

    def note(
        self, kind: AlertEvent.Kind, reason: str = "", findings: Iterable[Finding] = ()
    ) -> None:
        """Change the alert by what the caller does next, and log that."""
        self.touch()
        is_quiet = _quiet.get()
        if kind in (OPENING if is_quiet else NEW_EVIDENCE):
            self.alert.is_quiet = is_quiet
        self.events.append(
            AlertEvent(
                alert=self.alert,
                at=self.now,
                kind=kind,
                reason=reason,
                version=self.alert.version,
                findings=[row.pk for row in findings],
                is_quiet=is_quiet,
                is_read=is_quiet,
            )
        )

    def enter(self, state: Alert.State, **fields: Any) -> None:
        """Go to ``state`` with the fields that belong to it; those of the state before are gone."""
        empty = {
            "resolution": "",
            "resolution_revision": None,
            "duplicate_of": None,
            "snoozed_until": None,
            "snoozed_until_revision": "",
            "snoozed_until_position": None,
            "recovered_since": None,
        }
        self.alert.state = state
        for name, value in (empty | fields).items():
            setattr(self.alert, name, value)


def write(changes: list[Change]) -> None:
    """Store changed alerts and their events; whoever is to be notified hears of it from these."""
    changed = [one.alert for one in changes if one.is_changed]
    if not changed:
        return
    events = [event for one in changes for event in one.events]
    Alert.objects.bulk_update(changed, WRITTEN)
    AlertEvent.objects.bulk_create(events)
    turned = [one for one in changes if one.alert.is_resolved_by_people != one.was_resolved]
    follow_alerts([one.alert for one in turned], now=changes[0].now)
    queue_on_commit(Task.NOTIFY)


def open_alert(
    tree: int,
    fields: dict[str, Any],
    verdict: str,
    *,
    is_history: bool,
    is_one_build: bool = False,
    now: datetime,
    reason: str = "",
) -> Change:
    """Store a new alert; its first event is written with the change that is given back."""
    alert = Alert.objects.create(
        tree_id=tree,
        **fields,
        verdict=verdict,
        state=Alert.State.SNOOZED if is_history else Alert.State.NEW,
        history=is_history,
        one_build=is_one_build,
        opened_at=now,
        updated_at=now,
        version=0,
    )
    change = Change(alert, now)
    history = "from runs uploaded as history" if is_history else ""
    builds = "one build a side" if is_one_build else ""
    change.note(AlertEvent.Kind.OPENED, ", ".join(filter(None, [reason, builds, history])))
    return change


@transaction.atomic
def note_bisect(
    *, alert: int, text: str, named: Revision | None = None, probability: float | None = None
) -> None:
    """Note in an alert's log how a bisect ended, and the one commit that it named, if any.

    Quiet when the alert is gone.
    """
    tree = Alert.objects.filter(pk=alert).values_list("tree_id", flat=True).first()
    if tree is None:
        return
    lock_trees([tree])
    row = Alert.objects.select_related("after", "revision").get(pk=alert)
    change = Change(row, timezone.now())
    change.note(AlertEvent.Kind.NAMED, text)
    if named is not None:
        row.named, row.named_probability = named, probability
        if is_named_among(row, row.after.position, row.revision.position):
            row.likeliest = named
    write([change])


def is_named_among(alert: Alert, after: int, last: int) -> bool:
    """Whether a bisect named one of the suspects later than position ``after`` up to ``last``."""
    return alert.named is not None and after < alert.named.position <= last


def begin_hold(
    *, alert: int, series: Series, after: Revision, last: Revision, is_loss: bool, now: datetime
) -> AlertHold:
    """Let a bisect that starts hold its alert; one that is resolved only when it is reopened."""
    lock_trees([series.tree_id])
    ended = Alert.objects.get(pk=alert).is_resolved_by_people
    return AlertHold.objects.create(
        alert_id=alert,
        series=series,
        after=after,
        last=last,
        is_loss=is_loss,
        ended_at=now if ended else None,
        reason=Reason.RESOLVED if ended else "",
    )


def end_holds(holds: Iterable[int], *, reason: AlertHold.Reason, now: datetime) -> None:
    """End holds (ids) for good, those that a resolution ended before included; quiet about those
    that went with their alerts.
    """
    found = AlertHold.objects.filter(pk__in=list(holds))
    lock_trees(found.order_by().values_list("alert__tree", flat=True))
    found.update(reason=reason, ended_at=now)


def follow_alerts(alerts: Iterable[Alert], *, now: datetime) -> None:
    """End the holds of alerts that were resolved, and restore those of alerts that are so no
    longer. The caller holds ``lock_trees``.
    """
    resolved: dict[bool, list[int]] = {True: [], False: []}
    for alert in alerts:
        resolved[alert.is_resolved_by_people].append(alert.pk)
    if resolved[True]:
        lasting = AlertHold.objects.filter(alert__in=resolved[True], ended_at__isnull=True)
        lasting.update(ended_at=now, reason=Reason.RESOLVED)
    if resolved[False]:
        ended = AlertHold.objects.filter(alert__in=resolved[False], reason=Reason.RESOLVED)
        ended.update(ended_at=None, reason="")
