"""The name of a machine as pages show it, and small marks that stand before a change or behind a
machine.
"""

from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from webapp.charts.text import MARKS
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
