"""The pages of a machine and of a commit: every width and theme, keys, filters, what is folded."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import beyond_any, sign_in
from tests.kept import kept
from webapp.notifications.models import Subscription
from webapp.results.models import Revision

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]
MACHINE = "/hardware/Atom_C2758_with_a_rather_long_name/T540-CR/"


@pytest.fixture
@kept
def along() -> list[Revision]:
    """Three modes with a history and a change, thirteen without, a sweep; a long mode name."""
    revisions = make.revisions(30)
    machine = make.hardware(MACHINE.removeprefix("/hardware/").strip("/"))
    for number, name in enumerate(("pf-statefull@inet4+VIMAGE", "ipfw", "forwarding")):
        series = make.series(on=machine, in_mode=name)
        make.history(series, revisions, [1e6] * 20 + [1e6 * (0.9 - number / 10)] * 10)
        make.finding(series, revisions[19], revisions[20], level_before=1e6, level=9e5)
        make.analysis(series, count=30, segments=[make.segment(revisions[0], revisions[19], 1e6)])
        make.run(revisions[20], on=machine, in_mode=name)
    for number in range(13):
        make.point(make.series(on=machine, in_mode=f"few-{number}"), revisions[20])
    for value in (1, 2, 4):
        mode = f"swept+{'a.rather.long.knob' * 2}={value}"
        make.point(make.series(on=machine, in_mode=mode), revisions[20])
    return revisions


def test_long_names_fit_every_window_with_all_unfolded(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    commit = along[20].get_absolute_url()
    for address in (MACHINE, commit, along[3].get_absolute_url(), "/commits/freebsd-head/?all=1"):
        page.goto(live_server.url + address)
        page.set_viewport_size({"width": 390, "height": 900})
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
        assert beyond_any(page) == [], address


def test_modes_are_filtered_while_typing_and_the_address_follows(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(live_server.url + MACHINE)
    lanes, rows = page.locator(".lane[data-mode]"), page.locator(".ones > a")
    expect(lanes).to_have_count(3)
    expect(rows).to_have_count(13)
    page.get_by_role("searchbox", name="Modes").fill("INET4 pf")
    expect(page.locator(".lane[data-mode]:visible")).to_have_count(1)
    expect(page.locator(".ones > a:visible")).to_have_count(0)
    expect(page.locator("#found")).to_have_text("1 shown")
    page.reload()
    expect(lanes).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    expect(lanes).to_have_count(3)


def test_one_press_subscribes_one_takes_it_back_and_a_key_opens_the_trends(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    sign_in(page, live_server, make.user("tess", email="tess@example.org"))
    page.goto(live_server.url + MACHINE)
    page.get_by_role("button", name="Mail me its changes").click()
    expect(page.get_by_role("status")).to_contain_text("You are mailed of every change")
    page.reload()
    page.get_by_role("button", name="Mailed to you: stop").click()
    expect(page.get_by_role("status")).to_contain_text("No more mails about this machine")
    assert not Subscription.objects.filter(enabled=True).exists()
    page.get_by_role("button", name="Mail me its changes").click()
    expect(page.get_by_role("button", name="Mailed to you: stop")).to_be_visible()
    assert Subscription.objects.get().enabled
    page.keyboard.press("t")
    page.wait_for_url("**/trends/?**")


def test_keys_lead_to_neighbours_and_what_is_folded_opens(
    page: Page, live_server: LiveServer, along: list[Revision]
) -> None:
    page.goto(live_server.url + along[20].get_absolute_url())
    expect(page.locator(".steps .here")).to_be_in_viewport()
    why = page.locator("details", has_text="Why nothing is reported for 16")
    why.locator("summary").click()
    expect(why).to_contain_text("Not analysed yet.")
    page.keyboard.press("[")
    page.wait_for_url(f"**{along[19].get_absolute_url()}")
    page.keyboard.press("]")
    page.wait_for_url(f"**{along[20].get_absolute_url()}")
    page.keyboard.press("c")
    page.wait_for_url("**/compare/?**")
