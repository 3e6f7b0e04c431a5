"""The rows of the inbox. There are many and people wait for them, so they are written here and not
in a template; every text is escaped.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from webapp.alerts.models import Alert
from webapp.alerts.queries import Listed, Surroundings, Suspicion
from webapp.analysis.models import Finding
from webapp.analysis.queries import today_in_short
from webapp.charts.text import MARKS, STILL
from webapp.pages.alerts.cards import spark
from webapp.pages.alerts.texts import age, beside_worst, signed, state_note
from webapp.pages.parts.components import SIMULATED, state_pill
from webapp.results.models import Hardware


@dataclass(frozen=True, slots=True)
class Rows:
    """What the rows of a list share. ``chosen`` is the alert (number) whose evidence stands beside
    them, 0 where there is none; ``acted`` are those that were just acted on; ``bisected`` those
    that a bisect searches now; ``can_act``: the reader may act.
    """

    now: datetime
    near: Mapping[int, Surroundings]
    chosen: int
    acted: Collection[int]
    bisected: Collection[int]
    can_act: bool

    def html(self, one: Listed) -> SafeString:
        """The row of one alert, escaped."""
        alert = one.alert
        chosen = alert.pk == self.chosen
        classes = f"al{' on' if chosen else ''}{' acted' if alert.pk in self.acted else ''}"
        current = ' aria-current="true"' if chosen else ""
        return mark_safe(  # noqa: S308 (each part is escaped where it is made)
            f'<li class="{classes}" data-row data-alert="{alert.pk}" tabindex="-1"{current}>'
            f"{self._box(alert)} {_change(one)} {_what(one)} "
            f'<span class="sp">{self._spark(one)}</span> {self._state(one)}</li>'
        )

    def _box(self, alert: Alert) -> str:
        if not self.can_act:
            return ""
        return (
            f'<input type="checkbox" name="alert" value="{alert.pk}.{alert.version}" '
            f'aria-label="Choose alert {alert.pk}">'
        )

    def _spark(self, one: Listed) -> str:
        worst = one.members.worst
        near = self.near.get(worst.pk) if worst else None
        return spark(worst, near) if worst and near and near.points else ""

    def _state(self, one: Listed) -> str:
        alert = one.alert
        running = alert.pk in self.bisected
        pill = state_pill("running", "bisect runs") if running else pill_of(alert)
        by = f"by {one.taken_by}" if one.taken_by else ""
        opened = age(alert.opened_at, self.now)
        note = " ".join(filter(None, (state_note(alert), by)))
        return (
            f'<span class="s">{pill} <span class="small muted">{escape(note)}</span> '
            f'<span class="small muted">alert {alert.pk}, '
            f'<time datetime="{alert.opened_at.isoformat()}">{opened}</time>'
            "</span></span>"
        )


def pill_of(alert: Alert) -> SafeString:
    """The state of an alert."""
    return state_pill(alert.state, alert.get_state_display())


def _change(one: Listed) -> str:
    worst = one.members.worst
    if worst is None:
        return '<span class="d muted">no finding</span>'
    # Of single builds nothing is told of the commit: no colour, and no mark of a change.
    verdict = "" if one.alert.one_build else worst.verdict
    mark = MARKS.get(verdict or "cannot tell", "")
    return (
        f'<span class="d"><b class="verdict {verdict}" data-figure="finding:{worst.pk}">'
        f'<i aria-hidden="true">{mark}</i>{escape(signed(worst))}</b>'
        f'<span class="small muted">{beside_worst(one)}</span>{_today(worst, still=True)}</span>'
    )


def _today(worst: Finding, *, still: bool) -> str:
    """What its series has lost today: that it is ``still`` so, or else what."""
    text = today_in_short(worst)
    if (text == STILL) != still:
        return ""
    figure = f"series:{worst.series_id}:net_loss"
    return f'<span class="small muted" data-figure="{figure}">{escape(text)}</span>' if text else ""


def _what(one: Listed) -> str:
    alert, worst = one.alert, one.members.worst
    name = escape(worst.series.subject) if worst else f"{alert.verdict}"
    where = hardware_line(worst.series.hardware) if worst else "no finding backs it now"
    return (
        f'<span class="m"><span class="w"><a href="{reverse("alert", args=[alert.pk])}">'
        f'<b>{name}</b> <span class="muted">{where}</span></a></span>'
        f'<span class="commit small">{suspects_line(one.suspicion)}</span>'
        f"{_today(worst, still=False) if worst else ''}"
        "</span>"
    )


def hardware_line(hardware: Hardware) -> str:
    """What people call a machine, in one line, escaped; the exact name on hover."""
    simulated = SIMULATED if hardware.lab.simulated else ""
    return f'<span title="{escape(hardware.name)}">{escape(str(hardware))}</span>{simulated}'


def suspects_line(one: Suspicion) -> str:
    """The commit with its subject and author, or among which ones it is, escaped."""
    if one.commit:
        revision = one.commit
        return (
            f'<span class="rev">{escape(revision.name)}</span> '
            f'<span class="subj">{escape(revision.subject)}</span> '
            f'<span class="who">{escape(revision.author_name)}</span>'
        )
    if one.is_excursion:
        at = f'<span class="rev">{escape(one.last.name)}</span>'
        return f'{at}<span class="subj">one revision, back afterwards</span>'
    if one.is_slow:
        at = f'<span class="rev">{escape(one.after.name)}</span>'
        return f'{at}<span class="subj">to {escape(one.last.name)}, no single commit</span>'
    known = f" ({one.gap_text})" if one.gap_text else ""
    commits = f"one of {one.commits:,} commits " if one.commits and one.commits > 1 else "began "
    return (
        f'<span class="rev">{escape(one.last.name)}</span><span class="subj">{commits}after '
        f"{escape(one.after.name)}, at the latest here{known}</span>"
    )
