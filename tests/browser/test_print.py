"""Pages on paper: light in any theme, without what can only be pressed, as wide as a sheet."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import beyond, sign_in
from tests.pages.test_overview import loss
from webapp.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHEET = 720
"""Pixels: A4 without its margins."""


def test_pages_print_light_and_whole_without_their_controls(
    live_server: LiveServer, page: Page
) -> None:
    alert = loss()
    sign_in(page, live_server, make.user("tess", role=User.Role.TRIAGER))
    page.set_viewport_size({"width": SHEET, "height": 1000})
    for address in ("/", alert.get_absolute_url(), "/hardware/Atom_C2758/T540-CR/", "/alerts/"):
        page.goto(live_server.url + address)
        page.emulate_media(media="print", color_scheme="dark")
        expect(page.get_by_role("banner")).to_be_hidden()
        expect(page.locator("button, .btn, input, select").filter(visible=True)).to_have_count(0)
        expect(page.locator("h1")).to_have_css("color", "rgb(25, 25, 23)")
        assert beyond(page) == [], address
        page.emulate_media(media="screen")
