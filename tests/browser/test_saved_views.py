"""A page is named in the menu, as it is by then, shared by a press, and opened by others."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import sign_in
from tests.browser.test_journey import drawn

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_view_is_saved_as_it_is_by_then(page: Page, live_server: LiveServer) -> None:
    series = make.series(in_mode="pf")
    for number, revision in enumerate(make.revisions(4), 1):
        make.point(series, revision, [100.0 + number] * 3)
    sign_in(page, live_server, make.user("ada"))
    parts = f"tree={series.tree}&hardware={series.hardware.name}&mode=pf&metric={series.metric}"
    page.goto(f"{live_server.url}/trends/?{parts}")
    drawn(page)
    page.get_by_text("% of first", exact=True).click()
    page.wait_for_url("**y=indexed*")
    page.locator(".bar > .menu > summary").click()
    page.get_by_label("Name of this view").fill("pf of first")
    page.get_by_role("button", name="Save this view").click()
    expect(page.get_by_role("status")).to_have_text("Saved as “pf of first”.")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Stop sharing")).to_be_visible()
    page.get_by_role("link", name="pf of first").click()
    page.wait_for_url("**y=indexed*")


@pytest.mark.usefixtures("trouble")
def test_a_shared_view_is_opened_by_another_account_until_it_is_taken_back(
    page: Page, live_server: LiveServer
) -> None:
    ada, ken = make.user("ada"), make.user("ken")
    make.point(make.series(in_mode="pf"), make.revision("r300000"))
    sign_in(page, live_server, ada)
    page.goto(f"{live_server.url}/hardware/{make.hardware().name}/?q=pf")
    page.locator(".bar > .menu > summary").click()
    page.get_by_label("Name of this view").fill("our pf")
    page.get_by_role("button", name="Save this view").click()
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("row", name="our pf")).to_contain_text("ada, shared")

    sign_in(page, live_server, ken)
    page.goto(f"{live_server.url}/views/")
    row = page.get_by_role("row", name="our pf")
    expect(row).to_contain_text("ada, shared")
    expect(row.get_by_role("button")).to_have_count(0)
    row.get_by_role("link", name="our pf").click()
    page.wait_for_url("**/hardware/**?q=pf")

    sign_in(page, live_server, ada)
    page.goto(f"{live_server.url}/views/")
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    sign_in(page, live_server, ken)
    page.goto(f"{live_server.url}/views/")
    expect(page.locator("main")).to_contain_text("None yet")

    sign_in(page, live_server, ada)
    page.goto(f"{live_server.url}/views/")
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("main")).to_contain_text("None yet")
