"""The lane of what an option costs, as a browser draws it."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_journey import drawn
from tests.results.costs import pairs
from tests.results.steps import analyse, upload

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_lane_of_a_cost_has_its_levels_and_its_change(
    page: Page, live_server: LiveServer, trouble: list[str]
) -> None:
    upload(*pairs(40, steps={25: 0.963}, day=0.03))
    analyse()
    page.goto(f"{live_server.url}/trends/?tree=freebsd-head&metric=pps&hardware=bench/nic")
    drawn(page)
    title = page.locator("#live .annotation-text", has_text="VIMAGE costs 3.6 % since r300026")
    expect(title).to_be_visible()
    expect(page.locator("#live .subplot.xy2 .trace")).not_to_have_count(0)
    page.get_by_role("link", name="VIMAGE costs 3.6 %").click()
    expect(page.locator("h1")).to_contain_text(
        "The cost of VIMAGE in forwarding rose from 1.2 to 3.6 % at r300026"
    )
    assert trouble == []
