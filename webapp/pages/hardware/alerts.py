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
class AlertOnMachine:
    """What an alert (by number) holds on this machine: its weightiest finding here, in which mode,
    and how many others.
    """

    alert: int
    mode: str
    worst: FindingOnMachine
    others: int

    @property
    def is_one_build(self) -> bool:
        """Whether its worst rests on one build a side."""
        return self.worst.state == Finding.State.ONE_BUILD


@dataclass(frozen=True, slots=True)
class AlertHere:
    """An open alert, whom it suspects, and what it holds ``here``."""

    alert: Alert
    suspicion: Suspicion
    here: AlertOnMachine


def alerts_on(
    series: Sequence[SeriesOnMachine], findings: Mapping[int, Sequence[FindingOnMachine]]
) -> list[AlertOnMachine]:
    """The open alerts with a loss on the machine, the largest loss first, then those with gains
    alone; at most `ALERTS_SHOWN`.
    """
    members: dict[int, list[tuple[FindingOnMachine, SeriesOnMachine]]] = defaultdict(list)
    for one in series:
        for row in findings.get(one.pk, ()):
            if row.alert is not None and row.is_open and row.state in Finding.ALERTED:
                members[row.alert].append((row, one))
    ranked = {pk: sorted(its, key=lambda pair: _weight(pair[0])) for pk, its in members.items()}
    wanted = sorted(ranked, key=lambda pk: (*_weight(ranked[pk][0][0]), -pk))[:ALERTS_SHOWN]
    return [
        AlertOnMachine(pk, mode=its[0][1].mode, worst=its[0][0], others=len(its) - 1)
        for pk, its in ((pk, ranked[pk]) for pk in wanted)
    ]


def open_here(listed: Sequence[AlertOnMachine]) -> list[AlertHere]:
    """The alerts that are ``listed``, with their suspects. Three queries where there is any."""
    if not listed:
        return []
    found = Alert.objects.filter(pk__in=[one.alert for one in listed]).select_related(*NAMED)
    alerts = {row.pk: row for row in found}
    suspicions = suspicions_of(alerts.values())
    for pk, alert in alerts.items():
        if (commit := suspicions[pk].commit) is not None:
            commit.tree = alert.tree  # its address names it
    return [
        AlertHere(alerts[one.alert], suspicions[one.alert], one)
        for one in listed
        if one.alert in alerts
    ]


def _weight(row: FindingOnMachine) -> tuple[bool, bool, float]:
    """Losses first, what recovered after the rest; beyond the double range is the largest."""
    size = float("inf") if row.change_pct is None else abs(row.change_pct)
    is_quiet = row.state == Finding.State.RECOVERED
    return row.verdict != Verdict.WORSE, is_quiet, -size
