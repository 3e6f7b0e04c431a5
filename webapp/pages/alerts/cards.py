"""The evidence of an alert, a card for each series, the weightiest first, and rows for the rest;
and the texts of the pages of alerts: the headline, how sure, the state.

Charts show what lies around a change, large beside its figures and small in a row. Sentences of
mails stand in `webapp.notifications.mails.phrases`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.models import Alert
from webapp.alerts.queries import Listed, Surroundings, Suspicion, moves_of
from webapp.analysis.models import Finding, Verdict
from webapp.analysis.queries import end_levels, levels_moved, today_beside
from webapp.charts import around, text
from webapp.charts.text import MARKS, cost_interval, interval, level_figure
from webapp.charts.trend import Level
from webapp.pages.parts.components import state_pill
from webapp.results.models import Series
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
        """``[−13.6, −10.6]``; empty where the change is no percentage."""
        row = self.finding
        if row.series.is_cost:
            return cost_interval(row.level_before, row.low_pct, row.high_pct, row.series.better)
        return "" if end_levels(row) else interval(row.low_pct, row.high_pct)

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


PARTICIPLES = {"rose": "risen", "fell": "fallen"}
MOST_COSTS = 2
"""Costs that a headline has beside what was measured."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def headline(one: Listed) -> str:
    """The answer in one sentence: what changed, by how much, where it began, and what else."""
    worst, alert = one.members.worst, one.alert
    if worst is None:
        return f"Later runs no longer show what alert {alert.pk} reported"
    if alert.one_build:
        return f"One build a side: {worst.series.subject} {_seems(worst)} {began(one.suspicion)}"
    parts = [f"{called(worst.series)} {moved(worst)} {began(one.suspicion)}"]
    if alert.is_slow:
        parts.append("no single commit")
        if parts_text := text.largest_parts(worst.parts):
            return f"{', '.join(parts)}; {parts_text}{_others(one)}"
    if alert.is_excursion:
        parts.append("one revision, back afterwards")
    return f"{', '.join(parts)}{_others(one)}"


def called(series: Series) -> str:
    """The mode; of what an option costs ``The cost of VIMAGE in forwarding``."""
    return f"The {series.subject}" if series.is_cost else series.subject


def moved(row: Finding) -> str:
    """``lost 12.1 %``, of what is no rate ``got 3 % slower``, of a cost ``rose from 1 to 3 %``, of
    what was nothing ``rose from ≤ 1 to 29.95 packets``.
    """
    if row.change_pct is None:
        return "changed beyond any percentage"
    size, series = text.half_width(abs(row.change_pct)), row.series
    if series.is_cost:
        return text.cost_moved(row.level_before, row.level, series.better)
    if levels := levels_moved(row):
        return levels
    if series.better == "more" and series.metric.unit.endswith(text.RATE_MARK):
        return f"{'lost' if row.change_pct < 0 else 'gained'} {size} %"
    word = text.direction(percent=row.change_pct, better=series.better, unit=series.metric.unit)
    return f"got {size} % {word}"


def _seems(row: Finding) -> str:
    verb, rest = moved(row).split(" ", 1)
    return f"seems to have {PARTICIPLES.get(verb, verb)} {rest}"


def began(one: Suspicion) -> str:
    """``at r303643``; while none may be named, ``after r357751, at the latest in r357934``."""
    if one.is_one_build:
        return f"at {one.last}, against {one.after}"
    if one.is_slow:
        return f"between {one.after} and {one.last}"
    if one.is_excursion:
        return f"at {one.last}"
    if one.commit:
        return f"at {one.commit}"
    return f"after {one.after}, at the latest in {one.last}"


def _others(one: Listed) -> str:
    """``; two other modes gained``: the rest of what it holds."""
    worst, members = one.members.worst, one.members
    if worst is None:
        return ""
    costs = [row for row in members.findings[1:] if row.series.is_cost]
    gain = _largest_gain(members.findings) if worst.verdict == Verdict.WORSE else None
    named = [worst, *costs, *([gain] if gain else [])]
    worse = members.worse - sum(row.verdict == Verdict.WORSE for row in named)
    better = members.better - sum(row.verdict != Verdict.WORSE for row in named)
    parts = [f"{gain.series.subject} {moved(gain)}"] if gain else []
    others = ((worse, "lost"), (better, "gained"))
    parts += [f"{as_text(count)} other series {verb}" for count, verb in others if count]
    parts += [f"the {row.series.subject} {moved(row)}" for row in costs[:MOST_COSTS]]
    texts = [part for part in parts if part]
    return f"; {', '.join(texts)}" if texts else ""


def _largest_gain(findings: Sequence[Finding]) -> Finding | None:
    """Of a mixed alert, which names the largest of either direction."""
    gains = (row for row in findings if row.verdict != Verdict.WORSE and not row.series.is_cost)
    return max(gains, key=lambda row: abs(row.change_pct or 0.0), default=None)


def as_text(count: int) -> str:
    """``three``; from ten on in figures."""
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def sure(probability: float) -> str:
    """``over 99 %`` of a probability, ``97 %``, ``under 1 %``."""
    return text.chance(probability).replace(">", "over").replace("<", "under")


def how_sure(one: Suspicion) -> str:
    """How sure the place of a change is, given that the change is real."""
    if one.is_slow:
        return "gradual, no single commit"
    if one.is_excursion:
        return "the modes of one boot share the trouble, so no commit is blamed"
    if one.commit:
        return f"{sure(one.chance)} sure"
    if one.commits is not None and one.commits > 1:
        return f"{sure(one.chance)} sure that one of these {one.commits:,} commits began the change"
    known = f", {one.gap_text}" if one.gap_text else ""
    return f"{sure(one.chance)} sure{known}"


def beside_worst(one: Listed) -> str:
    """``+ 2 gain``, ``+ 1 loses``: the rest of what an alert holds, in a row's few characters."""
    worst, members = one.members.worst, one.members
    if worst is None:
        return ""
    is_loss = worst.verdict == Verdict.WORSE
    worse, better = members.worse - is_loss, members.better - (not is_loss)
    if worse and better:
        return f"+ {worse + better}"
    if worse:
        return f"+ {worse} lose{'s' if worse == 1 else ''}"
    return f"+ {better} gain{'s' if better == 1 else ''}" if better else ""


def signed(row: Finding) -> str:
    """``−12.1 %``; of a cost ``+2.5 points``; of what was nothing ``≤ 1 → 29.95``; of what is
    beyond figures, its verdict.
    """
    if row.change_pct is None:
        return row.verdict
    if row.series.is_cost:
        points = text.cost_points(row.level_before, row.change_pct, row.series.better)
        return f"{text.percent(points)} {text.POINTS}"
    levels = end_levels(row)
    return " → ".join(levels) if levels else f"{text.percent(row.change_pct)} %"


def state_note(alert: Alert) -> str:
    """What belongs to a state: ``as fixed by r129``, ``until 2026-12-31``."""
    if alert.state == Alert.State.RESOLVED:
        by = f" by {alert.resolution_revision}" if alert.resolution_revision else ""
        of = f" of {alert.duplicate_of_id}" if alert.duplicate_of_id else ""
        return f"as {alert.resolution}{by}{of}"
    if alert.state != Alert.State.SNOOZED:
        return ""
    if alert.snoozed_until:
        return f"until {timezone.localtime(alert.snoozed_until):%Y-%m-%d}"
    if alert.snoozed_until_revision:
        return f"until {alert.snoozed_until_revision} is measured"
    return "as history"


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit: ``3 d``, ``2 h``, ``48 min``."""
    seconds = max((now - moment).total_seconds(), 0)
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}" if unit != "d" else f"{int(seconds / size):,} d"
    return "now"


def pill_of(alert: Alert) -> SafeString:
    """The state of an alert."""
    return state_pill(alert.state, alert.get_state_display())
