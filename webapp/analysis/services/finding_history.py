"""Add to the findings' events what an analysis changed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.analysis.models import Finding, FindingEvent
from webapp.results.services import insert_rows

Kind = FindingEvent.Kind
State = Finding.State

ENTERED = {
    (State.CANDIDATE, State.CONFIRMED): Kind.CONFIRMED,
    (State.CANDIDATE, State.RECOVERED): Kind.RECOVERED,
    (State.CANDIDATE, State.ONE_BUILD): Kind.DETECTED,
    (State.ONE_BUILD, State.CONFIRMED): Kind.CONFIRMED,
    (State.ONE_BUILD, State.RECOVERED): Kind.RECOVERED,
    (State.CONFIRMED, State.RECOVERED): Kind.RECOVERED,
    (State.RECOVERED, State.CONFIRMED): Kind.RETURNED,
}
"""What a change of state is called; any other way but out leads back to a candidate."""


GONE = {State.RETRACTED: Kind.RETRACTED, State.SUPERSEDED: Kind.SUPERSEDED}


class FindingSnapshot(NamedTuple):
    """Where a finding stands: what its events keep of it."""

    state: str
    revision_id: int
    after_id: int
    last_id: int
    change_pct: float | None
    low_pct: float | None
    high_pct: float | None
    probability: float


def snapshot_of(row: Finding | FindingEvent) -> FindingSnapshot:
    """What an event keeps of the finding, or what this event kept."""
    return FindingSnapshot(*(getattr(row, name) for name in FindingSnapshot._fields))


def note_changes(
    findings: Sequence[Finding], *, before: Mapping[int, FindingSnapshot], now: datetime
) -> None:
    """Add an event for each of ``findings`` that stands elsewhere than it was last said to.

    ``before`` holds, by id, where the stored ones stood until now. A size is compared with the one
    last said, not with the last analysis, so a slow creep is noted as well as a jump.
    """
    known = [row.pk for row in findings if row.pk in before]
    logged = {row.finding_id: snapshot_of(row) for row in FindingEvent.objects.newest_of(known)}
    rows = []
    for finding in findings:
        old = logged.get(finding.pk) or before.get(finding.pk)
        kind = _kind(old, snapshot_of(finding), moves=finding.kind != Finding.Kind.SLOW)
        if kind is not None:
            rows.append(
                {
                    "finding_id": finding.pk,
                    "at": now,
                    "kind": kind,
                    **snapshot_of(finding)._asdict(),
                }
            )
    insert_rows(FindingEvent, rows)


def _kind(old: FindingSnapshot | None, new: FindingSnapshot, *, moves: bool) -> Kind | None:
    """The one word for what changed, the weightiest first; None when nothing worth a row did. What
    reaches to the newest revision goes on with each, and never ``moves``.
    """
    if old is None:
        return Kind.DETECTED
    if old.state != new.state:
        return _entered(State(old.state), State(new.state))
    if moves and old.revision_id != new.revision_id:
        return Kind.MOVED
    if moves and (old.after_id, old.last_id) != (new.after_id, new.last_id):
        return Kind.REFINED
    return Kind.RESIZED if _is_resized(old, new) else None


def _entered(old: State, new: State) -> Kind:
    if new in GONE:
        return GONE[new]
    return ENTERED.get((old, new), Kind.DOUBTED)


def _is_resized(old: FindingSnapshot, new: FindingSnapshot) -> bool:
    if old.low_pct is None or old.high_pct is None or new.change_pct is None:
        return old.change_pct != new.change_pct
    return not old.low_pct <= new.change_pct <= old.high_pct
