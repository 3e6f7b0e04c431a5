"""The open alerts of one machine, told by what they hold on it, never by another's larger loss."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries import (
    FindingOnMachine,
    SeriesOnMachine,
    Suspicion,
    suspicions_of,
)
from webapp.analysis.models import Finding, Verdict

ALERTS_SHOWN = 12
NAMED = ("tree", "revision", "after", "likeliest")


@dataclass(frozen=True, slots=True)
class AlertHere:
    """An open alert: the weightiest finding that it holds on this machine, in ``series``, and how
    many others it holds here.
    """

    alert: Alert
    suspicion: Suspicion
    series: SeriesOnMachine
    worst: FindingOnMachine
    others: int

    @property
    def is_one_build(self) -> bool:
        """Whether its worst rests on one build a side."""
        return self.worst.state == Finding.State.ONE_BUILD


def open_here(
    series: Sequence[SeriesOnMachine], findings: Mapping[int, Sequence[FindingOnMachine]]
) -> list[AlertHere]:
    """The open alerts with a loss on the machine, the largest loss first, then those with gains
    alone; at most `ALERTS_SHOWN`. Three queries where there is any.
    """
    held: dict[int, list[tuple[FindingOnMachine, SeriesOnMachine]]] = defaultdict(list)
    for one in series:
        for row in findings.get(one.pk, ()):
            if row.alert is not None and row.is_open and row.state in Finding.ALERTED:
                held[row.alert].append((row, one))
    ranked = {pk: sorted(its, key=lambda pair: _weight(pair[0])) for pk, its in held.items()}
    wanted = sorted(ranked, key=lambda pk: (*_weight(ranked[pk][0][0]), -pk))[:ALERTS_SHOWN]
    if not wanted:
        return []
    found = Alert.objects.filter(pk__in=wanted).select_related(*NAMED)
    alerts = {row.pk: row for row in found}
    suspicions = suspicions_of(alerts.values())
    return [
        AlertHere(
            alerts[pk], suspicions[pk], ranked[pk][0][1], ranked[pk][0][0], len(ranked[pk]) - 1
        )
        for pk in wanted
        if pk in alerts
    ]


def _weight(row: FindingOnMachine) -> tuple[bool, bool, float]:
    """Losses first, what recovered after the rest; beyond the double range is the largest."""
    size = float("inf") if row.change_pct is None else abs(row.change_pct)
    is_quiet = row.state == Finding.State.RECOVERED
    return row.verdict != Verdict.WORSE, is_quiet, -size
