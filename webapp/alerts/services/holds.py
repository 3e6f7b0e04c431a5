"""Begin, end and restore what bisects hold of alerts.

All of it is written under ``lock_trees``, so that a hold that begins or ends meets the alert as
somebody who resolves or reopens it leaves it.
"""

from collections.abc import Iterable
from datetime import datetime

from webapp.alerts.models import Alert, AlertHold
from webapp.results.models import Revision, Series
from webapp.results.services import lock_trees

Reason = AlertHold.Reason


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
