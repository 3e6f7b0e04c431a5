"""The parts that pages are made of: the links of the bar, chips, pills, names, bars of intervals,
the marks of verdicts, and how long ago something was, in its largest sensible unit.

Each is a function of plain values that writes escaped HTML; the look is static/css/components.css.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache, lru_cache
from html import escape

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.urls import get_script_prefix, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from webapp.charts import bars, text
from webapp.charts.text import MARKS, UNKNOWN
from webapp.results.models import (
    USUAL_METRIC,
    Hardware,
    MachineName,
    Mode,
    ModeName,
    Revision,
    Series,
)
from webapp.results.queries import rows_of

register = template.Library()

Link = tuple[str, str]

PAGES: tuple[Link, ...] = (
    *(("Overview", "overview"), ("Alerts", "alerts"), ("Hardware", "hardware_list")),
    *(("Trends", "trends"), ("Commits", "trees"), ("Compare", "compare")),
)
PAIRS: tuple[tuple[Link, Link], ...] = (
    (("Alerts", "alerts"), ("Bisects", "bisects")),
    (("Commits", "trees"), ("Tested lately", "lately")),
    (("Compare", "compare"), ("Reports", "experiments")),
)
"""A page of the bar and the one that stands beside it, under one entry."""

BESIDE = tuple(pair[1] for pair in PAIRS)

REST: tuple[Link, ...] = (
    *(("Profiles", "profiles"), ("Agents", "agents"), ("Events", "events")),
    *(("Canaries", "canaries"), ("Quality", "quality"), ("Thresholds", "thresholds")),
    *(("Waiting runs", "waiting_runs"), ("Aliases", "aliases")),
)
OPERATE: tuple[Link, ...] = (
    *(("Status", "status"), ("Waiting runs", "waiting_runs")),
    *(("Outbox", "outbox"), ("Webhooks", "webhooks")),
    *(("Agents", "agents"), ("Events", "events"), ("Canaries", "canaries")),
    *(("Quality", "quality"), ("Thresholds", "thresholds"), ("Aliases", "aliases")),
    *(("Labs", "labs"), ("Audit log", "audit"), ("Admin", "admin:index")),
)
API: Link = ("API", "api-docs")

WAITING = """
SELECT (SELECT count(*) FROM results_waitingrun WHERE decided_at IS NULL)
       + (SELECT count(*) FROM outbox_endpoint WHERE disabled_reason <> '')
       + (SELECT count(*) FROM notifications_problem WHERE mailed_at IS NOT NULL)
"""

VERDICTS = {
    "worse": "worse",
    "regression": "worse",
    "better": "better",
    "improvement": "better",
    "mixed": "mixed",
    "equivalent": "same",
    "no change": "same",
    "cannot tell": "unsure",
    "lab?": "unsure",
    "builds differ": "differ",
}
"""The class of the chip of a verdict; what stands not here has no wash."""

PILLS = {
    "new": "new",
    "reopened": "new",
    "snoozed": "snoozed",
    "resolved": "done",
    "recovered": "done",
    "investigating": "live",
    "running": "live",
}
"""The class of the pill of a state; others have a line and nothing more."""


@register.simple_tag(takes_context=True)
def page_links(context: Context) -> SafeString:
    """The links of the bar with the one of this page marked: the pages side by side, and for
    operators *Operate*, with the number of what waits for them; all in one menu where the window is
    narrow.
    """
    first, everything = _addresses(PAGES), _addresses((*PAGES, *BESIDE, *REST, API))
    user = context.get("user")
    is_operator = getattr(user, "is_operator", False)
    operate = (_addresses(OPERATE), waiting_for_operators()) if is_operator else None
    return _bar(first, everything, _here(_path(context), everything), operate)


@register.simple_tag(takes_context=True)
def page_pair(context: Context) -> SafeString:
    """The page and the one beside it, where the bar has one entry for both; else nothing."""
    path = _path(context)
    for pair in PAIRS:
        links = _addresses(pair)
        here = _here(path, links)
        if here:
            return format_html(
                '<nav class="pair" aria-label="{}">{}</nav>', pair[0][0], _side_by_side(links, here)
            )
    return mark_safe("")


def waiting_for_operators() -> int:
    """Runs that wait for a decision, disabled webhooks, checks that are wrong. One query."""
    ((count,),) = rows_of(WAITING)
    return int(count)


@register.simple_tag
def other_pages() -> SafeString:
    """What the bar has no entry for, for the foot of every page."""
    return _side_by_side(_addresses((*BESIDE, *REST, API)), "")


@cache
def _bar(
    first: tuple[Link, ...],
    everything: tuple[Link, ...],
    here: str,
    operate: tuple[tuple[Link, ...], int] | None,
) -> SafeString:
    """There are no more of them than pages and numbers of what waits."""
    pairs = [_addresses(pair) for pair in PAIRS]
    entry = next((one[1] for one, other in pairs if other[1] == here), here)
    menu = mark_safe("")
    if operate is not None:
        links, waiting = operate
        badge = format_html(' <span class="badge">{}</span>', waiting) if waiting else ""
        menu = _menu(format_html("Operate{}", badge), "menu", links, here)
        everything = tuple(dict.fromkeys([*everything, *links]))
    return format_html(
        "{}{}{}",
        _side_by_side(first, entry),
        menu,
        _menu("Menu", "menu all-pages", everything, here),
    )


def _side_by_side(links: Iterable[Link], here: str) -> SafeString:
    return format_html_join(
        "", '<a href="{}"{}>{}</a>', ((to, _mark(to == here), name) for name, to in links)
    )


def _path(context: Context) -> str:
    request = context.get("request")
    path = request.path if isinstance(request, HttpRequest) else ""
    # Two releases are a comparison, under an address that people can dictate.
    return reverse("compare") if path.startswith(reverse("picked_releases")) else path


def _addresses(pages: tuple[Link, ...]) -> tuple[Link, ...]:
    return _addresses_below(get_script_prefix(), pages)


@cache
def _addresses_below(prefix: str, pages: tuple[Link, ...]) -> tuple[Link, ...]:
    """Names and addresses, found once: they change with the prefix of the site and nothing else."""
    return tuple((name, reverse(page)) for name, page in pages)


def _here(path: str, links: Iterable[Link]) -> str:
    """The address among ``links`` that ``path`` is at or below; empty where it is none of them."""
    home = get_script_prefix()
    below = [to for _, to in links if (path == to if to == home else path.startswith(to))]
    return max(below, key=len, default="")


def _mark(is_here: bool) -> SafeString:
    return mark_safe(' aria-current="page"') if is_here else mark_safe("")


def _menu(title: str | SafeString, css_class: str, links: Iterable[Link], here: str) -> SafeString:
    links = list(links)
    is_here = mark_safe(" data-current" if here in [to for _, to in links] else "")  # noqa: S308
    rows = format_html_join(
        "", '<li><a href="{}"{}>{}</a></li>', ((to, _mark(to == here), name) for name, to in links)
    )
    return format_html(
        '<details class="{}"{}><summary>{}</summary><ul>{}</ul></details>',
        css_class,
        is_here,
        title,
        rows,
    )


@register.simple_tag
def verdict_chip(verdict: str) -> SafeString:
    """A verdict with its glyph, its word and its wash."""
    return format_html(
        '<span class="chip {}">{} {}</span>',
        VERDICTS.get(verdict, ""),
        text.MARKS.get(VERDICTS.get(verdict, ""), text.MARKS.get(verdict, "")),
        verdict,
    )


@register.simple_tag
def state_pill(state: str, label: str = "") -> SafeString:
    """A state of an alert, a bisect or a job, by its name; ``label`` replaces it."""
    return format_html('<span class="pill {}">{}</span>', PILLS.get(state, ""), label or state)


@register.simple_tag
def interval_bar(
    low: float | None, high: float | None, reach: float = 25.0, verdict: str = ""
) -> SafeString:
    """A 95 % interval in percent as a bar on a scale of ± ``reach`` percent; empty when unknown."""
    if low is None or high is None or reach <= 0:
        return mark_safe("")
    return mark_safe(bars.draw_interval(low, high, reach=reach, verdict=verdict))  # noqa: S308


@register.simple_tag
def commit_chip(revision: Revision) -> SafeString:
    """A revision with its subject and its author, linked. Needs ``revision.tree`` loaded."""
    return format_html(
        '<a class="commit" href="{}"><span class="rev">{}</span>'
        '<span class="subj">{}</span><span class="who">{}</span></a>',
        revision.get_absolute_url(),
        revision.name,
        revision.subject,
        revision.author_name,
    )


@register.simple_tag
def series_name(series: Series) -> str:
    """The same of a series with its metric, which must be loaded; of a cost in words."""
    if series.is_cost:
        return series.subject
    mode, metric = mode_name(series.mode), series.metric.name
    return mode if metric == USUAL_METRIC else format_html("{} of {}", metric, mode)


@register.simple_tag
def mode_name(mode: Mode | ModeName | str) -> SafeString:
    """A mode with its options boxed: what differs catches the eye."""
    text = str(mode.parts if isinstance(mode, Mode) else mode)
    workload, *options = escape(text).split("+")
    boxed = "".join(f'<span class="opt">+{option}</span>' for option in options)
    return mark_safe(workload + boxed)  # noqa: S308 (escaped)


SIMULATED = mark_safe('<span class="tag">simulated</span>')
"""The mark that the figures beside it come from a simulation."""

NOT_SIMULATED = mark_safe("")
SIMULATED_LAB = mark_safe(' <span class="sim">simulated</span>')


@lru_cache(maxsize=4 * len(MARKS))
def verdict_mark(verdict: str) -> SafeString:
    """The mark that stands before a change, with the verdict for those who cannot see it."""
    return format_html(
        '<span class="mark {}" title="{}" role="img" aria-label="{}">{}</span>',
        css_class(verdict),
        verdict,
        verdict,
        MARKS.get(verdict, ""),
    )


def css_class(verdict: str) -> str:
    """A verdict as the name of a CSS class."""
    return verdict.rstrip("?").replace(" ", "-")


def machine_html(
    called: MachineName, identifier: str, *, simulated: bool, line: bool = False
) -> SafeString:
    """What people call a machine, in two lines or with ``line`` in one; its identifier on hover."""
    return format_html(
        '<span class="hw{}" title="{}"><b>{}</b> <span>{}{}</span></span>',
        " line" if line else "",
        identifier,
        called.first,
        called.second,
        SIMULATED_LAB if simulated else NOT_SIMULATED,
    )


@register.simple_tag(name="hw_name")
def hardware_html(hardware: Hardware, *, line: bool = False) -> SafeString:
    """`machine_html` of a row. Needs ``hardware.lab`` loaded."""
    simulated = hardware.lab.simulated
    return machine_html(hardware.called, hardware.name, simulated=simulated, line=line)


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 run``, ``1,200 runs``; ``plural`` where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


UNITS = ((86_400, "day", "days"), (3600, "h", "h"), (60, "min", "min"))

LONG = ((604_800, "week"), (86_400, "day"))
SHORT = ((3600, "an", "hour"), (60, "a", "minute"), (1, "a", "second"))
NO_BREAK = "\N{NO-BREAK SPACE}"


def age(length: timedelta) -> str:
    """``16 days``, ``2 h``, ``5 min``, ``1 min`` for anything less, the future included."""
    seconds = length.total_seconds()
    for size, one, many in UNITS:
        count = int(seconds // size)
        if count >= 1:
            return f"{count:,} {one if count == 1 else many}"
    return "1 min"


def when(moment: datetime | None, now: datetime | None = None) -> SafeString:
    """A relative time, with the exact one on hover; a dash when unknown."""
    if moment is None:
        return mark_safe(UNKNOWN)  # noqa: S308 (a dash)
    at, exact = moment.isoformat(), moment.strftime("%Y-%m-%d %H:%M %Z")
    text = relative(moment, now or datetime.now(moment.tzinfo))
    return mark_safe(  # noqa: S308 (escaped here)
        f'<time datetime="{escape(at)}" title="{escape(exact)}">{text}</time>'
    )


def relative(moment: datetime, now: datetime) -> str:
    """``3 months ago``, ``an hour from now``, ``now``: calendar years and months, then weeks, days,
    hours, minutes, seconds, of which the largest is shown.

    As Django's ``naturaltime`` without its smaller unit, which looks each word up in the catalogue
    of the one language that there is: for a list of fifty that took as long as its statements.
    """
    tail = "ago" if moment < now else "from now"
    earlier, later = sorted((moment, now.astimezone(moment.tzinfo)))
    passed = later - earlier
    months = _months(earlier, later) if passed.days else 0
    if months:
        return f"{_count(*((months // 12, 'year') if months >= 12 else (months, 'month')))} {tail}"
    for size, unit in LONG:
        if passed.days * 86_400 >= size:
            return f"{_count(passed.days * 86_400 // size, unit)} {tail}"
    for size, article, unit in SHORT:
        count = passed.seconds // size
        if count:
            return f"{f'{article} {unit}' if count == 1 else _count(count, unit)} {tail}"
    return "now"


def _months(earlier: datetime, later: datetime) -> int:
    """Whole months of the calendar."""
    months = (later.year - earlier.year) * 12 + later.month - earlier.month
    is_short = (earlier.day, earlier.time()) > (later.day, later.time())
    return months - is_short


def _count(count: int, unit: str) -> str:
    return f"{count}{NO_BREAK}{unit}{'' if count == 1 else 's'}"
