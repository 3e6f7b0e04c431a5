"""Make the decision that the stored evidence leads to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webapp.bisects.deciding import decision_of
from webapp.bisects.forecasting import forecast_left
from webapp.bisects.models import Bisect, BisectDecision, BisectJob
from webapp.bisects.question import Circumstances, machine_of
from webapp.bisects.services.settling import lab_failures, machine_hours
from webapp.bisects.workers import hands_of
from webapp.results.models import Revision
from webapp.stats import bisection


@dataclass(frozen=True, slots=True)
class Hands:
    """Agents that can measure now, by machine. ``unserved``: modes that none of their machine's
    agents measures.
    """

    of_machine: dict[str, int]
    unserved: tuple[int, ...] = ()

    @classmethod
    def now(cls, bisect: Bisect, now: datetime) -> "Hands":
        """Those that asked for work lately; a bisect by hand has one person."""
        if bisect.manual:
            return cls({machine_of(bisect): 1})
        counts = hands_of(bisect.scopes, now)
        found: dict[str, int] = {}
        for scope, count in counts:
            if count:
                found[machine_of(scope)] = max(found.get(machine_of(scope), 0), count)
        unserved = [s.number for s, count in counts if not count and machine_of(s) in found]
        return cls(found, tuple(unserved))

    @property
    def count(self) -> int:
        """All of them."""
        return sum(self.of_machine.values())

    def free(self, bisect: Bisect, pending: Sequence[BisectJob]) -> dict[str, int]:
        """Those with nothing to do. With nobody at all one job waits for each machine, for whoever
        comes first.
        """
        machines = {machine_of(scope): 1 for scope in bisect.scopes}
        busy = [machine_of(bisect.scopes[one.subject]) for one in pending]
        known = self.of_machine or machines
        return {machine: max(count - busy.count(machine), 0) for machine, count in known.items()}


def make_decision(
    bisect: Bisect,
    revisions: Sequence[Revision],
    pending: Sequence[BisectJob],
    hands: Hands,
    now: datetime,
) -> tuple[BisectDecision, bisection.Decision]:
    """What the stored evidence leads to: the row, unsaved, and the decision that it describes."""
    names = [revision.name for revision in revisions]
    unserved = dict.fromkeys(hands.unserved, "No agent of this machine serves the mode.")
    failures = unserved | lab_failures(bisect)
    at_hand = Circumstances(
        at=now,
        asked=tuple(bisection.Asked(one.subject, _measure(one)) for one in pending),
        free=hands.free(bisect, pending),
        hours=machine_hours(bisect),
        failure="" if bisect.is_of_several else failures.pop(0, ""),
        failures=failures,
    )
    known = list(bisect.boots.filter(dropped_at__isnull=True)), list(bisect.acts.all()), at_hand
    row, found = decision_of(bisect, names, *known)
    if found.outcome is None and (found.actions or not pending):
        row.figures["left"] = forecast_left(bisect, names, known, hands.count)
    return row, found


def _measure(one: BisectJob) -> bisection.Measure:
    return bisection.Measure(one.index, bisection.Purpose(one.purpose), one.job.rebuild)
