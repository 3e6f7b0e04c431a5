"""Triage by keyboard in a browser, under the Content-Security-Policy."""

from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.browser.steps import sign_in
from tests.kept import kept
from webapp.accounts.models import User
from webapp.alerts.models import Alert

pytestmark = pytest.mark.browser
PLACES: dict[tuple[str, str], dict[int, float]] = {
    ("Atom/T540", "pf"): {12: 0.88},
    ("Atom/T540", "forwarding"): {12: 1.2},
    ("Xeon/T580", "pf"): {20: 0.9},
}


@kept
def two_alerts() -> User:
    """And who is to look at them."""
    arrive(runs_of(PLACES))
    return make.user("ada", role=User.Role.TRIAGER)


@pytest.fixture
def inbox(live_server: LiveServer, page: Page) -> Page:
    """The inbox with two alerts, signed in."""
    sign_in(page, live_server, two_alerts())
    page.goto(f"{live_server.url}/alerts/")  # waits for its scripts
    expect(page.locator("[data-alert]")).to_have_count(2)
    return page


def headline_of(alert: Alert) -> str:
    """What distinguishes the page of an alert from that of another."""
    return f"at {alert.likeliest}"


def states() -> list[str]:
    """The states of all alerts in the order of the inbox."""
    return list(Alert.objects.order_by("-pk").values_list("state", flat=True))


@pytest.mark.usefixtures("trouble")
def test_an_inbox_is_triaged_without_a_mouse(inbox: Page) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("j")
    inbox.keyboard.press("k")
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast p")).to_be_visible()
    assert states() == ["acknowledged", "new"]
    inbox.get_by_role("button", name="Undo").click()
    expect(inbox.get_by_role("button", name="Undo")).to_have_count(0)
    assert states() == ["new", "new"]
    expect(inbox.locator("[data-alert]").first).to_be_focused()  # the one that was undone
    inbox.keyboard.press("x")
    inbox.keyboard.press("j")
    inbox.keyboard.press("x")
    inbox.keyboard.press("n")
    expect(inbox.get_by_text("as not real")).to_have_count(2)
    assert states() == ["resolved", "resolved"]


def intercept(inbox: Page, handler: Callable[[Route], None]) -> None:
    """Hand every act to `handler`. The page is loaded anew: a page that is open may send its next
    request past an interception that has just begun.
    """
    inbox.route("**/alerts/act/**", handler)
    inbox.reload()  # waits for its scripts


def test_a_key_that_is_held_acts_once_and_what_it_did_can_be_undone(inbox: Page) -> None:
    sent: list[str] = []

    def hold(route: Route) -> None:
        sent.append(route.request.url)
        if len(sent) == 1:
            inbox.keyboard.press("e")
        route.continue_()

    intercept(inbox, hold)
    inbox.keyboard.press("e")
    expect(inbox.locator("#toast p")).to_be_visible()
    expect(inbox.get_by_role("button", name="Undo")).to_be_visible()
    assert len(sent) == 1


@pytest.mark.usefixtures("trouble")
def test_an_act_moves_the_focus_on_and_the_row_shows_its_state(inbox: Page) -> None:
    rows = inbox.locator("[data-alert]")
    inbox.keyboard.press("a")
    expect(rows.nth(1)).to_be_focused()
    expect(rows.nth(0)).to_contain_text("acknowledged")
    inbox.keyboard.press("n")
    expect(rows.nth(1)).to_contain_text("resolved as not real")
    assert states() == ["acknowledged", "resolved"]


def test_what_was_the_habit_after_an_act_hits_no_alert_twice(inbox: Page) -> None:
    """``a``, then ``j`` for the next one, then ``n``: at the last row nothing is left to act on."""
    inbox.keyboard.press("a")
    inbox.keyboard.press("j")
    expect(inbox.locator("#toast p")).to_be_visible()
    inbox.keyboard.press("n")
    expect(inbox.locator("#inbox-end")).to_be_focused()
    for key in ("n", "e", "j", "n"):
        inbox.keyboard.press(key)
    assert states() == ["acknowledged", "resolved"]
    assert Alert.objects.order_by("pk")[0].resolution == "not real"
    inbox.keyboard.press("k")
    expect(inbox.locator("[data-alert]").last).to_be_focused()


def test_a_key_counts_as_soon_as_the_new_list_is_there(inbox: Page) -> None:
    inbox.evaluate(
        """addEventListener("htmx:afterSwap", () => queueMicrotask(() =>
             document.activeElement.dispatchEvent(
               new KeyboardEvent("keydown", { key: "e", bubbles: true }))), { once: true })"""
    )
    inbox.keyboard.press("a")
    expect(inbox.locator("#inbox-end")).to_be_focused()
    assert states() == ["acknowledged", "resolved"]


def test_a_row_that_the_filter_leaves_out_stays_with_its_state_until_the_next_act(
    inbox: Page,
) -> None:
    inbox.goto(f"{inbox.url.partition('/alerts/')[0]}/alerts/?state=new")
    rows = inbox.locator("[data-alert]")
    first, second = (rows.nth(index).get_attribute("data-alert") for index in (0, 1))
    inbox.keyboard.press("a")
    expect(inbox.locator(f"[data-alert='{first}']")).to_contain_text("acknowledged")
    expect(inbox.locator(f"[data-alert='{second}']")).to_be_focused()
    inbox.keyboard.press("e")
    expect(inbox.locator(f"[data-alert='{second}']")).to_contain_text("expected")
    expect(inbox.locator(f"[data-alert='{first}']")).to_have_count(0)
    inbox.reload()
    expect(inbox.locator("[data-alert]")).to_have_count(1)
    expect(inbox.locator("button[data-undo]")).to_be_visible()


def test_after_a_bulk_act_the_focus_is_behind_it_and_one_undo_takes_all_back(inbox: Page) -> None:
    for key in ("x", "j", "x", "e"):
        inbox.keyboard.press(key)
    expect(inbox.locator("#inbox-end")).to_be_focused()
    assert states() == ["resolved", "resolved"]
    inbox.keyboard.press("u")
    expect(inbox.locator("button[data-undo]")).to_have_count(0)
    assert states() == ["new", "new"]


def test_without_htmx_the_page_is_loaded_anew_and_the_focus_goes_on_all_the_same(
    inbox: Page,
) -> None:
    inbox.route("**/htmx*.js", lambda route: route.abort())
    inbox.reload()
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast p")).to_be_visible()
    expect(inbox.locator("[data-alert]").nth(1)).to_be_focused()
    assert states() == ["acknowledged", "new"]


def test_what_was_done_is_announced_in_a_region_that_stays(inbox: Page) -> None:
    inbox.evaluate("window.region = document.querySelector('#toast')")
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast")).to_contain_text("acknowledged")
    assert inbox.evaluate("window.region.isConnected && window.region.ariaLive") == "polite"


def test_a_server_that_does_not_answer_loses_neither_the_row_nor_the_focus(inbox: Page) -> None:
    intercept(inbox, lambda route: route.abort())
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast")).to_contain_text("Not done")
    expect(inbox.locator("[data-alert]").first).to_have_attribute("aria-current", "true")
    expect(inbox.get_by_role("checkbox", checked=True)).to_have_count(0)
    assert states() == ["new", "new"]
    inbox.unroute("**/alerts/act/**")
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast")).to_contain_text("acknowledged")
    assert states() == ["acknowledged", "new"]


def test_a_triager_who_was_signed_out_is_asked_to_sign_in(inbox: Page) -> None:
    inbox.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    inbox.keyboard.press("a")
    inbox.get_by_label("Username").fill("ada")
    inbox.get_by_label("Password").fill("a long password")
    assert states() == ["new", "new"]
    inbox.get_by_role("button", name="Sign in", exact=True).click()
    expect(inbox.locator("[data-alert]")).to_have_count(2)
    assert states() == ["new", "new"]


@pytest.mark.usefixtures("trouble")
def test_the_same_keys_act_on_an_alerts_page(inbox: Page) -> None:
    inbox.keyboard.press("o")
    newest, oldest = Alert.objects.order_by("-pk")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text(headline_of(newest))
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast")).to_contain_text(f"Alert {newest.pk} is acknowledged")
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("m")
    inbox.get_by_label("Reason").first.press_sequentially("nena")
    inbox.locator("h1").click()
    inbox.keyboard.press("u")
    expect(inbox.locator("#toast")).to_contain_text(f"Alert {newest.pk} is new")
    assert states() == ["new", "new"]
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("j")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text(headline_of(oldest))
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("k")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text(headline_of(newest))


@pytest.mark.usefixtures("trouble")
def test_help_and_an_alert_open_by_keyboard(inbox: Page) -> None:
    inbox.keyboard.press("?")
    expect(inbox.get_by_role("dialog")).to_be_visible()
    inbox.keyboard.press("Escape")
    inbox.keyboard.press("Enter")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text(" at r")


@pytest.mark.usefixtures("trouble")
def test_the_last_acts_are_undone_and_an_alert_opened_by_letters(inbox: Page) -> None:
    inbox.keyboard.press("a")
    expect(inbox.locator("#toast p")).to_be_visible()
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("u")
    expect(inbox.get_by_role("button", name="Undo")).to_have_count(0)
    assert states() == ["new", "new"]
    inbox.wait_for_load_state("load")
    inbox.keyboard.press("o")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text(" at r")


def test_letters_typed_into_a_field_do_nothing_else(inbox: Page) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("m")
    inbox.get_by_label("Reason").fill("")
    inbox.get_by_label("Reason").press_sequentially("an ane")
    assert states() == ["new", "new"]
    expect(inbox.get_by_label("Reason")).to_have_value("an ane")


def test_enter_in_a_field_chooses_no_act_by_itself(inbox: Page) -> None:
    inbox.keyboard.press("j")
    inbox.keyboard.press("x")
    inbox.keyboard.press("m")
    inbox.get_by_label("Reason").press("Enter")
    expect(inbox.get_by_text("Choose what to do")).to_be_visible()
    assert states() == ["new", "new"]
