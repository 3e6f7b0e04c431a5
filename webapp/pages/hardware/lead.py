"""What a machine's page says first: what stands slower than it was, and since when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.alerts.queries import FindingOnMachine, SeriesOnMachine
from webapp.analysis.models import Finding
from webapp.analysis.queries import stands_in
from webapp.charts.today import today_size

SHOWN = 2


@dataclass(frozen=True, slots=True)
class OpenLoss:
    """A loss that stands in a series (``webapp.stats.changes.net_loss``), as its summary has it."""

    series: SeriesOnMachine
    stands: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What a sentence calls the series."""
        return f"The {self.series.subject}" if self.series.option else self.series.subject

    @property
    def size(self) -> str:
        """``is 13.0 % slower [−13.3, −12.8] than before``, up to the revision at which it began."""
        one, size = self.series, self.stands["change_pct"]
        text = today_size(self.stands, better=one.better, unit=one.unit, is_cost=bool(one.option))
        if one.option or size is None:
            return f"{text} since"
        return f"is {text} than {'at' if self.stands['is_slow'] else 'before'}"

    @property
    def is_slow(self) -> bool:
        """Whether it began by and by, with no revision."""
        return bool(self.stands["is_slow"])

    @property
    def since(self) -> str:
        """The revision at which it began."""
        return str(self.stands["since"]["label"])


@dataclass(frozen=True, slots=True)
class Lead:
    """The losses that stand, the largest first, of which the first are shown; how many series have
    a history (``drawn``), and how many only one or two revisions (``few``).
    """

    shown: Sequence[OpenLoss]
    more: int
    drawn: int
    few: int


def lead(
    series: Sequence[SeriesOnMachine], findings: Mapping[int, Sequence[FindingOnMachine]]
) -> Lead:
    """What the sentence at the top has of ``series``, whose ``findings`` are by series."""
    found = [(one, net_loss_of(one, findings.get(one.pk, ()))) for one in series]
    ranked = sorted((OpenLoss(one, stands) for one, stands in found if stands), key=_weight)
    drawn = sum(one.has_history for one in series)
    return Lead(ranked[:SHOWN], max(len(ranked) - SHOWN, 0), drawn=drawn, few=len(series) - drawn)


def net_loss_of(
    one: SeriesOnMachine, findings: Sequence[FindingOnMachine]
) -> Mapping[str, Any] | None:
    """The loss that stands in a series: of one too young to have two levels the loss that its last
    finding is.
    """
    proven = [row for row in findings if row.is_proven and row.kind == Finding.Kind.LEVEL]
    return stands_in(one.summary, proven[-1] if proven else None)


def _weight(one: OpenLoss) -> tuple[bool, float]:
    """A change beyond the double range is larger than any."""
    return one.stands["change_pct"] is not None, -abs(one.stands["change_pct"] or 0.0)
