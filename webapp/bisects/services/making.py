"""Make the decision that the stored evidence leads to, by one series or by several."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from webapp.bisects.deciding import decision_of, decision_of_all
from webapp.bisects.forecasting import forecast_left, forecast_left_of_all
from webapp.bisects.models import Bisect, BisectDecision, BisectJob
from webapp.bisects.question import Circumstances, machine_of
from webapp.bisects.services.settling import lab_failure, lab_failures, machine_hours
from webapp.bisects.workers import hands_of
from webapp.results.models import Revision
from webapp.stats import bisection


@dataclass(frozen=True, slots=True)
class Made:
    """``row``, unsaved; what it says in the words of the statistics; what is to be measured, by
    whom, and which subject leads.
    """

    row: BisectDecision
    found: bisection.Decision
    actions: tuple[bisection.Asked, ...]
    lead: int = 0


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
) -> Made:
    """What the stored evidence leads to, unsaved."""
    make = _of_several if bisect.is_of_several else _of_one
    return make(bisect, [revision.name for revision in revisions], pending, hands, now)


def _of_one(
    bisect: Bisect,
    names: Sequence[str],
    pending: Sequence[BisectJob],
    hands: Hands,
    now: datetime,
) -> Made:
    at_hand = Circumstances(
        at=now,
        pending=tuple(_measure(one) for one in pending),
        # With nobody to measure one job waits all the same, for whoever comes first.
        agents=max(max(hands.count, 1) - len(pending), 0),
        hours=machine_hours(bisect),
        failure=lab_failure(bisect),
    )
    boots, acts = list(bisect.boots.filter(dropped_at__isnull=True)), list(bisect.acts.all())
    made, found = decision_of(bisect, names, boots, acts, at_hand)
    if found.outcome is None and (found.actions or not pending):
        made.figures["left"] = forecast_left(bisect, names, (boots, acts, at_hand), hands.count)
    return Made(made, found, tuple(bisection.Asked(0, one) for one in found.actions))


def _of_several(
    bisect: Bisect,
    names: Sequence[str],
    pending: Sequence[BisectJob],
    hands: Hands,
    now: datetime,
) -> Made:
    free = hands.free(bisect, pending)
    at_hand = Circumstances(
        at=now,
        asked=tuple(bisection.Asked(one.subject, _measure(one)) for one in pending),
        agents=sum(free.values()),
        free=free,
        hours=machine_hours(bisect),
        failures=dict.fromkeys(hands.unserved, "No agent of this machine serves the mode.")
        | lab_failures(bisect),
    )
    boots, acts = list(bisect.boots.filter(dropped_at__isnull=True)), list(bisect.acts.all())
    made, together = decision_of_all(bisect, names, boots, acts, at_hand)
    if together.decision.outcome is None and (together.actions or not pending):
        made.figures["left"] = forecast_left_of_all(bisect, names, (boots, acts, at_hand))
    return Made(made, together.decision, together.actions, together.lead)


def _measure(one: BisectJob) -> bisection.Measure:
    return bisection.Measure(one.index, bisection.Purpose(one.purpose), one.job.rebuild)
