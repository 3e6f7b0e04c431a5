"""The table of a mail: hardware × mode, before and after, how sure; for both of its forms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from webapp.alerts.queries import surroundings_of
from webapp.analysis.models import Finding
from webapp.charts.text import (
    MARKS,
    change_within,
    half_width,
    interval,
    level_figure,
    number,
    percent,
)
from webapp.notifications.mails.phrases import AlertFacts, Other, one_line
from webapp.results.models import Series
from webapp.stats.compare import MORE_BUILDS, Verdict
from webapp.stats.metrics import least_of

SHOWN = 3
LINE_MODE, LINE_MODE_MAX = 22, 40
"""Characters of the column of names: at least, at most."""

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
    width: int = LINE_MODE

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS[self.verdict or "cannot tell"]

    @property
    def line(self) -> str:
        """In plain text, as wide as its parts."""
        change = " ".join(filter(None, (self.mark, self.change, self.interval)))
        return (
            f"{self.mode.ljust(self.width)} {self.before}{self.since}  {change}  "
            f"{self.level_before} → {self.level}"
        )


LINES_MAX = 6
"""Lines of the table in text, those of hardware included: the whole mail has fewer than 60."""

MODE_MAX = 40
HARDWARE_MAX = 70
HEAD = ("Mode", "Before", "After", "Δ % [95 %]", "n", "Verdict")


@dataclass(frozen=True, slots=True)
class Row:
    """One series in words. ``n`` are the revisions measured on either side."""

    hardware: str
    mode: str
    before: str
    after: str
    change: str
    n: str
    verdict: str
    is_finding: bool

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a line after the machine."""
        return self.mode, self.before, self.after, self.change, self.n, self.verdict


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that are shown, by hardware, and how many more there are."""

    rows: Sequence[Row]
    more: int
    head: tuple[str, ...] = HEAD

    def by_hardware(self) -> Iterator[tuple[str, list[Row]]]:
        """The rows of each machine, in order."""
        for hardware, rows in groupby(self.rows, key=lambda row: row.hardware):
            yield hardware, list(rows)

    def as_text(self) -> str:
        """A line for each hardware and, below it, one for each mode; the columns aligned."""
        widths = [
            max(len(cells[column]) for cells in (HEAD, *(row.cells for row in self.rows)))
            for column in range(len(HEAD))
        ]
        lines = [_aligned(HEAD, widths)]
        for hardware, rows in self.by_hardware():
            lines += [hardware, *(_aligned(row.cells, widths) for row in rows)]
        if self.more:
            lines.append(f"and {self.more} more: see the alert")
        return "\n".join(lines)


def table_of(facts: AlertFacts) -> Table:
    """The findings, then the other series measured at the commit, as many as there is room for."""
    by_weight = [_of_finding(row) for row in facts.findings]
    by_weight += [_of_other(other) for other in facts.others]
    shown: list[Row] = []
    for row in by_weight:
        if _lines([*shown, row]) > LINES_MAX:
            break
        shown.append(row)
    order = list(dict.fromkeys(row.hardware for row in shown))
    return Table(
        sorted(shown, key=lambda row: order.index(row.hardware)), len(by_weight) - len(shown)
    )


def _lines(rows: Sequence[Row]) -> int:
    return len(rows) + len({row.hardware for row in rows})


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, numbers to the right."""
    mode, *figures, verdict = cells
    numbers = [text.rjust(width) for text, width in zip(figures, widths[1:-1], strict=True)]
    return "  " + "  ".join([mode.ljust(widths[0]), *numbers, verdict]).rstrip()


def _of_finding(row: Finding) -> Row:
    state = "" if row.state == Finding.State.CONFIRMED else f", {row.get_state_display()}"
    # Of single builds nothing is claimed of the commit: the row has neither better nor worse.
    verdict = Verdict.CANNOT_TELL if row.state == Finding.State.ONE_BUILD else row.verdict
    if row.recovered_by:
        state += f" by {row.recovered_by}"
    return Row(
        *_names(row.series),
        before=_level(row, row.level_before),
        after=_level(row, row.level),
        change=change_within(row.change_pct, row.low_pct, row.high_pct),
        n=f"{row.revisions_before} / {row.revisions_after}",
        verdict=f"{MARKS[verdict]} {verdict}{state}",
        is_finding=True,
    )


def _of_other(other: Other) -> Row:
    judged = other.judged
    return Row(
        *_names(other.point.series),
        before=number(other.before),
        after=number(other.point.mean),
        change=change_within(judged.percent, judged.low, judged.high),
        n="1 / 1",
        verdict=_judged(other),
        is_finding=False,
    )


def _judged(other: Other) -> str:
    """The comparison of the two points alone; a change among them is no finding (yet)."""
    verdict, visible = other.judged.verdict, other.judged.visible
    if other.judged.runs_disagree:
        label = other.judged.label
        return f"{MARKS[label]} {label} runs of one revision disagree"
    if other.judged.builds_differ:
        label = other.judged.label
        return f"{MARKS[label]} {label}, one build a side: {MORE_BUILDS} more would settle it"
    if verdict == Verdict.CANNOT_TELL:
        seen = f" (smallest visible {half_width(visible)} %)" if visible is not None else ""
        return f"{MARKS[verdict]} {verdict}{seen}"
    alone = ", these two alone" if verdict in (Verdict.WORSE, Verdict.BETTER) else ""
    return f"{MARKS[verdict]} {verdict}{alone}"


def _names(series: Series) -> tuple[str, str]:
    """Hardware with what is counted, and the mode."""
    hardware = series.hardware
    simulated = " (simulated)" if hardware.lab.simulated else ""
    metric = series.metric
    return (
        f"{one_line(str(hardware), HARDWARE_MAX)}{simulated}, {metric} in {metric.unit}",
        one_line(series.mode_text, MODE_MAX),
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
    width = max([LINE_MODE, *(len(one.mode) for one in found)])
    return [replace(one, width=width) for one in found]


def _spark(row: Finding, before: str, since: str) -> Spark:
    is_open = row.state == Finding.State.ONE_BUILD
    return Spark(
        mode=one_line(row.series.subject, LINE_MODE_MAX),
        before=before,
        since=since,
        verdict="" if is_open else str(row.verdict),
        change=row.verdict if row.change_pct is None else f"{percent(row.change_pct)} %",
        interval=interval(row.low_pct, row.high_pct),
        level_before=_level(row, row.level_before),
        level=_level(row, row.level),
    )


def _level(row: Finding, level: float) -> str:
    series = row.series
    return level_figure(
        level, series.better, is_cost=series.is_cost, least=least_of(series.metric.unit)
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
