"""`make demo` with a fast clock: an alert, a bisect that moves while one looks, and its mail."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.launcher.running import Launch
from webapp.stats.simulate.bisect_lab import FIRST, GUILTY

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.stack]

GUILTY_REVISION = f"r{FIRST + GUILTY}"
FAST = {
    "DRIFTLINE_DEMO_SPEED": "200",
    "DRIFTLINE_SWEEP_SECONDS": "2",
    "DRIFTLINE_MAIL_SETTLE_SECONDS": "1",
}
PATIENCE = 600_000  # milliseconds, on a busy machine


@pytest.fixture
def demonstration(tmp_path: Path) -> Iterator[Launch]:
    launch = Launch(tmp_path / "state", variables=FAST, options=("--demo",)).with_data()
    try:
        yield launch.start()
    finally:
        launch.discard()


def sign_in(page: Page, url: str) -> None:
    page.goto(f"{url}sign-in/")
    page.get_by_label("Username").fill("demo")
    page.get_by_label("Password").fill("driftline-demo")
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()


def test_two_simulated_agents_find_the_commit_while_one_looks(
    page: Page, demonstration: Launch
) -> None:
    sign_in(page, demonstration.url)
    page.goto(demonstration.url)
    # The overview does not refresh itself, and the scheduler may not have come by yet.
    for _ in range(30):
        if page.get_by_role("link", name="Bisect 1").count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    page.get_by_role("link", name="Bisect 1").click()
    expect(page.locator("#live")).to_contain_text("Simulated Epyc 32Cores")
    page.evaluate("window.notReloaded = true")
    boots = page.locator("#chart .boot")
    expect(boots.first).to_be_visible()
    measured = boots.count()

    expect(boots).not_to_have_count(measured, timeout=PATIENCE)
    assert boots.count() > measured
    assert page.evaluate("window.notReloaded") is True

    expect(page.locator("#live")).to_contain_text("done: one commit", timeout=PATIENCE)
    expect(page.locator("#live")).to_contain_text(f"{GUILTY_REVISION} made the step")

    page.goto(f"{demonstration.url}mail/")
    subject = re.compile(rf"bisect 1: {GUILTY_REVISION} made the step")
    for _ in range(60):
        if page.get_by_role("link", name=subject).count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    page.get_by_role("link", name=subject).click()
    # Boots scatter by chance: two revisions alone need not prove what the whole bisect does.
    expect(page.locator("main")).to_contain_text(
        re.compile(r"(Difference|No difference proven) at 95\.0% confidence")
    )

    page.goto(f"{demonstration.url}commits/simulated-next/{GUILTY_REVISION}/")
    expect(page.locator("main")).to_contain_text("Bisect 1")
    page.goto(f"{demonstration.url}alerts/?tree=simulated-next&state=all")
    expect(page.locator("[data-alert]")).to_have_count(1)
    expect(page.locator("[data-alert]")).to_contain_text(GUILTY_REVISION)
