"""`/profiles/diff/`: what functions cost on two sides, and which a change made dearer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis.queries import ProfiledPair, Side, SideError, profiled_cells, profiled_pair
from webapp.charts.flame.layout import LEAST_PX as PICTURE_PX
from webapp.charts.flame.layout import Flame, NoSuchFrame
from webapp.charts.flame.layout import difference as drawn_difference
from webapp.charts.flame.svg import flame_picture, flame_svg, legend
from webapp.charts.flame.tree import totals_of
from webapp.charts.text import number
from webapp.pages.parts.links import diff_link, functions_link, side_link, with_query
from webapp.pages.pictures import NoPicture, picture_of
from webapp.pages.profiles.profile import (
    CALLERS_BELOW,
    LEAST_PX,
    MODULE,
    NO_FRAME,
    REVERSE,
    View,
    facts_of,
    name_of,
    warnings_of,
)
from webapp.results.models import Run
from webapp.stats.arrays import Bools, Floats
from webapp.stats.profiles.calls import Calls
from webapp.stats.profiles.function_series import MOST_FUNCTIONS
from webapp.stats.profiles.headline import Cell, combined
from webapp.stats.profiles.judging import Difference, Row
from webapp.stats.profiles.sides import aligned

ROWS = 60
"""Functions in the table; `all=1` shows the others."""


def read(request: HttpRequest) -> list[ProfiledPair]:
    """The pairs that the address names: one, or where it leaves machine or mode open, one for each
    in which both sides are profiled. Raises SideError where there is none.
    """
    a, b = (request.GET.get(name, "").replace("\0", "") for name in "ab")
    if not (a and b):
        raise SideError("give two sides, a and b; /profiles/ lists what is profiled")
    if not (is_open(a) or is_open(b)):
        return [profiled_pair(a, b)]
    found = profiled_cells(a, b)
    if not found:
        raise SideError(f"no machine and mode is profiled on both {a} and {b}")
    return found


def is_open(text: str) -> bool:
    """Whether a side leaves its machine or its mode open; a number of a profile does not."""
    if text.isdigit():
        return False
    side = Side.parse(text)
    return side.is_open("hardware") or side.is_open("mode")


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The answer, the flame graph of B coloured by change, and a table of functions; of several
    machines or modes what they show together.
    """
    try:
        pairs = read(request)
    except SideError as error:
        context = {"text": "", "problem": str(error)}
        return render(request, "pages/profiles/unknown.html", context, status=404)
    if len(pairs) > 1:
        return render(request, "pages/profiles/cells.html", _cells_context(pairs))
    both, view = pairs[0], View.of(request, CALLERS_BELOW)
    try:
        flame = _flame(both, view)
    except NoSuchFrame:
        view = replace(view, root="")
        flame = _flame(both, view)
    return render(request, "pages/profiles/diff.html", _context(request, both, flame, view))


@require_safe
def picture(request: HttpRequest, form: str) -> HttpResponse:
    """The flame graph of the difference as a picture; its view, `theme`, `width`."""
    return picture_of(request, form, lambda: _picture(request))


def _picture(request: HttpRequest) -> str:
    try:
        both, *more = read(request)
        flame = _flame(both, View.of(request, CALLERS_BELOW), PICTURE_PX)
    except SideError as error:
        raise NoPicture(str(error)) from error
    except NoSuchFrame as error:
        raise NoPicture(NO_FRAME) from error
    if more:
        raise NoPicture("Nothing is drawn: name the machine and the mode.", 400)
    here = request.build_absolute_uri(diff_link(both.a.text, both.b.text))
    lines = [*both.headline.more, f"A: {both.a.title}", f"B: {both.b.title}", here]
    return flame_picture(flame, title=both.headline.first, lines=lines)


def costs(both: ProfiledPair) -> tuple[Calls, Floats, Floats]:
    """Both call trees as one (N nodes), and what each node itself cost on side A and on side B (N),
    in percent of A's packet, or of the samples.
    """
    calls, *own = aligned(both.a.calls, both.b.calls)
    total = both.found.total
    cost = (total.a_pct, total.b_pct) if both.found.is_cost and total else (100.0, 100.0)
    of_a, of_b = (counts * (one / counts.sum()) for counts, one in zip(own, cost, strict=True))
    return calls, of_a, of_b


def _flame(both: ProfiledPair, view: View, least_px: float = LEAST_PX) -> Flame:
    calls, of_a, of_b = costs(both)
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


def _counted(row: Row, found: Difference) -> Sequence[str]:
    """How often the event happened in a function a packet, on both sides; empty: unknown."""
    events = found.events
    return [number(row.a_pct * events.a), number(row.b_pct * events.b)] if events else []


def _cells_context(pairs: Sequence[ProfiledPair]) -> dict[str, Any]:
    cells = [Cell(one.a.run.hardware.name, str(one.a.run.mode), one.found) for one in pairs]
    together = combined(cells)
    return {
        "pairs": [(one, diff_link(one.a.text, one.b.text)) for one in pairs],
        "together": together,
        "rows": together.rows[:ROWS],
    }


def _context(request: HttpRequest, both: ProfiledPair, flame: Flame, view: View) -> dict[str, Any]:
    path, query = reverse("profile_diff"), [("a", both.a.text), ("b", both.b.text)]
    parts = [*query, *view.query()]
    found, shows_all = both.found, request.GET.get("all") == "1"
    rows = found.rows if shows_all else found.rows[:ROWS]
    function = request.GET.get("fn", "")
    of_a = {name_of(*one) for one in both.a.calls.functions}
    is_one_series = functions_link(both.a.run) == functions_link(both.b.run)

    def run_of(named: str) -> Run:
        return both.a.run if is_one_series or named in of_a else both.b.run

    claimed = (name_of(row.function, row.module) for row in found.rows if row.is_claimed)
    changed = [named for named in claimed if run_of(named) == both.a.run]
    return {
        "headline": both.headline,
        "found": found,
        "rows": [
            (
                row,
                with_query(path, [*query, ("fn", named)]),
                [functions_link(run_of(named), [named], with_calls=one) for one in (False, True)],
                _counted(row, found),
            )
            for row in rows
            for named in [name_of(row.function, row.module)]
        ],
        "changed_link": functions_link(both.a.run, changed[:MOST_FUNCTIONS]) if changed else "",
        "around": around_function(*costs(both), function) if function else None,
        "around_link": functions_link(run_of(function), [function]),
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


MOST = 12
"""Callers, and callees, those with the largest change first."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A caller or a callee (``role``), and what was spent in the call on both sides."""

    role: str
    name: str
    a: float
    b: float

    @property
    def change(self) -> float:
        """What side B spent more."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class Around:
    """A function with its callers and callees."""

    name: str
    rows: Sequence[Beside]


def around_function(calls: Calls, a: Floats, b: Floats, named: str) -> Around | None:
    """The callers and callees of the function that an address names; None: no such function."""
    name, _, module = named.rpartition("@")
    at = next((i for i, one in enumerate(calls.functions) if one == (name, module)), None)
    if at is None:
        return None
    totals = totals_of(calls.parent, np.stack([a, b]))
    called = calls.parent >= 0
    own = calls.function == at
    above = called & own[np.where(called, calls.parent, 0)]
    # Of a function that calls itself the calls within are left out on both sides.
    callers = _beside(calls, calls.function[calls.parent], totals, own & called & ~above, "caller")
    return Around(name, [*callers, *_beside(calls, calls.function, totals, above & ~own, "callee")])


def _beside(
    calls: Calls, function: np.ndarray, totals: Floats, chosen: Bools, role: str
) -> list[Beside]:
    count = len(calls.functions)
    a, b = (np.bincount(function[chosen], one[chosen], count) for one in totals)
    order = np.argsort(-np.abs(b - a), kind="stable")[:MOST]
    return [
        Beside(role, calls.functions[at].name, float(a[at]), float(b[at]))
        for at in order.tolist()
        if a[at] or b[at]
    ]
