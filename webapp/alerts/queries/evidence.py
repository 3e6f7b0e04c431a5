"""Read what the alerts of a tree are made from, and which slow losses and excursions make an alert
of their machine: no commit is to blame for either, so that nothing groups them by commits.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.contrib.postgres.aggregates import BoolAnd
from django.db.models import Count, Q

from webapp.alerts import plan
from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence
from webapp.alerts.models import Alert, AlertHold, Assignment
from webapp.alerts.plan.changes import KnownFinding, KnownHold
from webapp.alerts.queries.min_effects import MinEffects
from webapp.analysis.models import Finding, Verdict
from webapp.results.models import Point, Run
from webapp.stats.several_series import modes_agree

Measured = tuple[int, int, int]  # revision, hardware, mode
Odd = tuple[int, int]  # hardware, revision


@dataclass(frozen=True, slots=True)
class Read:
    """The findings of a tree, how many series have a point at each position, people's decisions."""

    findings: Sequence[KnownFinding]
    received: Mapping[int, int] = field(default_factory=dict)
    assigned: Sequence[Assigned] = ()


def alertable_in(tree: int) -> list[Finding]:
    """The changes of level, slow changes and excursions of a tree that may alert, and those that an
    alert holds, in order of ids.
    """
    wanted = Q(state__in=Finding.ALERTED) | Q(membership__isnull=False)
    parts = ("series__hardware", "series__mode", "series__metric", "after", "last", "membership")
    kinds = (Finding.Kind.LEVEL, Finding.Kind.SLOW, Finding.Kind.EXCURSION)
    found = Finding.all_kinds.filter(wanted, series__tree=tree, kind__in=kinds)
    return list(found.select_related(*parts).defer("why").order_by("pk"))


def holds_in(trees: Iterable[int]) -> list[KnownHold]:
    """What is held of the alerts of trees (ids), in the order of their alerts; one statement."""
    lasting = AlertHold.objects.filter(ended_at__isnull=True, alert__tree__in=list(trees))
    rows = lasting.order_by("alert", "series", "after__position", "pk").values_list(
        "alert", "series", "after__position", "last__position", "is_loss"
    )
    return [KnownHold(*row) for row in rows]


def conclude(
    tree: int, findings: Sequence[Finding], min_effects: MinEffects, *, holds: Sequence[KnownHold]
) -> list[plan.Conclusion]:
    """The alerts that the present findings of a tree would make under ``min_effects``."""
    read = read_evidence(tree, findings, holds=holds, min_effects=min_effects)
    named = Alert.objects.filter(pk__in={one.alert for one in read.assigned})
    return plan.conclude(
        read.findings,
        holds=holds,
        received=read.received,
        assigned=read.assigned,
        anchors=dict(named.values_list("pk", "revision__position")),
    )


def read_evidence(
    tree: int,
    findings: Sequence[Finding],
    *,
    holds: Sequence[KnownHold],
    min_effects: MinEffects | None = None,
) -> Read:
    """What is known of findings of `alertable_in`, under the thresholds in force unless others are
    given. Where none may alert, nothing else counts.
    """
    proven = [row for row in findings if row.state in Finding.ALERTED]
    if not proven:
        return Read([_known(row, is_large=False) for row in findings])
    if min_effects is None:
        min_effects = MinEffects.of({row.series_id for row in proven}, tree=tree)
    parents = _parents(findings)
    known = [
        _known(row, is_large=is_large(row, min_effects), parents=parents.get(row.series_id, ()))
        for row in findings
    ]
    return Read(_with_history(known, findings, holds), _received(proven), _assigned(tree))


def is_large(row: Finding, min_effects: MinEffects) -> bool:
    """One build a side must surely reach the threshold: its size is that of its builds."""
    least = min_effects.for_series(row.series).percent
    if row.state == Finding.State.ONE_BUILD and row.one_build is not None:
        sure = float(row.one_build["sure_pct"])
        return abs(sure) >= least and (sure < 0) == (
            row.change_pct is not None and row.change_pct < 0
        )
    return row.change_pct is None or abs(row.change_pct) >= least


def uploaded_as_history(findings: Sequence[Finding]) -> set[int]:
    """The ids of those at whose revision every run was uploaded as history; one query."""
    rows = (
        Run.objects.counted()
        .plain()
        .filter(revision__in={row.revision_id for row in findings})
        .order_by()
        .values_list("revision_id", "hardware_id", "mode_id")
        .annotate(only=BoolAnd("history"))
    )
    historic = {(revision, hardware, mode) for revision, hardware, mode, only in rows if only}
    return {row.pk for row in findings if _measured(row) in historic}


def slow_losses(
    tree: int, findings: Sequence[Finding], min_effects: MinEffects | None = None
) -> Mapping[int, list[Finding]]:
    """By machine (id) the losses worth an alert whose windows overlap with that of the one that
    goes on longest, the largest first; ``findings`` are slow ones. Under the thresholds in force
    unless others are given.
    """
    worse = [
        row
        for row in findings
        if row.verdict == Verdict.WORSE and row.state == Finding.State.CONFIRMED
    ]
    if not worse:
        return {}
    least = min_effects or MinEffects.of({row.series_id for row in worse}, tree=tree)
    by_machine: dict[int, list[Finding]] = defaultdict(list)
    for row in worse:
        if is_large(row, least):
            by_machine[row.series.hardware_id].append(row)
    return {hardware: _overlapping(rows) for hardware, rows in by_machine.items()}


def excursions(
    tree: int, findings: Sequence[Finding], min_effects: MinEffects | None = None
) -> Mapping[Odd, list[Finding]]:
    """The losses worth an alert of each machine at each revision where its modes agree, the largest
    first; ``findings`` are excursions. What an option costs is no mode of its own. Under the
    thresholds in force unless others are given.
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
    series = {row.series_id for rows in several.values() for row in rows}
    least = min_effects or MinEffects.of(series, tree=tree)
    large = {key: [row for row in rows if is_large(row, least)] for key, rows in several.items()}
    measured = _measured_at(list(large))
    return {
        key: sorted(rows, key=_largest_first)
        for key, rows in large.items()
        if modes_agree(len(_modes(rows)), measured.get(key, 0))
    }


def _parents(findings: Sequence[Finding]) -> dict[int, tuple[int, ...]]:
    """Of each cost (series, by id) that changed: those of the series it follows from that did."""
    by_subject = {
        (row.series.hardware_id, row.series.metric_id, str(row.series.mode)): row.series_id
        for row in findings
    }
    costs = {row.series_id: row.series for row in findings if row.series.is_cost}
    return {
        pk: tuple(
            by_subject[subject]
            for mode in (one.mode.parts, one.mode.parts.without(one.metric.option))
            if (subject := (one.hardware_id, one.metric.of_id, str(mode))) in by_subject
        )
        for pk, one in costs.items()
    }


def _known(row: Finding, *, is_large: bool, parents: tuple[int, ...] = ()) -> KnownFinding:
    evidence = Evidence(
        finding=row.pk,
        after=row.after.position,
        last=row.last.position,
        at=row.position,
        verdict=row.verdict,
        p_value=row.p_value,
        is_large=is_large,
        series=row.series_id,
        has_passed=row.one_build is not None,
        parents=parents,
        locations=tuple((position, chance) for position, _, chance in row.locations),
        here=row.here,
    )
    return KnownFinding(
        evidence=evidence,
        change_pct=row.change_pct,
        is_proven=row.state in Finding.ALERTED,
        is_one_build=row.state == Finding.State.ONE_BUILD,
        is_recovered=row.state == Finding.State.RECOVERED,
        superseded_by=row.superseded_by_id,
        alert=row.membership.alert_id if hasattr(row, "membership") else None,
    )


def _assigned(tree: int) -> list[Assigned]:
    """People's decisions on the findings of a tree."""
    rows = (
        Assignment.objects.filter(alert__tree=tree)
        .order_by("pk")
        .values_list("alert_id", "series_id", "after__position", "last__position")
    )
    return [Assigned(*row) for row in rows]


def _received(proven: Iterable[Finding]) -> dict[int, int]:
    """By position, how many series have a point at a revision that a finding names."""
    positions = {row.revision_id: row.position for row in proven}
    counted = (
        Point.objects.that_agree()
        .plain()
        .filter(revision__in=positions)
        .order_by()
        .values("revision_id")
        .annotate(series=Count("series"))
        .values_list("revision_id", "series")
    )
    return {positions[revision]: series for revision, series in counted}


def _measured(row: Finding) -> Measured:
    return row.revision_id, row.series.hardware_id, row.series.mode_id


def _with_history(
    known: Sequence[KnownFinding], findings: Sequence[Finding], holds: Sequence[KnownHold]
) -> list[KnownFinding]:
    """Mark those where every run was uploaded as history. Only large ones are looked at:
    nothing else opens an alert.
    """
    opening = [
        row
        for one, row in zip(known, findings, strict=True)
        if one.is_proven and plan.is_large(one, holds)
    ]
    old = uploaded_as_history(opening)
    return [replace(one, is_history=True) if one.number in old else one for one in known]


def _overlapping(rows: Sequence[Finding]) -> list[Finding]:
    newest = max(rows, key=lambda row: row.position)
    joined = [row for row in rows if newest.after.position < row.position]
    return sorted(joined, key=_largest_first)


def _largest_first(row: Finding) -> tuple[float, int]:
    return row.change_pct or 0.0, row.pk


def _modes(rows: Sequence[Finding]) -> set[int]:
    return {row.series.mode_id for row in rows}


def _measured_at(odd: Sequence[Odd]) -> dict[Odd, int]:
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
