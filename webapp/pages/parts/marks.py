"""Small parts of a line: the name of a machine, the marks that stand before a change or behind a
machine, and how long ago something was, in its largest sensible unit.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from html import escape

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from webapp.charts.text import MARKS, UNKNOWN
from webapp.results.models import Hardware, MachineName

SIMULATED = mark_safe('<span class="tag">simulated</span>')
"""Says that the figures beside it come from a simulation."""

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


def hardware_html(hardware: Hardware, *, line: bool = False) -> SafeString:
    """`machine_html` of a row. Needs ``hardware.lab`` loaded."""
    simulated = hardware.lab.simulated
    return machine_html(hardware.called, hardware.name, simulated=simulated, line=line)


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
    told = relative(moment, now or datetime.now(moment.tzinfo))
    return mark_safe(  # noqa: S308 (escaped here)
        f'<time datetime="{escape(at)}" title="{escape(exact)}">{told}</time>'
    )


def relative(moment: datetime, now: datetime) -> str:
    """``3 months ago``, ``an hour from now``, ``now``: calendar years and months, then weeks, days,
    hours, minutes, seconds, of which the largest is told.

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
