"""Which alerts the present findings make: a function of the data and of what people said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from webapp.alerts.assigned import Assigned
from webapp.alerts.grouping import Evidence, Group, group, join
from webapp.alerts.plan.known import KnownFinding, KnownHold


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A group with what decides the state it rests in while nobody triages it."""

    group: Group
    is_history: bool
    is_recovered: bool
    is_one_build: bool = False


def conclude(
    findings: Sequence[KnownFinding],
    *,
    holds: Sequence[KnownHold] = (),
    received: Mapping[int, int],
    assigned: Sequence[Assigned] = (),
    anchors: Mapping[int, int],
) -> list[Conclusion]:
    """The groups of the proven findings; arguments as for ``group`` and ``is_large``."""
    proven = {row.number: row for row in findings if row.is_proven}
    evidence = [_evidence(row, holds) for row in proven.values()]
    groups = group(evidence, received, assigned, anchors)
    return [_conclusion(one, proven) for one in groups]


def joined(own: Conclusion, assigned: Conclusion) -> Conclusion:
    """``own`` with what people added to it; what opens nothing decides nothing."""
    return Conclusion(
        group=join(own.group, assigned.group),
        is_history=own.is_history and assigned.is_history,
        is_recovered=own.is_recovered and assigned.is_recovered,
        is_one_build=own.is_one_build and assigned.is_one_build,
    )


def is_large(row: KnownFinding, holds: Sequence[KnownHold]) -> bool:
    """Whether it reaches its threshold; what a hold covers does, as what opened its alert did."""
    return row.evidence.is_large or any(one.covers(row) for one in holds)


def _evidence(row: KnownFinding, holds: Sequence[KnownHold]) -> Evidence:
    large = is_large(row, holds)
    return row.evidence if row.evidence.is_large == large else replace(row.evidence, is_large=large)


def _conclusion(one: Group, proven: Mapping[int, KnownFinding]) -> Conclusion:
    openers = [proven[row.finding] for row in one.openers]
    return Conclusion(
        group=one,
        is_history=all(row.is_history for row in openers),
        is_recovered=all(row.is_recovered for row in openers),
        is_one_build=all(row.is_one_build for row in openers),
    )
