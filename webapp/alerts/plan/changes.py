"""What is to be done to alerts, one class for each thing. Each says what an alert is after it."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from webapp.alerts.grouping import AlertVerdict
from webapp.alerts.plan.known import CommitRange, KnownAlert, State

News = Literal["recovered", "returned", "snoozed", "woke"]


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
