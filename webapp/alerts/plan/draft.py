"""A plan while it is made: the alerts as they will be, and what makes them so."""

from collections.abc import Iterable

from webapp.alerts.grouping import AlertVerdict
from webapp.alerts.plan.changes import Open, PlannedChange, ToKnown
from webapp.alerts.plan.known import CommitRange, KnownAlert


class Draft:
    """Alerts by their numbers, and the changes that were made to them, in order."""

    def __init__(self, alerts: Iterable[KnownAlert]) -> None:
        self.alerts = {alert.number: alert for alert in alerts}
        self.changes: list[PlannedChange] = []

    def add(self, change: ToKnown) -> None:
        """Plan a change, and go on from the alert as it is after it."""
        self.alerts[change.alert] = change.on(self.alerts[change.alert])
        self.changes.append(change)

    def open(
        self,
        commits: CommitRange,
        verdict: AlertVerdict,
        *,
        is_history: bool,
        is_one_build: bool = False,
    ) -> int:
        """A new alert; what it is called is larger than any number here, as its own will be."""
        called = max(self.alerts, default=0) + 1
        change = Open(called, commits, verdict, is_history, is_one_build)
        self.alerts[called] = change.made()
        self.changes.append(change)
        return called
