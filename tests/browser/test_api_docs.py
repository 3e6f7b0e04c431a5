"""The API's description fits a phone, follows the theme, and is found from every page."""

import os
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.browser


@pytest.fixture
def phone(browser: Browser) -> Any:
    """A phone in the dark; without a viewport of the page's own it would lay it out 980 px wide."""
    context = browser.new_context(
        viewport={"width": 360, "height": 800}, color_scheme="dark", is_mobile=True
    )
    yield context.new_page()
    context.close()


def test_the_description_of_the_api_is_found_and_fits_a_phone_in_the_dark(
    live_server: LiveServer, phone: Page
) -> None:
    complaints: list[str] = []
    phone.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
    phone.goto(f"{live_server.url}/")
    phone.locator("summary", has_text="Menu").click()
    phone.get_by_role("navigation", name="Pages", exact=True).get_by_role(
        "link", name="API"
    ).click()
    expect(phone.get_by_text("Store one run or a")).to_be_visible(timeout=20_000)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    assert phone.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 17, 16)"
    paint = "one => getComputedStyle(document.querySelector(one)).color"
    assert phone.evaluate(paint, ".swagger-ui .info .title") == "rgb(240, 240, 235)"
    assert complaints == []
    if pictures := os.environ.get("ALERT_PICTURES"):
        phone.screenshot(path=f"{pictures}/api-docs.png")
