"""What another smallest effect would have raised: the grouping of alerts, done again on paper.

Findings do not depend on thresholds, which only say which of them may open an alert. So the stored
findings of a tree, grouped with the thresholds in force and again with one of them changed, give
both sets of alerts exactly. Nothing is written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from webapp.alerts.models import Alert, AlertFinding
from webapp.alerts.plan.conclusions import Conclusion
from webapp.alerts.queries.evidence import conclude, findings_in
from webapp.alerts.queries.holds import holds_in
from webapp.alerts.queries.min_effects import MinEffects
from webapp.alerts.queries.scopes import Scope
from webapp.analysis.models import Finding

ANY_SIZE = float("inf")


@dataclass(frozen=True, slots=True)
class Case:
    """An alert that a threshold makes, with what opens it, the weightiest first."""

    verdict: str
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
    """The alerts that would be ``raised`` besides, those that would be ``gone``, how many stay
    (``kept``), and how many of these would name another last suspect (``moved``)."""

    raised: Sequence[Case]
    gone: Sequence[Case]
    kept: int
    moved: int

    @property
    def before(self) -> int:
        """How many alerts there are with the threshold in force."""
        return self.kept + len(self.gone)

    @property
    def after(self) -> int:
        """How many alerts there would be with the other one."""
        return self.kept + len(self.raised)


@dataclass(slots=True)
class _Difference:
    raised: list[Conclusion] = field(default_factory=list)
    gone: list[Conclusion] = field(default_factory=list)
    kept: int = 0
    moved: int = 0


def dry_run(scope: Scope, percent: float | None, *, since: datetime) -> DryRun:
    """What would change if ``percent`` were set for ``scope``, None: if nothing were set there.

    Only alerts with an opener first detected ``since`` then count.
    """
    found = _Difference()
    for tree in scope.trees():
        findings = findings_in(tree)
        holds = holds_in([tree])
        now = MinEffects.of({row.series_id for row in findings}, tree=tree)
        then = now.having(scope.part, scope.of.pk, percent)
        before, after = (conclude(tree, findings, one, holds=holds) for one in (now, then))
        late = {row.pk for row in findings if row.first_detected_at >= since}
        _compare(found, before, after, late)
    rows = _rows([*found.raised, *found.gone])
    return DryRun(
        raised=[_case(one, rows) for one in found.raised],
        gone=[_case(one, rows) for one in found.gone],
        kept=found.kept,
        moved=found.moved,
    )


def _compare(
    found: _Difference, before: Sequence[Conclusion], after: Sequence[Conclusion], late: set[int]
) -> None:
    """An alert stays if one of its openers still opens one."""
    was = {pk for one in before for pk in _openers(one)}
    opens = {pk: one.group.suspect for one in after for pk in _openers(one)}
    found.raised += [one for one in after if _openers(one) & late and not _openers(one) & was]
    for one in before:
        if not _openers(one) & late:
            continue
        suspects = {opens[pk] for pk in _openers(one) if pk in opens}
        if not suspects:
            found.gone.append(one)
            continue
        found.kept += 1
        found.moved += one.group.suspect not in suspects


def _openers(conclusion: Conclusion) -> set[int]:
    return {row.finding for row in conclusion.group.openers}


def _rows(conclusions: Iterable[Conclusion]) -> dict[int, Finding]:
    """The findings that open them, with everything that pages name."""
    wanted = {pk for one in conclusions for pk in _openers(one)}
    found = (
        Finding.objects.with_subjects()
        .with_revisions()
        .select_related("membership__alert__resolution_revision")
    )
    return found.defer("why").in_bulk(wanted)


def _case(conclusion: Conclusion, rows: dict[int, Finding]) -> Case:
    openers = sorted((rows[pk] for pk in _openers(conclusion)), key=_weight)
    return Case(conclusion.group.verdict, conclusion.is_history, openers)


def _weight(row: Finding) -> tuple[bool, float, int]:
    """Worse before better, then by size."""
    size = ANY_SIZE if row.change_pct is None else abs(row.change_pct)
    return row.verdict != "worse", -size, row.pk
