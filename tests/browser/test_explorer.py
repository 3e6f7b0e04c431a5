"""The trend chart under the hand: each gesture by mouse, touch and keys, told by its address."""

from collections.abc import Iterator
from time import time
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.test_journey import along, drawn, middle_of_point
from webapp.analysis.models import Finding
from webapp.pages.trends import points as trend_points
from webapp.results.models import Revision

__all__ = ["along"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]


@pytest.fixture(params=[1440, 390])
def chart(
    request: pytest.FixtureRequest, page: Page, live_server: LiveServer, along: list[Revision]
) -> Iterator[Page]:
    """Both series, wide and on a phone; nothing may stand out at the side."""
    page.set_viewport_size({"width": request.param, "height": 900})
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR")
    drawn(page)
    page.locator("#plot").scroll_into_view_if_needed()
    yield page
    assert page.evaluate("document.documentElement.scrollWidth") <= request.param


def said(page: Page, key: str) -> list[str]:
    """What the address says; the page is asked, because the browser tells of changes later."""
    return parse_qs(urlsplit(page.evaluate("location.href")).query).get(key, [])


def names(page: Page) -> list[str]:
    """The revisions under the axis."""
    return page.locator("#plot text.mono").all_text_contents()


def view_is(page: Page, first: Revision, last: Revision) -> None:
    wanted = f"view={first.name}..{last.name}"
    page.wait_for_function("text => location.search.includes(text)", arg=wanted)


def drag(page: Page, start: int, end: int) -> None:
    """From a little before one point to a little behind another."""
    (left, height), (right, _) = middle_of_point(page, start), middle_of_point(page, end)
    gap = (middle_of_point(page, 1)[0] - middle_of_point(page, 0)[0]) * 0.4
    page.mouse.move(left - gap, height)
    page.mouse.down()
    page.mouse.move(right + gap, height, steps=6)
    page.mouse.up()


def press_twice(page: Page, at: tuple[float, float], *, apart: float) -> None:
    """Two presses that the system counts as one double click, so many seconds from the first to the
    second by the time that the events bear: nobody has to wait for it.
    """
    session, now = page.context.new_cdp_session(page), time()
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": at[0], "y": at[1], "timestamp": now + apart * (count - 1)}
            press = {"type": kind, "button": "left", "clickCount": count}
            session.send("Input.dispatchMouseEvent", place | press)


def test_a_drag_zooms_and_a_double_click_shows_all_again(
    chart: Page, along: list[Revision]
) -> None:
    drag(chart, 4, 12)
    view_is(chart, along[4], along[12])
    assert along[0].name not in names(chart)
    chart.reload()
    drawn(chart)
    assert along[0].name not in names(chart)
    chart.mouse.dblclick(*middle_of_point(chart, 3))
    expect(chart.locator("#whole")).to_be_hidden()
    chart.wait_for_function("() => !location.search.includes('view=')")


@pytest.mark.parametrize("apart", [0.0, 0.45], ids=["fast", "slow"])
def test_a_double_click_shows_all_again_and_leaves_a_and_b(
    chart: Page, along: list[Revision], apart: float
) -> None:
    """Two presses are one double click where the system counts them so, however slow."""
    drag(chart, 4, 12)
    view_is(chart, along[4], along[12])
    chart.mouse.click(*middle_of_point(chart, 2))  # the points in view are drawn alone
    expect(chart.locator("#side-b")).to_have_text(along[6].name)
    chart.keyboard.down("Shift")
    chart.mouse.click(*middle_of_point(chart, 1))
    chart.keyboard.up("Shift")
    expect(chart.locator("#side-a")).to_have_text(along[5].name)
    chosen = said(chart, "a"), said(chart, "b")
    press_twice(chart, middle_of_point(chart, 5), apart=apart)
    chart.wait_for_function("() => !location.search.includes('view=')")
    expect(chart.locator("#whole")).to_be_hidden()
    expect(chart.locator("#side-b")).to_have_text(along[6].name)
    assert (said(chart, "a"), said(chart, "b")) == chosen


def test_a_view_of_revisions_that_were_not_measured_shows_the_nearest_and_states_it(
    chart: Page, along: list[Revision]
) -> None:
    base, between = chart.url.partition("&")[0], f"r{along[12].position + 1}"
    chart.goto(f"{base}&view={along[4].name}..{between}")
    drawn(chart)
    view_is(chart, along[4], along[12])
    assert along[0].name not in names(chart)
    note = f"The view ends at {along[12].name}, the nearest: {between} is not among the revisions"
    expect(chart.locator("#notice")).to_contain_text(note)
    chart.mouse.dblclick(*middle_of_point(chart, 3))
    chart.wait_for_function("() => !location.search.includes('view=')")


def test_shift_and_a_drag_mark_a_range_with_its_statistics(
    chart: Page, along: list[Revision]
) -> None:
    chart.keyboard.down("Shift")
    drag(chart, 2, 5)
    chart.keyboard.up("Shift")
    heading = chart.locator("#range h2")
    expect(heading).to_have_text(f"{along[2].name} to {along[5].name}")
    expect(chart.locator("#range tbody tr")).to_have_count(2)
    assert said(chart, "range") == [f"{along[2].name}..{along[5].name}"]
    chart.reload()
    expect(heading).to_have_text(f"{along[2].name} to {along[5].name}")
    chart.get_by_role("button", name="Clear").click()
    expect(heading).to_be_hidden()


def test_the_wheel_zooms_where_the_pointer_is_and_sideways_it_moves(
    chart: Page, along: list[Revision]
) -> None:
    chart.mouse.move(*middle_of_point(chart, 10))
    chart.mouse.wheel(0, -500)
    chart.wait_for_function("() => location.search.includes('view=')")
    zoomed = said(chart, "view")[0]
    first, last = zoomed.split("..")
    assert along[0].name < first < along[10].name < last < along[19].name
    chart.mouse.wheel(-2000, 0)
    chart.wait_for_function("before => !location.search.includes(before)", arg=zoomed)
    assert said(chart, "view")[0].startswith(along[0].name)


def test_the_brush_moves_and_resizes_what_is_in_sight(chart: Page, along: list[Revision]) -> None:
    box = chart.locator("#minimap .ground").bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    chart.mouse.move(box["x"] + box["width"] - 2, height)
    chart.mouse.down()
    chart.mouse.move(box["x"] + box["width"] / 2, height, steps=4)
    chart.mouse.up()
    view_is(chart, along[0], along[9])
    chart.mouse.move(box["x"] + box["width"] / 4, height)
    chart.mouse.down()
    chart.mouse.move(box["x"] + box["width"] * 3 / 4, height, steps=4)
    chart.mouse.up()
    view_is(chart, along[10], along[19])


def test_a_click_sets_b_shift_click_a_and_both_are_compared(
    chart: Page, along: list[Revision]
) -> None:
    chart.mouse.click(*middle_of_point(chart, 10))
    expect(chart.locator("#card")).to_contain_text(along[10].name)
    chart.keyboard.down("Shift")
    chart.mouse.click(*middle_of_point(chart, 9))
    chart.keyboard.up("Shift")
    expect(chart.locator("#side-a")).to_have_text(along[9].name)
    assert said(chart, "b")[0].endswith(f"@{along[10].name}")
    chart.reload()
    drawn(chart)
    expect(chart.locator("#side-b")).to_have_text(along[10].name)
    chart.locator("#compare").click()
    expect(chart.locator("h1")).to_contain_text(along[10].name)


def test_addresses_with_pins_set_a_and_b(chart: Page, along: list[Revision]) -> None:
    chart.mouse.click(*middle_of_point(chart, 5))
    series = said(chart, "b")[0].partition("@")[0]
    pins = "&".join(f"pin={series}@{along[at].name}" for at in (3, 7))
    chart.goto(f"{chart.url.partition('?')[0]}?hardware=Atom_C2758/T540-CR&{pins}")
    expect(chart.locator("#side-a")).to_have_text(along[3].name)
    expect(chart.locator("#side-b")).to_have_text(along[7].name)


def test_the_list_tells_the_revision_pointed_at_sorts_hides_and_highlights(
    chart: Page, along: list[Revision]
) -> None:
    rows = chart.locator("#series > li")
    expect(rows.first).to_contain_text("forwarding")
    chart.mouse.move(*middle_of_point(chart, 3))
    expect(chart.locator("#at")).to_have_text(f"at {along[3].name}")
    chart.locator("#sort").select_option("by change")
    expect(rows.first).to_contain_text("pf")
    assert said(chart, "sort") == ["change"]
    rows.first.hover()
    expect(chart.locator("#plot .series.faded")).to_have_count(1)
    rows.first.click()
    expect(chart.locator("#plot .series")).to_have_count(1)
    assert len(said(chart, "hide")) == 1
    svg = chart.locator("a[data-take]", has_text="SVG").get_attribute("href")
    assert f"hide={said(chart, 'hide')[0]}" in (svg or "")
    chart.reload()
    drawn(chart)
    expect(chart.locator("#plot .series")).to_have_count(1)


def test_everything_is_done_by_keys(chart: Page, along: list[Revision]) -> None:
    chart.locator("#chart").focus()
    chart.keyboard.press("ArrowLeft")
    expect(chart.locator("#at")).to_have_text(f"at {along[19].name}")
    chart.keyboard.press("ArrowLeft")
    chart.keyboard.press("Enter")
    expect(chart.locator("#side-b")).to_have_text(along[18].name)
    chart.keyboard.press("[")
    chart.keyboard.press("Shift+Enter")
    expect(chart.locator("#side-a")).to_have_text(along[17].name)
    chart.keyboard.press("Shift+ArrowLeft")
    expect(chart.locator("#range h2")).to_have_text(f"{along[16].name} to {along[17].name}")
    chart.keyboard.press("+")
    chart.wait_for_function("() => location.search.includes('view=')")
    chart.keyboard.press("0")
    chart.wait_for_function("() => !location.search.includes('view=')")
    chart.keyboard.press("s")
    expect(chart.locator("#plot .lane")).to_have_count(2)
    assert said(chart, "split") == ["mode"]
    expect(chart.locator("#side-b")).to_have_text(along[18].name)
    chart.locator("#chart").focus()
    chart.keyboard.press("Escape")
    expect(chart.locator("#card")).to_be_hidden()
    expect(chart.locator("#range h2")).to_be_hidden()


def test_lanes_share_the_crosshair_and_the_zoom(chart: Page, along: list[Revision]) -> None:
    chart.keyboard.press("s")
    expect(chart.locator("#plot .lane")).to_have_count(2)
    chart.mouse.move(*middle_of_point(chart, 6))
    expect(chart.locator("#plot .overlay .spot")).to_have_count(2)
    drag(chart, 5, 9)
    view_is(chart, along[5], along[9])
    counts = [(one.get_attribute("d") or "").count("M") for one in chart.locator("#plot .pt").all()]
    assert counts == [5, 5]


def test_the_title_says_machine_and_mode(
    page: Page, live_server: LiveServer, along: object
) -> None:
    page.goto(f"{live_server.url}/trends/?mode=pf")
    assert page.title().startswith("pf, Atom_C2758/T540-CR: pps along freebsd-head")


class Fingers:
    """Touches of a page, told to Chromium as the screen would."""

    def __init__(self, page: Page) -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)

    def touch(self, kind: str, height: float, *places: float) -> None:
        points = [{"x": x, "y": height, "id": number} for number, x in enumerate(places)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(self, height: float, start: float, end: float) -> None:
        """One finger from one place to another, in ten steps."""
        self.touch("touchStart", height, start)
        for step in range(1, 11):
            self.touch("touchMove", height, start + (end - start) * step / 10)
        self.touch("touchEnd", height)


@pytest.fixture
def phone(browser: Browser, live_server: LiveServer, along: list[Revision]) -> Iterator[Page]:
    """The chart under a finger."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR")
    drawn(page)
    page.locator("#plot").scroll_into_view_if_needed()
    yield page
    context.close()


def test_a_finger_taps_and_moves_two_zoom_and_a_double_tap_shows_all(
    phone: Page, along: list[Revision]
) -> None:
    phone.touchscreen.tap(*middle_of_point(phone, 10))
    expect(phone.locator("#side-b")).to_have_text(along[10].name)
    left, height = middle_of_point(phone, 8)
    right, _ = middle_of_point(phone, 12)
    fingers = Fingers(phone)
    fingers.touch("touchStart", height, left)
    fingers.touch("touchStart", height, left, right)
    for step in range(1, 6):
        fingers.touch("touchMove", height, left - 12 * step, right + 12 * step)
    fingers.touch("touchEnd", height)
    phone.wait_for_function("() => location.search.includes('view=')")
    zoomed = said(phone, "view")[0]
    fingers.drag(height, left, left + 108)
    phone.wait_for_function("before => !location.search.includes(before)", arg=zoomed)
    assert said(phone, "view")[0] < zoomed
    for _ in range(2):
        phone.touchscreen.tap(left, height)
    phone.wait_for_function("() => !location.search.includes('view=')")


def test_a_finger_moves_the_brush_and_its_ends(phone: Page, along: list[Revision]) -> None:
    strip = phone.locator("#minimap svg").bounding_box()
    assert strip is not None
    height = strip["y"] + strip["height"] / 2
    fingers = Fingers(phone)
    ends = phone.locator("#minimap .handle")
    right = ends.nth(1).bounding_box()
    assert right is not None
    fingers.drag(height, right["x"] + 2, strip["x"] + strip["width"] / 2)
    phone.wait_for_function("() => location.search.includes('view=')")
    first = said(phone, "view")[0]
    assert first.startswith(f"{along[0].name}..")
    low, high = (ends.nth(at).bounding_box() for at in (0, 1))
    assert low is not None
    assert high is not None
    middle = (low["x"] + high["x"]) / 2
    fingers.drag(height, middle, middle + 60)
    phone.wait_for_function("before => !location.search.includes(before)", arg=first)
    assert said(phone, "view")[0] > first


def test_the_card_tells_a_finding_of_another_kind(page: Page, live_server: LiveServer) -> None:
    along = make.revisions(12)
    series = make.series(in_mode="pf")
    make.history(series, along, [100.0] * 6 + [80.0] + [100.0] * 5)
    made = make.finding(series, along[5], along[6], level=80.0, change_pct=-20.0, why="Far off.")
    Finding.objects.filter(pk=made.pk).update(kind=Finding.Kind.EXCURSION)
    page.goto(f"{live_server.url}/trends/")
    drawn(page)
    expect(page.locator("#plot .finding-mark.excursion")).to_have_count(1)
    page.mouse.click(*middle_of_point(page, 6))
    expect(page.locator("#card .found")).to_contain_text("pf, excursion, confirmed")
    expect(page.locator("#card")).to_contain_text("Far off.")


@pytest.mark.parametrize("width", [1440, 390])
def test_nought_has_no_sign(page: Page, live_server: LiveServer, width: int) -> None:
    along = make.revisions(4)
    make.history(make.series(), along, [0.1, 4.0, 0.1, 4.0])  # the axis begins below nought
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{live_server.url}/trends/")
    drawn(page)
    ticks = page.locator("#plot .tick").all_text_contents()
    assert any(float(one.replace("−", "-")) == 0 for one in ticks)
    assert [one for one in ticks if one.startswith("−") and not float(one[1:])] == []


def test_of_a_long_history_each_extreme_is_drawn_whatever_is_in_sight(
    page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the limit the server thins by pixel columns; what is zoomed into is fetched."""
    for name, value in (("MOST_WHOLE", 50), ("PIXELS", 20), ("PIXELS_BESIDE", 10)):
        monkeypatch.setattr(trend_points, name, value)
    along = make.revisions(200)
    levels = [1000.0 + number % 7 for number in range(200)]
    levels[37], levels[151] = 400.0, 1900.0
    make.history(make.series(), along, levels)
    page.goto(f"{live_server.url}/trends/")
    drawn(page)
    assert extremes(page) == pytest.approx((400.0, 1900.0), abs=5)
    page.goto(f"{live_server.url}/trends/?view={along[140].name}..{along[155].name}")
    drawn(page)
    assert extremes(page)[1] == pytest.approx(1900.0, abs=5)
    before = page.locator("#plot .pt").get_attribute("d")
    page.locator("#chart").focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.wait_for_function(
        "before => document.querySelector('#plot .pt').getAttribute('d') !== before", arg=before
    )
    page.keyboard.press("0")
    page.wait_for_function("() => !location.search.includes('view=')")
    assert extremes(page) == pytest.approx((400.0, 1900.0), abs=5)


def extremes(page: Page) -> tuple[float, float]:
    """The smallest and the largest value drawn, by the scale of the ticks beside them."""
    low, high = page.evaluate(
        r"""() => {
          const heights = [...document.querySelector("#plot .pt").getAttribute("d")
            .matchAll(/M[\d.]+ ([\d.]+)h0/g)].map((one) => Number(one[1]));
          const ticks = [...document.querySelectorAll("#plot .tick")].map((one) =>
            [Number(one.getAttribute("y")) - 4, Number(one.textContent.replaceAll(",", ""))]);
          const [[y0, v0], [y1, v1]] = [ticks[0], ticks.at(-1)];
          const value = (y) => Math.round(v0 + (y - y0) * (v1 - v0) / (y1 - y0));
          return [value(Math.max(...heights)), value(Math.min(...heights))];
        }"""
    )
    return low, high


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_chart_in_use(
    chart: Page, along: list[Revision], theme: Literal["light", "dark"]
) -> None:
    """With A, B, a range, a hidden series and the table of marks open."""
    chart.emulate_media(color_scheme=theme)
    chart.mouse.click(*middle_of_point(chart, 10))
    chart.locator("#chart").focus()
    chart.keyboard.press("ArrowLeft")
    chart.keyboard.press("Shift+Enter")
    chart.keyboard.press("Shift+ArrowLeft")
    chart.locator("#series button").last.click()
    chart.locator("#marks summary").click()
    expect(chart.locator("#range table")).to_be_visible()
    chart.evaluate(AXE_SCRIPT)  # no script element, which the policy would refuse
    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    found = chart.evaluate("options => axe.run(document, options)", options)["violations"]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found] == []
