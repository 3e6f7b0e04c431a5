"""People's decisions on which alert findings belong to. Pure: no model is touched here."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Assigned:
    """A person's word, in positions along one tree.

    With a ``series``: its finding that suspects a commit later than ``after`` up to ``last``
    belongs to ``alert``. Without: so does every group of findings whose last suspect lies there.
    """

    alert: int
    series: int | None
    after: int
    last: int


def alert_of_finding(
    series: int, after: int, last: int, assigned: Sequence[Assigned]
) -> int | None:
    """The alert that a finding was assigned to: the last word (``assigned`` in order) counts."""
    given = [
        one.alert
        for one in assigned
        if one.series == series and max(one.after, after) < min(one.last, last)
    ]
    return given[-1] if given else None


def alert_of_group(suspect: int, assigned: Sequence[Assigned]) -> int | None:
    """The alert that whatever points at ``suspect`` was merged into."""
    given = [
        one.alert for one in assigned if one.series is None and one.after < suspect <= one.last
    ]
    return given[-1] if given else None
