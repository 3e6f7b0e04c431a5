"""`/profiles/diff/`: what functions cost on two sides, and which a change made dearer."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis.queries import ProfiledPair, SideError, profiled_side
from webapp.charts.flame.layout import LEAST_PX as PICTURE_PX
from webapp.charts.flame.layout import Flame, NoSuchFrame
from webapp.charts.flame.layout import difference as drawn_difference
from webapp.charts.flame.svg import flame_picture, flame_svg, legend
from webapp.pages.parts.links import diff_link, side_link, with_query
from webapp.pages.pictures import NoPicture, as_png, as_svg, picture_answer
from webapp.pages.profiles.profile import NO_FRAME, facts_of, warnings_of
from webapp.pages.profiles.view import CALLERS_BELOW, LEAST_PX, MODULE, REVERSE, View
from webapp.stats.profiles.align import aligned

ROWS = 60
"""Functions in the table; `all=1` shows the others."""


def read(request: HttpRequest) -> ProfiledPair:
    """The sides that the address names. Raises SideError."""
    texts = [request.GET.get(name, "").replace("\0", "") for name in "ab"]
    if not all(texts):
        raise SideError("give two sides, a and b; /profiles/ lists what is profiled")
    a, b = map(profiled_side, texts)
    return ProfiledPair(a, b)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The answer, the flame graph of B coloured by change, and a table of functions."""
    try:
        both = read(request)
    except SideError as error:
        context = {"text": "", "problem": str(error)}
        return render(request, "pages/profile_unknown.html", context, status=404)
    view = View.of(request, CALLERS_BELOW)
    try:
        flame = _flame(both, view)
    except NoSuchFrame:
        view = replace(view, root="")
        flame = _flame(both, view)
    return render(request, "pages/profile_diff.html", _context(request, both, flame, view))


@require_safe
def svg(request: HttpRequest) -> HttpResponse:
    """The flame graph of the difference as a picture; its view, `theme`, `width`."""
    return picture_answer(request, lambda: as_svg(_picture(request), request))


@require_safe
def png(request: HttpRequest) -> HttpResponse:
    """The same as PNG."""
    return picture_answer(request, lambda: as_png(_picture(request), request))


def _picture(request: HttpRequest) -> str:
    try:
        both = read(request)
        flame = _flame(both, View.of(request, CALLERS_BELOW), PICTURE_PX)
    except SideError as error:
        raise NoPicture(str(error)) from error
    except NoSuchFrame as error:
        raise NoPicture(NO_FRAME) from error
    here = request.build_absolute_uri(diff_link(both.a.text, both.b.text))
    lines = [*both.headline.more, f"A: {both.a.title}", f"B: {both.b.title}", here]
    return flame_picture(flame, title=both.headline.first, lines=lines)


def _flame(both: ProfiledPair, view: View, least_px: float = LEAST_PX) -> Flame:
    """Both call trees as one, what each node cost on both sides in percent of A's packet."""
    calls, *own = aligned(both.a.calls(), both.b.calls())
    total = both.found.total
    cost = (total.a_pct, total.b_pct) if both.found.is_cost and total else (100.0, 100.0)
    of_a, of_b = (counts * (one / counts.sum()) for counts, one in zip(own, cost, strict=True))
    return drawn_difference(
        calls,
        a=of_a,
        b=of_b,
        hide=view.hidden(calls),
        reverse=REVERSE in view.on,
        by_module=MODULE in view.on,
        root=view.root,
        least_px=least_px,
    )


def _context(request: HttpRequest, both: ProfiledPair, flame: Flame, view: View) -> dict[str, Any]:
    path, query = reverse("profile_diff"), [("a", both.a.text), ("b", both.b.text)]
    parts = [*query, *view.query()]
    found, shows_all = both.found, request.GET.get("all") == "1"
    rows = found.rows if shows_all else found.rows[:ROWS]
    return {
        "headline": both.headline,
        "found": found,
        "rows": rows,
        "more": len(found.rows) - len(rows),
        "all_link": with_query(path, [*parts, ("all", "1")]),
        "unit": "% of A's packet" if found.is_cost else "% of samples",
        "image": flame_svg(flame, described=both.headline.text),
        "legend": legend(flame),
        "toggles": view.toggles(path, query),
        "whole": with_query(path, query),
        "swapped": diff_link(both.b.text, both.a.text),
        "sides": [
            (name, side, side_link(side.text), facts_of(side), warnings_of(side.profiles))
            for name, side in (("A", both.a), ("B", both.b))
        ],
        "svg_link": with_query(reverse("profile_diff_svg"), parts),
        "png_link": with_query(reverse("profile_diff_png"), parts),
    }
