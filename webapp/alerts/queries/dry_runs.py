"""What another smallest effect would have raised: the grouping of alerts, done again on paper.

Findings do not depend on thresholds, which only decide which of them may open an alert. So the
stored findings of a tree, grouped with the thresholds in force and again with one of them changed,
give both sets of alerts exactly: changes of level by commits, slow losses and excursions by
machine. Nothing is written.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from webapp.alerts.models import Alert, AlertFinding
from webapp.alerts.plan.changes import KnownHold
from webapp.alerts.queries import evidence
from webapp.alerts.queries.min_effects import MinEffects, Scope
from webapp.analysis.models import Finding

ANY_SIZE = float("inf")


@dataclass(frozen=True, slots=True)
class Case:
    """An alert that a threshold makes: what it is of, with what opens it, the weightiest first."""

    kind: str
    is_history: bool
    openers: Sequence[Finding]

    @property
    def worst(self) -> Finding:
        """The finding that a line about it shows."""
        return self.openers[0]

    @property
    def more(self) -> int:
        """How many findings open it besides."""
        return len(self.openers) - 1

    @property
    def alert(self) -> Alert | None:
        """The one that holds it now, if any does."""
        member = getattr(self.worst, "membership", None)
        return member.alert if isinstance(member, AlertFinding) else None


@dataclass(frozen=True, slots=True)
class DryRun:
    """Of the alerts with a change in the scope: those that would be ``raised`` besides, those that
    would be ``gone``, and how many stay (``kept``).

    Of those that stay ``because_of_others`` would be opened by what lies outside the scope alone,
    and ``moved`` would name another last suspect. ``older`` were first detected before the days
    that count, and ``overruled`` series have a threshold of their own, which is in force instead.
    ``uncovered`` are the numbers of alerts there that no threshold makes or unmakes: nothing that
    they hold would open one today.
    """

    raised: Sequence[Case]
    gone: Sequence[Case]
    because_of_others: Sequence[Case]
    kept: int
    moved: int
    older: int
    overruled: int
    uncovered: Sequence[int]

    @property
    def before(self) -> int:
        """How many alerts there are with the threshold in force."""
        return self.kept + len(self.gone)

    @property
    def after(self) -> int:
        """How many alerts there would be with the other one."""
        return self.kept + len(self.raised)


@dataclass(frozen=True, slots=True)
class _Alert:
    """One that thresholds make. ``target`` is its last suspect; None where no commit is blamed."""

    kind: str
    is_history: bool
    openers: frozenset[int]
    target: int | None = None


@dataclass(slots=True)
class _Difference:
    raised: list[_Alert] = field(default_factory=list)
    gone: list[_Alert] = field(default_factory=list)
    because_of_others: list[_Alert] = field(default_factory=list)
    kept: int = 0
    moved: int = 0
    older: int = 0
    overruled: set[int] = field(default_factory=set)
    uncovered: set[int] = field(default_factory=set)


def dry_run(scope: Scope, percent: float | None, *, since: datetime) -> DryRun:
    """What would change if ``percent`` were set for ``scope``, None: if nothing were set there.

    Only alerts with an opener first detected ``since`` then count.
    """
    found = _Difference()
    for tree in scope.trees():
        findings, holds = evidence.alertable_in(tree), evidence.holds_in([tree])
        now = MinEffects.of({row.series_id for row in findings}, tree=tree)
        then = now.having(scope.part, scope.of.pk, percent)
        before, after = (_alerts(tree, findings, one, holds) for one in (now, then))
        within = [row for row in findings if scope.holds(row.series)]
        late = {row.pk for row in findings if row.first_detected_at >= since}
        _compare(found, before, after, late, {row.pk for row in within})
        opening = {pk for one in before for pk in one.openers}
        there = {row.pk for row in within} & late
        found.uncovered |= _uncovered(findings, opening, there)
        found.overruled |= {
            row.series_id for row in within if now.is_overruled(row.series, scope.part)
        }
    rows = _rows([*found.raised, *found.gone, *found.because_of_others])
    raised, gone, because_of_others = (
        [_case(one, rows) for one in alerts]
        for alerts in (found.raised, found.gone, found.because_of_others)
    )
    return DryRun(
        raised=raised,
        gone=gone,
        because_of_others=because_of_others,
        kept=found.kept,
        moved=found.moved,
        older=found.older,
        overruled=len(found.overruled),
        uncovered=sorted(found.uncovered),
    )


def _uncovered(findings: Sequence[Finding], opening: set[int], there: set[int]) -> set[int]:
    """The alerts that hold a finding of ``there`` and none that opens one."""
    held: dict[int, set[int]] = defaultdict(set)
    for row in findings:
        member = getattr(row, "membership", None)
        if isinstance(member, AlertFinding):
            held[member.alert_id].add(row.pk)
    return {alert for alert, pks in held.items() if pks & there and not pks & opening}


def _alerts(
    tree: int, findings: Sequence[Finding], effects: MinEffects, holds: Sequence[KnownHold]
) -> list[_Alert]:
    """The alerts of every kind that the findings of a tree make under ``effects``."""
    of_kind = {kind: [row for row in findings if row.kind == kind] for kind in Finding.Kind}
    levels = evidence.conclude(tree, of_kind[Finding.Kind.LEVEL], effects, holds=holds)
    found = [
        _Alert(
            str(one.group.verdict),
            one.is_history,
            frozenset(row.finding for row in one.group.openers),
            one.group.suspect,
        )
        for one in levels
    ]
    slow = evidence.slow_losses(tree, of_kind[Finding.Kind.SLOW], effects).values()
    odd = evidence.excursions(tree, of_kind[Finding.Kind.EXCURSION], effects).values()
    historic = evidence.uploaded_as_history([row for rows in (*slow, *odd) for row in rows])
    for kind, groups in ((Alert.Kind.SLOW, slow), (Alert.Kind.EXCURSION, odd)):
        for rows in groups:
            openers = frozenset(row.pk for row in rows)
            found.append(_Alert(str(kind.label), openers <= historic, openers))
    return found


def _compare(
    found: _Difference,
    before: Sequence[_Alert],
    after: Sequence[_Alert],
    late: set[int],
    within: set[int],
) -> None:
    """An alert stays if one of its openers still opens one."""
    was = {pk for one in before for pk in one.openers}
    opens = {pk: one for one in after for pk in one.openers}
    found.raised += [one for one in after if one.openers & late and not one.openers & was]
    for one in before:
        if not one.openers & within:
            continue
        if not one.openers & late:
            found.older += 1
            continue
        stays = [opens[pk] for pk in one.openers if pk in opens]
        if not stays:
            found.gone.append(one)
            continue
        found.kept += 1
        found.moved += one.target not in {other.target for other in stays}
        if not any(other.openers & within for other in stays):
            found.because_of_others.append(one)


def _rows(alerts: Iterable[_Alert]) -> dict[int, Finding]:
    """The findings that open them, with everything that pages name."""
    wanted = {pk for one in alerts for pk in one.openers}
    found = (
        Finding.all_kinds.with_subjects()
        .with_revisions()
        .select_related("membership__alert__resolution_revision")
    )
    return found.defer("why").in_bulk(wanted)


def _case(alert: _Alert, rows: dict[int, Finding]) -> Case:
    openers = sorted((rows[pk] for pk in alert.openers), key=_weight)
    return Case(alert.kind, alert.is_history, openers)


def _weight(row: Finding) -> tuple[bool, float, int]:
    """Worse before better, then by size."""
    size = ANY_SIZE if row.change_pct is None else abs(row.change_pct)
    return row.verdict != "worse", -size, row.pk
