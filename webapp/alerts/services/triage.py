"""What people do to alerts, and to what is worth one: each act names its actor and reason, and can
be undone.

Who acts on an alert names which version of it was seen; if it changed meanwhile, nothing is done.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent, MinEffect, MinEffectChange
from webapp.alerts.models.decisions import MOST_PERCENT
from webapp.alerts.queries.min_effects import Scope
from webapp.alerts.services.analysing import reconcile_alerts, reconcile_trees
from webapp.alerts.services.events import RESTORED, follow_alerts
from webapp.analysis.models import SeriesSettings
from webapp.results.models import Point, Revision, position_of
from webapp.results.services import begin_writing, lock_trees

Kind = AlertEvent.Kind
State = Alert.State
Resolution = Alert.Resolution
BY_HAND = tuple(one for one in Resolution if one != Resolution.RETRACTED)
NOTHING: dict[str, Any] = {
    "resolution": "",
    "resolution_revision_id": None,
    "duplicate_of_id": None,
    "snoozed_until": None,
    "snoozed_until_revision": "",
    "snoozed_until_position": None,
    "recovered_since": None,
}


class TriageError(Exception):
    """The act makes no sense now; the message has why and what to do instead."""


class AlertChanged(TriageError):
    """Somebody else, or the system, changed the alert since it was looked at."""


def acknowledge(*, alert: int, actor: User, version: int, reason: str = "") -> Alert:
    """Record that somebody saw it. Raises TriageError."""
    return _act(alert, actor, version, Kind.ACKNOWLEDGED, reason, state=State.ACKNOWLEDGED)


def investigate(*, alert: int, actor: User, version: int, reason: str = "") -> Alert:
    """Record that somebody looks for the cause. Raises TriageError."""
    return _act(alert, actor, version, Kind.INVESTIGATING, reason, state=State.INVESTIGATING)


def reopen(*, alert: int, actor: User, version: int, reason: str = "") -> Alert:
    """Take a resolved or snoozed alert up again. Raises TriageError."""
    return _act(alert, actor, version, Kind.REOPENED, reason, state=State.REOPENED)


def snooze(*, alert: int, actor: User, version: int, until: datetime, reason: str = "") -> Alert:
    """Put it away until a moment to come. Raises TriageError."""
    if until <= timezone.now():
        raise TriageError("The snooze date must be in the future.")
    note = f"until {until:%Y-%m-%d %H:%M %Z}" + (f": {reason}" if reason else "")
    return _act(alert, actor, version, Kind.SNOOZED, note, state=State.SNOOZED, snoozed_until=until)


@transaction.atomic
def snooze_until_revision(
    *, alert: int, actor: User, version: int, revision: str, reason: str = ""
) -> Alert:
    """Put it away until one of its series is measured at ``revision`` or later.

    ``revision`` is a known one, or one to come whose id gives its place (r400000). Raises
    TriageError.
    """
    row = lock_as_seen(alert, version)
    name, position = _position_of(row, revision)
    newest = Point.objects.filter(series__findings__membership__alert=row).aggregate(
        at=Max("position")
    )["at"]
    if newest is not None and newest >= position:
        raise TriageError(f"{name}, or a later revision, is measured already; name a later one.")
    note = f"until {name} is measured" + (f": {reason}" if reason else "")
    return _act(
        alert,
        actor,
        version,
        Kind.SNOOZED,
        note,
        state=State.SNOOZED,
        snoozed_until_revision=name,
        snoozed_until_position=position,
    )


def _position_of(row: Alert, name: str) -> tuple[str, int]:
    """The name and position of a revision of the alert's tree, known or to come."""
    known = Revision.objects.placed().named(tree=row.tree, name=name) if name else None
    if known is not None:
        return known.name, known.position
    position = position_of(name)
    if position is None:
        raise TriageError(
            f"No revision “{name}” is known in this tree, and its id does not give its place; "
            "name a known one, or a number to come such as r400000."
        )
    return name, position


@transaction.atomic
def resolve(
    *,
    alert: int,
    actor: User,
    version: int,
    resolution: str,
    revision: Revision | None = None,
    reason: str = "",
) -> Alert:
    """Close it as fixed or backed out (by ``revision``, later than the likeliest commit), expected,
    won't fix or not real.

    Raises TriageError.
    """
    if resolution not in BY_HAND or resolution == Resolution.DUPLICATE:
        raise TriageError(f"An alert is not resolved as {resolution!r}.")
    needs = resolution in Alert.BY_A_REVISION
    if needs != (revision is not None):
        raise TriageError(f"“{resolution}” {'needs the revision' if needs else 'has no revision'}.")
    if revision:
        _refuse_early_fix(lock_as_seen(alert, version), revision)
    note = " ".join(filter(None, [resolution, f"by {revision}" if revision else ""]))
    return _act(
        alert,
        actor,
        version,
        Kind.RESOLVED,
        f"{note}: {reason}" if reason else note,
        state=State.RESOLVED,
        resolution=resolution,
        resolution_revision_id=revision.pk if revision else None,
    )


def _refuse_early_fix(row: Alert, by: Revision) -> None:
    """What came before the change, or made it, cannot have taken it back."""
    if by.position <= row.likeliest.position:
        raise TriageError(
            f"{by} is not later than {row.likeliest}, where the change of alert {row.pk} most "
            f"likely began; enter a revision of {row.tree} after {row.likeliest}."
        )


@transaction.atomic
def mark_duplicate(*, alert: int, actor: User, version: int, of: int, reason: str = "") -> Alert:
    """Close it as a duplicate of another, which must not be a duplicate itself.

    Raises TriageError.
    """
    begin_writing()
    # Two that are called duplicates of one another at once must not both succeed.
    both = Alert.objects.filter(pk=alert) | Alert.objects.numbered(of)
    lock_trees(both.values_list("tree_id", flat=True))
    other = Alert.objects.numbered(of).first()
    if other is None or other.pk == alert:
        raise TriageError(f"There is no other alert {of}.")
    _refuse_duplicate(other)
    note = f"duplicate of {other.pk}" + (f": {reason}" if reason else "")
    return _act(
        alert,
        actor,
        version,
        Kind.RESOLVED,
        note,
        state=State.RESOLVED,
        resolution=Resolution.DUPLICATE,
        duplicate_of_id=other.pk,
    )


def _refuse_duplicate(other: Alert) -> None:
    """Two that are duplicates of one another would both be closed, and what they show lost."""
    if other.duplicate_of_id is not None:
        raise TriageError(f"Alert {other.pk} is a duplicate of {other.duplicate_of_id} itself.")


@transaction.atomic
def undo(*, alert: int, actor: User, version: int) -> Alert:
    """Take the last act back, if it was the actor's own and nothing happened since.

    Raises TriageError.
    """
    begin_writing()
    row = lock_as_seen(alert, version)
    last = row.events.order_by("-pk").first()
    if last is None or not last.before or last.version != row.version:
        raise TriageError("There is nothing to undo: the last change was not a person's act.")
    if last.actor != actor:
        whose = f"{last.actor}'s" if last.actor else "somebody else's"
        raise TriageError(f"The last act was {whose}; who made it can undo it. Act anew instead.")
    moments = ("snoozed_until", "recovered_since")
    before: dict[str, Any] = {
        name: datetime.fromisoformat(value) if name in moments and value else value
        for name, value in last.before.items()
    }
    if (of := before.get("duplicate_of_id")) is not None:
        _refuse_duplicate(Alert.objects.get(pk=of))
    if last.assignments.all().delete()[0]:
        reconcile_alerts(row.tree_id, back=_back(row, last))
        row.refresh_from_db()
        if not row.is_active:
            raise TriageError(
                f"Nothing of what alert {row.pk} held would come back: its findings are gone, "
                "or in other alerts of their commits by now. Look at those."
            )
    return _write(row, actor, Kind.UNDONE, last.get_kind_display(), before, undoable=False)


def _back(row: Alert, given: AlertEvent) -> dict[int, int]:
    """The findings that an act gave away from an alert that is left with none, and that alert."""
    if row.is_active:
        return {}
    left = row.events.filter(kind=Kind.LEFT, version=given.version - 1)
    return {finding: row.pk for event in left for finding in event.findings}


@transaction.atomic
def _act(alert: int, actor: User, version: int, kind: Kind, reason: str, **changes: Any) -> Alert:
    row = lock_as_seen(alert, version)
    if row.state == changes["state"] != State.SNOOZED:
        raise TriageError(f"Alert {alert} is {row.get_state_display()} already.")
    return _write(row, actor, kind, reason, NOTHING | {"triaged": True} | changes)


def lock_as_seen(alert: int, version: int) -> Alert:
    """The alert as it was seen, and nobody else writes it until this transaction ends.

    Raises TriageError where there is none, AlertChanged where its version is another by now.
    """
    tree = Alert.objects.filter(pk=alert).values_list("tree_id", flat=True).first()
    if tree is None:
        raise TriageError(f"There is no alert {alert}.")
    lock_trees([tree])
    row = Alert.objects.get(pk=alert)
    if row.version != version:
        raise AlertChanged(f"Alert {alert} changed since you looked at it; look again.")
    return row


def _write(
    row: Alert,
    actor: User,
    kind: Kind,
    reason: str,
    changes: dict[str, Any],
    *,
    undoable: bool = True,
    before: dict[str, Any] | None = None,
) -> Alert:
    before = before or restored(row)
    was_resolved = row.is_resolved_by_people
    for name, value in changes.items():
        setattr(row, name, value)
    _refuse_second_slow_loss(row)
    row.version += 1
    row.updated_at = timezone.now()
    row.save()
    if row.is_resolved_by_people != was_resolved:
        follow_alerts([row], now=row.updated_at)
    row.events.create(
        at=row.updated_at,
        actor=actor,
        kind=kind,
        reason=reason,
        version=row.version,
        before={name: _plain(value) for name, value in before.items()} if undoable else {},
    )
    return row


def _refuse_second_slow_loss(row: Alert) -> None:
    """At most one is open for a machine, and a later one may have been opened."""
    if not row.is_slow or row.state == State.RESOLVED:
        return
    same = Alert.objects.filter(tree=row.tree_id, hardware=row.hardware_id, kind=row.kind)
    other = same.exclude(state=State.RESOLVED).exclude(pk=row.pk).first()
    if other is not None:
        raise TriageError(f"Alert {other.pk} is open for the slow loss of this machine already.")


def restored(row: Alert) -> dict[str, Any]:
    """What an undo puts back, as it is now."""
    return {name: getattr(row, name) for name in RESTORED}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


class MinEffectError(Exception):
    """The threshold cannot be set; the message names the field and the remedy."""


@transaction.atomic
def set_min_effect(
    *, scope: Scope, percent: float | None, actor: User, reason: str = ""
) -> MinEffectChange:
    """Set the threshold of ``scope``, or with None let the wider one hold.

    Alerts open and are retracted at once. Raises MinEffectError.
    """
    if percent is not None:
        ensure_percent(percent)
    _lock_scope(scope)
    before = scope.percent()
    if before == percent:
        raise MinEffectError(f"percent: {_setting_text(percent)} for {scope.text} already.")
    _write_min_effect(scope, percent)
    change = MinEffectChange.objects.create(
        at=timezone.now(),
        actor=actor,
        before=before,
        after=percent,
        reason=reason,
        **{scope.part: scope.of},
    )
    reconcile_trees(scope.trees())
    return change


def ensure_percent(percent: float) -> float:
    """``percent`` itself. Raises MinEffectError when it cannot be a threshold."""
    if not 0 <= percent <= MOST_PERCENT:
        raise MinEffectError(f"percent: {percent:g} is not from 0 to {MOST_PERCENT:g}.")
    return percent


@transaction.atomic
def undo_min_effect(*, change: int, actor: User) -> MinEffectChange:
    """Set what held before ``change``, if nothing was set there since. Raises MinEffectError."""
    row = MinEffectChange.objects.named().filter(pk=change).first()
    if row is None:
        raise MinEffectError(f"change: there is no change {change}.")
    scope = Scope.around(row.of)
    _lock_scope(scope)
    newer = MinEffectChange.objects.filter(pk__gt=row.pk, **{scope.part: scope.of}).exists()
    if newer or scope.percent() != row.after:
        raise MinEffectError(f"change: {scope.text} was set anew since; set it yourself.")
    return set_min_effect(
        scope=scope, percent=row.before, actor=actor, reason=f"change {row.pk} undone"
    )


def _lock_scope(scope: Scope) -> None:
    """Who sets the same thing at once waits: the log must have what was replaced.

    Who merges hardware or modes is waited for first, in the order in which everybody locks.
    """
    begin_writing()
    type(scope.of)._default_manager.select_for_update(no_key=True).get(pk=scope.of.pk)  # noqa: SLF001


def _write_min_effect(scope: Scope, percent: float | None) -> None:
    of: dict[str, Any] = {scope.part: scope.of}
    if scope.part == "series":
        SeriesSettings.objects.update_or_create(**of, defaults={"min_effect_pct": percent})
    elif percent is None:
        MinEffect.objects.filter(**of).delete()
    else:
        MinEffect.objects.update_or_create(**of, defaults={"percent": percent})


def _setting_text(percent: float | None) -> str:
    return "nothing is set" if percent is None else f"{percent:g} % is set"
