"""Runs that disagree: seen on the chart, decided on the commit page, undone."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import sign_in
from tests.browser.test_journey import drawn, middle_of_point
from tests.results.steps import analyse, apart, measured, upload
from webapp.accounts.models import User
from webapp.results.models import Point

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def marked() -> Point:
    upload(measured("r300000", 1200, build_id="before"), measured("r300002", 1200, build_id="z"))
    found = apart("r300001", 1.2, 1.9)
    analyse()
    return found


@pytest.mark.usefixtures("trouble")
def test_a_triager_sees_the_runs_apart_and_counts_them_together_and_undoes_it(
    page: Page, live_server: LiveServer, marked: Point
) -> None:
    sign_in(page, live_server, make.user("tess", role=User.Role.TRIAGER))
    page.goto(f"{live_server.url}/trends/?mode=forwarding")
    drawn(page)
    expect(page.locator("#live .annotation-text", has_text="lab?")).to_be_visible()
    page.mouse.click(*middle_of_point(page, 1))
    card = page.locator("#card")
    expect(card).to_contain_text("lab? its runs disagree")
    expect(card).to_contain_text("190,000")

    page.goto(f"{live_server.url}/commits/freebsd-head/r300001/")
    panel = page.get_by_role("region", name="Runs disagree")
    expect(panel).to_contain_text("120,000")
    button = panel.get_by_role("button", name="Yes, count these runs together")
    expect(button).to_be_hidden()
    panel.get_by_text("Count them together", exact=True).click()
    button.click()
    expect(page.get_by_role("status")).to_contain_text("The runs count together")
    expect(page.get_by_text("tess decided")).to_be_visible()
    assert not Point.objects.get(pk=marked.pk).disagrees

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    expect(page.get_by_role("heading", name="Runs disagree")).to_be_visible()
    assert Point.objects.get(pk=marked.pk).disagrees
