"""More runs of a point and a gap filled, from the card of the trend chart; a bisect started."""

import os
import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.bisects import lab
from tests.browser.steps import fits, sign_in
from tests.browser.test_journey import drawn, middle_of_point
from tests.kept import kept
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.bisects.models import Bisect
from webapp.jobs.models import Job
from webapp.results.models import Revision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MEASURED = (0, 3, 8, 9)


@pytest.fixture
@kept
def along() -> list[Revision]:
    """Ten revisions; four of them are measured, so that two gaps lie beside the second."""
    revisions = make.revisions(10)
    series = make.series()
    make.history(series, [revisions[place] for place in MEASURED], [500.0, 500.0, 450.0, 450.0])
    make.analysis(series, noise=make.noise(run_pct=3.0, boot_pct=4.0, build_pct=2.0))
    return revisions


@pytest.fixture
def chart(page: Page, live_server: LiveServer, along: list[Revision]) -> Page:
    """The chart, of one who may ask."""
    sign_in(page, live_server, make.user("tess", role=User.Role.TRIAGER))
    page.goto(f"{live_server.url}/trends/?mode=forwarding")
    drawn(page)
    return page


def lock(page: Page, index: int) -> None:
    at = middle_of_point(page, index)
    page.mouse.move(*at)
    page.mouse.click(*at)
    expect(page.locator("#card")).to_be_visible()


@pytest.mark.usefixtures("trouble")
def test_more_runs_are_asked_for_and_a_gap_filled_from_the_card(
    chart: Page, along: list[Revision]
) -> None:
    lock(chart, 1)
    card = chart.locator("#card")
    expect(card.get_by_role("button", name="Fill this gap")).to_have_count(2)
    expect(card).to_contain_text(f"{along[5].name} is the middle one")
    boots = card.get_by_label(f"Boots of {along[3].name}")
    expect(boots).not_to_have_value("")
    boots.fill("7")
    chart.mouse.move(*middle_of_point(chart, 3))  # what was typed outlives a look elsewhere
    expect(chart.locator("#tip")).to_contain_text(along[9].name)
    chart.mouse.move(2, 2)
    chart.keyboard.down("Shift")
    chart.mouse.click(*middle_of_point(chart, 0))
    chart.keyboard.up("Shift")
    expect(chart.locator("#side-a")).to_have_text(along[0].name)
    expect(boots).to_have_value("7")
    card.get_by_role("button", name="More runs of this point").click()

    status = chart.get_by_role("status")
    expect(status).to_contain_text(f"7 boots of {along[3].name}")
    drawn(chart)
    expect(card).to_contain_text(f"{along[3].name}")  # still B
    expect(card).to_contain_text("already asked, job")
    expect(card.get_by_role("button", name="More runs of this point")).to_have_count(0)
    card.get_by_role("button", name="Fill this gap").last.click()
    expect(status).to_contain_text(f"of {along[5].name} on")
    jobs = Job.objects.order_by("pk").values_list("revision__name", "purpose")
    assert list(jobs) == [(along[3].name, "more runs"), (along[5].name, "fill gap")]
    status.get_by_role("link").click()
    expect(chart.get_by_role("heading", level=1)).to_contain_text(along[5].name)


@pytest.mark.usefixtures("trouble", "along")
def test_the_card_of_others_has_no_forms(page: Page, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/trends/?mode=forwarding")
    drawn(page)
    lock(page, 1)
    expect(page.locator("#card").get_by_role("link", name="Open commit")).to_be_visible()
    expect(page.locator("#card form, #card .asks")).to_have_count(0)


@pytest.mark.usefixtures("trouble", "along")
@pytest.mark.parametrize(
    "windows",
    [
        [(360, "dark")],
        pytest.param([(1280, "light"), (1280, "dark"), (360, "light")], marks=pytest.mark.long),
    ],
    ids=["a dark phone", "others"],
)
def test_the_card_with_its_forms_fits_the_window(
    chart: Page, windows: list[tuple[int, str]]
) -> None:
    address = chart.url  # without B
    for width, scheme in windows:
        chart.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        chart.set_viewport_size({"width": width, "height": 900})
        chart.goto(address)
        drawn(chart)
        lock(chart, 1)
        card = chart.locator("#card")
        expect(card.get_by_role("button", name="Fill this gap")).to_have_count(2)
        assert chart.evaluate("document.documentElement.scrollWidth") <= width, (width, scheme)
        box = card.bounding_box()
        assert box is not None
        assert box["x"] >= 0, (width, scheme)
        assert box["x"] + box["width"] <= width, (width, scheme)
        if pictures := os.environ.get("CARD_PICTURES"):
            chart.screenshot(path=f"{pictures}/card-{width}-{scheme}.png", full_page=True)


@pytest.mark.usefixtures("trouble")
def test_a_card_is_asked_from_with_the_keyboard_alone(chart: Page, along: list[Revision]) -> None:
    chart.locator("#chart").focus()
    chart.keyboard.press("ArrowRight")
    chart.keyboard.press("Enter")
    boots = chart.locator("#card").get_by_label(f"Boots of {along[9].name}")
    expect(boots).to_be_visible()
    boots.focus()
    chart.keyboard.press("Enter")
    expect(chart.get_by_role("status")).to_contain_text(f"of {along[9].name} on")
    assert Job.objects.get().revision == along[9]


@pytest.fixture
def lost(page: Page, live_server: LiveServer) -> Page:
    """A series that lost 5 % somewhere in sixteen commits, seen by one who may start a bisect."""
    truth = lab.Truth(step_pct=-5.0)
    lab.measured_before(truth)
    analyse()
    sign_in(page, live_server, make.user("tess", role=User.Role.TRIAGER))
    return page


@pytest.mark.usefixtures("trouble")
def test_a_bisect_is_started_from_an_alert(lost: Page, live_server: LiveServer) -> None:
    alert = Alert.objects.get()
    lost.goto(f"{live_server.url}{alert.get_absolute_url()}")
    lost.locator("#next").get_by_role("link", name="Bisect").first.click()
    expect(lost.get_by_role("heading", name="Forecast")).to_be_visible()
    lost.get_by_role("button", name="Start the bisect").click()
    expect(lost).to_have_url(re.compile(r"/bisects/\d+/$"))
    expect(lost.locator("#live")).to_contain_text("16 commits")
    bisect = Bisect.objects.get()
    assert bisect.alert == alert
    assert (bisect.good.name, bisect.bad.name) == ("r1000", "r1016")

    lost.go_back()
    lost.get_by_role("button", name="Start the bisect").click()
    expect(lost.get_by_text(f"Bisect {bisect.pk} searches the same already")).to_be_visible()
    assert Bisect.objects.count() == 1


@pytest.mark.usefixtures("trouble")
def test_a_bisect_is_started_by_hand_and_a_wrong_sign_turned(
    lost: Page, live_server: LiveServer
) -> None:
    lost.goto(f"{live_server.url}/bisects/new/")
    fields = {"Tree": "freebsd-head", "Hardware": lab.HARDWARE, "Mode": lab.MODE, "Metric": "pps"}
    for label, text in (fields | {"Good": "r1000", "Bad": "r1016", "Effect, %": "5"}).items():
        lost.get_by_label(label, exact=True).fill(text)
    lost.get_by_label("Boots, at most").fill("31")
    lost.get_by_role("button", name="Show the forecast").click()
    expect(lost.get_by_role("alert")).to_contain_text("The series lost; you asked for a gain.")
    fits(lost, "bisect-new")
    lost.get_by_role("link", name="Search −5 % instead").click()
    expect(lost.get_by_role("alert")).to_have_count(0)
    expect(lost.get_by_label("Effect, %")).to_have_value("-5")
    lost.get_by_role("button", name="Start the bisect").click()
    expect(lost).to_have_url(re.compile(r"/bisects/\d+/$"))
    bisect = Bisect.objects.get()
    assert (bisect.effect_pct, bisect.most_boots, bisect.alert) == (-5.0, 31, None)
