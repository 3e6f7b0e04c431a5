"""Triage by keyboard in a browser, under the Content-Security-Policy."""

import os
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.regressions.alert_steps import arrive, runs_of
from webapp.accounts.models import User
from webapp.regressions.models import Alert
from webapp.results.services import forget_names

pytestmark = pytest.mark.browser
PLACES: dict[tuple[str, str], dict[int, float]] = {
    ("Atom/T540", "pf"): {12: 0.88},
    ("Atom/T540", "forwarding"): {12: 1.2},
    ("Xeon/T580", "pf"): {20: 0.9},
}


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the browser complains of."""
    found: list[str] = []

    def console(message: Any) -> None:
        if message.type in {"error", "warning"}:
            found.append(message.text)

    page.on("console", console)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.fixture
def inbox(live_server: LiveServer, page: Page, complaints: list[str]) -> Page:
    """The inbox with two alerts, signed in."""
    forget_names()
    arrive(runs_of(PLACES))
    make.user("ada", role=User.Role.TRIAGER)
    page.goto(f"{live_server.url}/sign-in/?next=/alerts/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("tr[data-alert]")).to_have_count(2)
    page.wait_for_load_state("load")  # with its scripts
    return page


def states() -> list[str]:
    """The states of all alerts in the order of the inbox."""
    return list(Alert.objects.order_by("-pk").values_list("state", flat=True))


def test_an_inbox_is_triaged_without_a_mouse(inbox: Page, complaints: list[str]) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("j")
    inbox.keyboard.press("k")
    inbox.keyboard.press("a")
    expect(inbox.get_by_text("Done: alert")).to_be_visible()
    assert states() == ["acknowledged", "new"]
    inbox.get_by_role("button", name="Undo").click()
    expect(inbox.get_by_role("button", name="Undo")).to_have_count(0)
    assert states() == ["new", "new"]
    inbox.keyboard.press("j")
    inbox.keyboard.press("x")
    inbox.keyboard.press("j")
    inbox.keyboard.press("x")
    inbox.keyboard.press("n")
    expect(inbox.get_by_text("No alert fits")).to_be_visible()
    assert states() == ["resolved", "resolved"]
    assert complaints == []


def test_a_key_that_is_held_acts_once_and_what_it_did_can_be_undone(inbox: Page) -> None:
    sent: list[str] = []

    def hold(route: Route) -> None:
        sent.append(route.request.url)
        if len(sent) == 1:
            inbox.keyboard.press("e")
        route.continue_()

    inbox.route("**/alerts/act/**", hold)
    inbox.keyboard.press("j")
    inbox.keyboard.press("e")
    expect(inbox.get_by_text("Done: alert")).to_be_visible()
    expect(inbox.get_by_role("button", name="Undo")).to_be_visible()
    assert len(sent) == 1


def test_help_and_an_alert_open_by_keyboard(inbox: Page, complaints: list[str]) -> None:
    inbox.keyboard.press("?")
    expect(inbox.locator(".keys p")).to_be_visible()
    inbox.keyboard.press("j")
    inbox.keyboard.press("Enter")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text("Alert")
    assert complaints == []


def test_the_last_acts_are_undone_and_an_alert_opened_by_letters(
    inbox: Page, complaints: list[str]
) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("a")
    expect(inbox.get_by_text("Done: alert")).to_be_visible()
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("u")
    expect(inbox.get_by_role("button", name="Undo")).to_have_count(0)
    assert states() == ["new", "new"]
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("j")
    inbox.keyboard.press("o")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text("Alert")
    assert complaints == []


def test_letters_typed_into_a_field_do_nothing_else(inbox: Page) -> None:
    inbox.keyboard.press("j")
    inbox.get_by_label("Reason").fill("")
    inbox.get_by_label("Reason").press_sequentially("an ane")
    assert states() == ["new", "new"]
    expect(inbox.get_by_label("Reason")).to_have_value("an ane")


def test_enter_in_a_field_chooses_no_act_by_itself(inbox: Page) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("x")
    inbox.get_by_label("Reason").press("Enter")
    expect(inbox.get_by_text("Choose what to do")).to_be_visible()
    assert states() == ["new", "new"]


@pytest.mark.parametrize("width", [1200, 360])
def test_the_pages_fit_their_window(inbox: Page, width: int) -> None:
    inbox.set_viewport_size({"width": width, "height": 800})
    alert = Alert.objects.get(verdict="mixed")
    for name, address in (("inbox", "/alerts/"), ("alert", f"/alerts/{alert.pk}/")):
        inbox.goto(f"{inbox.url.split('/alerts')[0]}{address}")
        assert inbox.evaluate("document.documentElement.scrollWidth") <= width
        if pictures := os.environ.get("ALERT_PICTURES"):
            inbox.screenshot(path=f"{pictures}/{name}-{width}.png", full_page=True)
