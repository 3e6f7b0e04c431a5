"""`/hardware/<name>/knobs/<knob>/`: what a metric was at each value of a knob."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.analysis.queries import Curve, CurvePoint, curves_of
from webapp.charts import curve as chart
from webapp.charts.curve import Level
from webapp.charts.svg import style_of
from webapp.pages.parts.links import with_query
from webapp.results.models import Hardware, ModeName, Series

CURVES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve with its picture, empty where fewer than two of its values are numbers."""

    mode: str
    points: Sequence[CurvePoint]
    image: str
    is_logarithmic: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A tree and a metric in which the knob was measured."""

    tree: str
    metric: str
    href: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Knob:
    """A knob of a machine that was measured at so many values in one mode."""

    name: str
    values: int
    href: str


@require_safe
def page(request: HttpRequest, name: str, knob: str) -> HttpResponse:
    """The curves of a knob on a machine, in the tree and metric asked for, else in the first."""
    machine = get_object_or_404(Hardware.objects.select_related("lab"), name=name)
    measured = _measured(machine, knob)
    asked = (request.GET.get("tree", ""), request.GET.get("metric", ""))
    shown = asked if asked in measured else next(iter(measured), ("", ""))
    revision = request.GET.get("revision", "").replace("\0", "")
    found = curves_of(
        tree=shown[0], hardware=machine.name, metric=shown[1], knob=knob, revision=revision
    )
    drawn = [_drawn(one, knob) for one in found.curves[:CURVES_SHOWN]]
    context = {
        "machine": machine,
        "knob": knob,
        "tree": shown[0],
        "metric": drawn[0].points[0].series.metric if drawn else None,
        "revision": found.revision,
        "asked_revision": revision,
        "curves": drawn,
        "more": max(len(found.curves) - CURVES_SHOWN, 0),
        "choices": [_choice(machine, knob, pair, shown) for pair in measured],
        "as_json": with_query(
            reverse("api:list_knobs"),
            {
                "tree": shown[0],
                "hardware": machine.name,
                "metric": shown[1],
                "knob": knob,
            }.items(),
        ),
    }
    return render(request, "pages/hardware/knob.html", context)


def knobs_of(hardware: str, modes: Iterable[ModeName]) -> list[Knob]:
    """The knobs that were measured on a machine (by name) at two values or more in some of its
    modes, by name.
    """
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in modes:
        for knob in {option.partition("=")[0] for option in name.options if "=" in option}:
            if at := name.at_knob(knob):
                values[knob][str(at[0])].add(at[1])
    counts = {knob: max(map(len, curves.values())) for knob, curves in values.items()}
    return [
        Knob(knob, count, reverse("knob", args=[hardware, knob]))
        for knob, count in sorted(counts.items())
        if count > 1
    ]


def _measured(machine: Hardware, knob: str) -> list[tuple[str, str]]:
    """The trees and metrics, by name, with a mode in which the knob is set."""
    rows = Series.objects.measured().filter(hardware=machine, mode__name__contains=f"+{knob}=")
    pairs = rows.order_by("tree__name", "metric__name").values_list("tree__name", "metric__name")
    return list(dict.fromkeys(pairs))


def _choice(machine: Hardware, knob: str, pair: tuple[str, str], shown: tuple[str, str]) -> Choice:
    address = reverse("knob", args=[machine.name, knob])
    query = {"tree": pair[0], "metric": pair[1]}
    return Choice(*pair, with_query(address, query.items()), pair == shown)


def _drawn(one: Curve, knob: str) -> Drawn:
    levels = [
        Level(at.number, at.point.median, at.point.minimum, at.point.maximum)
        for at in one.points
        if at.number is not None
    ]
    if len(levels) < 2:
        return Drawn(one.mode, one.points, "", is_logarithmic=False)
    first = one.points[0].series
    style = style_of(mode_id=first.mode_id)
    return Drawn(
        one.mode,
        one.points,
        chart.draw(levels, knob=knob, unit=first.metric.unit, style=style),
        is_logarithmic=chart.is_logarithmic([level.value for level in levels]),
    )
