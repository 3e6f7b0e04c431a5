"""An operator adds a channel, tests it by a press, and reads what became of the test."""

import json
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import fits, sign_in
from tests.outbox.receivers import Receiver, receiving
from webapp.accounts.models import User
from webapp.outbox.models import HookDelivery
from webapp.outbox.services.delivering import send_due_deliveries

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]
KEY = "3ccdd113474722377935511fc85d3dd4"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """In a network that is allowed."""
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1024, 2**16)]
    with receiving() as server:
        yield server


def test_a_channel_is_added_and_tested_and_its_answer_comes_to_the_page(
    page: Page, live_server: LiveServer, receiver: Receiver
) -> None:
    sign_in(page, live_server, make.user("olga", role=User.Role.OPERATOR))
    page.goto(f"{live_server.url}/webhooks/")
    page.get_by_label("Name").fill("perf")
    page.get_by_label("URL").fill(f"mmost://127.0.0.1:{receiver.port}/{KEY}")
    page.get_by_label("May lie in a network").check()
    page.get_by_role("button", name="Add").click()
    page.get_by_role("link", name="perf").first.click()

    page.get_by_role("button", name="Send a test delivery").click()
    expect(page.get_by_role("status")).to_contain_text("is on its way")
    row = page.get_by_role("row").filter(has_text="ping")
    expect(row).to_contain_text("waiting")
    send_due_deliveries()
    expect(row).to_contain_text("sent")
    expect(row).to_contain_text("200")
    assert "A test by olga" in json.loads(receiver.requests[0][1])["text"]

    receiver.status = 500
    page.get_by_role("button", name="Send a test delivery").click()
    send_due_deliveries()
    failed = page.get_by_role("row").filter(has_text="It answered 500.")
    expect(failed).to_be_visible()
    expect(page.locator("#facts")).to_contain_text("failing since")
    assert HookDelivery.objects.count() == 2
    fits(page, "channel")

    page.get_by_role("button", name="Disable").click()
    expect(page.locator("#facts")).to_contain_text("disabled")
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("button", name="Send a test delivery")).to_be_visible()
