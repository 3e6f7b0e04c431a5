"""Which machines and modes of an alert look for its commit together: the form's check boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.alerts.models import Alert
from webapp.alerts.queries import findings_of
from webapp.bisects.services import BisectError
from webapp.results.models import Series

OFFERED = 12
"""Series that the form offers, the weightiest findings first."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A series of the alert beside the one that is bisected, with the step that it shows.

    ``adds``: it is the weightiest of another machine, which works while the first one does. A
    further mode of the same machine takes its turns.
    """

    series: Series
    effect_pct: float
    adds: bool

    @property
    def name(self) -> str:
        """``forwarding on Atom/T540``."""
        return f"{self.series.mode} on {self.series.hardware}"


def picks_of(alert: Alert | None, hardware: str, mode: str) -> list[Pick]:
    """What the alert offers beside the series of ``hardware`` and ``mode``, each once."""
    if alert is None or not hardware or not mode:
        return []
    seen, machines = {(hardware, mode)}, {hardware}
    found: list[Pick] = []
    for finding in findings_of([alert]).with_subjects():
        series = finding.series
        measured = (series.hardware.name, series.mode.name)
        if measured in seen or not finding.change_pct or len(found) >= OFFERED:
            continue
        found.append(Pick(series, finding.change_pct, series.hardware.name not in machines))
        seen.add(measured)
        machines.add(series.hardware.name)
    return found


def chosen_of(picks: Sequence[Pick], asked: str) -> list[tuple[Series, float | None]]:
    """Those whose numbers ``asked`` lists, separated by commas. Raises BisectError."""
    of_number = {str(one.series.pk): one for one in picks}
    chosen: list[tuple[Series, float | None]] = []
    for number in dict.fromkeys(filter(None, asked.split(","))):
        if number not in of_number:
            raise BisectError(
                "Machines and modes: one of the chosen is none of this alert's; choose again."
            )
        chosen.append((of_number[number].series, of_number[number].effect_pct))
    return chosen
