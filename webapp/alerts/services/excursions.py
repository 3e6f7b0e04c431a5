"""Excursions that several modes of a machine agree on: one alert for that machine at that revision.

Measured in one boot the modes share its trouble, so it accuses no commit: what was odd is this
machine at this revision, and the next one is back.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries.evidence import Odd, excursions, uploaded_as_history
from webapp.alerts.services.events import Change, write
from webapp.alerts.services.machine_alerts import add_members, let_go, retracted
from webapp.alerts.services.opening import open_alert
from webapp.alerts.services.writing import store_members
from webapp.analysis.models import Finding

Kind = AlertEvent.Kind
State = Alert.State


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
    if not alert.is_active:
        change.note(Kind.REACTIVATED)
        alert.is_active = True
        if alert.resolution == Alert.Resolution.RETRACTED:
            change.enter(State.REOPENED if alert.triaged else State.NEW)
    return change
