"""The findings of a mail as lines of text: a bar for each revision around the change, from zero."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.alerts.queries import surroundings_of
from webapp.analysis.models import Finding
from webapp.charts.text import MARKS, interval, number, percent
from webapp.notifications.mails.phrases import one_line

SHOWN = 3
MODE_MAX = 22
BARS = "▁▂▃▄▅▆▇█"
NO_BAR = " "


@dataclass(frozen=True, slots=True)
class Spark:
    """One finding: its bars ``before`` the change and ``since``, its change, and both levels."""

    mode: str
    before: str
    since: str
    verdict: str
    change: str
    interval: str
    level_before: str
    level: str

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS[self.verdict or "cannot tell"]

    @property
    def line(self) -> str:
        """In plain text, as wide as its parts."""
        change = " ".join(filter(None, (self.mark, self.change, self.interval)))
        return (
            f"{self.mode.ljust(MODE_MAX)} {self.before}{self.since}  {change}  "
            f"{self.level_before} → {self.level}"
        )


def sparks_of(findings: Sequence[Finding]) -> list[Spark]:
    """The first findings, drawn; two statements."""
    shown = list(findings[:SHOWN])
    near = surroundings_of(shown)
    found = []
    for row in shown:
        points = near[row.pk].points
        if not points:
            continue
        bars = _bars([point.mean for point in points])
        at = near[row.pk].at(row.position)
        found.append(_spark(row, bars[:at], bars[at:]))
    return found


def _spark(row: Finding, before: str, since: str) -> Spark:
    is_open = row.state == Finding.State.ONE_BUILD
    return Spark(
        mode=one_line(row.series.subject, MODE_MAX),
        before=before,
        since=since,
        verdict="" if is_open else str(row.verdict),
        change=row.verdict if row.change_pct is None else f"{percent(row.change_pct)} %",
        interval=interval(row.low_pct, row.high_pct),
        level_before=number(row.level_before),
        level=number(row.level),
    )


def _bars(values: Sequence[float]) -> str:
    """A character for each value; all bars begin at zero, so that a tenth less looks a tenth less.
    Below zero there is no bar.
    """
    top = max([*values, 0.0])
    return "".join(_bar(value, top) for value in values)


def _bar(value: float, top: float) -> str:
    if value <= 0 or top <= 0:
        return NO_BAR
    return BARS[max(round(value / top * len(BARS)) - 1, 0)]
