"""The trend chart under the hand: each gesture by mouse, touch and keys, told by its address."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_journey import along, drawn, middle_of_point
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
    """What the address says."""
    return parse_qs(urlsplit(page.url).query).get(key, [])


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


def test_a_finger_taps_moves_and_two_zoom(
    browser: Browser, live_server: LiveServer, along: list[Revision]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR")
    drawn(page)
    page.locator("#plot").scroll_into_view_if_needed()
    page.touchscreen.tap(*middle_of_point(page, 10))
    expect(page.locator("#side-b")).to_have_text(along[10].name)
    left, height = middle_of_point(page, 8)
    right, _ = middle_of_point(page, 12)
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *places: float) -> None:
        points = [{"x": x, "y": height, "id": number} for number, x in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", left)
    touch("touchStart", left, right)
    for step in range(1, 6):
        touch("touchMove", left - 12 * step, right + 12 * step)
    touch("touchEnd")
    page.wait_for_function("() => location.search.includes('view=')")
    zoomed = said(page, "view")[0]
    touch("touchStart", left)
    for step in range(1, 10):
        touch("touchMove", left + 12 * step)
    touch("touchEnd")
    page.wait_for_function("before => !location.search.includes(before)", arg=zoomed)
    assert said(page, "view")[0] < zoomed
    context.close()
