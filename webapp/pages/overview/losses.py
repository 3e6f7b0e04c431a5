"""The open losses of the front page: the worst as cards with the change drawn, others as rows."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import pairwise

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.models import Alert
from webapp.alerts.queries import MOST_COMMITS, OpenLoss
from webapp.bisects.queries import RunningBisect
from webapp.charts import around, bars
from webapp.charts.around import Around, Tile
from webapp.charts.text import (
    MARKS,
    POINTS,
    chance,
    cost_interval,
    cost_moved,
    interval,
    percent,
    today_beside,
)
from webapp.charts.trend.series import Level
from webapp.jobs.queries import Machine
from webapp.pages.parts.components import age, state_pill
from webapp.stats.metrics import least_of

CARDS = 3
LEAST_REACH = 10.0
"""Percent that the bars of a column reach at least."""


@dataclass(frozen=True, slots=True)
class Losses:
    """All open losses as HTML: cards, then rows; ``more`` are open and not on the page."""

    cards: SafeString
    rows: SafeString
    more: int


def draw(
    losses: Sequence[OpenLoss],
    machines: Mapping[int, Machine],
    bisects: Mapping[int | None, RunningBisect],
    *,
    most: int,
    now: datetime,
) -> Losses:
    """The ``most`` largest of ``losses``; ``bisects`` are running ones by their alert."""
    shown = [one for one in losses if one.rank <= most]
    lows = [abs(one.low) for one in shown if one.low is not None]
    reach = max([LEAST_REACH, *lows])
    drawn = [
        _Loss(one, machines[one.hardware_id], bisects.get(one.number), reach, now) for one in shown
    ]
    return Losses(
        mark_safe("".join(one.card for one in drawn[:CARDS])),  # noqa: S308
        mark_safe("".join(one.row for one in drawn[CARDS:])),  # noqa: S308
        (losses[0].open if losses else 0) - len(shown),
    )


@dataclass(frozen=True, slots=True)
class _Loss:
    loss: OpenLoss
    machine: Machine
    bisect: RunningBisect | None
    reach: float
    now: datetime

    @property
    def card(self) -> str:
        one = self.loss
        return (
            f'<a class="panel card" data-item href="{self._href}"><span class="top">'
            f'<span class="big worse">{self._size}</span>{self._bar}'
            f'<span class="ci">{self._interval}</span>{self._pill}</span>'
            f'<span class="what"><b>{escape(one.mode)}</b> {self._on}</span>{self._today}'
            f"{self._chart}{self._commit}"
            f'<span class="with"><span>alert {one.number} · {age(self.now - one.opened_at)}</span>'
            f"{self._others}<span>{self._sure}</span></span></a>"
        )

    @property
    def row(self) -> str:
        one = self.loss
        return (
            f'<a data-item href="{self._href}"><span class="worse size">{self._size}</span>'
            f'<span class="w">{self._bar}</span>'
            f'<span class="name"><b>{escape(one.mode)}</b> {self._on}</span>'
            f'<span class="w">{self._spark}</span>{self._commit}{self._pill}</a>'
        )

    @property
    def _href(self) -> str:
        return reverse("alert", args=[self.loss.number])

    @property
    def _size(self) -> str:
        one = self.loss
        text = "beyond figures" if one.percent is None else f"{percent(one.percent)} %"
        if one.option:
            text = f"{percent(one.points)} {POINTS}"
        elif one.end_levels:
            text = " → ".join(one.end_levels)
        return f'<span class="g">{MARKS["worse"]}</span> {text}'

    @property
    def _today(self) -> str:
        """What the series has lost today, where an alert states another change."""
        one, stands = self.loss, self.loss.today.get("stands")
        if stands is None:
            return ""
        text = today_beside(
            (one.percent, one.low, one.high),
            stands,
            one.today["newest"],
            better=one.direction,
            unit=one.unit,
            is_cost=bool(one.option),
            least=least_of(one.unit),
        )
        figure = f"series:{one.series_id}:net_loss"
        return f'<span class="small muted" data-figure="{figure}">{escape(text)}</span>'

    @property
    def _interval(self) -> str:
        one = self.loss
        if one.option:
            return cost_interval(one.level_before, one.low, one.high, one.direction)
        if one.end_levels:
            return ""
        return interval(one.low, one.high)

    @property
    def _moved(self) -> str:
        one = self.loss
        if one.option:
            return cost_moved(one.level_before, one.level, one.direction)
        return f"{percent(one.percent)} %"

    @property
    def _bar(self) -> str:
        low, high = self.loss.low, self.loss.high
        if low is None or high is None:
            return ""
        return bars.draw_interval(low, high, reach=self.reach, verdict="worse")

    @property
    def _pill(self) -> str:
        if self.bisect is not None:
            return state_pill("running", "bisect runs")
        label = str(Alert.State(self.loss.state).label)
        return state_pill(self.loss.state, f"{label}, new" if self._is_news else label)

    @property
    def _is_news(self) -> bool:
        return self.loss.is_fresh and self.loss.state not in (Alert.State.NEW, Alert.State.REOPENED)

    @property
    def _on(self) -> str:
        simulated = ' <span class="sim">simulated</span>' if self.loss.is_simulated else ""
        return f'<span class="muted">{escape(str(self.machine.called))}{simulated}</span>'

    @property
    def _levels(self) -> list[Level]:
        one = self.loss
        drawn = (
            Level.within(
                one.positions,
                (each["first"]["position"], each["last"]["position"]),
                (each["level"], each["end_level"]),
            )
            for each in one.segments
        )
        return [level for level in drawn if level is not None]

    @property
    def _chart(self) -> str:
        one = self.loss
        return around.draw(
            Around(
                names=one.names,
                values=one.means,
                at=bisect_left(one.positions, one.position),
                after=max(bisect_right(one.positions, one.after_position) - 1, 0),
                last=max(bisect_right(one.positions, one.last_position) - 1, 0),
                before=one.level_before,
                since=one.level,
                verdict="worse",
                levels=self._levels,
                is_slow=one.kind == Alert.Kind.SLOW,
            ),
            described=f"{one.mode}: {self._moved} at {one.last}",
        )

    @property
    def _spark(self) -> str:
        one, levels = self.loss, self._levels
        at = bisect_left(one.positions, one.position)
        moved = [
            "worse" if before.last < at <= after.first else "" for before, after in pairwise(levels)
        ]
        return around.draw_tile(
            Tile(range(len(one.means)), one.means, len(one.means), levels=levels, moved=moved)
        )

    @property
    def _commit(self) -> str:
        one = self.loss
        if one.is_named:
            subject, author = escape(one.subject), escape(one.author)
        else:
            subject, author = _since(one), ""
            if one.commits > 1 and one.kind == Alert.Kind.LEVEL:
                what = "known commits" if one.is_whole else "revisions known"
                subject += f" ({one.commits:,}{_more_than(one)} {what})"
        return (
            f'<span class="commit"><span class="rev">{escape(one.last)}</span> '
            f'<span class="subj">{subject}</span> <span class="who">{author}</span></span>'
        )

    @property
    def _others(self) -> str:
        one = self.loss
        if one.other_mode is not None:
            verdict = str(one.other_verdict)
            word = "also" if verdict == "worse" else "but"
            size = MARKS[verdict]
            if one.other_percent is not None:
                size += f" {percent(one.other_percent)} %"
            what = f'{word} {escape(one.other_mode)} <span class="{verdict}">{size}</span>'
            return f"<span>{what}</span>"
        if not one.worse + one.better:
            return ""
        counts = ((MARKS["worse"], one.worse), (MARKS["better"], one.better))
        parts = ", ".join(f"{mark} {count}" for mark, count in counts if count)
        return f"<span>and {one.worse + one.better} more series: {parts}</span>"

    @property
    def _sure(self) -> str:
        one = self.loss
        if one.is_one_build:
            return "one build a side"
        if one.kind != Alert.Kind.LEVEL:
            return "no single commit"
        if one.is_named:
            return f"{chance(one.chance)} this commit"
        return "not bisected yet" if self.bisect is None else "being bisected"


def _more_than(one: OpenLoss) -> str:
    """A plus where its commits are counted no further."""
    return "+" if one.commits == MOST_COMMITS else ""


def _since(one: OpenLoss) -> str:
    """Where it began while no commit is named."""
    if one.kind == Alert.Kind.EXCURSION:
        return "one revision, back afterwards"
    if one.kind == Alert.Kind.SLOW:
        return f"from {escape(one.after)} to here, no single commit"
    return f"began after {escape(one.after)}, at the latest here"
