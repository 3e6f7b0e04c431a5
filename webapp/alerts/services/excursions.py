"""Excursions that several modes of a machine agree on: one alert for that machine at that revision.

Measured in one boot the modes share its trouble, so it accuses no commit: what was odd is this
machine at this revision, and the next one is back.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.queries.evidence import is_large, uploaded_as_history
from webapp.alerts.queries.min_effects import MinEffects
from webapp.alerts.services.events import Change, write
from webapp.alerts.services.machine_alerts import add_members, let_go, retracted
from webapp.alerts.services.opening import open_alert
from webapp.alerts.services.writing import store_members
from webapp.analysis.models import Finding, Verdict
from webapp.results.models import Point
from webapp.stats.odd_machine import modes_agree

Kind = AlertEvent.Kind
State = Alert.State
Odd = tuple[int, int]  # hardware, revision


def reconcile_excursions(tree: int, findings: Sequence[Finding]) -> None:
    """Open and retract the alerts of machines that were odd at one revision; ``findings`` are those
    of ``alertable_in``. The caller holds ``lock_trees``.
    """
    odd = _agreeing(tree, findings)
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


def _odd(alert: Alert) -> Odd:
    return alert.hardware_id or 0, alert.revision_id


def _agreeing(tree: int, findings: Sequence[Finding]) -> dict[Odd, list[Finding]]:
    """The losses worth an alert of each machine at each revision where its modes agree, the largest
    first. What an option costs is no mode of its own.
    """
    worse = [
        row
        for row in findings
        if row.verdict == Verdict.WORSE and row.state in Finding.ALERTED and not row.series.is_cost
    ]
    by_odd: dict[Odd, list[Finding]] = defaultdict(list)
    for row in worse:
        by_odd[row.series.hardware_id, row.revision_id].append(row)
    several = {key: rows for key, rows in by_odd.items() if len(_modes(rows)) > 1}
    if not several:
        return {}
    least = MinEffects.of({row.series_id for rows in several.values() for row in rows}, tree=tree)
    large = {key: [row for row in rows if is_large(row, least)] for key, rows in several.items()}
    measured = _measured(list(large))
    return {
        key: sorted(rows, key=lambda row: (row.change_pct or 0.0, row.pk))
        for key, rows in large.items()
        if modes_agree(len(_modes(rows)), measured.get(key, 0))
    }


def _modes(rows: Sequence[Finding]) -> set[int]:
    return {row.series.mode_id for row in rows}


def _measured(odd: Sequence[Odd]) -> dict[Odd, int]:
    """How many modes each machine measured at each revision."""
    counted = (
        Point.objects.that_agree()
        .plain()
        .filter(revision__in={at for _, at in odd}, series__hardware__in={on for on, _ in odd})
        .order_by()
        .values_list("series__hardware", "revision")
        .annotate(modes=Count("series__mode", distinct=True))
    )
    return {(hardware, revision): modes for hardware, revision, modes in counted}


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
