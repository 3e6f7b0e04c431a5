"""Which finding took the place of one that is gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webapp.analysis.models import Finding
from webapp.results.services import update_rows
from webapp.stats import changes


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
