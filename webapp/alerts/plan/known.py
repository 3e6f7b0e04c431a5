"""What is known of a tree when its alerts are brought in line with its findings.

Commits are positions along the tree, rows go by their ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence

State = Literal[
    "new", "acknowledged", "investigating", "reopened", "recovered", "snoozed", "resolved"
]
"""Of an alert; the same as ``Alert.State``."""


@dataclass(frozen=True, slots=True)
class KnownFinding:
    """A finding, and the ``alert`` that holds it. ``is_history``: every run behind it was uploaded
    as such; ``is_one_build``: it rests on one build a side. Its ``change_pct`` is None beyond the
    double range.
    """

    evidence: Evidence
    change_pct: float | None
    is_proven: bool = True
    is_recovered: bool = False
    is_history: bool = False
    is_one_build: bool = False
    superseded_by: int | None = None
    alert: int | None = None

    @property
    def number(self) -> int:
        """The id of the finding."""
        return self.evidence.finding


@dataclass(frozen=True, slots=True)
class CommitRange:
    """The suspects are the commits later than ``after`` up to ``suspect``."""

    suspect: int
    after: int
    likeliest: int


@dataclass(frozen=True, slots=True)
class KnownAlert:
    """As much of an alert as its plan needs. ``named`` is the commit that a bisect named."""

    number: int
    commits: CommitRange
    verdict: str
    state: State
    is_active: bool = True
    triaged: bool = False
    history: bool = False
    one_build: bool = False
    mailed: bool = False
    resolution: str = ""
    duplicate_of: int | None = None
    named: int | None = None


@dataclass(frozen=True, slots=True)
class KnownHold:
    """An alert that a bisect holds, the series that is measured for it, and its interval: the
    commits later than ``after`` up to ``last``. ``is_loss``: the level fell there.

    A bisect measures single boots where the step may be. While it does, the detector's estimate of
    place and size swings from boot to boot, across thresholds and between commits. What is searched
    for is one and the same step all the while, and what the bisect found is better known than what
    the detector makes of a few points. So in this series and interval a finding of the alerted
    direction belongs to the alert, whatever its size, and the alert stands without one.
    """

    alert: int
    series: int
    after: int
    last: int
    is_loss: bool

    def covers(self, row: KnownFinding) -> bool:
        """Whether the finding is of the step that is searched for."""
        return (
            row.evidence.series == self.series
            and row.change_pct is not None
            and (row.change_pct < 0) == self.is_loss
            and max(row.evidence.after, self.after) < min(row.evidence.last, self.last)
        )


@dataclass(frozen=True, slots=True)
class Known:
    """One tree: its findings and alerts in order of their ids, what bisects hold, what people said.

    ``alerts`` are those that stand or hold findings, those of commits that a finding may blame,
    those that people named.
    ``received`` gives, by position, how many series have a point there. ``back`` says to which
    alert findings were taken back, which may have moved since.
    """

    findings: Sequence[KnownFinding]
    alerts: Sequence[KnownAlert] = ()
    holds: Sequence[KnownHold] = ()
    assigned: Sequence[Assigned] = ()
    received: Mapping[int, int] = field(default_factory=dict)
    back: Mapping[int, int] = field(default_factory=dict)
