"""Read what the alerts of a tree are made from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.postgres.aggregates import BoolAnd
from django.db.models import Count, Q

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence, Group, group, join
from webapp.alerts.held import Held
from webapp.alerts.models import Alert, Assignment
from webapp.alerts.queries.thresholds import Thresholds
from webapp.analysis.models import Finding
from webapp.results.models import Point, Run


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A group with what decides the state it rests in while nobody triages it."""

    group: Group
    is_history: bool
    is_recovered: bool


def joined(own: Conclusion, assigned: Conclusion) -> Conclusion:
    """``own`` with what people added to it; what opens nothing decides nothing."""
    return Conclusion(
        group=join(own.group, assigned.group),
        is_history=own.is_history and assigned.is_history,
        is_recovered=own.is_recovered and assigned.is_recovered,
    )


def findings_in(tree: int) -> list[Finding]:
    """The proven findings of a tree, and those that an alert still holds, in order of ids."""
    wanted = Q(state__in=Finding.PROVEN) | Q(membership__isnull=False)
    parts = ("series__hardware", "series__mode", "series__metric", "after", "last", "membership")
    found = Finding.objects.filter(wanted, series__tree=tree)
    return list(found.select_related(*parts).defer("why").order_by("pk"))


def alerts_of(findings: Iterable[Finding]) -> dict[int, int]:
    """Which alert (id) holds each finding (id) of `findings_in`; what none holds is left out."""
    return {row.pk: row.membership.alert_id for row in findings if hasattr(row, "membership")}


def conclude(
    tree: int,
    findings: Iterable[Finding],
    thresholds: Thresholds | None = None,
    *,
    held: Sequence[Held] = (),
) -> list[Conclusion]:
    """The alerts that the present findings of a tree make: a function of the data alone.

    ``thresholds`` are those in force unless others are given, to see what they would make. A
    finding that is ``held`` reaches any: what opened its alert had done so.
    """
    proven = {row.pk: row for row in findings if row.state in Finding.PROVEN}
    if not proven:
        return []
    if thresholds is None:
        thresholds = Thresholds.of({row.series_id for row in proven.values()}, tree=tree)
    evidence = [_evidence(row, thresholds, held) for row in proven.values()]
    assigned, anchors = _assigned(tree)
    groups = group(evidence, _received(proven.values()), assigned, anchors)
    history = _history([proven[one.finding] for one_group in groups for one in one_group.openers])
    return [_conclusion(one, proven, history) for one in groups]


def _evidence(row: Finding, thresholds: Thresholds, held: Sequence[Held]) -> Evidence:
    least = thresholds.for_series(row.series).percent
    is_large = row.change_pct is None or abs(row.change_pct) >= least
    return Evidence(
        finding=row.pk,
        after=row.after.position,
        last=row.last.position,
        at=row.position,
        verdict=row.verdict,
        p_value=row.p_value,
        is_large=is_large or any(covers(one, row) for one in held),
        series=row.series_id,
    )


def covers(held: Held, row: Finding) -> bool:
    """Whether the finding is of what is held. Needs ``after`` and ``last``."""
    return held.covers(
        series=row.series_id,
        after=row.after.position,
        last=row.last.position,
        change_pct=row.change_pct,
    )


def _assigned(tree: int) -> tuple[list[Assigned], dict[int, int]]:
    """What people said about the findings of a tree, and where the alerts that they named stand."""
    rows = (
        Assignment.objects.filter(alert__tree=tree)
        .order_by("pk")
        .values_list("alert_id", "series_id", "after__position", "last__position")
    )
    assigned = [Assigned(*row) for row in rows]
    named = Alert.objects.filter(pk__in={one.alert for one in assigned})
    return assigned, dict(named.values_list("pk", "revision__position"))


def _received(findings: Iterable[Finding]) -> dict[int, int]:
    """By position, how many series have a point at a revision that a finding names."""
    positions = {row.revision_id: row.position for row in findings}
    counted = (
        Point.objects.filter(revision__in=positions)
        .order_by()
        .values("revision_id")
        .annotate(series=Count("pk"))
        .values_list("revision_id", "series")
    )
    return {positions[revision]: series for revision, series in counted}


Place = tuple[int, int, int]  # revision, hardware, mode


def _place(row: Finding) -> Place:
    return row.revision_id, row.series.hardware_id, row.series.mode_id


def _history(findings: Sequence[Finding]) -> set[Place]:
    """The places of findings where every run was uploaded as history."""
    rows = (
        Run.objects.counted()
        .filter(revision__in={row.revision_id for row in findings})
        .order_by()
        .values_list("revision_id", "hardware_id", "mode_id")
        .annotate(only=BoolAnd("history"))
    )
    return {(revision, hardware, mode) for revision, hardware, mode, only in rows if only}


def _conclusion(one: Group, proven: dict[int, Finding], history: set[Place]) -> Conclusion:
    openers = [proven[row.finding] for row in one.openers]
    return Conclusion(
        group=one,
        is_history=all(_place(row) in history for row in openers),
        is_recovered=all(row.state == Finding.State.RECOVERED for row in openers),
    )
