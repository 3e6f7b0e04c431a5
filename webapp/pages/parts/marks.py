"""What stands before a change or behind a machine: small marks that many pages show."""

from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from webapp.charts.text import MARKS

SIMULATED = mark_safe('<span class="tag">simulated</span>')
"""Says that the figures beside it come from a simulation."""


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
