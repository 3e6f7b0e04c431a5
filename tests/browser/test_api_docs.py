"""The API's description fits a phone, follows the theme, and is found from every page."""

import os

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.browser


def test_the_description_of_the_api_is_found_and_fits_a_phone_in_the_dark(
    live_server: LiveServer, phone: Page
) -> None:
    phone.set_viewport_size({"width": 360, "height": 800})
    phone.emulate_media(color_scheme="dark")
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
