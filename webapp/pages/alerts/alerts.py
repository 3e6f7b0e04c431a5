"""`/alerts/`: the inbox, and what is done to several alerts at once.

The rows are many and people wait for them, so they are written here and not in a template; every
text is escaped.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.services import is_triager, signed_in_user, triager_required
from webapp.alerts import queries
from webapp.alerts.models import Alert
from webapp.alerts.services import TriageError
from webapp.analysis.models import Finding
from webapp.analysis.queries import today_in_short
from webapp.bisects.models import Bisect
from webapp.charts.text import MARKS, STILL
from webapp.pages.alerts.acts import act
from webapp.pages.alerts.alert import Chosen, chosen_of
from webapp.pages.alerts.cards import age, as_text, beside_worst, pill_of, signed, spark, state_note
from webapp.pages.parts.components import SIMULATED, counted, state_pill
from webapp.pages.parts.links import read_number, read_text, refuse, typed_before, with_query
from webapp.results.models import Hardware

ROWS = 30
MOST_AT_ONCE = 200
STATES = ("open", *Alert.State.values, "history", "all")
TABS = ("open", "snoozed", "resolved", "history", "all")
ORDERS = {"new": "New first", "loss": "Largest loss"}
PARTS = ("state", "tree", "hardware", "mode", "order")
DEFAULTS = {"state": "open", "order": "new"}
QUALITY_DAYS = 90


class Link(NamedTuple):
    """A tab or an order: name, number of alerts (None: not counted), whether it is shown."""

    name: str
    address: str
    alerts: int | None
    is_current: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """Which alerts an inbox shows, in which order; an empty part means all, no state the open."""

    state: str
    tree: str
    hardware: str
    mode: str
    order: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        """The filters of the address; an unknown state is *open*, an unknown order *new*."""
        given = {name: read_text(request.GET, name) for name in PARTS}
        if given["state"] not in STATES:
            given["state"] = DEFAULTS["state"]
        if given["order"] not in ORDERS:
            given["order"] = DEFAULTS["order"]
        return cls(**given)

    def address(self, **more: str) -> str:
        """The inbox with these filters, and ``more``; a part of these may be given anew."""
        parts = {name: more.pop(name, getattr(self, name)) for name in PARTS}
        kept = [(name, value) for name, value in parts.items() if value != DEFAULTS.get(name, "")]
        return with_query(reverse("alerts"), [*kept, *more.items()])

    def asked(self, *, before: int, offset: int, also: Mapping[int, int]) -> queries.Asked:
        """What to list: older than ``before`` or beyond ``offset``, whichever the order needs."""
        parts = {name: getattr(self, name) for name in PARTS}
        if self.order == "new":
            return queries.Asked(**parts, before=before, also=also)
        return queries.Asked(**parts, offset=offset, also=also)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The inbox: alerts by the filters of the address, and the evidence of one of them."""
    filters = Filters.of(request)
    now = timezone.now()
    number = queries.counts(now - timedelta(days=QUALITY_DAYS))
    acted = dict(_seen(request.GET.getlist("done")[:MOST_AT_ONCE]))
    before = read_number(request.GET.get("before", ""))
    offset = min(read_number(request.GET.get("from", "")), number.all)
    wanted = read_number(request.GET.get("chosen", ""))
    found = queries.listed(
        filters.asked(before=before, offset=offset, also=acted),
        limit=ROWS + 1 + len(acted),
        choose=lambda numbers: _choose(numbers, wanted, acted),
    )
    rows, more = found[: ROWS + len(acted)], len(found) > ROWS + len(acted)
    # One that something happened to since is no longer as it was left.
    done = [one for one in rows if acted.get(one.alert.pk) == one.alert.version]
    chosen = _choose([one.alert.pk for one in rows], wanted, acted)
    beside = next((one for one in rows if one.alert.pk == chosen), None)
    near = queries.surroundings_of(
        [row for one in rows for row in one.members.findings],
        whiskers=beside.members.findings if beside else (),
    )
    shown = chosen_of(beside, near) if beside else None
    can_act = is_triager(request.user)
    context = {
        "filters": filters,
        "here": filters.address(),
        "headline": _headline(number.new, number.open, number.all),
        "tabs": _tabs(filters, number._asdict()),
        "orders": _orders(filters),
        "choices": queries.choices(),
        "rows": _rows(rows, near, shown, done, can_act=can_act),
        "chosen": shown,
        "any": bool(number.all),
        "in_history": number.history,
        "older": _older(filters, rows, offset) if more else "",
        "done": [(one.alert.pk, one.alert.version) for one in done],
        "can_act": can_act,
        "typed": typed_before(request),
        "number": number,
        "quality_days": QUALITY_DAYS,
    }
    return render(request, "pages/alerts/alerts.html", context)


def _choose(numbers: Sequence[int], wanted: int, acted: Mapping[int, int]) -> int:
    """The alert whose evidence stands beside the rows: the one that is asked for, after an act the
    one below what was acted on, else the first; 0 at the end of the list.
    """
    if wanted in numbers:
        return wanted
    places = [place for place, number in enumerate(numbers) if number in acted]
    following = numbers[places[-1] + 1 :] if places else numbers
    return following[0] if following else 0


def _rows(
    rows: Sequence[queries.Listed],
    near: Mapping[int, queries.Surroundings],
    chosen: Chosen | None,
    done: Sequence[queries.Listed],
    *,
    can_act: bool,
) -> list[str]:
    numbers = [one.alert.pk for one in rows]
    running = Bisect.objects.filter(alert__in=numbers).exclude(state__in=Bisect.ENDED)
    shared = Rows(
        now=timezone.now(),
        near=near,
        chosen=chosen.one.alert.pk if chosen else 0,
        acted={one.alert.pk for one in done},
        bisected=set(running.values_list("alert", flat=True)) if numbers else set(),
        can_act=can_act,
    )
    return [shared.html(one) for one in rows]


def _headline(new: int, waiting: int, every: int) -> str:
    """The answer: how many alerts nobody took yet."""
    if not every:
        return "No alert yet"
    if not waiting:
        return "Nothing is open"
    taken = waiting - new
    if not new:
        return f"Nothing new; {as_text(waiting)} open, all taken"
    words = counted(new, "new alert")
    if not taken:
        return words
    return f"{words}; the other {'is' if taken == 1 else f'{as_text(taken)} are'} taken"


def _tabs(filters: Filters, number: dict[str, int]) -> list[Link]:
    return [
        Link(
            tab.capitalize(),
            filters.address(state=tab),
            None if tab in ("resolved", "all") else number[tab],
            filters.state == tab,
        )
        for tab in TABS
    ]


def _orders(filters: Filters) -> list[Link]:
    return [
        Link(name, filters.address(order=order), None, filters.order == order)
        for order, name in ORDERS.items()
    ]


def _older(filters: Filters, rows: Sequence[queries.Listed], offset: int) -> str:
    if filters.order == "new":
        return filters.address(before=str(rows[-1].alert.pk))
    return filters.address(**{"from": str(offset + ROWS)})


@require_POST
@triager_required
def act_on_many(request: HttpRequest) -> HttpResponse:
    """Do one thing to each chosen alert; each that cannot be has a message."""
    back = Filters.of(request)
    chosen = _seen(request.POST.getlist("alert")[:MOST_AT_ONCE])
    if not chosen:
        refuse(request, "Choose one alert or more.")
    done = _act_on_each(request, signed_in_user(request), chosen)
    undone = request.POST.get("act") == "undo"
    pairs = [("done", f"{alert.pk}.{alert.version}") for alert in ([] if undone else done)]
    if undone and done:
        pairs = [("chosen", str(done[0].pk))]
    address = back.address()
    return redirect(f"{address}{'&' if '?' in address else '?'}{with_query('', pairs)[1:]}")


def _act_on_each(
    request: HttpRequest, actor: User, chosen: Sequence[tuple[int, int]]
) -> list[Alert]:
    done = []
    for number, version in chosen:
        try:
            name = request.POST.get("act", "")
            done.append(act(name, request.POST.dict(), alert=number, version=version, actor=actor))
        except TriageError as error:
            refuse(request, str(error))
    if done:
        messages.success(request, _what_was_done(done))
    return done


def _what_was_done(done: Sequence[Alert]) -> str:
    """``Alert 5 acknowledged``; of several ``Alerts 6, 5 acknowledged``."""
    numbers = ", ".join(str(alert.pk) for alert in done)
    return f"Alert{'' if len(done) == 1 else 's'} {numbers} {done[0].get_state_display()}"


def _seen(texts: Sequence[str]) -> list[tuple[int, int]]:
    """(number, version) of ``12.3``: which alerts were looked at, and as what."""
    pairs = [text.split(".", 1) for text in texts if "." in text]
    seen = [(read_number(number), read_number(version)) for number, version in pairs]
    return [(number, version) for number, version in seen if number]


@dataclass(frozen=True, slots=True)
class Rows:
    """What the rows of a list share. ``chosen`` is the alert (number) whose evidence stands beside
    them, 0 where there is none; ``acted`` are those that were just acted on; ``bisected`` those
    that a bisect searches now; ``can_act``: the reader may act.
    """

    now: datetime
    near: Mapping[int, queries.Surroundings]
    chosen: int
    acted: Collection[int]
    bisected: Collection[int]
    can_act: bool

    def html(self, one: queries.Listed) -> SafeString:
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

    def _spark(self, one: queries.Listed) -> str:
        worst = one.members.worst
        near = self.near.get(worst.pk) if worst else None
        return spark(worst, near) if worst and near and near.points else ""

    def _state(self, one: queries.Listed) -> str:
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


def _change(one: queries.Listed) -> str:
    worst = one.members.worst
    if worst is None:
        return '<span class="d muted">no finding</span>'
    # Of single builds nothing is claimed of the commit: no colour, and no mark of a change.
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


def _what(one: queries.Listed) -> str:
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


def suspects_line(one: queries.Suspicion) -> str:
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
