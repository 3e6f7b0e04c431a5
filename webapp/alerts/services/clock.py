"""What ends by itself: a sweep closes what stayed recovered and wakes what slept long enough.

What sleeps until a revision is measured wakes with the analysis of that; the sweep looks again.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.services.events import Change, write
from webapp.results.models import Revision
from webapp.results.services import lock_trees

QUIET_DAYS = 7
"""A recovered alert that nothing happened to for so long closes itself."""


@transaction.atomic
def pass_time(*, now: datetime | None = None) -> int:
    """Close and wake alerts whose time has come; how many. Safe to run twice and at once."""
    now = now or timezone.now()
    quiet = Q(state=Alert.State.RECOVERED, updated_at__lte=now - timedelta(days=QUIET_DAYS))
    slept = Q(state=Alert.State.SNOOZED, snoozed_until__lte=now)
    reached = Alert.objects.past_their_revision().values("pk")
    due = Alert.objects.filter(quiet | slept | Q(pk__in=reached))
    trees = lock_trees(due.order_by().values_list("tree_id", flat=True).distinct())
    # Read again under the locks: another sweep or a person may have been faster.
    changes = [Change(alert, now) for alert in due.filter(tree__in=trees).order_by("pk")]
    for change in changes:
        if change.alert.state == Alert.State.SNOOZED:
            _wake(change)
        else:
            _close(change)
    write(changes)
    return len(changes)


def wake_at_revisions(trees: Iterable[int], *, now: datetime) -> None:
    """Wake what slept until a revision that is measured now. The caller holds ``lock_trees``."""
    due = Alert.objects.past_their_revision().filter(tree__in=list(trees))
    changes = [Change(alert, now) for alert in due.order_by("pk")]
    for change in changes:
        _wake(change)
    write(changes)


def _wake(change: Change) -> None:
    until = change.alert.snoozed_until_revision
    reason = f"measured at {until} or later" if until else "its time has come"
    change.note(AlertEvent.Kind.WOKE, reason)
    change.enter(Alert.State.REOPENED)


def _close(change: Change) -> None:
    """Fixed by the last of the revisions that its findings recovered at."""
    recovered = Revision.objects.filter(pk__in=change.alert.findings.values("recovered_by"))
    fixed_by = recovered.order_by("-position").first()
    change.note(AlertEvent.Kind.CLOSED, f"fixed by {fixed_by}" if fixed_by else "")
    change.enter(
        Alert.State.RESOLVED, resolution=Alert.Resolution.FIXED, resolution_revision=fixed_by
    )
