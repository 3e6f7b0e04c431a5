"""Bring the alerts of a tree in line with its findings: read, plan, write what changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert
from webapp.alerts.plan import plan_changes
from webapp.alerts.plan.changes import CommitRange, Known, KnownAlert, State
from webapp.alerts.queries.dry_runs import holds_in
from webapp.alerts.queries.evidence import Read, alertable_in, read_evidence
from webapp.alerts.services.machine_alerts import reconcile_excursions, reconcile_slow_losses
from webapp.alerts.services.writing import write_changes
from webapp.analysis.models import Finding
from webapp.results.services import begin_writing, lock_trees

NOTHING_BACK: Mapping[int, int] = {}
OF_MACHINES: Mapping[str, Callable[[int, Sequence[Finding]], None]] = {
    Finding.Kind.SLOW: reconcile_slow_losses,
    Finding.Kind.EXCURSION: reconcile_excursions,
}
"""Alerts that blame no commit; kinds of alerts and of findings have one name."""


@transaction.atomic
def reconcile_trees(trees: Iterable[int]) -> None:
    """Bring the alerts of trees (ids) in line at once, because a setting changed."""
    begin_writing()
    for tree in lock_trees(trees):
        reconcile_alerts(tree)


def reconcile_alerts(tree: int, *, back: Mapping[int, int] = NOTHING_BACK) -> None:
    """Open, move, merge and retract the alerts of a tree. The caller holds ``lock_trees``.

    When nothing changed, nothing is written. ``back`` says to which alert (id) findings (ids) were
    taken back, which may have moved since.
    """
    alertable = alertable_in(tree)
    findings = [row for row in alertable if row.kind == Finding.Kind.LEVEL]
    active = _reconcile_levels(tree, findings, back)
    # An alert may have lost all its findings: they go with a series that becomes part of another.
    for kind, reconcile in OF_MACHINES.items():
        rows = [row for row in alertable if row.kind == kind]
        if rows or kind in active:
            reconcile(tree, rows)


def _reconcile_levels(tree: int, findings: Sequence[Finding], back: Mapping[int, int]) -> set[str]:
    """Of changes of level; the kinds of the other alerts that are active, read along."""
    holds = holds_in([tree])
    read = read_evidence(tree, findings, holds=holds)
    stored = _alerts(tree, findings, read, back)
    alerts = [one for one in stored if one.kind == Alert.Kind.LEVEL]
    known = Known(
        findings=read.findings,
        alerts=[_known(alert) for alert in alerts],
        holds=holds,
        assigned=read.assigned,
        received=read.received,
        back=back,
    )
    if changes := plan_changes(known):
        write_changes(tree, changes, alerts, findings, now=timezone.now())
    return {one.kind for one in stored}


def _alerts(
    tree: int, findings: Sequence[Finding], read: Read, back: Mapping[int, int]
) -> list[Alert]:
    """The alerts that stand or hold findings, those of commits that findings may blame, and those
    that people named; of the other kinds those that are active.
    """
    suspects = {row.last_id for row in findings if row.state in Finding.ALERTED}
    named = {one.alert for one in read.assigned} | set(back.values())
    named |= {row.alert for row in read.findings if row.alert is not None}
    of_level = Q(revision__in=suspects) | Q(pk__in=named)
    wanted = Q(is_active=True) | (Q(kind=Alert.Kind.LEVEL) & of_level)
    stored = Alert.objects.filter(wanted, tree=tree).order_by("pk")
    return list(stored.select_related("revision", "after", "likeliest", "named"))


def _known(alert: Alert) -> KnownAlert:
    return KnownAlert(
        number=alert.pk,
        commits=CommitRange(
            alert.revision.position, alert.after.position, alert.likeliest.position
        ),
        verdict=alert.verdict,
        state=cast("State", alert.state),
        is_active=alert.is_active,
        triaged=alert.triaged,
        history=alert.history,
        one_build=alert.one_build,
        mailed=alert.mailed,
        resolution=alert.resolution,
        duplicate_of=alert.duplicate_of_id,
        named=alert.named.position if alert.named is not None else None,
    )
