"""The trend chart under Plotly: each gesture by mouse, touch and keys, shown by its address."""

import re
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.test import Client
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import Fingers
from tests.browser.test_journey import DOTS, along, drawn, middle_of_point
from tests.events.steps import event, release
from tests.kept import kept
from webapp.alerts.models import AlertFinding
from webapp.analysis.models import Finding
from webapp.charts.trend import draw
from webapp.pages.trends import points as trend_points
from webapp.results.models import Revision

__all__ = ["along"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
watched = pytest.mark.usefixtures("trouble")
CHART = "/trends/?hardware=Atom_C2758/T540-CR"


def visit(page: Page, live_server: LiveServer, address: str, width: int = 1440) -> Page:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(live_server.url + address)
    drawn(page)
    page.locator("#plot").scroll_into_view_if_needed()
    return page


def asked(page: Page, key: str) -> list[str]:
    """What the address states; the page is asked, because the browser reports changes later."""
    return parse_qs(urlsplit(page.evaluate("location.href")).query).get(key, [])


def view_is(page: Page, first: Revision, last: Revision) -> None:
    wanted = f"view={first.name}..{last.name}"
    page.wait_for_function("text => location.search.includes(text)", arg=wanted)


def is_whole(page: Page) -> None:
    page.wait_for_function("() => !/view=|height=/.test(location.search)")
    expect(page.locator("#whole")).to_be_hidden()


def drag(page: Page, start: int, end: int, down: float = 0.0) -> None:
    """From a little before one point to a little behind another, ``down`` pixels lower."""
    (left, height), (right, _) = middle_of_point(page, start), middle_of_point(page, end)
    gap = (middle_of_point(page, 1)[0] - middle_of_point(page, 0)[0]) * 0.4
    page.mouse.move(left - gap, height)
    page.mouse.down()
    page.mouse.move(right + gap, height + down, steps=6)
    page.mouse.up()


def ticks(page: Page) -> list[str]:
    """The revisions under the axis."""
    return page.locator("#live .xtick").all_text_contents()


def mode(page: Page, title: str) -> None:
    """Press a button of the mode bar."""
    page.locator("#live .modebar").hover()
    page.locator(f'#live .modebar-btn[data-title="{title}"]').click()


@watched
def test_a_mouse_zooms_both_ways_moves_marks_and_shows_all_again(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    """One way through all gestures of a mouse; A and B stay through a double click, and the wheel
    scrolls the page until the chart was clicked."""
    visit(page, live_server, CHART)
    page.mouse.move(*middle_of_point(page, 10))
    expect(page.locator("#tip")).to_have_attribute("aria-live", "off")
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 200)
    page.wait_for_function("before => scrollY > before", arg=before)
    page.locator(".findings [data-change]").first.hover()
    expect(page.locator("#tip .revision")).to_have_text(along[10].name)
    page.locator("#plot").scroll_into_view_if_needed()
    assert asked(page, "view") == []
    drag(page, 4, 12)
    view_is(page, along[4], along[12])
    assert along[0].name not in ticks(page)
    page.reload()
    drawn(page)
    assert along[0].name not in ticks(page)

    page.mouse.click(*middle_of_point(page, 6))
    expect(page.locator("#side-b")).to_have_text(along[6].name)
    page.keyboard.down("Shift")
    page.mouse.click(*middle_of_point(page, 5))
    page.keyboard.up("Shift")
    expect(page.locator("#side-a")).to_have_text(along[5].name)
    chosen = asked(page, "a"), asked(page, "b")
    page.mouse.dblclick(*middle_of_point(page, 9), delay=400)  # as slow as a system may allow
    is_whole(page)
    assert (asked(page, "a"), asked(page, "b")) == chosen

    drag(page, 2, 8, down=60)
    page.wait_for_function("() => location.search.includes('height=')")
    (height,) = asked(page, "height")
    assert re.fullmatch(r"1:[\d.]+\.\.[\d.]+", height)
    figures = page.locator("#live .ytick").all_text_contents()
    page.reload()
    drawn(page)
    assert page.locator("#live .ytick").all_text_contents() == figures
    mode(page, "Show all")
    is_whole(page)

    mode(page, "Pan")
    drag(page, 12, 6)
    page.wait_for_function("() => location.search.includes('view=')")
    assert asked(page, "view")[0].endswith(f"..{along[19].name}")
    mode(page, "Show all")
    is_whole(page)
    mode(page, "Box Select")
    drag(page, 2, 5, down=40)
    heading = page.locator("#range h2")
    expect(heading).to_have_text(f"{along[2].name} to {along[5].name}")
    expect(page.locator("#range tbody tr")).to_have_count(2)
    assert asked(page, "range") == [f"{along[2].name}..{along[5].name}"]
    page.get_by_role("button", name="Clear").click()
    expect(heading).to_be_hidden()

    mode(page, "Show all")
    is_whole(page)
    page.mouse.click(*middle_of_point(page, 10))
    expect(page.locator("#side-b")).to_have_text(along[10].name)
    page.mouse.wheel(0, -300)
    page.wait_for_function("() => location.search.includes('view=')")
    first, last = asked(page, "view")[0].split("..")
    assert along[0].name < first < along[10].name < last <= along[19].name
    for kind in ("PNG", "SVG"):
        with page.expect_download(lambda taken: f"view={first}" in taken.url) as taken:
            mode(page, kind)
        assert taken.value.suggested_filename == f"trends.{kind.lower()}"
    page.locator("#compare").click()
    expect(page.locator("h1")).to_contain_text(along[10].name)


@watched
def test_no_press_is_lost_while_the_chart_is_drawn_anew(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    """A figure that arrives within a gesture waits for its end; one behind it is asked for."""
    visit(page, live_server, CHART)
    answers: list[Route] = []
    page.route("**/trends/figure.json*", lambda route: answers.append(route))  # noqa: PLW0108
    page.locator("#chart").focus()
    with page.expect_request("**/trends/figure.json*"):
        page.keyboard.press("+")
    (left, height), (right, _) = middle_of_point(page, 4), middle_of_point(page, 12)
    page.mouse.move(left - 5, height)
    page.mouse.down()
    page.mouse.move(right + 5, height, steps=3)
    answers.pop().continue_()
    page.mouse.move(right + 6, height)
    with page.expect_request("**/trends/figure.json*"):
        page.mouse.up()
    page.mouse.move(left, height)
    answers.pop().continue_()
    view_is(page, along[4], along[12])
    with page.expect_request("**/trends/figure.json*"):
        page.keyboard.press("0")
    page.mouse.click(*middle_of_point(page, 8))
    answers.pop().continue_()
    expect(page.locator("#side-b")).to_have_text(along[8].name)
    is_whole(page)


@watched
def test_keys_and_the_list_do_everything(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    visit(page, live_server, CHART, 390)
    tip = page.locator("#tip .revision")
    page.locator("#chart").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tip")).to_have_attribute("aria-live", "polite")
    expect(tip).to_have_text(along[19].name)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#side-b")).to_have_text(along[18].name)
    for key, at in (("]", 19), ("[", 18), ("[", 17)):
        page.keyboard.press(key)
        expect(tip).to_have_text(along[at].name)
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#side-a")).to_have_text(along[17].name)
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#range h2")).to_have_text(f"{along[16].name} to {along[17].name}")
    for key in ("ArrowUp", "+", "Home", "End", "-", "ArrowDown", "-"):
        before = asked(page, "view")
        page.keyboard.press(key)
        page.wait_for_function(
            "before => (new URLSearchParams(location.search).get('view') ?? '') !== before",
            arg=(before or [""])[0],
        )
    is_whole(page)
    page.keyboard.press("+")
    page.wait_for_function("() => location.search.includes('view=')")
    page.keyboard.press("0")
    is_whole(page)
    page.locator("#chart").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    expect(page.locator("#range h2")).to_be_hidden()

    rows = page.locator("#series > li")
    expect(rows.first).to_contain_text("forwarding")
    page.get_by_label("Sort by").select_option("by change")
    expect(rows.first).to_contain_text("pf")
    drawn(page)  # the chart below the new list, which moves until then
    rows.first.hover()
    expect(page.locator("#live .trace.faded").first).to_be_attached()
    rows.first.click()
    expect(page.locator(DOTS)).to_have_count(1)
    (hidden,) = asked(page, "hide")
    svg = page.locator("a[data-take=SVG]").get_attribute("href")
    assert f"hide={hidden}" in (svg or "")
    rows.first.dblclick()
    page.wait_for_function("gone => !location.search.includes(`hide=${gone}`)", arg=hidden)
    expect(page.locator(DOTS)).to_have_count(1)
    rows.first.dblclick()
    page.wait_for_function("() => !location.search.includes('hide=')")
    page.keyboard.press("s")
    page.wait_for_function("() => location.search.includes('split=one')")
    drawn(page)
    page.keyboard.press("s")
    page.wait_for_function("() => location.search.includes('split=mode')")
    drawn(page)
    expect(page.locator("#live .cartesianlayer > .subplot")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#chart").focus()
    for key in ("ArrowLeft", "Shift+Enter", "ArrowLeft", "Enter", "c"):
        page.keyboard.press(key)
    page.wait_for_url("**/compare/**")
    page.go_back()
    drawn(page)
    expect(page.locator("#card")).to_contain_text(along[18].name)
    page.locator("#chart").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{along[18].name}/")


@watched
def test_older_addresses_and_those_of_revisions_that_were_not_measured_are_understood(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    visit(page, live_server, f"{CHART}&mode=pf")
    page.mouse.click(*middle_of_point(page, 5))
    series = asked(page, "b")[0].partition("@")[0]
    pins = "&".join(f"pin={series}@{along[at].name}" for at in (3, 7))
    between = f"r{along[12].position + 1}"
    visit(page, live_server, f"{CHART}&{pins}&view={along[2].name}..{between}")
    expect(page.locator("#side-a")).to_have_text(along[3].name)
    expect(page.locator("#side-b")).to_have_text(along[7].name)
    view_is(page, along[2], along[12])
    note = f"The view ends at {along[12].name}, the nearest: {between} is not among the revisions"
    expect(page.locator("#notice")).to_contain_text(note)
    assert page.title().startswith("2 modes, Atom C2758 T540-CR: pps along freebsd-head")


def test_fingers_tap_scroll_pinch_and_zoom_as_the_mode_bar_is_set(
    phone: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page = phone
    page.goto(live_server.url + CHART)
    drawn(page)
    page.locator("#plot").scroll_into_view_if_needed()
    expect(page.locator("#hint")).to_have_text(
        "tap a revision for B; pinch to zoom, tap twice for all"
    )
    page.touchscreen.tap(*middle_of_point(page, 10))
    expect(page.locator("#side-b")).to_have_text(along[10].name)

    fingers = Fingers(page)
    before, (x, y) = page.evaluate("scrollY"), middle_of_point(page, 10)
    fingers.move(((x, y), (x, y - 150)))
    page.wait_for_function("before => scrollY > before + 50", arg=before)
    page.locator("#plot").scroll_into_view_if_needed()
    assert asked(page, "view") == []
    expect(page.locator("#side-b")).to_have_text(along[10].name)

    (left, height), (right, _) = middle_of_point(page, 7), middle_of_point(page, 12)
    scale = page.evaluate("visualViewport.scale")
    fingers.move(((left, height), (left - 60, height)), ((right, height), (right + 60, height)))
    page.wait_for_function("() => location.search.includes('view=')")
    first, last = asked(page, "view")[0].split("..")
    assert along[0].name < first <= along[7].name
    assert along[12].name <= last < along[19].name
    assert page.evaluate("visualViewport.scale") == scale, "the chart alone was pinched"
    expect(page.locator("#side-b")).to_have_text(along[10].name)
    middle = middle_of_point(page, 8)
    page.touchscreen.tap(*middle)
    page.touchscreen.tap(*middle)
    is_whole(page)
    page.locator('#live .modebar-btn[data-title="Zoom"]').tap()
    left, height = middle_of_point(page, 4)
    right, _ = middle_of_point(page, 12)
    fingers.move(((left - 4, height), (right + 4, height)))
    view_is(page, along[4], along[12])
    page.locator('#live .modebar-btn[data-title="Pan"]').tap()
    fingers.move((middle_of_point(page, 6), middle_of_point(page, 8)))
    view_is(page, along[2], along[10])
    page.locator('#live .modebar-btn[data-title="Box Select"]').tap()
    left, height = middle_of_point(page, 5)
    right, _ = middle_of_point(page, 7)
    fingers.move(((left - 4, height), (right + 4, height + 60)))
    expect(page.locator("#range h2")).to_have_text(f"{along[5].name} to {along[7].name}")
    middle = middle_of_point(page, 8)
    page.touchscreen.tap(*middle)
    page.touchscreen.tap(*middle)
    is_whole(page)
    expect(page.locator("#side-b")).to_have_text(along[10].name)

    page.route("**/trends/chosen/*", lambda route: route.fulfill(status=503))
    page.touchscreen.tap(*middle_of_point(page, 6))
    hint = page.locator("#hint")
    expect(hint).to_have_text("What is chosen could not be loaded: status 503.")
    expect(page.locator("#card")).to_be_hidden()  # that of another point
    page.unroute("**/trends/chosen/*")
    page.touchscreen.tap(*middle_of_point(page, 14))
    expect(page.locator("#side-b")).to_have_text(along[14].name)


@pytest.fixture
@kept
def marked() -> list[Revision]:
    """Two modes with levels, bands, whiskers, a change, a candidate and a finding of each kind; an
    alert, an event, a note and a release beside them."""
    revisions = make.revisions(30)
    forwarding = make.series(in_mode="forwarding")
    make.history(forwarding, revisions, [1000.0 + number % 5 for number in range(30)])
    pf = make.series(in_mode="pf")
    make.history(pf, revisions, [500.0 - number % 3 for number in range(15)] + [440.0] * 15)
    found = make.finding(pf, revisions[14], revisions[15], level_before=499.0, level=440.0)
    make.finding(pf, revisions[4], revisions[6], level_before=499.0, level=497.0, state="candidate")
    alert = make.alert(revisions[15], after=revisions[14])
    AlertFinding.objects.create(finding=found, alert=alert)
    kinds: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("excursion", 8, {"level_before": 1002.0, "level": 960.0, "why": "Far off."}),
        ("noise", 18, {"level_before": 1002.0, "level": 1002.0, "details": {"ratio": 2.5}}),
        ("slow", 28, {"level_before": 1002.0, "level": 990.0, "after": revisions[20]}),
        ("modes", 12, {"level": 1002.0, "details": {"share_before": 0.2, "share_after": 0.5}}),
    )
    for kind, at, fields in kinds:
        made = make.finding(forwarding, revisions[at - 1], revisions[at], **fields)
        Finding.objects.filter(pk=made.pk).update(kind=kind)
    for series, levels in ((forwarding, (1002.0, 1002.0)), (pf, (499.0, 440.0))):
        halves = ((revisions[0], revisions[14]), (revisions[15], revisions[29]))
        segments = [
            make.segment(*ends, level) | {"low": level * 0.99, "high": level * 1.01}
            for ends, level in zip(halves, levels, strict=True)
        ]
        # The last one drifts.
        segments[1]["end_level"] *= 0.97
        make.analysis(series, count=30, segments=segments)
    release("11.0", revisions[5])
    tree = revisions[0].tree
    event("new fan", tree=tree, first=revisions[10], last=revisions[12])
    event("See the thread", kind="note", tree=tree, first=revisions[22], last=revisions[22])
    return revisions


PLACES = """root => {
  const origin = root.getBoundingClientRect();
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return [(box.left + box.right) / 2 - origin.left, (box.top + box.bottom) / 2 - origin.top];
  };
  const found = {};
  for (const one of root.querySelectorAll("text")) {
    const text = one.textContent.trim();
    if (text && one.checkVisibility()) (found[text] ??= []).push(middle(one));
  }
  for (const one of root.querySelectorAll("path")) {
    const style = getComputedStyle(one);
    const width = style.strokeWidth.replace("px", "");
    const kind = { 2.4: "level", 2.6: "riser", 4.4: "points" }[width];
    if (kind && one.checkVisibility() && one.getAttribute("d") !== "M0,0Z") {
      (found[kind] ??= []).push([...middle(one), one.getBoundingClientRect().width]);
    }
  }
  return found;
}"""


@watched
@pytest.mark.parametrize("query", ["", "&split=one&y=indexed&x=time", "&view=20..28"])
def test_what_the_page_draws_stands_where_the_picture_has_it(
    page: Page, live_server: LiveServer, marked: list[Revision], query: str
) -> None:
    """The figure is the same, so texts, levels, risers and points are, within a pixel."""
    ends = re.sub(r"\d+", lambda found: marked[int(found[0])].name, query)
    address = f"{CHART}{ends if 'view' in query else query}"
    visit(page, live_server, address)
    width = page.locator("#live").evaluate("box => box.clientWidth")
    picture = address.replace("/trends/", "/trends/figure.json")
    shown = Client().get(f"{picture}&width={width}&theme=page").json()
    ours = draw(shown, described="")
    for times, wide in ((2, 1439), (3, 1440)):  # so that it asks for its own width
        page.set_viewport_size({"width": wide, "height": 900})
        page.wait_for_function(
            "times => Number(document.querySelector('#chart').dataset.drawn) >= times", arg=times
        )
    page.wait_for_load_state("networkidle")
    theirs = page.locator("#live").evaluate(PLACES)
    page.evaluate(
        """([image, width]) => {
          const made = new DOMParser().parseFromString(image, "text/html").querySelector("svg");
          const box = document.createElement("div");
          box.id = "picture";
          box.style.width = `${width}px`;
          box.append(made);
          document.querySelector("#live").after(box);
        }""",
        [ours, width],
    )
    expected = page.locator("#picture").evaluate(PLACES)
    assert len(expected) > 15
    assert {"level", "riser", "points"} <= expected.keys()
    assert apart(expected, theirs) == []


def apart(expected: dict[str, list[list[float]]], found: dict[str, list[list[float]]]) -> list[str]:
    """What stands more than a pixel elsewhere; of levels, each of which Plotly draws alone, the
    outermost ends."""
    wrong = [f"{key} only once" for key in expected.keys() ^ found.keys()]
    for key in expected.keys() & found.keys():
        pairs = zip(sorted(expected[key]), sorted(found[key]), strict=False)
        if key in {"level", "riser"}:
            pairs = zip([extent(expected[key])], [extent(found[key])], strict=True)
        wrong += [
            f"{key}: {one} and {other}"
            for one, other in pairs
            if any(abs(a - b) > 1 for a, b in zip(one[:2], other[:2], strict=True))
        ]
    return wrong


def extent(rows: list[list[float]]) -> list[float]:
    """The leftmost and the rightmost place of lines: their middle and their width."""
    return [min(x - wide / 2 for x, _, wide in rows), max(x + wide / 2 for x, _, wide in rows)]


@watched
@pytest.mark.usefixtures("along")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_button_with_the_focus_is_outlined_in_the_colour_of_the_text(
    page: Page, live_server: LiveServer, theme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=theme)
    visit(page, live_server, CHART)
    page.locator("#chart").focus()
    buttons = page.locator(".modebar-btn")
    buttons.first.focus()
    page.keyboard.press("Tab")
    colour, ink = "one => getComputedStyle(one).outlineColor", "one => getComputedStyle(one).color"
    assert buttons.nth(1).evaluate(colour) == page.locator("body").evaluate(ink)


@watched
@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1440), pytest.param("dark", 390)], ids=["light", "dark"]
)
def test_axe_finds_nothing_in_a_chart_in_use(
    page: Page,
    live_server: LiveServer,
    marked: list[Revision],
    theme: Literal["light", "dark"],
    width: int,
) -> None:
    """With A, B, a range, a hidden series, a finding of another kind and the table of marks."""
    page.emulate_media(color_scheme=theme)
    visit(page, live_server, CHART, width)
    page.mouse.click(*middle_of_point(page, 8))
    expect(page.locator("#card .found").first).to_contain_text("forwarding, excursion, confirmed")
    expect(page.locator("#card")).to_contain_text("Far off.")
    page.locator("#chart").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+ArrowLeft")
    page.locator("#series button").last.click()
    expect(page.locator(DOTS)).to_have_count(1)
    page.locator("#marks summary").click()
    expect(page.locator("#range table")).to_be_visible()
    page.evaluate(AXE_SCRIPT)  # no script element, which the policy would refuse
    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:150]}" for one in found] == []
    page.locator("#live .annotation a rect").last.click()
    page.wait_for_url("**/alerts/*/")


@watched
@pytest.mark.usefixtures("along")
def test_what_is_pressed_before_plotly_has_come_holds(page: Page, live_server: LiveServer) -> None:
    """The chart that a press replaced does not write its address over that of the new one."""
    held: list[Route] = []
    page.route("**/plotly*.js", lambda route: held.append(route))  # noqa: PLW0108 (as below)
    page.goto(live_server.url + CHART, wait_until="commit")
    page.wait_for_function("() => window.htmx && document.readyState === 'complete'")
    page.get_by_text("% of first", exact=True).click()
    page.wait_for_url("**y=indexed*")
    for one in held:
        one.continue_()
    drawn(page)
    assert asked(page, "y") == ["indexed"]
    page.keyboard.press("s")
    page.wait_for_url("**split=one*y=indexed*")


@watched
@pytest.mark.usefixtures("along")
def test_on_a_phone_the_drawing_of_the_server_stays_until_the_figure_for_it_is_there(
    page: Page, live_server: LiveServer
) -> None:
    """The figure in the page is that of a wide screen."""
    held: list[Route] = []
    page.route("**/trends/figure.json*", lambda route: held.append(route))  # noqa: PLW0108 (Playwright wraps no built-in)
    page.set_viewport_size({"width": 390, "height": 844})
    with page.expect_request("**/trends/figure.json*"):
        page.goto(live_server.url + CHART)
    expect(page.locator("#plot .only-narrow svg")).to_be_visible()
    expect(page.locator("#live")).to_be_hidden()
    page.wait_for_function("() => document.querySelector('#live .main-svg')")
    for one in held:
        one.continue_()
    drawn(page)
    expect(page.locator("#live")).to_be_visible()
    expect(page.locator("#plot .only-narrow")).to_be_hidden()


@watched
def test_the_buttons_above_the_chart_show_so_many_revisions_or_so_much_time(
    page: Page, live_server: LiveServer
) -> None:
    """A revision a day; by time the periods reach further back than what was shown."""
    along = make.revisions(400)
    make.history(make.series(), along, [1000.0 + number % 7 for number in range(400)])
    visit(page, live_server, CHART)
    shown = """() => {
      const { data, layout } = document.querySelector("#live");
      const [low, high] = layout.xaxis.range;
      const { x } = data.find((one) => one.uid.endsWith("dots"));
      return x.filter((one) => low <= one && one <= high).length;
    }"""
    ranges = page.get_by_role("navigation", name="Range")

    def press(name: str) -> int:
        ranges.get_by_role("link", name=name, exact=True).click()
        drawn(page)
        expect(ranges.locator("[aria-current]")).to_have_text(name)
        return int(page.evaluate(shown))

    assert [press(one) for one in ("last 50", "all", "last 200")] == [50, 400, 200]
    page.get_by_text("Time", exact=True).click()
    page.wait_for_url("**x=time**")
    drawn(page)
    assert press("last month") == pytest.approx(31, abs=1)
    assert press("quarter") == pytest.approx(92, abs=1)
    assert press("year") == pytest.approx(366, abs=1)
    assert press("all") == 400


@watched
def test_of_a_long_history_extremes_and_what_is_chosen_are_drawn_whatever_is_in_sight(
    page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the limit the server thins by pixel columns; what is zoomed into is fetched, and the
    statistics of a range are those of all its points."""
    for name, value in (("MOST_WHOLE", 50), ("PIXELS", 20), ("PIXELS_BESIDE", 10)):
        monkeypatch.setattr(trend_points, name, value)
    along = make.revisions(200)
    levels = [1000.0 + number % 7 for number in range(200)]
    levels[37], levels[151] = 400.0, 1900.0
    make.history(make.series(), along, levels)
    visit(page, live_server, "/trends/")
    shown = "document.querySelector('#live').data.find((one) => one.uid.endsWith('dots')).y"
    few = page.evaluate(shown)
    assert (min(few), max(few)) == pytest.approx((400, 1900), abs=5)
    visit(page, live_server, f"/trends/?view={along[140].name}..{along[155].name}")
    part = page.evaluate(shown)
    assert len(part) > len(few) / 2
    assert (min(part), max(part)) == pytest.approx((400, 1900), abs=5)
    page.locator("#chart").focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("before => !location.search.includes(before)", arg=along[140].name)

    visit(page, live_server, f"/trends/?view={along[148].name}..{along[152].name}")
    area = page.locator("#live .nsewdrag").bounding_box()
    assert area is not None
    page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    expect(page.locator("#side-b")).to_have_text(along[150].name)
    page.keyboard.press("0")
    is_whole(page)
    expect(page.locator("#at-b")).to_be_visible()
    revisions = "document.querySelector('#live').data.find((one) => one.uid.endsWith('dots')).x"
    assert 150 in page.evaluate(revisions), "beside the extremes"
    mode(page, "Box Select")
    page.mouse.move(area["x"] + 1, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] - 1, area["y"] + 60, steps=6)
    page.mouse.up()
    expect(page.locator("#range tbody td.number").first).to_have_text("200")


def test_where_plotly_is_blocked_or_fails_the_drawing_of_the_server_stays_and_the_page_states_it(
    page: Page, live_server: LiveServer, marked: list[Revision]
) -> None:
    def block(route: Route) -> None:
        route.abort()

    def fail(route: Route) -> None:
        body = "window.Plotly = { Icons: {}, react() { throw new Error('no drawing today'); } };"
        route.fulfill(body=body, content_type="text/javascript")

    for answer, reason in ((block, "Plotly could not be loaded"), (fail, "no drawing today")):
        page.route("**/plotly.min*.js", answer)
        page.goto(live_server.url + CHART)
        expect(page.locator("#hint")).to_contain_text(f"Drawn by the server: {reason}")
        expect(page.locator("#plot svg.trend:visible")).to_have_count(1)
        expect(page.locator("#plot svg.trend:visible a").first).to_be_visible()
        page.unroute("**/plotly.min*.js")
