"""What an alert held at a past moment, from the logs of the alert and of its findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding, FindingEvent


@dataclass(frozen=True, slots=True)
class Past:
    """A finding, and its newest event of the time: state, revision, suspects and size as noted."""

    finding: Finding
    then: FindingEvent


def members_at(alert: Alert, moment: datetime) -> Sequence[Past]:
    """What ``alert`` held at ``moment``, in three queries; the weightiest of today first.

    A size is noted again only when it left the interval noted before, so figures within that
    interval may differ from those that were shown then.
    """
    findings = Finding.all_kinds.filter(pk__in=_members(alert, moment)).with_subjects()
    events = FindingEvent.objects.filter(at__lte=moment).newest_of([row.pk for row in findings])
    then = {row.finding_id: row for row in events.select_related("revision", "after", "last")}
    return [Past(row, then[row.pk]) for row in findings.order_by("pk") if row.pk in then]


def _members(alert: Alert, moment: datetime) -> set[int]:
    """Those that joined and did not leave."""
    members: set[int] = set()
    for event in alert.events.filter(at__lte=moment).order_by("pk"):
        if event.kind == AlertEvent.Kind.JOINED:
            members.update(event.findings)
        elif event.kind == AlertEvent.Kind.LEFT:
            members.difference_update(event.findings)
    return members
