"""The way of a person with a suspicion: overview → trend → commit → compare."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from webapp.results.models import Revision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 360, "height": 740}


@pytest.fixture
def along() -> list[Revision]:
    """Two modes over twenty revisions; pf loses a tenth in the middle. Runs and a finding there."""
    revisions = make.revisions(20)
    make.history(make.series(in_mode="forwarding"), revisions, [1000.0] * 20)
    pf = make.series(in_mode="pf")
    make.history(pf, revisions, [500.0] * 10 + [450.0] * 10)
    make.finding(pf, revisions[9], revisions[10], why="Confirmed: it fell by a tenth.")
    make.analysis(
        pf,
        count=20,
        segments=[
            make.segment(revisions[0], revisions[9], 500.0),
            make.segment(revisions[10], revisions[19], 450.0),
        ],
    )
    for at, level in ((revisions[9], 500.0), (revisions[10], 450.0)):
        samples = [level, level + 1, level - 1, level + 2, level - 2]
        make.run(at, in_mode="pf", samples=samples)
    return revisions


def drawn(page: Page) -> None:
    """Wait until Plotly has drawn."""
    expect(page.locator("#plot.js-plotly-plot .scatterlayer .point").first).to_be_visible()


def middle_of_point(page: Page, index: int) -> tuple[float, float]:
    """Where a point of the first series is; Plotly's drag layer lies above it."""
    box = page.locator(".scatterlayer .trace").first.locator(".point").nth(index).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.usefixtures("trouble")
def test_from_the_overview_to_the_ministat_block(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(live_server.url)
    page.locator('a.tile[title="pf"]').first.click()
    drawn(page)

    at = middle_of_point(page, 10)
    page.mouse.move(*at)
    card = page.locator("#card")
    expect(card).to_contain_text(along[10].name)
    expect(card).to_contain_text("Confirmed: it fell by a tenth.")
    page.mouse.click(*at)
    expect(card).to_have_class(re.compile("locked"))
    card.get_by_role("link", name="Commit", exact=True).click()

    expect(page.locator("main")).to_contain_text("slower")
    page.locator("td.cell.worse-2 a").first.click()
    expect(page.locator("pre.ministat").first).to_contain_text("Difference at 95.0% confidence")
    expect(page.locator("circle.sample")).to_have_count(10)


@pytest.mark.usefixtures("trouble")
def test_two_points_are_compared_and_the_choice_is_in_the_address(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(page)
    for index in (10, 9):
        at = middle_of_point(page, index)
        page.mouse.move(*at)
        expect(page.locator("#card")).to_contain_text(along[index].name)
        page.wait_for_timeout(400)  # else it would be a double click
        page.mouse.click(*at)
    link = page.locator("#card").get_by_role("link", name=f"Compare {along[9].name} with")
    expect(link).to_be_visible()
    pins = parse_qs(urlsplit(page.url).query)["pin"]
    assert [pin.partition("@")[2] for pin in pins] == [along[10].name, along[9].name]

    page.reload()
    drawn(page)
    page.locator("#card").get_by_role("link", name=f"Compare {along[9].name} with").click()
    expect(page.locator("h1")).to_contain_text(along[10].name)


@pytest.mark.usefixtures("trouble")
def test_a_dragged_range_has_its_statistics_and_its_address(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(page)
    box = page.locator("#plot .nsewdrag").bounding_box()
    assert box is not None
    step = box["width"] / len(along)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2 * step, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 6 * step, middle, steps=8)
    page.mouse.up()
    heading = page.locator("#range h2")
    expect(heading).to_have_text(f"{along[2].name} to {along[5].name}")
    expect(page.locator("#range tbody tr")).to_have_count(1)
    assert parse_qs(urlsplit(page.url).query)["range"] == [f"{along[2].name}..{along[5].name}"]
    page.reload()
    expect(heading).to_have_text(f"{along[2].name} to {along[5].name}")


@pytest.mark.usefixtures("trouble")
def test_the_chart_can_be_read_with_the_keyboard_alone(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(page)
    page.locator("#chart").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#card")).to_contain_text(along[-1].name)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#card")).to_contain_text(along[-2].name)
    page.keyboard.press("Enter")
    expect(page.locator("#card")).to_have_class(re.compile("locked"))
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{along[-1].get_absolute_url()}")


@pytest.mark.usefixtures("trouble", "along")
def test_the_form_changes_chart_evidence_and_address_in_place(
    page: Page, live_server: LiveServer
) -> None:
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR&mode=pf")
    drawn(page)
    page.get_by_label("Values").select_option("first = 100")
    expect(page.locator("#plot .annotation-text").first).to_contain_text("= 100")
    assert "y=indexed" in page.url
    page.get_by_text("Modes: pf").click()
    page.get_by_label("forwarding").check()
    expect(page.locator(".scatterlayer .trace.scatter:has(.js-line):has(.point)")).to_have_count(2)
    expect(page.locator("#modes-chosen")).to_have_text(re.compile("2 of 2"))


@pytest.mark.usefixtures("trouble", "along")
def test_going_back_shows_the_chart_as_it_was(page: Page, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(page)
    page.get_by_label("Values").select_option("first = 100")
    expect(page.locator("#plot .annotation-text").first).to_contain_text("= 100")
    page.go_back()
    drawn(page)
    expect(page.locator("#plot .annotation-text").first).to_contain_text("packets/s")


@pytest.mark.usefixtures("trouble", "along")
def test_slash_leads_to_the_search_and_a_revision_is_opened(
    page: Page, live_server: LiveServer
) -> None:
    page.goto(live_server.url)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("300030")
    page.keyboard.press("Enter")  # before anything is suggested
    page.wait_for_url("**/commits/freebsd-head/r300030/")
    page.keyboard.press("/")
    page.keyboard.type("30003")
    expect(page.locator("#suggestions a").first).to_have_text(re.compile("r30003"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.locator("#suggestions a").nth(1)
    expect(second).to_be_focused()
    address = second.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address}")


@pytest.mark.usefixtures("trouble", "along")
def test_the_chosen_theme_is_kept_and_recolours_the_chart(
    page: Page, live_server: LiveServer
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(page)
    background = page.locator("#plot .main-svg").first
    light = background.evaluate("svg => svg.style.background")
    page.get_by_role("button", name="Use the dark theme").click()
    expect(background).not_to_have_attribute("style", re.compile(re.escape(light)))
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.usefixtures("trouble")
def test_no_page_scrolls_sideways_on_a_phone(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    sides = f"a=freebsd-head:{along[9].name}&b=freebsd-head:{along[10].name}"
    for address in (
        "/",
        "/hardware/",
        "/hardware/Atom_C2758/T540-CR/",
        "/trends/",
        "/commits/freebsd-head/",
        along[10].get_absolute_url(),
        f"/compare/?{sides}",
        "/search/?q=nothing",
        "/sign-in/",
    ):
        page.goto(live_server.url + address)
        if address == "/trends/":
            drawn(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{address} is {width} pixels wide"


@pytest.mark.usefixtures("along")
def test_without_scripts_chart_and_figures_are_there(
    browser: Browser, live_server: LiveServer
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/trends/?mode=pf")
    expect(page.locator("#plot svg polyline")).to_have_count(1)
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    context.close()
