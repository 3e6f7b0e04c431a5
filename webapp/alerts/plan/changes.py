"""What is known of a tree when its alerts are brought in line with its findings, and what is to be
done to the alerts then: a class for each change, which states what an alert is after it.

Commits are positions along the tree, rows go by their ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import AlertVerdict, Evidence

State = Literal[
    "new", "acknowledged", "investigating", "reopened", "recovered", "snoozed", "resolved"
]
"""Of an alert; the same as ``Alert.State``."""

News = Literal["recovered", "returned", "snoozed", "woke"]


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
    """One tree: its findings and alerts in order of their ids, what bisects hold, people's
    decisions.

    ``alerts`` are those that stand or hold findings, those of commits that a finding may blame,
    those that people named.
    ``received`` gives, by position, how many series have a point there. ``back``: to which
    alert findings were taken back, which may have moved since.
    """

    findings: Sequence[KnownFinding]
    alerts: Sequence[KnownAlert] = ()
    holds: Sequence[KnownHold] = ()
    assigned: Sequence[Assigned] = ()
    received: Mapping[int, int] = field(default_factory=dict)
    back: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Open:
    """A new alert, which the other changes call by ``alert``: it has no number yet."""

    alert: int
    commits: CommitRange
    verdict: AlertVerdict
    is_history: bool
    is_one_build: bool = False

    def made(self) -> KnownAlert:
        """The alert as it is opened."""
        return KnownAlert(
            number=self.alert,
            commits=self.commits,
            verdict=self.verdict,
            state="snoozed" if self.is_history else "new",
            history=self.is_history,
            one_build=self.is_one_build,
        )


@dataclass(frozen=True, slots=True)
class Move:
    """The alert points at another commit."""

    alert: int
    commits: CommitRange

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert at its new commit."""
        return replace(alert, commits=self.commits)


@dataclass(frozen=True, slots=True)
class Refine:
    """The alert's likeliest commit is the same, its other suspects are not."""

    alert: int
    commits: CommitRange

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert with its new interval."""
        return replace(alert, commits=self.commits)


@dataclass(frozen=True, slots=True)
class Turn:
    """The alert's findings make another verdict together."""

    alert: int
    was: str
    verdict: AlertVerdict

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert with its new verdict."""
        return replace(alert, verdict=self.verdict)


@dataclass(frozen=True, slots=True)
class MarkOneBuild:
    """The alert rests on one build a side alone, or no longer: more builds confirmed it."""

    alert: int
    is_one_build: bool

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert with its mark."""
        return replace(alert, one_build=self.is_one_build)


@dataclass(frozen=True, slots=True)
class Leave:
    """Findings (ids) that it held are no longer its own."""

    alert: int
    findings: tuple[int, ...]

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert as it was: findings are no part of what the plan knows of it."""
        return alert


@dataclass(frozen=True, slots=True)
class Join:
    """The alert holds findings (ids) from now on."""

    alert: int
    findings: tuple[int, ...]

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert as it was: findings are no part of what the plan knows of it."""
        return alert


@dataclass(frozen=True, slots=True)
class TakeUp:
    """A duplicate of ``other`` waits or sleeps in its place: it gets the findings."""

    alert: int
    other: int
    state: State
    triaged: bool

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert, open again and no duplicate."""
        return replace(
            alert, state=self.state, triaged=self.triaged, resolution="", duplicate_of=None
        )


@dataclass(frozen=True, slots=True)
class MarkHistory:
    """The alert rests on runs uploaded as history alone, or no longer. ``is_event``: as an event,
    for what nobody triaged falls asleep or wakes, which is one.
    """

    alert: int
    is_history: bool
    is_event: bool

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert with its mark."""
        return replace(alert, history=self.is_history)


@dataclass(frozen=True, slots=True)
class Stand:
    """Findings back it again; in ``state``, if having none had closed it."""

    alert: int
    state: State | None

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert, active again."""
        stands = replace(alert, is_active=True)
        if self.state is None:
            return stands
        return replace(stands, state=self.state, resolution="", duplicate_of=None)


@dataclass(frozen=True, slots=True)
class Settle:
    """The alert comes to rest in another state, because of news of the given kind."""

    alert: int
    news: News
    state: State

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert in its new state."""
        return replace(alert, state=self.state, resolution="", duplicate_of=None)


@dataclass(frozen=True, slots=True)
class Retire:
    """No finding backs it: they are gone, or are mostly those of ``heir`` now. ``is_closed`` where
    nothing had closed it yet.
    """

    alert: int
    heir: int | None
    is_closed: bool

    def on(self, alert: KnownAlert) -> KnownAlert:
        """The alert, inactive; closed where that was for the plan to do."""
        if not self.is_closed:
            return replace(alert, is_active=False)
        resolution = "retracted" if self.heir is None else "duplicate"
        return replace(
            alert, is_active=False, state="resolved", resolution=resolution, duplicate_of=self.heir
        )


ToKnown: TypeAlias = (
    Move
    | Refine
    | Turn
    | MarkOneBuild
    | Leave
    | Join
    | TakeUp
    | MarkHistory
    | Stand
    | Settle
    | Retire
)
PlannedChange: TypeAlias = Open | ToKnown
