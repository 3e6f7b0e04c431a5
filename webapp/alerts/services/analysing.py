"""Analyse the series whose points changed, and bring the alerts of their trees in line with the
findings: read, plan, write what changed.

An alert that sleeps until a revision is measured wakes with the analysis of that revision; a sweep
looks again, and closes alerts that stayed recovered.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from webapp.alerts.models import Alert, AlertEvent
from webapp.alerts.plan import plan_changes
from webapp.alerts.plan.changes import CommitRange, Known, KnownAlert, State
from webapp.alerts.queries.evidence import Read, alertable_in, holds_in, read_evidence
from webapp.alerts.services import writing
from webapp.alerts.services.events import Change, quietly, write
from webapp.analysis import services as analysis
from webapp.analysis.models import Finding, SeriesAnalysis
from webapp.results import services as results
from webapp.results.models import Revision, Series

BATCH = 100
STALE_BATCH = 10
"""Few, because an upload that comes meanwhile is analysed after them where there is one process."""

NOT_OF_THE_SERIES = (OperationalError, InterfaceError, SoftTimeLimitExceeded)
"""Errors that any series would meet now."""

log = structlog.get_logger()

QUIET_DAYS = 7
"""A recovered alert that nothing happened to for so long closes itself."""

NOTHING_BACK: Mapping[int, int] = {}
OF_MACHINES: Mapping[str, Callable[[int, Sequence[Finding]], None]] = {
    Finding.Kind.SLOW: writing.reconcile_slow_losses,
    Finding.Kind.EXCURSION: writing.reconcile_excursions,
}
"""Alerts that blame no commit; kinds of alerts and of findings have one name."""


@dataclass(frozen=True, slots=True)
class Analysed:
    """How many series were looked at, how many of them are done, and whether more were waiting."""

    claimed: int
    finished: int
    more: bool = False


@transaction.atomic
def analyse_dirty_series(*, limit: int = BATCH, only: int | None = None) -> Analysed:
    """Analyse up to ``limit`` series whose points changed, or ``only`` the one with that id, and
    bring their trees' alerts in line. What options cost follows from the series with and without
    them: its own series are marked, and are ``more``.

    Safe to run twice and in several workers at once: a worker holds the analysis rows of the
    series it works on, others pass them by. Locks are taken in this order: analysis rows, trees,
    findings, alerts, series in the order of their ids.
    """
    results.begin_writing()
    claimed = analysis.claim_series(limit, only)
    if not claimed:
        return Analysed(0, 0)
    stale, seen_until = analysis.stale_among(claimed)
    if stale:
        with quietly():
            analysis.mark_stale(_conclude(stale, seen_until).again)
    concluded = _conclude(claimed)
    wake_at_revisions(concluded.trees, now=timezone.now())
    finished = analysis.finish(concluded.detected, again=concluded.again)
    more = concluded.is_followed or len(claimed) == limit
    return Analysed(len(claimed), finished, more=more)


def analyse_stale_series(*, limit: int = STALE_BATCH, only: int | None = None) -> int:
    """Repeat up to ``limit`` analyses that an earlier version of the method made, or ``only`` the
    one of the series with that id; how many. Nobody is notified of what changes by it.

    As safe as `analyse_dirty_series`. Series whose points change meanwhile are left to that.
    """
    with transaction.atomic(), quietly():
        results.begin_writing()
        claimed = analysis.claim_stale(limit, only)
        if not claimed:
            return 0
        analysis.mark_stale(_conclude(claimed).again)
        if not analysis.are_as_read(claimed):
            # An upload came in the middle: people are to be notified of what it shows.
            transaction.set_rollback(True)
            return 0
    return len(claimed)


@dataclass(frozen=True, slots=True)
class _Concluded:
    """What was ``detected`` in which ``trees``, which other series (ids) are to be analysed
    ``again``, and whether any are dirty because of it.
    """

    detected: Sequence[analysis.Detected]
    trees: Sequence[int]
    again: Sequence[int]
    is_followed: bool


def _conclude(
    claimed: Sequence[Series], seen_until: Mapping[int, datetime] = analysis.ALL_RUNS
) -> _Concluded:
    """What series show, and the alerts of their trees in line with it."""
    detected = analysis.compare_and_detect(claimed, seen_until)
    trees = results.lock_trees(series.tree_id for series in claimed)
    again = analysis.store_findings(detected)
    for tree in trees:
        reconcile_alerts(tree)
    costs = results.changed_costs(claimed)
    renewed = results.renew_costs(costs, besides=[*again, *(one.pk for one in claimed)])
    return _Concluded(detected, trees, again, bool(again) or renewed)


def analyse_apart() -> int:
    """Analyse each dirty series by itself, so that one that cannot be analysed holds up no other;
    how many are done. That one stays dirty, which /metrics shows, and the log has why.
    """
    dirty = Series.objects.dirty().values_list("pk", flat=True)
    return _apart(dirty, lambda pk: analyse_dirty_series(only=pk).finished)


def analyse_stale_apart() -> int:
    """The same with the series whose analysis is stale."""
    stale = SeriesAnalysis.objects.stale().values_list("pk", flat=True)
    return _apart(stale, lambda pk: analyse_stale_series(only=pk))


def _apart(series: Iterable[int], analyse: Callable[[int], int]) -> int:
    finished = 0
    for pk in list(series):
        try:
            finished += analyse(pk)
        except NOT_OF_THE_SERIES:
            raise
        except Exception:
            log.exception("a series could not be analysed, the next sweep tries again", series=pk)
    return finished


@transaction.atomic
def pass_time(*, now: datetime | None = None) -> int:
    """Close and wake alerts whose time has come; how many. Safe to run twice and at once."""
    now = now or timezone.now()
    quiet = Q(state=Alert.State.RECOVERED, updated_at__lte=now - timedelta(days=QUIET_DAYS))
    slept = Q(state=Alert.State.SNOOZED, snoozed_until__lte=now)
    reached = Alert.objects.past_their_revision().values("pk")
    due = Alert.objects.filter(quiet | slept | Q(pk__in=reached))
    trees = results.lock_trees(due.order_by().values_list("tree_id", flat=True).distinct())
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


@transaction.atomic
def reconcile_trees(trees: Iterable[int]) -> None:
    """Bring the alerts of trees (ids) in line at once, because a setting changed."""
    results.begin_writing()
    for tree in results.lock_trees(trees):
        reconcile_alerts(tree)


def reconcile_alerts(tree: int, *, back: Mapping[int, int] = NOTHING_BACK) -> None:
    """Open, move, merge and retract the alerts of a tree. The caller holds ``lock_trees``.

    When nothing changed, nothing is written. ``back``: to which alert (id) findings (ids) were
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
        writing.write_changes(tree, changes, alerts, findings, now=timezone.now())
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
