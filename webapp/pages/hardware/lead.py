"""What a machine's page says first: what stands slower than it was, and since when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.alerts.queries import FindingOnMachine, SeriesOnMachine
from webapp.analysis.models import Finding, Verdict
from webapp.charts.text import direction, half_width

SHOWN = 2


@dataclass(frozen=True, slots=True)
class OpenLoss:
    """A loss that stands in a series (``webapp.stats.changes.net_loss``), as its summary has it."""

    series: SeriesOnMachine
    stands: Mapping[str, Any]

    @property
    def size(self) -> str:
        """How large, without a sign."""
        return half_width(abs(self.stands["change_pct"] or 0.0))

    @property
    def is_slow(self) -> bool:
        """Whether it began by and by, with no revision."""
        return bool(self.stands["is_slow"])

    @property
    def since(self) -> str:
        """The revision at which it began."""
        return str(self.stands["since"]["label"])

    @property
    def is_beyond(self) -> bool:
        """Whether it has no figure."""
        return self.stands["change_pct"] is None

    @property
    def way(self) -> str:
        """The metric's own word for it."""
        return direction(
            percent=-1.0 if self.stands["level"] < self.stands["level_before"] else 1.0,
            better=self.series.better,
            unit=self.series.unit,
        )


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
    if one.summary.get("net_loss") or len(one.summary.get("segments", ())) > 1:
        stands: Mapping[str, Any] | None = one.summary.get("net_loss")
        return stands
    proven = [row for row in findings if row.is_proven and row.kind == Finding.Kind.LEVEL]
    last = proven[-1] if proven else None
    if last is None or (last.verdict, last.state) != (Verdict.WORSE, Finding.State.CONFIRMED):
        return None
    return {
        "since": {"label": last.revision},
        "is_slow": False,
        "level_before": last.level_before,
        "level": last.level,
        "change_pct": last.change_pct,
    }


def _weight(one: OpenLoss) -> tuple[bool, float]:
    """A change beyond the double range is larger than any."""
    return not one.is_beyond, -abs(one.stands["change_pct"] or 0.0)
