"""Release against release in a browser: rows that open, in every width and theme."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import beyond_any

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("trouble"),
]


@pytest.fixture
def address() -> str:
    """Sixty revisions of two machines; from the 31st on pf is slower on one, faster on another."""
    found = make.revisions(60)
    for machine, mode, after in (
        ("Atom_C2558_4Cores/Intel_i350", "pf-statefull", 0.9),
        ("Xeon_E5-2650_8Cores/Chelsio_T540-CR", "pf-statefull+VIMAGE", 1.04),
        ("Xeon_E5-2650_8Cores/Chelsio_T540-CR", "forwarding", 1.0),
    ):
        levels = [
            1e6 * (1 + 0.004 * (-1) ** (i + i // 7)) * (after if i >= 30 else 1.0)
            for i in range(len(found))
        ]
        make.history(make.series(on=make.hardware(machine), in_mode=mode), found, levels)
    a, b = (f"freebsd-head:{found[i]}..{found[j]}" for i, j in ((0, 29), (30, 59)))
    return f"/compare/?a={a}&b={b}"


def test_rows_are_walked_by_keys_and_print_ministat_as_asked(
    live_server: LiveServer, page: Page, address: str
) -> None:
    page.goto(live_server.url + address)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator(".compared").nth(1)
    expect(second.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(second.locator("pre.ministat")).to_contain_text("95.0% confidence")
    second.locator("select[name=confidence]").select_option("80")
    expect(second.locator("pre.ministat")).to_contain_text("80.0% confidence")
    before = page.locator("h1").inner_text()
    page.locator(".unproven > summary").click()
    assert beyond_any(page) == []
    page.locator("body").press("w")
    page.wait_for_url("**a=freebsd-head:r300090**")
    assert page.locator("h1").inner_text() != before
