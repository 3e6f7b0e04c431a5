"""`/hardware/<name>/knobs/<knob>/`: what a metric was at each value of a knob; and the series of a
machine that have no history to draw: sweeps of a knob as charts, the rest as rows of numbers.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from webapp.alerts.queries import SeriesOnMachine
from webapp.analysis.queries import Curve, CurvePoint, curves_of, knob_number
from webapp.charts import small
from webapp.charts.svg import style_of
from webapp.charts.text import number, one_revision
from webapp.pages.hardware.lanes import Place, trends_link
from webapp.pages.parts.components import mode_name
from webapp.pages.parts.links import with_query
from webapp.results.models import Hardware, ModeName, Series

CURVES_SHOWN = 20
SWEEP_VALUES = 3
"""Values of a knob at one revision that make a chart."""

SWEEPS_SHOWN = 6
ROWS_SHOWN = 60
"""Rows of numbers that stand open; the rest is folded."""


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
    """Knobs measured on a machine (by name) at two values or more in some of its modes, by name."""
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
        small.Level(at.number, at.point.median, at.point.minimum, at.point.maximum)
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
        small.draw_curve(levels, knob=knob, unit=first.metric.unit, style=style),
        is_logarithmic=small.is_logarithmic([level.value for level in levels]),
    )


@dataclass(frozen=True, slots=True)
class Sweep:
    """A knob at several values in one mode (named without it), at one revision."""

    knob: str
    mode: ModeName
    tree: str
    metric: str
    unit: str
    revision: str
    values: int
    image: str
    href: str

    @property
    def search(self) -> str:
        """What filtering by typing looks at."""
        return f"{self.mode}+{self.knob}=".lower()


@dataclass(frozen=True, slots=True)
class Rows:
    """Series as rows of numbers, as HTML: those that stand open, and those that are folded."""

    count: int
    shown: SafeString
    folded: SafeString
    folded_count: int


def sweeps_of(
    series: Sequence[SeriesOnMachine], names: Mapping[Place, str], hardware: str
) -> tuple[list[Sweep], list[SeriesOnMachine]]:
    """The sweeps among ``series``, those with the most values first, and what is in none of them.

    Values are compared at one revision only: the newest of each series.
    """
    groups: dict[tuple[str, str, str, str, int], list[tuple[float, SeriesOnMachine]]]
    groups = defaultdict(list)
    for one in series:
        for knob, rest, value in _settings(one):
            groups[one.tree, one.metric, knob, rest, one.positions[-1]].append((value, one))
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    found: list[Sweep] = []
    taken: set[int] = set()
    for (_, _, knob, _, _), swept in ranked:
        free = sorted((value, one.pk, one) for value, one in swept if one.pk not in taken)
        if len({value for value, _, _ in free}) < SWEEP_VALUES or len(found) == SWEEPS_SHOWN:
            continue
        its = [(value, one) for value, _, one in free]
        found.append(_sweep(knob, its, names, hardware))
        taken |= {one.pk for _, one in its}
    return found, [one for one in series if one.pk not in taken]


def rows_of(
    series: Sequence[SeriesOnMachine],
    names: Mapping[Place, str],
    hardware: str,
    *,
    folded: bool,
) -> Rows:
    """A row of each of ``series``; all beyond `ROWS_SHOWN` are folded, where that is wanted."""
    with_tree = len({(one.tree, one.metric) for one in series}) > 1
    written = [_row(one, names, hardware, with_tree=with_tree) for one in series]
    most = ROWS_SHOWN if folded else len(written)
    return Rows(
        len(written), _html(written[:most]), _html(written[most:]), max(len(written) - most, 0)
    )


def _settings(one: SeriesOnMachine) -> Iterable[tuple[str, str, float]]:
    """The knobs set in a mode: each with the mode without it, and its value as a number."""
    for option in one.parts.options:
        knob, equals, text = option.partition("=")
        value = knob_number(text) if equals else None
        rest = one.parts.at_knob(knob)
        if value is not None and rest is not None:
            yield knob, str(rest[0]), value


def _sweep(
    knob: str,
    swept: Sequence[tuple[float, SeriesOnMachine]],
    names: Mapping[Place, str],
    hardware: str,
) -> Sweep:
    first = swept[0][1]
    rest = first.parts.at_knob(knob)
    if rest is None:
        raise ValueError(f"{first.mode} does not set {knob}")
    levels = [small.Level(value, one.median, one.lows[-1], one.highs[-1]) for value, one in swept]
    pairs = {"tree": first.tree, "metric": first.metric}
    return Sweep(
        knob=knob,
        mode=rest[0],
        tree=first.tree,
        metric=first.metric,
        unit=first.unit,
        revision=names.get((first.tree_id, first.positions[-1]), ""),
        values=len(swept),
        image=small.draw_curve(levels, knob=knob, unit=first.unit, style=style_of(mode_id=0)),
        href=with_query(reverse("knob", args=[hardware, knob]), pairs.items()),
    )


def _row(
    one: SeriesOnMachine, names: Mapping[Place, str], hardware: str, *, with_tree: bool
) -> str:
    """A page may hold a thousand of them: a template would take longer than all the rest."""
    mean, count = one.means[-1], len(one.positions)
    name = names.get((one.tree_id, one.positions[-1]), "")
    spread = one_revision(one.n, mean, one.lows[-1], one.highs[-1])
    where = f", {escape(one.metric)} of {escape(one.tree)}" if with_tree else ""
    revisions = "1 revision" if count == 1 else f"{count} revisions"
    return (
        f'<a href="{escape(trends_link(one, hardware, mode=one.mode))}" '
        f'data-mode="{escape(one.mode.lower())}" title="{escape(one.mode)}: {spread}">'
        f"<b>{mode_name(one.parts)}</b>"
        f"<span>{number(mean)} <small>{escape(one.unit)}</small></span>"
        f'<span class="muted small"><span class="rev">{escape(name)}</span>, {revisions}{where}'
        f'<span class="spread">{spread if count == 1 else ""}</span></span></a>'
    )


def _html(parts: Sequence[str]) -> SafeString:
    """What the functions above wrote: they escape every text they take."""
    return mark_safe("".join(parts))  # noqa: S308
