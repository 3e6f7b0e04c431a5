"""The front page, the wall of machines, the first steps and errors, in a browser."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import beyond, beyond_any
from tests.pages.test_overview import loss, measured
from webapp.analysis.models import SeriesAnalysis
from webapp.results.models import Revision
from webapp.stats import changes

pytestmark = pytest.mark.browser
LONG = "a subject that is as long as the longest that anybody wrote in twenty years of commits " * 3


def filled() -> None:
    """Losses on two machines, a silent machine, many modes, long names and subjects."""
    loss(-11.4, mode="pf", on=make.hardware("Atom_C2758_8Cores/Chelsio_T540-CR"))
    loss(-7.0, mode="ipfw", on=make.hardware("Xeon_E5-2650v4_2x12Cores/Mellanox_ConnectX-4"))
    along = list(Revision.objects.order_by("position"))
    for number in range(4):
        at = along[2 * number + 1]
        alert = make.alert(at, after=along[2 * number]) if at != along[5] else None
        series, _ = measured([100.0] * 10, mode=f"forwarding@inet4+VIMAGE+option-{number}")
        if alert:
            make.finding(series, along[2 * number], at, change_pct=-3.0, alert=alert)
    measured([100.0] * 3, mode="old", on=make.hardware("Gone/em0"), days_ago=20)
    Revision.objects.update(subject=LONG)


@pytest.mark.usefixtures("trouble")
def test_long_names_and_subjects_fit_the_window(live_server: LiveServer, page: Page) -> None:
    filled()
    for address in ("/", "/?show=silent", "/hardware/", "/lately/"):
        page.goto(live_server.url + address)
        assert beyond_any(page) == [], address


@pytest.mark.usefixtures("trouble")
def test_an_empty_instance_moves_on_when_the_first_run_arrives(
    live_server: LiveServer, page: Page
) -> None:
    page.goto(live_server.url)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Three steps")
    measured([100.0] * 3)
    expect(page.get_by_role("heading", level=1)).to_contain_text("No regression is open")


@pytest.mark.usefixtures("trouble")
def test_letters_move_along_the_losses_and_enter_opens_one(
    live_server: LiveServer, page: Page
) -> None:
    filled()
    page.goto(live_server.url)
    items = page.locator("[data-item]")
    page.keyboard.press("j")
    expect(items.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(items.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/alerts/*/")
    page.goto(f"{live_server.url}/hardware/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/hardware/*/*/")


def test_pointing_at_a_tile_marks_the_revision_in_every_tile_of_its_tree(
    live_server: LiveServer, page: Page
) -> None:
    filled()
    page.goto(live_server.url)
    tiles = page.locator(".wall .tile > svg")
    tiles.first.hover()
    expect(page.locator(".wall .cross")).to_have_count(tiles.count())
    page.locator("h1").hover()
    expect(page.locator(".wall .cross")).to_have_count(0)


def test_what_is_missing_is_answered_in_the_look_of_the_site(
    live_server: LiveServer, page: Page
) -> None:
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/no/{'such-' * 40}/page/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        assert beyond(page) == []


@pytest.mark.usefixtures("trouble")
def test_the_repetition_after_an_upgrade_is_followed_to_its_end(
    live_server: LiveServer, page: Page
) -> None:
    one, _ = measured([100.0] * 3)
    other, _ = measured([100.0] * 3, mode="ipfw")
    analyses = SeriesAnalysis.objects.filter(series__in=[one, other])
    analyses.update(detector=changes.VERSION - 1)
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(live_server.url)
    line = page.locator("#repeated")
    expect(line).to_have_text("Re-analysing after the upgrade: 0 of 2 series")
    analyses.filter(series=one).update(detector=changes.VERSION)
    expect(line).to_have_text("Re-analysing after the upgrade: 1 of 2 series")
    analyses.update(detector=changes.VERSION)
    expect(line).to_be_hidden()
    expect(page.locator("#progress")).to_have_text("all analysed")
    assert beyond(page) == []
