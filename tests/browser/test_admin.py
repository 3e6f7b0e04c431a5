"""The operators' pages in a browser, under the Content-Security-Policy."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.operators import url
from tests.results.steps import measured, mode, upload
from webapp.accounts.models import User
from webapp.labs import services
from webapp.labs.models import Agent, Token
from webapp.results.models import Hardware, Mode, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def signed_in(live_server: LiveServer, page: Page) -> Page:
    User.objects.create_superuser("ada", password="a long password")
    page.goto(f"{live_server.url}/admin/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Operators")).to_be_visible()
    return page


def choose(page: Page, action: str, rows: int) -> None:
    for row in range(rows):
        page.locator("input.action-select").nth(row).check()
    expect(page.locator(".action-counter")).to_contain_text(f"{rows} of")
    page.get_by_label("Action:").select_option(label=action)
    page.get_by_role("button", name="Go").click()


@pytest.mark.usefixtures("trouble")
def test_an_operator_merges_modes_withdraws_a_run_and_issues_a_token(
    live_server: LiveServer, signed_in: Page
) -> None:
    page = signed_in
    upload(*(measured("r10", mode=mode(name)) for name in ("stateful", "statefull")))
    page.goto(live_server.url + url(Mode))
    choose(page, "Merge into another", 2)
    page.get_by_label("The one that stays").select_option(label="stateful")
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged into stateful: 1")).to_be_visible()
    page.goto(live_server.url + url(Run))
    choose(page, "Withdraw from the statistics", 1)
    page.get_by_label("Reason").fill("wrong kernel")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Withdrawn: 1")).to_be_visible()
    page.goto(live_server.url + url(Agent))
    choose(page, "Issue a token", 1)
    page.get_by_role("button", name="Issue a token").click()
    expect(page.locator("pre code")).to_have_text(re.compile("^dl_"))


CUT = """(chosen) => [...document.querySelectorAll(chosen)]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)"""


@pytest.mark.usefixtures("trouble")
@pytest.mark.parametrize("width", [390, 1440])
def test_tokens_are_seen_whole(live_server: LiveServer, signed_in: Page, width: int) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 900})
    agent = services.create_agent(name="a-name-of-some-length", lab_name="the lab at the coast")
    for days in (None, 3, 80):
        services.issue_token(agent=agent, days=days)
    page.goto(live_server.url + url(Token))
    expect(page.get_by_text("expires in 2 d")).to_be_visible()
    assert page.evaluate(CUT, ".results") == []
    page.goto(live_server.url + url(Agent))
    choose(page, "Issue a token", 1)
    page.get_by_role("button", name="Issue a token").click()
    expect(page.locator("pre code")).to_have_text(re.compile("^dl_"))
    assert page.evaluate(CUT, "pre") == []


@pytest.mark.usefixtures("trouble")
def test_the_lab_of_hardware_is_found_by_typing(live_server: LiveServer, signed_in: Page) -> None:
    page = signed_in
    upload(measured("r10"))
    upload(measured("r10", hardware="other"), lab="elsewhere")
    row = Hardware.objects.get(name="bench/nic")
    page.goto(live_server.url + url(Hardware, "change", row.pk))
    page.locator(".select2-selection").click()
    page.locator(".select2-search__field").fill("elsew")
    page.get_by_role("option", name="elsewhere").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    row.refresh_from_db()
    assert row.lab.name == "elsewhere"


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
@pytest.mark.usefixtures("trouble")
def test_the_admin_has_the_colours_of_the_site(
    signed_in: Page, live_server: LiveServer, scheme: Any
) -> None:
    signed_in.emulate_media(color_scheme=scheme)

    def ground() -> object:
        return signed_in.evaluate("getComputedStyle(document.body).backgroundColor")

    signed_in.goto(f"{live_server.url}/admin/results/hardware/")
    admin = ground()
    signed_in.goto(f"{live_server.url}/alerts/")
    assert admin == ground()
