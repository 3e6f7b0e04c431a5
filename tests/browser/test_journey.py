"""The way of a person with a suspicion: overview → trend → commit → compare."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import forbid_scripts, small_texts
from tests.kept import kept
from webapp.results.models import Revision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DOTS = '#live .trace[class*="dots"] path'
"""The points of each series under Plotly."""

PHONE = {"width": 360, "height": 740}


@pytest.fixture
@kept
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
    """Wait until the page's script has taken the chart over."""
    expect(page.locator("#chart[data-drawn]")).to_be_visible()


def middle_of_point(page: Page, index: int) -> tuple[float, float]:
    """Where a point of the first series is; all points of a series are one path."""
    across, down = page.locator(DOTS).first.evaluate(
        """(path, index) => {
          const [x, y] = path.getAttribute("d").slice(1).split("M")[index].split("h")[0].split(",");
          const at = new DOMPoint(Number(x), Number(y)).matrixTransform(path.getScreenCTM());
          return [at.x, at.y];
        }""",
        index,
    )
    return across, down


@pytest.mark.usefixtures("trouble")
def test_from_the_overview_to_the_ministat_block(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(live_server.url)
    page.locator('a.tile[title="pf"]').first.click()
    drawn(page)

    at = middle_of_point(page, 10)
    page.mouse.move(*at)
    expect(page.locator("#tip .revision")).to_have_text(along[10].name)
    page.mouse.click(*at)
    card = page.locator("#card")
    expect(card).to_contain_text(along[10].name)
    expect(card).to_contain_text("Confirmed: it fell by a tenth.")
    card.get_by_role("link", name="Open commit").click()

    expect(page.locator("main")).to_contain_text("slower")
    page.locator("td.cell.worse-2 a").first.click()
    expect(page.locator("pre.ministat").first).to_contain_text("Difference at 95.0% confidence")
    expect(page.locator("circle.sample")).to_have_count(10)


@pytest.mark.usefixtures("trouble", "along")
def test_the_form_changes_chart_evidence_and_address_in_place_and_going_back_takes_it_back(
    page: Page, live_server: LiveServer
) -> None:
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR&mode=pf")
    drawn(page)
    page.get_by_text("% of first").click()
    expect(page.locator("#live .annotation-text").first).to_contain_text("= 100")
    assert "y=indexed" in page.url
    page.get_by_text("Modes: pf").click()
    page.get_by_label("forwarding").check()
    expect(page.locator(DOTS)).to_have_count(2)
    expect(page.locator("#modes-chosen")).to_have_text(re.compile("2 of 2"))
    page.go_back()
    expect(page.locator(DOTS)).to_have_count(1)
    page.go_back()
    expect(page.locator("#live .annotation-text").first).to_contain_text("packets/s")


@pytest.mark.usefixtures("along")
def test_what_is_folded_under_more_is_drawn_at_once_and_a_change_has_its_reason(
    page: Page, live_server: LiveServer
) -> None:
    page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR&mode=pf")
    drawn(page)
    whiskers, last = page.get_by_label("Whiskers"), page.get_by_label("Last revisions")
    expect(whiskers).to_be_hidden()
    expect(last).to_be_hidden()
    page.locator("summary", has_text="More").click()
    whiskers.select_option("none")
    page.wait_for_function("() => location.search.includes('whiskers=none')")
    drawn(page)
    last.fill("12")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_function("() => location.search.includes('last=12')")
    # The points: which names stand below them depends on the width at the time.
    expect(page.locator(DOTS).first).to_have_attribute("d", re.compile("^(M[^M]+){12}$"))
    expect(whiskers).to_have_value("none")
    page.reload()
    drawn(page)
    expect(last).to_have_value("12")

    why = page.locator("tr.why details")
    expect(why).not_to_contain_text("Confirmed", use_inner_text=True)
    why.get_by_text("why", exact=True).click()
    expect(why).to_contain_text("Confirmed: it fell by a tenth.", use_inner_text=True)
    why.get_by_text("why", exact=True).click()
    expect(why).not_to_contain_text("Confirmed", use_inner_text=True)


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
    dots = page.locator(DOTS).first
    light = dots.evaluate("dots => getComputedStyle(dots).stroke")
    page.get_by_role("button", name="Use the dark theme").click()
    page.wait_for_function(
        f"light => getComputedStyle(document.querySelector({DOTS!r})).stroke !== light",
        arg=light,
    )
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.usefixtures("along")
def test_without_scripts_chart_and_figures_are_there(page: Page, live_server: LiveServer) -> None:
    forbid_scripts(page)
    page.goto(f"{live_server.url}/trends/?mode=pf")
    expect(page.locator("#plot svg:visible")).to_have_count(1)
    expect(page.locator("#hint")).to_contain_text("Drawn by the server")
    expect(page.get_by_role("heading", name="Changes")).to_be_visible()


@pytest.mark.usefixtures("along")
@pytest.mark.parametrize("has_scripts", [False, True], ids=["without scripts", "with scripts"])
def test_on_a_phone_one_line_of_controls_stands_above_a_chart_that_can_be_read(
    page: Page, live_server: LiveServer, has_scripts: bool
) -> None:
    """What the line hides is shown by pressing it, and works. Every width can be read."""
    if not has_scripts:
        forbid_scripts(page)
    for width in (1440, 1024, 768, 641, 640, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{live_server.url}/trends/?hardware=Atom_C2758/T540-CR")
        if has_scripts:
            drawn(page)
        kinds = ("trend:", "main-svg:")
        assert [one for one in small_texts(page) if one.startswith(kinds)] == [], width
        line = page.locator("#controls .choose")
        expect(page.locator("#controls .seg").first).to_be_visible(visible=width > 640)
        expect(line).to_be_visible(visible=width <= 640)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#controls").bounding_box()
    assert box is not None
    assert box["height"] < 2 * 24
    line.locator("summary").click()
    page.get_by_text("By mode").click()
    if not has_scripts:
        page.locator("#controls summary", has_text="More").click()
        page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("#plot text:visible", has_text=re.compile("^forwarding$"))).to_be_visible()
    assert "split=mode" in page.url
