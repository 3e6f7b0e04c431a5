"""The compare page in a browser: nothing overflows, rows open in place, keys work."""

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import beyond_any, forbid_scripts
from tests.kept import kept

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADDRESS = "/compare/?a=freebsd-head:r317849&b=freebsd-head:r317849::%2BVIMAGE"
CHANGES = {
    ("Atom_C2558_4Cores/Intel_i350", "pf-statefull"): (0.962, 0.002),
    ("Atom_C2758_8Cores/Chelsio_T540-CR", "pf-statefull"): (0.905, 0.02),
    ("AMD_GX-412TC_4Cores/Intel_i210AT", "pf-statefull"): (0.976, 0.003),
    ("Xeon_E5-2650_8Cores/Chelsio_T540-CR", "pf-statefull"): (0.96, 0.07),
    ("Xeon_L5630_4Cores/Intel_82599EB", "pf-statefull"): (0.992, 0.03),
    ("Atom_C2558_4Cores/Intel_i350", "ipfw-statefull"): (0.981, 0.008),
    ("Atom_C2758_8Cores/Chelsio_T540-CR", "ipfw-statefull"): (0.989, 0.04),
    ("AMD_GX-412TC_4Cores/Intel_i210AT", "ipfw-statefull"): (1.045, 0.004),
    ("Xeon_E5-2650_8Cores/Chelsio_T540-CR", "ipfw-statefull"): (1.046, 0.06),
    ("Xeon_L5630_4Cores/Intel_82599EB", "ipfw-statefull"): (0.955, 0.006),
    ("Atom_C2558_4Cores/Intel_i350", "forwarding"): (0.997, 0.008),
    ("AMD_GX-412TC_4Cores/Intel_i210AT", "forwarding"): (1.014, 0.003),
    ("Xeon_E5-2650_8Cores/Chelsio_T540-CR", "forwarding"): (0.939, 0.12),
}
OFFSETS = (0.0, -1.0, 1.0, -0.4, 0.5)


@pytest.fixture
@kept
def vimage() -> None:
    """Five machines, three modes, as published; the last of them shows nothing of its builds."""
    at = make.revision("r317849", subject="Enable VIMAGE in GENERIC <on> amd64 & i386")
    for (machine, mode), (factor, scatter) in CHANGES.items():
        on = make.hardware(machine)
        for name, level in ((mode, 1e6), (f"{mode}+VIMAGE", 1e6 * factor)):
            samples = [level * (1 + scatter * offset) for offset in OFFSETS]
            make.run(at, on=on, in_mode=name, samples=samples)
            series = make.series(on=on, in_mode=name)
            make.point(series, at, samples)
            if not machine.startswith("Xeon_L"):
                make.known_builds(series)


@pytest.fixture
def errors(page: Page) -> list[str]:
    """What the console complained of, and what failed on the page."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            found.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.mark.usefixtures("vimage")
def test_rows_are_walked_and_opened_by_keys(
    live_server: LiveServer, page: Page, errors: list[str]
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(live_server.url + ADDRESS)
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator(".compared").nth(1)
    expect(second.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(second.locator("pre.ministat")).to_contain_text("Student's t")
    second.locator("select[name=confidence]").select_option("80")
    expect(second.locator("pre.ministat")).to_contain_text("80.0% confidence")
    second.locator("select[name=flavour]").select_option("2015")
    expect(second.locator("select[name=flavour]")).to_have_value("2015")
    expect(second.locator("select[name=confidence]")).to_have_value("80")
    page.locator(".unproven > summary").last.click()
    assert beyond_any(page) == []
    page.locator("body").press("w")
    page.wait_for_url("**a=freebsd-head:r317849::%2BVIMAGE&b=freebsd-head:r317849")
    assert errors == []


@pytest.mark.usefixtures("vimage")
def test_a_comparison_is_picked_with_completion(
    live_server: LiveServer, page: Page, errors: list[str]
) -> None:
    page.goto(f"{live_server.url}/compare/")
    page.get_by_role("heading", name="Set by set").click()
    page.locator("#mode-A").fill("ipfw")
    names = page.locator("#names-mode option")
    expect(names).to_have_count(2)
    expect(names.first).to_have_attribute("value", "ipfw-statefull")
    page.locator("#tree-A").fill("freebsd-head")
    page.locator("#revision-A").fill("r317849")
    page.locator("#mode-A").fill("ipfw-statefull")
    page.locator("#option-B").fill("VIMAGE")
    page.locator("#option-B").press("Enter")
    expect(page.locator("h1")).to_contain_text("VIMAGE")
    expect(page.locator(".compared")).to_have_count(5)
    assert errors == []


PARTS = {
    "Tree": "freebsd-head",
    "Revision, release or range": "r317849",
    "Variant": "",
    "Hardware": "Atom_C2558_4Cores/Intel_i350",
    "Mode": "pf-statefull",
    "With option": "",
    "Metric": "pps",
    "Session": "morning",
}
"""What each of the eight fields of a set takes; of the second set the session is another."""


def test_each_field_of_both_sets_is_asked_for_and_stands_there_again(
    live_server: LiveServer, page: Page
) -> None:
    at, on = make.revision("r317849"), make.hardware(PARTS["Hardware"])
    for session, level in (("morning", 100.0), ("evening", 90.0)):
        make.run(
            at,
            on=on,
            in_mode=PARTS["Mode"],
            session=session,
            samples=[level + offset for offset in OFFSETS],
        )
    page.goto(f"{live_server.url}/compare/")
    expect(page.get_by_label("Session")).to_have_count(2)
    expect(page.get_by_label("Session").first).to_be_hidden()
    page.get_by_role("heading", name="Set by set").click()
    sets = page.locator("fieldset.set")
    for letter in (0, 1):
        for label, value in PARTS.items():
            sets.nth(letter).get_by_label(label, exact=True).fill(value)
    sets.nth(1).get_by_label("Session").fill("evening")
    page.locator("details.section").get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_contain_text("slower")
    expect(page.locator(".compared")).to_have_count(1)
    page.get_by_role("link", name="Change").click()
    for label, value in PARTS.items():
        expect(sets.nth(0).get_by_label(label, exact=True)).to_have_value(value)
    expect(sets.nth(1).get_by_label("Session")).to_have_value("evening")
    for label in ("Variant", "Hardware", "Mode", "Metric", "Session"):
        field = sets.nth(1).get_by_label(label, exact=True)
        field.fill("nothing-of-the-kind")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("nothing-of-the-kind")
        sets.nth(1).get_by_label(label, exact=True).fill(PARTS[label])


@pytest.mark.usefixtures("vimage")
def test_without_scripts_a_row_leads_to_its_evidence(live_server: LiveServer, page: Page) -> None:
    forbid_scripts(page)
    page.goto(live_server.url + ADDRESS)
    page.locator(".compared > summary").first.click()
    page.get_by_text("This row alone").first.click()
    expect(page.locator("pre.ministat")).to_contain_text("+VIMAGE")
    page.locator("select[name=flavour]").select_option("2015")
    page.get_by_role("button", name="Print").click()
    expect(page.locator("select[name=flavour]")).to_have_value("2015")
