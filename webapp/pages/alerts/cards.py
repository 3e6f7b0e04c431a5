"""The evidence of an alert: a card for each series, the weightiest first, and rows for the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import Surroundings
from webapp.analysis.models import Finding
from webapp.analysis.queries import today_beside
from webapp.charts.around import Size
from webapp.charts.cost_text import cost_interval, level_figure
from webapp.charts.text import MARKS, interval
from webapp.pages.alerts.charts import CARD, evidence
from webapp.pages.alerts.texts import signed, sure

CARDS = 6
"""Series drawn; the others are counted, and their rows come when asked for."""

LEAST_REACH = 5.0
"""Percent: all bars of a page share one scale, which is never finer than this."""

REACH = 25.0

COMPARED: Mapping[str, str] = {
    Finding.Kind.SLOW: "End of the window against its beginning, steps taken out",
    Finding.Kind.EXCURSION: "One revision against the level around it",
}
BEFORE: Mapping[str, str] = {
    Finding.Kind.SLOW: "Expected without the slow loss",
    Finding.Kind.EXCURSION: "Level around it",
}
SINCE: Mapping[str, str] = {
    Finding.Kind.SLOW: "At the end of the window",
    Finding.Kind.EXCURSION: "That revision",
}
WHEN: Mapping[str, str] = {Finding.Kind.SLOW: "Went on", Finding.Kind.EXCURSION: "Was"}
"""Of findings that are no change of level."""


@dataclass(frozen=True, slots=True)
class Card:
    """One series: its chart, the same for a phone, and its change in words."""

    finding: Finding
    svg: SafeString
    narrow: SafeString
    reach: float

    @property
    def verdict(self) -> str:
        """Which way it went; empty for one build a side, of which nothing is told."""
        is_open = self.finding.state == Finding.State.ONE_BUILD
        return "" if is_open else str(self.finding.verdict)

    @property
    def mark(self) -> str:
        """The glyph that stands before the change."""
        return MARKS[self.verdict or "cannot tell"]

    @property
    def change(self) -> str:
        """``−12.1 %``."""
        return signed(self.finding)

    @property
    def interval(self) -> str:
        """``[−13.6, −10.6]``."""
        row = self.finding
        if row.series.is_cost:
            return cost_interval(row.level_before, row.low_pct, row.high_pct, row.series.better)
        return interval(row.low_pct, row.high_pct)

    @property
    def today(self) -> str:
        """What its series has lost today; empty where that is nothing to speak of."""
        return today_beside(self.finding)

    @property
    def levels(self) -> tuple[str, str]:
        """Before and since, in the metric's unit; of an option what it cost."""
        row, series = self.finding, self.finding.series
        before, since = (
            level_figure(one, series.better, is_cost=series.is_cost)
            for one in (row.level_before, row.level)
        )
        return before, since

    @property
    def real(self) -> str:
        """How likely the change is real."""
        return sure(self.finding.probability)

    @property
    def compared(self) -> str:
        """What is set against what."""
        return COMPARED.get(self.finding.kind, "Level against level")

    @property
    def before(self) -> str:
        """What the first figure is of."""
        if self.finding.kind in COMPARED:
            return BEFORE[self.finding.kind]
        count = self.finding.revisions_before
        return f"{count} revision{'' if count == 1 else 's'} before"

    @property
    def since(self) -> str:
        """What the second figure is of."""
        if self.finding.kind in COMPARED:
            return SINCE[self.finding.kind]
        return f"{self.finding.revisions_after} since"

    @property
    def when(self) -> str:
        """What the revisions below it are."""
        return WHEN.get(self.finding.kind, "Began")

    @property
    def is_one_step(self) -> bool:
        """Whether it may have begun at one revision alone, as far as it was measured."""
        row = self.finding
        return (row.after_id, row.last_id) == (row.previous_id, row.revision_id)


def cards_of(
    findings: Sequence[Finding],
    near: Mapping[int, Surroundings],
    *,
    size: Size = CARD,
    narrow: Size | None = None,
) -> list[Card]:
    """The cards of ``findings`` in their order, their bars on one scale; with ``narrow`` drawn in
    that size as well.
    """
    reach = _reach(findings)
    return [
        Card(row, _drawn(row, near, size), _drawn(row, near, narrow), reach) for row in findings
    ]


def _drawn(row: Finding, near: Mapping[int, Surroundings], size: Size | None) -> SafeString:
    """SVG of webapp.charts, which escapes every text it takes."""
    return mark_safe(evidence(row, near[row.pk], size=size) if size else "")  # noqa: S308


def _reach(findings: Sequence[Finding]) -> float:
    """What the largest interval needs, at most `REACH`: an arrow leaves for more."""
    ends = [abs(end) for row in findings for end in (row.low_pct, row.high_pct) if end is not None]
    return min(max([*ends, LEAST_REACH]) * 1.05, REACH)
