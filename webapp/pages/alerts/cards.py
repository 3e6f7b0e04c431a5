"""The evidence of an alert: a card for each series, the weightiest first, and rows for the rest.
Charts show what lies around a change, large beside its figures and small in a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.queries import Surroundings, moves_of
from webapp.analysis.models import Finding
from webapp.analysis.queries import today_beside
from webapp.charts import around
from webapp.charts.text import MARKS, cost_interval, interval, level_figure
from webapp.charts.trend import Level
from webapp.pages.alerts.texts import signed, sure
from webapp.stats.metrics import least_of

CARD = around.Size(640.0, 168.0)
"""Beside the figures of a series."""

NARROW = around.Size(340.0, 150.0)
"""On a phone."""

SMALL = around.Size(380.0, 112.0)
"""Two of them in a row."""

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


def evidence(finding: Finding, near: Surroundings, *, size: around.Size = CARD) -> str:
    """The SVG of the revisions around a finding: both levels, where it began, what it may be."""
    points = near.points
    if not points:
        return ""
    shown = around.Around(
        names=[point.name for point in points],
        values=[point.mean for point in points],
        at=near.at(finding.position),
        after=max(near.at(finding.after.position + 1) - 1, 0),
        last=min(near.at(finding.last.position), len(points) - 1),
        before=finding.level_before,
        since=finding.level,
        verdict="" if finding.state == Finding.State.ONE_BUILD else finding.verdict,
        levels=_levels(near),
        lows=[point.low for point in points],
        highs=[point.high for point in points],
        is_slow=finding.kind == Finding.Kind.SLOW,
    )
    described = f"{finding.series.subject}: {signed(finding)} at {finding.revision}"
    return around.draw(shown, described=described, size=size)


def spark(finding: Finding, near: Surroundings) -> str:
    """The SVG of the same as a sparkline: decoration beside the figure."""
    points = near.points
    found = around.Tile(
        indices=range(len(points)),
        values=[point.mean for point in points],
        length=len(points),
        levels=_levels(near),
        moved=moves_of(near.levels, better=finding.series.better),
    )
    return around.draw_tile(found)


def _levels(near: Surroundings) -> list[Level]:
    positions = [point.position for point in near.points]
    drawn = (
        Level.within(positions, (one.first, one.last), (one.start, one.end)) for one in near.levels
    )
    return [level for level in drawn if level is not None]


@dataclass(frozen=True, slots=True)
class Card:
    """One series: its chart, the same for a phone, and its change in words."""

    finding: Finding
    svg: SafeString
    narrow: SafeString
    reach: float

    @property
    def verdict(self) -> str:
        """Which way it went; empty for one build a side, of which nothing is claimed."""
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
            level_figure(
                one, series.better, is_cost=series.is_cost, least=least_of(series.metric.unit)
            )
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
    size: around.Size = CARD,
    narrow: around.Size | None = None,
) -> list[Card]:
    """The cards of ``findings`` in order, bars on one scale; with ``narrow`` in both sizes."""
    reach = _reach(findings)
    return [
        Card(row, _drawn(row, near, size), _drawn(row, near, narrow), reach) for row in findings
    ]


def _drawn(row: Finding, near: Mapping[int, Surroundings], size: around.Size | None) -> SafeString:
    """SVG of webapp.charts, which escapes every text it takes."""
    return mark_safe(evidence(row, near[row.pk], size=size) if size else "")  # noqa: S308


def _reach(findings: Sequence[Finding]) -> float:
    """What the largest interval needs, at most `REACH`: an arrow leaves for more."""
    ends = [abs(end) for row in findings for end in (row.low_pct, row.high_pct) if end is not None]
    return min(max([*ends, LEAST_REACH]) * 1.05, REACH)
