"""`/profiles/`: what is profiled; the flame graph of a profile, and of a side, its boots added;
and how a flame graph is looked at, which its address holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis import queries
from webapp.charts.flame.layout import LEAST_PX as PICTURE_PX
from webapp.charts.flame.layout import Flame, NoSuchFrame, frames
from webapp.charts.flame.svg import flame_picture, flame_svg, legend
from webapp.charts.text import number
from webapp.pages.parts.links import diff_link, functions_link, side_link, with_query
from webapp.pages.pictures import NoPicture, picture_of
from webapp.results.models import Profile, Run
from webapp.stats.arrays import Bools
from webapp.stats.profiles.calls import Calls, idle_nodes, idle_share
from webapp.stats.profiles.testing import TESTED

LISTED = 200
"""Kernels, machines and modes on the list, those with the newest profiles first."""

OTHERS = 20
"""Sides that a side is offered to be compared with."""

LEAST_PX = 0.1
"""Of frames on a page: the script draws them where a zoom makes them wide."""

REVERSE, MODULE, IDLE = "reverse", "module", "idle"
TEXTS = {REVERSE: "Callers below", MODULE: "By module", IDLE: "With idle"}
"""What can be switched in an address (1 or 0), and what pages call it."""

PLAIN: frozenset[str] = frozenset()
CALLERS_BELOW = frozenset({REVERSE})
"""A difference shows the functions that ran on top. A profiler that cuts stacks at a depth (pmcstat
at 16) begins them elsewhere once a call is added: callers first, unchanged functions would move.
"""


@dataclass(frozen=True, slots=True)
class View:
    """What is switched on (of `TEXTS`), and the frame that fills the picture; ``plain`` is what is
    on where the address gives none.
    """

    on: frozenset[str]
    root: str
    plain: frozenset[str]

    @classmethod
    def of(cls, request: HttpRequest, plain: frozenset[str] = PLAIN) -> "View":
        """What the address asks for."""
        on = {one for one in TEXTS if request.GET.get(one, str(int(one in plain))) == "1"}
        return cls(frozenset(on), request.GET.get("root", "").replace("\0", ""), plain)

    def hidden(self, calls: Calls) -> Bools | None:
        """Which nodes are not drawn."""
        return None if IDLE in self.on else idle_nodes(calls, queries.idle_patterns())

    def query(self) -> list[tuple[str, str]]:
        """The parts of the address, those alone that differ from the plain view."""
        parts = [(one, str(int(one in self.on))) for one in TEXTS if one in self.on ^ self.plain]
        return [*parts, ("root", self.root)] if self.root else parts

    def toggles(self, path: str, more: list[tuple[str, str]]) -> list[tuple[str, str, bool]]:
        """What else can be seen: text, address, whether it is so now. The root does not survive:
        a turned graph has other frames.
        """
        others = ((one, replace(self, on=self.on ^ {one}, root="")) for one in TEXTS)
        return [
            (TEXTS[one], with_query(path, [*more, *other.query()]), one in self.on)
            for one, other in others
        ]


def name_of(name: str, module: str) -> str:
    """A function as an address names it."""
    return f"{name}@{module}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A kernel on a machine in a mode, and how many profiles of it are stored."""

    run: Run
    count: int

    @property
    def address(self) -> str:
        """The side as addresses name it."""
        return queries.address_of(self.run)

    @property
    def title(self) -> str:
        """The same for people."""
        return queries.title_of(self.run)

    @property
    def link(self) -> str:
        """The flame graph of all its boots."""
        return side_link(self.address)

    @property
    def functions_link(self) -> str:
        """What functions cost over the revisions of its tree."""
        return functions_link(self.run)


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """What has profiles, and the difference of two of it."""
    rows = listed(Run.objects.counted())
    context = {"rows": rows, "most": LISTED, "first": first_pair(rows)}
    return render(request, "pages/profiles/profiles.html", context)


def first_pair(rows: Sequence[Listed]) -> tuple[str, str]:
    """The newest two kernels of one machine in one mode, the older first; else the newest twice."""
    newest: dict[tuple[int, int], str] = {}
    for one in rows:
        subject = one.run.hardware_id, one.run.mode_id
        if subject in newest:
            return one.address, newest[subject]
        newest[subject] = one.address
    return (rows[0].address,) * 2 if rows else ("", "")


def listed(runs: Any, most: int = LISTED) -> list[Listed]:
    """The runs among ``runs`` that have profiles, a row for each kernel, machine and mode."""
    subject = ("revision", "variant", "hardware", "mode")
    groups = (
        runs.filter(profiles__isnull=False)
        .order_by()
        .values(*subject)
        .annotate(newest=Max("profiles__received_at"), last=Max("pk"), count=Count("profiles"))
        .order_by("-newest", "-last")[:most]
    )
    found = {one["last"]: one["count"] for one in groups}
    named = Run.objects.select_related("revision__tree", "hardware", "mode", "variant")
    rows = named.in_bulk(list(found))
    return [Listed(rows[pk], count) for pk, count in found.items()]


@require_safe
def page(request: HttpRequest, number: int) -> HttpResponse:
    """The flame graph of one profile."""
    side = _found(str(number))
    return _page(request, side, reverse("profile", args=[number]), [])


@require_safe
def side_page(request: HttpRequest) -> HttpResponse:
    """The flame graph of a side, its boots added."""
    text = _asked(request)
    try:
        side = queries.profiled_side(text)
    except queries.SideError as error:
        context = {"text": text, "problem": str(error)}
        return render(request, "pages/profiles/unknown.html", context, status=404)
    return _page(request, side, reverse("profiled_side"), [("side", text)])


@require_safe
def folded(request: HttpRequest, number: int) -> HttpResponse:
    """The stacks of a profile, folded: ``outer;inner count``, a line each."""
    side = _found(str(number))
    lines = (f"{';'.join(one.name for one in stack)} {n}\n" for stack, n in side.calls.stacks())
    response = HttpResponse("".join(lines), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="profile-{number}.folded"'
    return response


@require_safe
def picture(request: HttpRequest, form: str) -> HttpResponse:
    """The flame graph of ``side``, or of a profile by its number, as a picture in its view."""
    return picture_of(request, form, lambda: _picture(request))


def _asked(request: HttpRequest) -> str:
    return request.GET.get("side", "").replace("\0", "")


def _found(text: str) -> queries.ProfiledSide:
    try:
        return queries.profiled_side(text)
    except queries.SideError as error:
        raise Http404(str(error)) from error


def _picture(request: HttpRequest) -> str:
    try:
        side = queries.profiled_side(_asked(request))
        flame = _flame(side.calls, View.of(request), PICTURE_PX)
    except queries.SideError as error:
        raise NoPicture(str(error)) from error
    except NoSuchFrame as error:
        raise NoPicture(NO_FRAME) from error
    here = request.build_absolute_uri(side_link(side.text))
    return flame_picture(flame, title=side.title, lines=[*facts_of(side), here])


NO_FRAME = "root: this graph has no such frame; leave root out for the whole graph."


def _flame(calls: Calls, view: View, least_px: float = LEAST_PX) -> Flame:
    return frames(
        calls,
        hide=view.hidden(calls),
        reverse=REVERSE in view.on,
        by_module=MODULE in view.on,
        root=view.root,
        least_px=least_px,
    )


def _page(
    request: HttpRequest, side: queries.ProfiledSide, path: str, query: list[tuple[str, str]]
) -> HttpResponse:
    calls, view = side.calls, View.of(request)
    try:
        flame = _flame(calls, view)
    except NoSuchFrame as error:
        raise Http404(NO_FRAME) from error
    parts = [("side", side.text), *view.query()]
    context = {
        "side": side,
        "run": side.run,
        "crumb": side_link(queries.address_of(side.run)),
        "image": flame_svg(flame, described=f"Flame graph of {side.title}"),
        "legend": legend(flame),
        "facts": facts_of(side),
        "warnings": warnings_of(side.profiles),
        "toggles": view.toggles(path, query),
        "whole": with_query(path, query),
        "functions": largest(side),
        "series_link": functions_link(side.run),
        "svg_link": with_query(reverse("profile_svg"), parts),
        "png_link": with_query(reverse("profile_png"), parts),
        "others": [
            (one.title, diff_link(one.address, queries.address_of(side.run)))
            for one in _others(side)
        ],
    }
    return render(request, "pages/profiles/profile.html", context)


def _others(side: queries.ProfiledSide) -> list[Listed]:
    """What else is profiled on the machine: in its mode, or of its revision."""
    run = side.run
    runs = Run.objects.counted().filter(hardware=run.hardware, revision__tree=run.revision.tree)
    mine = (run.revision_id, run.variant_id, run.mode_id)
    found = [
        one
        for one in listed(runs)
        if (one.run.revision_id, one.run.variant_id, one.run.mode_id) != mine
    ]
    found.sort(key=lambda one: (one.run.mode_id != run.mode_id, one.run.revision != run.revision))
    return found[:OTHERS]


def facts_of(side: queries.ProfiledSide) -> list[str]:
    """What is known of the profiles, in short lines."""
    boots = len(side.cost_side.boots)
    samples = sum(one.samples for one in side.profiles)
    event = side.profiles[0].event
    counted = f"{number(samples)} samples{f' of {event}' if event else ''}"
    lines = [f"{counted} in {boots} boot{'s' if boots > 1 else ''}"]
    if len(side.profiles) < side.stored:
        lines.append(f"the newest {len(side.profiles)} of {side.stored} profiles: all are too many")
    share = idle_share(side.calls, event, queries.idle_patterns())
    idle = "idle: unknown, halted CPUs give no samples of this event"
    lines.append(idle if share is None else f"idle: {100 * share:.1f} % of the samples")
    rates = [one.pps for one in side.profiles if one.pps]
    if rates:
        lines.append(f"{number(sum(rates) / len(rates))} packets/s while profiled")
    return lines


def warnings_of(profiles: Iterable[Profile]) -> list[str]:
    """What is wrong with the profiles, each with its file."""
    found = []
    for one in profiles:
        if one.is_truncated:
            announced = "" if one.announced is None else f" of {number(one.announced)} announced"
            found.append(f"{one.name} is truncated: {number(one.samples)} samples{announced}")
        if one.unsymbolized:
            unnamed = (
                "1 sample has"
                if one.unsymbolized == 1
                else f"{number(one.unsymbolized)} samples have"
            )
            found.append(f"{one.name}: {unnamed} no symbol")
        found += [f"{one.name}: {text}" for text in one.warnings]
    return found


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function, its shares of all samples in percent, and the address of its series."""

    name: str
    module: str
    own: float
    inclusive: float
    link: str


def largest(side: queries.ProfiledSide, most: int = 30) -> list[FunctionRow]:
    """The functions that themselves ran in most samples; ties by what they called."""
    calls, total = side.calls, side.calls.samples
    own, inclusive = calls.own().sum(axis=0), calls.inclusive().sum(axis=0)
    order = sorted(
        range(len(calls.functions)), key=lambda at: (-own[at], -inclusive[at], calls.functions[at])
    )
    return [
        FunctionRow(
            *calls.functions[at],
            100 * own[at] / total,
            100 * inclusive[at] / total,
            functions_link(
                side.run, [name_of(*calls.functions[at])], with_calls=bool(own[at] < TESTED * total)
            ),
        )
        for at in order[:most]
    ]
