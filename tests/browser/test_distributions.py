"""Distributions under Plotly: in a row of a comparison, from the server where it cannot draw."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.steps import Fingers, fits
from tests.documents import run_document
from tests.pages.test_compare_tails import document
from tests.results.steps import upload
from webapp.results.models import Series

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIDES = "/compare/?a=freebsd-head:r300001&b=freebsd-head:r300004"
MAP_ALONE = "#distributions .distribution"
CURVES, MAP = ".distribution >> nth=0", ".distribution >> nth=1"


def opened(page: Page, live_server: LiveServer, width: int) -> None:
    """The row of the 99th percentile of a comparison that has others."""
    upload(*(document(f"r30000{at}", factor=2 if at == 4 else 1) for at in range(1, 5)))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(live_server.url + SIDES)
    for fold in page.locator(".unproven > summary").all():
        fold.click()
    page.locator(".compared > summary", has_text="latency_p99.9").click()


def ends(page: Page, panel: str) -> list[list[float]]:
    """The ranges [low, high] of both axes."""
    axes = "({layout: {xaxis, yaxis}}) => [xaxis.range, yaxis.range]"
    found: list[list[float]] = page.locator(f"{panel} >> .live").evaluate(axes)
    return [sorted(one) for one in found]


def middle(page: Page, panel: str) -> tuple[float, float]:
    """Of the plot, on the screen."""
    plot = page.locator(f"{panel} >> .nsewdrag.drag")
    plot.scroll_into_view_if_needed()
    room = plot.bounding_box()
    assert room is not None
    return room["x"] + room["width"] / 2, room["y"] + room["height"] / 2


def wide(span: list[float]) -> float:
    return span[1] - span[0]


def whole_again(page: Page, panel: str, across: list[float]) -> None:
    """Wait for the range across to be that of all."""
    page.wait_for_function(
        "([{layout: {xaxis: {range: [low, high]}}}, wide]) => Math.abs(high - low - wide) < 1e-9",
        arg=[page.locator(f"{panel} >> .live").element_handle(), wide(across)],
    )


def shows(page: Page, panel: str, across: float, *texts: str) -> None:
    """Each is shown where one points ``across`` the plot (from 0 to 1), half way down."""
    plot = page.locator(f"{panel} >> .nsewdrag.drag")
    plot.scroll_into_view_if_needed()
    room = plot.bounding_box()
    assert room is not None
    page.mouse.move(room["x"] + across * room["width"], room["y"] + room["height"] / 2, steps=4)
    for text in texts:
        expect(
            page.locator(f"{panel} >> .hovertext").filter(has_text=re.compile(text))
        ).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 390])
def test_an_opened_row_shows_value_quantile_and_count(
    page: Page, live_server: LiveServer, trouble: list[str], width: int
) -> None:
    opened(page, live_server, width)
    for panel in (CURVES, MAP):
        expect(page.locator(panel)).to_have_class("scroll distribution is-live")
        expect(page.locator(f"{panel} >> svg.quantiles")).to_be_hidden()
    expect(page.locator(f"{CURVES} >> .scatterlayer .trace")).to_have_count(8)
    whole = "of 36,000 values above"
    shows(page, CURVES, 0.3, f"r300001 forwarding, 3 boots.*{whole}", f"r300004 .*{whole}")
    shows(page, MAP, 0.1, "r300001.* of 36,000 values, up to quantile")
    assert trouble == []


def test_where_plotly_is_blocked_the_drawings_of_the_server_stay(
    page: Page, live_server: LiveServer
) -> None:
    page.route("**/plotly.min*.js", lambda route: route.abort())
    opened(page, live_server, 1440)
    expect(page.locator(".hint").first).to_have_text(
        "Drawn by the server: Plotly could not be loaded."
    )
    expect(page.locator("svg.quantiles:visible")).to_have_count(2)
    expect(page.locator(".distribution.is-live")).to_have_count(0)


def test_pages_without_histograms_allow_no_style_attributes(
    page: Page, live_server: LiveServer
) -> None:
    upload(*(document(f"r30000{at}") for at in (1, 4)))
    upload(*(run_document(revision=f"r30000{at}") for at in (1, 4)))
    allowed = []
    for more in (":bench/nic:forwarding:latency_p99", ":bench/nic:forwarding:pps"):
        sides = SIDES.replace("&", f"{more}&") + more
        answer = page.request.get(live_server.url + sides)
        allowed.append("style-src-attr" in answer.headers["content-security-policy"])
    assert allowed == [True, False]


def test_the_point_chosen_in_a_trend_has_the_map_of_the_revisions_up_to_it(
    page: Page, live_server: LiveServer, trouble: list[str]
) -> None:
    upload(*(document(f"r30000{at}") for at in range(1, 6)))
    series = Series.objects.get(metric__name="latency_p99")
    chart = "/trends/?tree=freebsd-head&metric=latency_p99&hardware=bench/nic"
    page.goto(f"{live_server.url}{chart}&b={series.pk}@r300004")
    expect(page.locator("#distributions h2")).to_have_text(
        "latency of forwarding, bench nic up to r300004"
    )
    expect(page.locator(MAP_ALONE)).to_have_class("scroll distribution is-live")
    shows(page, MAP_ALONE, 0.9, "r300004.* of 36,000 values, up to quantile")
    page.locator("#chart").press("Escape")
    expect(page.locator("#distributions h2")).to_have_count(0)
    assert trouble == []


@pytest.mark.parametrize("panel", [CURVES, MAP])
def test_keys_zoom_move_and_show_all_within_what_there_is(
    page: Page, live_server: LiveServer, trouble: list[str], panel: str
) -> None:
    opened(page, live_server, 1440)
    live = page.locator(f"{panel} >> .live")
    expect(page.locator(panel)).to_have_class("scroll distribution is-live")
    across, upright = ends(page, panel)
    live.press("+")
    near = ends(page, panel)
    assert [wide(one) for one in near] == pytest.approx([wide(across) / 2, wide(upright) / 2])
    live.press("ArrowRight")
    live.press("ArrowUp")
    moved = ends(page, panel)
    assert moved[0][0] - near[0][0] == pytest.approx(wide(near[0]) / 4)
    assert abs(moved[1][0] - near[1][0]) == pytest.approx(wide(near[1]) / 4)
    for _ in range(9):
        live.press("ArrowRight")
    assert ends(page, panel)[0][1] == pytest.approx(across[1]), "no further than the last value"
    live.press("-")
    live.press("-")
    assert ends(page, panel) == [pytest.approx(across), pytest.approx(upright)]
    live.press("+")
    live.press("0")
    whole_again(page, panel, across)
    assert trouble == []


def test_the_mouse_zooms_into_what_is_dragged_and_shows_all_by_two_clicks(
    page: Page, live_server: LiveServer, trouble: list[str]
) -> None:
    opened(page, live_server, 1440)
    expect(page.locator(CURVES)).to_have_class("scroll distribution is-live")
    across = ends(page, CURVES)[0]
    x, y = middle(page, CURVES)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y + 60, steps=6)
    page.mouse.up()
    near = ends(page, CURVES)[0]
    assert across[0] < near[0] < near[1] < across[1]
    page.mouse.dblclick(*middle(page, CURVES))
    whole_again(page, CURVES, across)
    assert trouble == []


@pytest.mark.parametrize("panel", [CURVES, MAP])
def test_fingers_tap_scroll_and_pinch(phone: Page, live_server: LiveServer, panel: str) -> None:
    page = phone
    opened(page, live_server, 390)
    expect(page.locator(panel)).to_have_class("scroll distribution is-live")
    expect(page.locator(".hint").first).to_have_text(
        "Tap for value, quantile and count; pinch to zoom, tap twice for all."
    )
    across, upright = ends(page, panel)
    _, y = middle(page, panel)
    page.touchscreen.tap(150, y)
    expect(page.locator(f"{panel} >> .hovertext").first).to_be_visible()

    fingers, before = Fingers(page), page.evaluate("scrollY")
    fingers.move(((200, y), (200, y - 150)))
    page.wait_for_function("before => scrollY > before + 50", arg=before)
    assert ends(page, panel) == [across, upright]

    _, y = middle(page, panel)
    scale = page.evaluate("visualViewport.scale")
    fingers.move(((150, y), (90, y)), ((240, y), (300, y)))
    near = ends(page, panel)
    assert 90 / 210 <= wide(near[0]) / wide(across) <= 102 / 210, "from the first or second touch"
    assert near[1] == pytest.approx(upright)
    assert page.evaluate("visualViewport.scale") == scale, "the figure alone was pinched"
    page.touchscreen.tap(200, y)
    page.touchscreen.tap(200, y)
    whole_again(page, panel, across)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_distribution_makes_a_page_wider_than_the_window(
    page: Page, live_server: LiveServer
) -> None:
    opened(page, live_server, 1440)
    expect(page.locator(MAP)).to_have_class("scroll distribution is-live")
    fits(page, "distributions", wide=1440)
