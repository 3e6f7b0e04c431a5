"""The keys of the whole site in a browser."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.browser.keys import table
from tests.browser.steps import sign_in
from tests.kept import kept
from webapp.accounts.models import User
from webapp.alerts.models import Alert

pytestmark = pytest.mark.browser
MODES = ("pf", "ipfw", "forwarding", "routing", "natting")


@kept
def five_alerts() -> User:
    """And who is to look at them."""
    arrive(runs_of({("Atom/T540", mode): {8 + 3 * i: 0.8} for i, mode in enumerate(MODES)}))
    assert Alert.objects.open().count() == 5
    return make.user("ada", role=User.Role.TRIAGER)


@pytest.fixture
def morning(live_server: LiveServer, page: Page) -> Page:
    """The inbox with five new alerts, signed in."""
    sign_in(page, live_server, five_alerts())
    page.goto(f"{live_server.url}/alerts/")
    expect(page.locator("[data-alert]")).to_have_count(5)
    return page


def press(page: Page, *keys: str) -> None:
    """One after the other, each when the page has taken the one before."""
    for key in keys:
        page.keyboard.press(key)
        expect(page.locator(".htmx-request")).to_have_count(0)


def states() -> list[tuple[str, str]]:
    """State and resolution of all alerts in the order of the inbox."""
    return list(Alert.objects.order_by("-pk").values_list("state", "resolution"))


def test_five_alerts_come_to_prescribed_states_by_keys_alone(morning: Page) -> None:
    """Seven presses: one for each, and two for a slip that is undone and done anew."""
    press(morning, "a", "n", "a", "u", "e", "z", "n")
    assert states() == [
        ("acknowledged", ""),
        ("resolved", "not real"),
        ("resolved", "expected"),
        ("snoozed", ""),
        ("resolved", "not real"),
    ]
    expect(morning.locator("#inbox-end")).to_be_focused()


def test_the_evidence_beside_the_rows_follows_the_chosen_one(morning: Page) -> None:
    morning.set_viewport_size({"width": 1440, "height": 900})
    numbers = list(Alert.objects.order_by("-pk").values_list("pk", flat=True))
    panel = morning.locator("#chosen [data-chosen]")
    expect(panel).to_have_attribute("data-chosen", str(numbers[0]))
    press(morning, "j", "j")
    expect(panel).to_have_attribute("data-chosen", str(numbers[2]))
    press(morning, "a")
    expect(panel).to_have_attribute("data-chosen", str(numbers[3]))
    morning.locator(".chosen-acts").get_by_role("button", name="Not real").click()
    expect(panel).to_have_attribute("data-chosen", str(numbers[4]))
    assert [state for state, _ in states()] == ["new", "new", "acknowledged", "resolved", "new"]


def test_help_lists_every_key_and_escape_closes_it(morning: Page) -> None:
    morning.keyboard.press("?")
    dialog = morning.get_by_role("dialog", name="All keys")
    expect(dialog).to_be_visible()
    expect(dialog.locator("dt")).to_have_count(len(table()))
    morning.keyboard.press("a")
    morning.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert {state for state, _ in states()} == {"new"}


def test_g_and_a_letter_go_to_a_page_and_escape_goes_back_to_the_list(morning: Page) -> None:
    for letter, path in (("h", "/hardware/"), ("o", "/"), ("d", "/compare/"), ("a", "/alerts/")):
        morning.keyboard.press("g")
        morning.keyboard.press(letter)
        morning.wait_for_url(lambda url, path=path: urlsplit(url).path == path)
        morning.wait_for_load_state("load")
    morning.keyboard.press("Enter")
    morning.wait_for_url("**/alerts/*/")
    morning.wait_for_load_state("load")
    morning.keyboard.press("Escape")
    morning.wait_for_url("**/alerts/")
    morning.wait_for_load_state("load")
    # The last of them: a letter that is sent once `g` was heard comes too late while the script of
    # a chart is read.
    morning.keyboard.press("g")
    morning.keyboard.press("t")
    morning.wait_for_url(lambda url: urlsplit(url).path == "/trends/")


def test_rows_of_other_pages_are_walked_with_the_same_keys(morning: Page) -> None:
    morning.goto(morning.url.replace("/alerts/", "/hardware/"))
    morning.keyboard.press("j")
    morning.keyboard.press("Enter")
    morning.wait_for_url("**/hardware/Atom/T540/")


def test_a_phone_is_shown_no_keys(morning: Page) -> None:
    expect(morning.locator("kbd").filter(visible=True)).not_to_have_count(0)
    morning.set_viewport_size({"width": 390, "height": 900})
    expect(morning.locator("kbd").filter(visible=True)).to_have_count(0)


def test_switched_off_letters_do_nothing(morning: Page) -> None:
    User.objects.update(single_keys=False)
    morning.reload()
    for key in ("a", "j", "g", "h", "?"):
        morning.keyboard.press(key)
    expect(morning.get_by_role("dialog")).to_have_count(0)
    assert {state for state, _ in states()} == {"new"}
    assert morning.url.endswith("/alerts/")
