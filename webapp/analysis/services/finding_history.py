"""What became of findings: the events that an analysis adds, and which finding took the place of
one that is gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from webapp.analysis.models import Finding, FindingEvent
from webapp.results.services import insert_rows, update_rows
from webapp.stats import changes

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


@dataclass(frozen=True, slots=True)
class Present:
    """A change that the points show, with its finding; ``is_new``: nothing stored was matched."""

    change: changes.Change
    finding: Finding
    is_new: bool


def successor_of(gone: Finding, present: Sequence[Present]) -> Finding | None:
    """The confirmed finding of the same series and direction that ``gone`` is told by now.

    Either they share a suspect, as when two findings became one; or it is new with this analysis,
    the 95 % intervals of the sizes overlap and no other change lies between: it moved so far that
    no suspect is left. None: what it said is not said any more.
    """
    fitting = [
        one
        for one in present
        if one.change.verdict == gone.verdict
        and one.change.state == "confirmed"
        and (_shares_suspect(gone, one.change) or _moved_far(gone, one, present))
    ]
    nearest = min(fitting, key=lambda one: abs(_at(one) - gone.position), default=None)
    return nearest.finding if nearest else None


def supersede(replaced: Sequence[tuple[Finding, Finding]], now: datetime) -> None:
    """Store what was replaced by what; the latter is stored already."""
    for gone, by in replaced:
        gone.state, gone.superseded_by = Finding.State.SUPERSEDED, by
        gone.recovered_by_id, gone.updated_at = None, now
    written = ("state", "superseded_by_id", "recovered_by_id", "updated_at")
    update_rows(
        Finding,
        [{"id": gone.pk} | {name: getattr(gone, name) for name in written} for gone, _ in replaced],
    )


def _shares_suspect(gone: Finding, change: changes.Change) -> bool:
    after = max(gone.after.position, change.after.position)
    return after < min(gone.last.position, change.last.position)


def _moved_far(gone: Finding, one: Present, present: Sequence[Present]) -> bool:
    ends = sorted((gone.position, _at(one)))
    between = any(ends[0] < _at(other) < ends[1] for other in present)
    return one.is_new and not between and _agree(gone, one.change)


def _agree(gone: Finding, change: changes.Change) -> bool:
    if gone.low_pct is None or gone.high_pct is None:
        return False
    return gone.low_pct <= change.high_pct and change.low_pct <= gone.high_pct


def _at(one: Present) -> int:
    return one.change.revision.position
