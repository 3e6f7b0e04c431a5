"""Charts as pictures by the address of their page: `/trends.svg`, `/compare.svg`, `/alerts/N.svg`,
`/bisects/N.svg`, each as `.png` as well, and `/badge.svg`.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module, resources
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from webapp.alerts.models import Alert
from webapp.alerts.queries import members_at, one_listed, surroundings_of
from webapp.analysis.models import Finding
from webapp.analysis.queries import SideError, moment_of
from webapp.bisects.models import Bisect
from webapp.bisects.queries import view_of
from webapp.charts import bisect
from webapp.charts.svg import LIGHT, THEMES, Part, Sheet, badge, stacked, standalone
from webapp.charts.text import change_within
from webapp.charts.trend import WIDE, Trend, coloured, draw, figure, room_for, room_of
from webapp.experiments.models import Experiment
from webapp.experiments.queries import frozen_points
from webapp.pages.alerts import cards
from webapp.pages.alerts.cards import evidence
from webapp.pages.compare import compare, releases
from webapp.pages.parts.figures import as_json
from webapp.pages.parts.links import NUMBER_MAX, read_number
from webapp.pages.trends import data as trend_data
from webapp.pages.trends.offer import NotOffered
from webapp.pages.trends.query import TrendQuery
from webapp.pages.trends.trends import headline, is_drawable, too_few_known
from webapp.results.models import Run, Series
from webapp.results.queries import called
from webapp.stats.compare import Verdict

PROVEN = (Verdict.WORSE, Verdict.BETTER)
WIDTHS = range(200, 2401)
SVG = "image/svg+xml; charset=utf-8"
PNG = "image/png"
JSON = "application/json; charset=utf-8"
AS_ON_THE_PAGE = "page"
SCALES = range(1, 5)
"""Pixels of a PNG for one of its drawing."""

SHARP = 2
"""The same where the address gives neither this nor a width."""

PNG_MISSING = (
    "No PNG on this machine: the package resvg-py has no wheel for it. Ask for .svg instead, or "
    "install resvg-py from source."
)

CHARTS = 6
"""Series of an alert that are drawn, the weightiest first."""


class NoPicture(Exception):
    """Nothing can be drawn; the text has the reason, ``status`` is that of the answer."""

    def __init__(self, why: str, status: int = 404) -> None:
        super().__init__(why)
        self.status = status


def picture_answer(request: HttpRequest, drawn: Callable[[], tuple[bytes, str]]) -> HttpResponse:
    """The picture, or one line on why there is none. Its ETag is that of the content."""
    try:
        body, kind = drawn()
    except NoPicture as error:
        return HttpResponse(f"{error}\n", content_type="text/plain", status=error.status)
    response = HttpResponse(body, content_type=kind)
    response["Content-Security-Policy"] = _policy(body)
    response["ETag"] = etag = quote_etag(hashlib.sha256(body).hexdigest()[:32])
    patch_cache_control(response, no_cache=True)
    return get_conditional_response(request, etag=etag, response=response) or response


def picture_of(request: HttpRequest, form: str, draw: Callable[[], str]) -> HttpResponse:
    """What ``draw`` makes as ``svg`` or ``png``, in the theme and width that are asked for."""
    write = {"svg": as_svg, "png": as_png}[form]
    return picture_answer(request, lambda: write(draw(), request))


def _policy(body: bytes) -> str:
    """Opened by itself a picture may use the rules inside it, and nothing else."""
    style = body.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = b64encode(hashlib.sha256(style).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; sandbox; frame-ancestors 'none'"


@require_safe
def trends_picture(request: HttpRequest, form: str) -> HttpResponse:
    """The chart of `/trends/` with the same query as a picture; `theme` and `width` besides."""
    return picture_of(request, form, lambda: _trend(request))


@require_safe
def trends_figure(request: HttpRequest) -> HttpResponse:
    """The same as a figure of Plotly, ``width`` pixels wide; the theme ``page`` leaves the names of
    the site's custom properties in place of colours.
    """
    return picture_answer(request, lambda: (_figure(request), JSON))


@require_safe
def compare_picture(request: HttpRequest, form: str) -> HttpResponse:
    """The answer of `/compare/` with the same query and the intervals of its rows."""
    return picture_of(request, form, lambda: _comparison(request))


@require_safe
def releases_picture(request: HttpRequest, pair: str, form: str) -> HttpResponse:
    """The answer of `/releases/A...B/` and the intervals of its rows."""
    return picture_of(request, form, lambda: _releases(request, pair))


@require_safe
def alert_picture(request: HttpRequest, number: int, form: str) -> HttpResponse:
    """The charts of an alert; `asof` as on its page."""
    return picture_of(request, form, lambda: alert_drawing(number, _name(request, "asof")))


@require_safe
def bisect_picture(request: HttpRequest, number: int, form: str) -> HttpResponse:
    """The chart of a bisect."""
    return picture_of(request, form, lambda: bisect_drawing(number))


@require_safe
def badge_svg(request: HttpRequest) -> HttpResponse:
    """How many regressions are open: of all, or of a `tree`, a `hardware`, a `mode`; of an
    `experiment` (its number) how many modes are proven worse and better.
    """
    if number := read_number(request.GET.get("experiment", "")):
        return picture_of(request, "svg", lambda: _experiment_badge(number))
    names = {key: _name(request, key) for key in ("tree", "hardware", "mode")}
    machine = called({names["hardware"]} - {""}).get(names["hardware"], names["hardware"])
    label = machine or names["tree"]
    if not _is_measured(names):
        label, count, value = label or names["mode"], 0, "nothing measured"
    else:
        count = Alert.objects.open().about(**names).exclude(verdict="improvement").count()
        value = f"{count} open" if count else "none open"
    image = badge((label or "regressions")[:60], value, worse=count > 0)
    return picture_of(request, "svg", lambda: image)


def _is_measured(names: Mapping[str, str]) -> bool:
    """Whether there is a series of the tree, the hardware and the mode, where they are given."""
    given = {f"{part}__name": name for part, name in names.items() if name}
    return Series.objects.filter(**given).exists()


def _experiment_badge(number: int) -> str:
    experiment = Experiment.objects.with_subjects().filter(pk=number).first()
    if experiment is None:
        raise NoPicture(f"No report {number}.")
    try:
        modes = frozen_points(experiment).table.modes
    except SideError as error:
        raise NoPicture(f"Nothing is drawn: {error}", 409) from error
    named = [verdict for mode in modes for verdict in mode.across.named]
    proven = [f"{named.count(one)} {one.value}" for one in PROVEN if one in named]
    value = ", ".join(proven) or "no difference proven"
    return badge(f"report {number}", value, worse=Verdict.WORSE in named)


def _name(request: HttpRequest, key: str) -> str:
    return request.GET.get(key, "").replace("\0", "")


def _selected(request: HttpRequest) -> trend_data.Selection | None:
    try:
        return trend_data.select(TrendQuery.parse(request.GET))
    except NotOffered as error:
        raise NoPicture(f"Nothing is drawn: {error}") from error


def _figure(request: HttpRequest) -> bytes:
    selection, width = _selected(request), _width(request)
    if selection is None:
        return as_json({"data": [], "layout": {}}).encode()
    made = figure(trend_data.load(selection).trend, room_of(width) if width else WIDE)
    if request.GET.get("theme") != AS_ON_THE_PAGE:
        made = coloured(made, sheet().colours[_theme(request)])
    return as_json(made).encode()


def _trend(request: HttpRequest) -> str:
    selection = _selected(request)
    trend = trend_data.load(selection).trend if selection else None
    if selection is None or trend is None or not is_drawable(trend):
        raise NoPicture("Nothing is drawn: no point fits the query.")
    here = request.build_absolute_uri(selection.query.link(extra=()))
    return draw(
        figure(trend, room_for(_width(request))),
        described=f"{trend.y_title} by revision of {trend.tree}",
        head=[headline(trend, too_few=too_few_known(trend)), *trend_head(selection, trend), here],
        notes=trend.notes,
    )


def trend_head(selection: trend_data.Selection, trend: Trend) -> list[str]:
    """The text of a picture about its chart: machines and modes, tree and range, the newest run."""
    names = trend.revisions.names
    first, last = trend.window or (names[0], names[-1])
    newest = Run.objects.of_series(selection.series).newest_text()
    machines = ", ".join(dict.fromkeys(one.machine for one in trend.series))
    modes = ", ".join(dict.fromkeys(one.mode for one in trend.series))
    return [f"{machines}: {modes}", f"{trend.tree}, {first} to {last}; {newest}"]


def _comparison(request: HttpRequest) -> str:
    try:
        return compare.drawing(request)
    except SideError as error:
        raise NoPicture(str(error), 400) from error


def _releases(request: HttpRequest, pair: str) -> str:
    try:
        return releases.drawing(request, pair)
    except SideError as error:
        raise NoPicture(str(error), 400) from error


def as_svg(image: str, request: HttpRequest) -> tuple[bytes, str]:
    """``image`` with the theme and the width that the request asks for, and its type."""
    return svg_bytes(image, theme=_theme(request), width=_width(request)), SVG


def as_png(image: str, request: HttpRequest) -> tuple[bytes, str]:
    """The same as PNG."""
    made = png_bytes(image, theme=_theme(request), width=_width(request), scale=_scale(request))
    return made, PNG


def svg_bytes(image: str, *, theme: str = LIGHT, width: int | None = None) -> bytes:
    """``image`` as a file of its own."""
    return standalone(image, sheet(), theme=theme, width=width).encode()


def png_bytes(
    image: str, *, theme: str = LIGHT, width: int | None = None, scale: int = SHARP
) -> bytes:
    """``image`` drawn, ``width`` pixels wide, else ``scale`` times its size. Raises NoPicture where
    nothing here can draw.
    """
    try:
        renderer = import_module("resvg_py")
    except ImportError as error:
        raise NoPicture(PNG_MISSING, 501) from error
    text = standalone(image, sheet(), theme=theme, width=width, sans="Roboto", mono="Roboto")
    drawn = renderer.svg_to_bytes(
        svg_string=text,
        zoom=1 if width else scale,
        skip_system_fonts=True,
        font_files=fonts(),
        font_family="Roboto",
    )
    return bytes(drawn)


@cache
def fonts() -> list[str]:
    """The files of the pictures' font: of a package, for a server may have none."""
    files = resources.files("font_roboto") / "files"
    return [str(files / name) for name in ("Roboto-Regular.ttf", "Roboto-Bold.ttf")]


@cache
def sheet() -> Sheet:
    """The site's own rules for charts."""
    theme, *charts = (
        Path(str(finders.find(f"css/{name}.css"))).read_text()
        for name in ("theme", "charts", "small-charts", "flame")
    )
    return Sheet.of(theme_css=theme, charts_css="\n".join(charts))


def _theme(request: HttpRequest) -> str:
    theme = request.GET.get("theme", LIGHT)
    if theme not in THEMES:
        raise NoPicture(f"theme: write {' or '.join(THEMES)}.", 400)
    return theme


def _width(request: HttpRequest) -> int | None:
    text = request.GET.get("width", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) in WIDTHS):
        raise NoPicture(f"width: a whole number from {WIDTHS[0]} to {WIDTHS[-1]}.", 400)
    return int(text)


def _scale(request: HttpRequest) -> int:
    text = request.GET.get("scale", str(SHARP))
    if len(text) != 1 or not text.isdigit() or int(text) not in SCALES:
        raise NoPicture(f"scale: a whole number from {SCALES[0]} to {SCALES[-1]}.", 400)
    return int(text)


def alert_drawing(number: int, asof: str) -> str:
    """The charts around the findings of an alert; with ``asof`` of those it held then."""
    one = one_listed(min(number, NUMBER_MAX))
    if one is None:
        raise Http404(f"no alert {number}")
    findings = list(one.members.findings)
    moment = moment_of(asof)
    if moment is not None:
        held = {past.finding.pk for past in members_at(one.alert, moment)}
        findings = [row for row in findings if row.pk in held]
    shown = findings[:CHARTS]
    near = surroundings_of(shown, whiskers=shown)
    parts = [Part(_title(row), evidence(row, near[row.pk])) for row in shown]
    return stacked(
        f"Alert {one.alert.pk}: {cards.headline(one)}", [part for part in parts if part.image]
    )


def _title(row: Finding) -> str:
    change = change_within(row.change_pct, row.low_pct, row.high_pct)
    return f"{row.series.subject}, {row.series.hardware}: {change} %"


def bisect_drawing(number: int) -> str:
    """The boots and the probabilities of a bisect."""
    found = get_object_or_404(Bisect.objects.with_subjects(), pk=min(number, NUMBER_MAX))
    view = view_of(found)
    title = f"Bisect {found.pk}: {view.sentence}"
    if view.lanes:
        lanes = [Part(one.name, bisect.draw(view.chart(one.number))) for one in view.lanes]
        return stacked(title, lanes)
    return stacked(title, [Part("", bisect.draw(view.chart()))])
