"""What alerts held at a past moment, from the logs of the alerts and of their findings."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding, FindingEvent


@dataclass(frozen=True, slots=True)
class Past:
    """A finding, and its newest event of the time: state, revision, suspects and size as noted.
    Where the time is now it is the finding itself.
    """

    finding: Finding
    then: FindingEvent | Finding


def members_at(alert: Alert, moment: datetime) -> Sequence[Past]:
    """What ``alert`` held at ``moment``, in three queries; the weightiest of today first."""
    return members_of_all_at([alert], moment)[alert.pk]


def members_of_all_at(
    alerts: Collection[Alert], moment: datetime
) -> defaultdict[int, Sequence[Past]]:
    """The same of several alerts, by their numbers, in as many queries.

    A size is noted again only when it left the interval noted before, so figures within that
    interval may differ from those that were shown then.
    """
    members = _members(alerts, moment)
    held = {pk for its in members.values() for pk in its}
    findings = Finding.all_kinds.filter(pk__in=held).with_subjects().select_related("recovered_by")
    events = FindingEvent.objects.filter(at__lte=moment).newest_of([row.pk for row in findings])
    then = {row.finding_id: row for row in events.select_related("revision", "after", "last")}
    past = [Past(row, then[row.pk]) for row in findings.order_by("pk") if row.pk in then]
    found: defaultdict[int, Sequence[Past]] = defaultdict(list)
    for pk, its in members.items():
        found[pk] = [one for one in past if one.finding.pk in its]
    return found


def _members(alerts: Collection[Alert], moment: datetime) -> dict[int, set[int]]:
    """Of each alert the findings that joined and did not leave."""
    members: defaultdict[int, set[int]] = defaultdict(set)
    events = AlertEvent.objects.filter(alert__in=[one.pk for one in alerts], at__lte=moment)
    for event in events.order_by("pk"):
        if event.kind == AlertEvent.Kind.JOINED:
            members[event.alert_id].update(event.findings)
        elif event.kind == AlertEvent.Kind.LEFT:
            members[event.alert_id].difference_update(event.findings)
    return members
