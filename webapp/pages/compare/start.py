"""`/compare/` without sides: comparisons at hand, and forms for others."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.analysis.queries import MOST_SIDES, Side, SideError
from webapp.pages.compare import pickers

BAD_REQUEST = 400


def readable(texts: Sequence[str]) -> list[Side]:
    """Those that can be read, for the form that mends the others."""
    found = []
    for text in texts[:MOST_SIDES]:
        try:
            found.append(Side.parse(text))
        except SideError:
            continue
    return found


def start(
    request: HttpRequest, sides: Sequence[Side], error: str = "", releases: Sequence[str] = ()
) -> HttpResponse:
    """What to compare: comparisons at hand, and the forms, with ``sides`` and ``releases`` in
    them.
    """
    context = {
        "error": error,
        "releases": [*releases, "", ""][:2],
        "ready": pickers.ready_made(),
        "columns": pickers.columns_of(sides),
        "has_sides": bool(sides or error),
        "suggestions": pickers.all_suggestions(),
        "parts": pickers.PARTS,
    }
    status = BAD_REQUEST if error else 200
    return render(request, "pages/compare/start.html", context, status=status)
