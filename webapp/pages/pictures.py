"""Charts as pictures by the address of their page: `/trends.svg`, `/compare.svg`, `/alerts/N.svg`,
`/bisects/N.svg`, each as `.png` as well, and `/badge.svg`.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib import import_module, resources
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from webapp.alerts.models import Alert
from webapp.analysis.queries import SideError
from webapp.charts.standalone import LIGHT, THEMES, Sheet, badge, standalone
from webapp.charts.trend import draw
from webapp.pages import compare, trend_data
from webapp.pages.drawings import alert_drawing, bisect_drawing
from webapp.pages.trend_query import TrendQuery
from webapp.pages.trend_unknown import NotOffered
from webapp.pages.trends import is_drawable

WIDTHS = range(200, 2401)
SVG = "image/svg+xml; charset=utf-8"
PNG = "image/png"
PNG_MISSING = (
    "No PNG on this machine: the package resvg-py has no wheel for it. Ask for .svg instead, or "
    "install resvg-py from source."
)


class NoPicture(Exception):
    """Nothing can be drawn; the text says why, ``status`` is that of the answer."""

    def __init__(self, why: str, status: int = 404) -> None:
        super().__init__(why)
        self.status = status


def _answer(request: HttpRequest, drawn: Callable[[], tuple[bytes, str]]) -> HttpResponse:
    """The picture, or one line that says why there is none. Its ETag is that of the content."""
    try:
        body, kind = drawn()
    except NoPicture as error:
        return HttpResponse(f"{error}\n", content_type="text/plain", status=error.status)
    response = HttpResponse(body, content_type=kind)
    response["Content-Security-Policy"] = _policy(body)
    response["ETag"] = etag = quote_etag(hashlib.sha256(body).hexdigest()[:32])
    patch_cache_control(response, no_cache=True)
    return get_conditional_response(request, etag=etag, response=response) or response


def _policy(body: bytes) -> str:
    """Opened by itself a picture may use the rules inside it, and nothing else."""
    style = body.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = b64encode(hashlib.sha256(style).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; sandbox; frame-ancestors 'none'"


@require_safe
def trends_svg(request: HttpRequest) -> HttpResponse:
    """The chart of `/trends/` with the same query as a picture; `theme` and `width` besides."""
    return _answer(request, lambda: _svg(_trend(request), request))


@require_safe
def trends_png(request: HttpRequest) -> HttpResponse:
    """The same as PNG."""
    return _answer(request, lambda: _png(_trend(request), request))


@require_safe
def compare_svg(request: HttpRequest) -> HttpResponse:
    """The answer of `/compare/` with the same query and the intervals of its rows."""
    return _answer(request, lambda: _svg(_comparison(request), request))


@require_safe
def compare_png(request: HttpRequest) -> HttpResponse:
    """The same as PNG."""
    return _answer(request, lambda: _png(_comparison(request), request))


@require_safe
def alert_svg(request: HttpRequest, number: int) -> HttpResponse:
    """The charts of an alert; `asof` as on its page."""
    return _answer(request, lambda: _svg(alert_drawing(number, _name(request, "asof")), request))


@require_safe
def alert_png(request: HttpRequest, number: int) -> HttpResponse:
    """The same as PNG."""
    return _answer(request, lambda: _png(alert_drawing(number, _name(request, "asof")), request))


@require_safe
def bisect_svg(request: HttpRequest, number: int) -> HttpResponse:
    """The chart of a bisect."""
    return _answer(request, lambda: _svg(bisect_drawing(number), request))


@require_safe
def bisect_png(request: HttpRequest, number: int) -> HttpResponse:
    """The same as PNG."""
    return _answer(request, lambda: _png(bisect_drawing(number), request))


@require_safe
def badge_svg(request: HttpRequest) -> HttpResponse:
    """How many regressions are open: of all, or of a `tree`, a `hardware`, a `mode`."""
    names = {key: _name(request, key) for key in ("tree", "hardware", "mode")}
    count = Alert.objects.open().about(**names).exclude(verdict="improvement").count()
    label = names["hardware"] or names["tree"] or "regressions"
    value = f"{count} open" if count else "none open"
    return _answer(request, lambda: _svg(badge(label[:60], value, worse=count > 0), request))


def _name(request: HttpRequest, key: str) -> str:
    return request.GET.get(key, "").replace("\0", "")


def _trend(request: HttpRequest) -> str:
    try:
        selection = trend_data.select(TrendQuery.parse(request.GET))
    except NotOffered as error:
        raise NoPicture(f"Nothing is drawn: {error}") from error
    trend = trend_data.load(selection).trend if selection else None
    if trend is None or not is_drawable(trend):
        raise NoPicture("Nothing is drawn: no point fits the query.")
    return draw(trend)


def _comparison(request: HttpRequest) -> str:
    try:
        return compare.drawing(request)
    except SideError as error:
        raise NoPicture(str(error), 400) from error


def _svg(image: str, request: HttpRequest) -> tuple[bytes, str]:
    theme, width = _theme(request), _width(request)
    return standalone(image, sheet(), theme=theme, width=width).encode(), SVG


def _png(image: str, request: HttpRequest) -> tuple[bytes, str]:
    theme, width = _theme(request), _width(request)
    try:
        renderer = import_module("resvg_py")
    except ImportError as error:
        raise NoPicture(PNG_MISSING, 501) from error
    text = standalone(image, sheet(), theme=theme, width=width, sans="Roboto", mono="Roboto")
    drawn = renderer.svg_to_bytes(
        svg_string=text, skip_system_fonts=True, font_files=fonts(), font_family="Roboto"
    )
    return bytes(drawn), PNG


@cache
def fonts() -> list[str]:
    """The files of the font that pictures are written in: of a package, for a server may have
    none."""
    files = resources.files("font_roboto") / "files"
    return [str(files / name) for name in ("Roboto-Regular.ttf", "Roboto-Bold.ttf")]


@cache
def sheet() -> Sheet:
    """The site's own rules for charts."""
    theme, charts = (Path(str(finders.find(f"css/{name}.css"))) for name in ("theme", "charts"))
    return Sheet.of(theme_css=theme.read_text(), charts_css=charts.read_text())


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
