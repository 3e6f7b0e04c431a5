"""What a machine's page says first: what stands slower than it was, and since when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webapp.alerts.queries import FindingOnMachine, SeriesOnMachine
from webapp.analysis.models import Finding, Verdict
from webapp.charts.text import direction, half_width

TOLD = 2


@dataclass(frozen=True, slots=True)
class OpenLoss:
    """A loss that stands: the newest change of its series where ``is_last``, else one that a later
    gain has not won back.
    """

    series: SeriesOnMachine
    finding: FindingOnMachine
    is_last: bool

    @property
    def size(self) -> str:
        """How large, without a sign."""
        return half_width(abs(self.finding.change_pct or 0.0))

    @property
    def is_slow(self) -> bool:
        """Whether it went on by and by, so that no revision began it."""
        return self.finding.kind == Finding.Kind.SLOW

    @property
    def since(self) -> str:
        """The revision at which it began."""
        return self.finding.after if self.is_slow else self.finding.revision

    @property
    def is_beyond(self) -> bool:
        """Whether it has no figure."""
        return self.finding.change_pct is None

    @property
    def way(self) -> str:
        """The metric's own word for it."""
        return direction(
            percent=-1.0 if self.finding.level < self.finding.level_before else 1.0,
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
    """What the sentence at the top tells of ``series``, whose ``findings`` are by series."""
    losses = [
        one for each in series if (one := _open_loss(each, findings.get(each.pk, ()))) is not None
    ]
    ranked = sorted(losses, key=_weight)
    drawn = sum(one.has_history for one in series)
    return Lead(ranked[:TOLD], max(len(ranked) - TOLD, 0), drawn=drawn, few=len(series) - drawn)


def _open_loss(series: SeriesOnMachine, findings: Sequence[FindingOnMachine]) -> OpenLoss | None:
    """The last confirmed loss of a series, unless it recovered; where no level was lost, what it
    lost by and by.
    """
    slow = [row for row in findings if row.is_proven and row.kind == Finding.Kind.SLOW]
    proven = [row for row in findings if row.is_proven and row.kind == Finding.Kind.LEVEL]
    lost = [row for row in proven if row.verdict == Verdict.WORSE]
    if not lost or lost[-1].state != Finding.State.CONFIRMED:
        stands = [row for row in slow if row.verdict == Verdict.WORSE]
        return OpenLoss(series, stands[-1], is_last=True) if stands else None
    return OpenLoss(series, lost[-1], is_last=lost[-1] is proven[-1])


def _weight(one: OpenLoss) -> tuple[bool, bool, float]:
    """What is down now first; a change beyond the double range is larger than any."""
    return not one.is_last, not one.is_beyond, -abs(one.finding.change_pct or 0.0)
