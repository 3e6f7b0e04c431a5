"""Keep findings, alerts and their logs when two revisions turn out to be one commit.

The analysis that follows brings all of it in line with the points; what it must find is the rows,
with their numbers, their states and what people said.
"""

from collections.abc import Callable
from typing import Any

from django.db.models import Q
from django.utils import timezone

from webapp.regressions.models import (
    Alert,
    AlertEvent,
    Assignment,
    Finding,
    FindingEvent,
    FormerAlert,
)
from webapp.regressions.services.alerts.locks import lock_trees
from webapp.regressions.services.alerts.log import RESTORED, Change, write
from webapp.regressions.services.alerts.notifying import join_mails
from webapp.results.models import Revision
from webapp.results.services.merging import before_revisions_merge

REFERENCES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (Finding, ("after", "first", "last", "confirmed_by", "recovered_by")),
    (FindingEvent, ("revision", "after", "last")),
    (Assignment, ("after", "last")),
    (Alert, ("after", "likeliest", "named", "resolution_revision")),
)


Mover = Callable[[Alert, Alert], None]
_movers: list[Mover] = []


def before_alert_goes(mover: Mover) -> Mover:
    """Have ``mover(gone, kept)`` called before an alert is joined to another and goes.

    What the apps above say about an alert, they move themselves.
    """
    _movers.append(mover)
    return mover


@before_revisions_merge
def move_references(source: Revision, into: Revision) -> None:
    """Let everything that was concluded about ``source`` be about ``into``."""
    lock_trees([source.tree_id])
    _move_findings(source, into)
    _move_alert(source, into)
    for model, fields in REFERENCES:
        for field in fields:
            model.objects.filter(**{field: source}).update(**{field: into})
    _let_undos_restore("resolution_revision_id", source.pk, into.pk)


def _move_findings(source: Revision, into: Revision) -> None:
    """A change between the two is none: it goes. Of two findings of a series at what is one commit
    now, the one at ``into`` stands and supersedes the other.
    """
    between = Q(revision=source, previous=into) | Q(revision=into, previous=source)
    Finding.objects.filter(between).delete()
    standing = dict(Finding.objects.live().filter(revision=into).values_list("series_id", "pk"))
    twins = Finding.objects.live().filter(revision=source, series__in=standing)
    for twin in twins:
        twin.state, twin.recovered_by = Finding.State.SUPERSEDED, None
        twin.superseded_by_id = standing[twin.series_id]
        twin.save(update_fields=["state", "recovered_by", "superseded_by"])
    Finding.objects.filter(previous=source).update(previous=into)
    Finding.objects.filter(revision=source).update(revision=into, position=into.position)


def _move_alert(source: Revision, into: Revision) -> None:
    """One alert stands for one commit: that of ``into``, if any, takes over the other's log."""
    moving = Alert.objects.filter(revision=source).first()
    if moving is None:
        return
    kept = Alert.objects.filter(tree=into.tree_id, revision=into).first()
    if kept is None:
        change = Change(moving, timezone.now())
        change.note(AlertEvent.Kind.MOVED, f"{source} and {into} are one commit")
        moving.revision = into
        write([change])
    else:
        _take_over(kept, moving, f"{source} and {into} are one commit: with the log of {moving}")


def _take_over(kept: Alert, gone: Alert, reason: str) -> None:
    joining = list(gone.findings.all())
    gone.findings.update(alert=kept)
    gone.assignments.update(alert=kept)
    gone.duplicates.exclude(pk=kept.pk).update(duplicate_of=kept)
    # Versions of another alert say nothing here, and its acts can no longer be undone.
    gone.events.update(alert=kept, version=0, before={})
    _let_undos_restore("duplicate_of_id", gone.pk, kept.pk)
    _take_over_state(kept, gone)
    join_mails(gone=gone, kept=kept)
    FormerAlert.objects.filter(alert=gone).update(alert=kept)
    FormerAlert.objects.create(number=gone.pk, alert=kept)
    for mover in _movers:
        mover(gone, kept)
    gone.delete()
    change = Change(kept, timezone.now())
    change.note(AlertEvent.Kind.JOINED, reason, joining)
    write([change])


def _take_over_state(kept: Alert, gone: Alert) -> None:
    """What waits for somebody goes on waiting, in the state that a person gave it if one did."""
    if kept.duplicate_of_id == gone.pk or _rank(gone) > _rank(kept):
        for name in (*RESTORED, "history"):
            setattr(kept, name, getattr(gone, name))
    kept.standing = kept.standing or gone.standing
    kept.mailed = kept.mailed or gone.mailed
    kept.opened_at = min(kept.opened_at, gone.opened_at)
    kept.save()


def _rank(alert: Alert) -> tuple[bool, bool, bool]:
    return alert.is_open, alert.is_open and alert.triaged, alert.standing


def _let_undos_restore(name: str, gone: int, kept: int) -> None:
    """What an undo puts back is what stays, not what it was called."""
    events = list(AlertEvent.objects.filter(**{f"before__{name}": gone}))
    for event in events:
        event.before[name] = kept
    AlertEvent.objects.bulk_update(events, ["before"])
