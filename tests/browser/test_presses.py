"""How many presses what people want every morning takes, from the front page, signed in.

A click is one and a key is one; typing into a field that has the focus is free. The inbox by keys
alone is in `test_keys`.
"""

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import sign_in
from tests.browser.test_journey import along, drawn, middle_of_point
from tests.pages.test_compare_option import vimage
from tests.pages.test_overview import loss
from webapp.accounts.models import User
from webapp.notifications.models import Subscription
from webapp.results.models import Revision, Run

__all__ = ["along", "vimage"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]
MACHINE = "Atom_C2758/T540-CR"


class Hand:
    """What a person does to a page, counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.presses = page, 0

    def click(self, target: Locator) -> None:
        self.presses += 1
        target.click()

    def click_at(self, place: tuple[float, float]) -> None:
        self.presses += 1
        self.page.mouse.click(*place)

    def key(self, key: str) -> None:
        self.presses += 1
        self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)


@pytest.fixture
def hand(page: Page, live_server: LiveServer) -> Hand:
    """Of a triager who is signed in; the test opens the front page when its data is there."""
    sign_in(page, live_server, make.user("tess", email="tess@example.org", role=User.Role.TRIAGER))
    return Hand(page)


def front_page(hand: Hand, live_server: LiveServer) -> None:
    hand.page.goto(live_server.url)


def test_the_worst_change_of_a_machine_takes_two(hand: Hand, live_server: LiveServer) -> None:
    loss(-11.4, mode="pf", on=make.hardware(MACHINE))
    loss(-30.0, mode="ipfw", on=make.hardware("Xeon/ConnectX-4"))
    front_page(hand, live_server)
    hand.key("/")
    hand.type("C2758 T540")
    hand.key("Enter")
    expect(hand.page.locator("h1")).to_contain_text("Atom C2758")
    worst = hand.page.locator(".alert-row").first
    expect(worst).to_contain_text("−11.4 %")
    expect(worst).to_contain_text("r300015")
    expect(hand.page.locator("main")).not_to_contain_text("−30")
    assert hand.presses <= 2


@pytest.mark.usefixtures("vimage")
def test_with_and_without_an_option_for_three_modes_takes_three(
    hand: Hand, live_server: LiveServer
) -> None:
    front_page(hand, live_server)
    hand.click(hand.page.get_by_role("navigation").get_by_role("link", name="Compare"))
    hand.click(hand.page.get_by_role("link", name="with and without VIMAGE"))
    expect(hand.page.locator("h1")).to_contain_text("VIMAGE")
    for mode in ("pf-statefull", "ipfw-statefull", "forwarding"):
        expect(hand.page.locator("main")).to_contain_text(mode)
    assert hand.presses <= 3


def test_a_revision_takes_its_number(hand: Hand, live_server: LiveServer) -> None:
    loss()
    make.revision("r303643")
    front_page(hand, live_server)
    hand.key("/")
    hand.type("303643")
    hand.key("Enter")
    expect(hand.page).to_have_url(re.compile("/commits/freebsd-head/r303643/$"))
    assert hand.presses <= 2


def test_mail_about_a_machine_takes_one_on_its_page(hand: Hand, live_server: LiveServer) -> None:
    loss(on=make.hardware(MACHINE))
    hand.page.goto(f"{live_server.url}/hardware/{MACHINE}/")
    hand.click(hand.page.get_by_role("button", name="Mail me its changes"))
    expect(hand.page.get_by_role("status")).to_be_visible()
    assert Subscription.objects.get().hardware.name == MACHINE
    assert hand.presses == 1


def test_ministat_of_the_largest_loss_takes_two(hand: Hand, live_server: LiveServer) -> None:
    """From the card on the front page over the alert: every boot of both sides."""
    alert = loss(on=make.hardware(MACHINE))
    for at, level in ((alert.after, 100.0), (alert.revision, 88.6)):
        make.run(at, in_mode="pf", on=make.hardware(MACHINE), samples=[level, level + 1, level - 1])
    front_page(hand, live_server)
    hand.click(hand.page.locator("[data-item]").first)
    hand.page.wait_for_url("**/alerts/*/")
    hand.click(hand.page.locator("summary", has_text="ministat").first)
    expect(hand.page.locator("pre.ministat").first).to_contain_text("at 95.0% confidence")
    assert hand.presses <= 2


@pytest.fixture
def trend(along: list[Revision], hand: Hand, live_server: LiveServer) -> Hand:
    """At the chart of a mode that lost a tenth at the eleventh revision."""
    hand.page.goto(f"{live_server.url}/trends/?mode=pf")
    drawn(hand.page)
    return hand


def test_ministat_of_a_point_takes_three_from_its_trend(trend: Hand, along: list[Revision]) -> None:
    trend.click_at(middle_of_point(trend.page, 10))
    trend.click(trend.page.get_by_role("link", name=f"Compare with {along[9]}"))
    trend.click(trend.page.locator(".compared > summary").first)
    expect(trend.page.locator("pre.ministat").first).to_contain_text("at 95.0% confidence")
    assert trend.presses <= 3


def test_facts_of_the_run_of_a_point_take_two(trend: Hand, along: list[Revision]) -> None:
    Run.objects.filter(revision=along[10]).update(facts={"kernel": "GENERIC-NODEBUG"})
    trend.click_at(middle_of_point(trend.page, 10))
    trend.click(trend.page.get_by_role("link", name="Its runs"))
    expect(trend.page.get_by_text("GENERIC-NODEBUG")).to_be_visible()
    assert trend.presses <= 2


def test_the_link_of_a_view_is_the_address_at_once(trend: Hand, along: list[Revision]) -> None:
    trend.click_at(middle_of_point(trend.page, 10))
    trend.page.wait_for_function("name => location.search.includes(name)", arg=along[10].name)
    address = trend.page.url
    trend.page.goto("about:blank")
    trend.page.goto(address)
    expect(trend.page.locator("#card")).to_contain_text(along[10].name)
    assert trend.presses == 1
