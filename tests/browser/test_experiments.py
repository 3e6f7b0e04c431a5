"""Reports in the browser: every seed in two presses from the front page, every width and theme."""

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.archive.test_seed_reports import DIRECTORIES, SEEDS, experiment
from tests.browser.steps import beyond, fits, sign_in
from tests.experiments.steps import imported, of_directory, readme, store
from webapp.experiments.models import Experiment
from webapp.labs import services as labs

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.archive
@pytest.mark.skipif(not SEEDS.exists(), reason="the lab archive is not beside the checkout")
def test_every_seed_is_two_presses_from_the_front_page(page: Page, live_server: LiveServer) -> None:
    token = labs.issue_token(agent=labs.create_agent(name="control", lab_name="netlab")).text
    agent = Client(headers={"Authorization": f"Bearer {token}"})
    numbers = {seed: experiment(agent, seed) for seed in DIRECTORIES}
    questions = dict(Experiment.objects.values_list("pk", "question"))
    for seed, number in numbers.items():
        page.goto(live_server.url)
        page.get_by_role("link", name="Reports", exact=True).click()
        expect(page).to_have_url(f"{live_server.url}/experiments/")
        if seed == "000":
            fits(page, "experiments", wide=1440)
        page.get_by_role("link", name=questions[number], exact=True).click()
        expect(page).to_have_url(f"{live_server.url}/experiments/{number}/")
        expect(page.locator("pre.ministat").first).to_contain_text("Stddev")
        fits(page, f"report-{seed}", wide=1440)


def test_a_report_fits_every_window_and_its_margin_is_set_in_place(
    page: Page, live_server: LiveServer
) -> None:
    runs = [run for n in range(3) for run in store(f"mode-{n}", hardware=f"h{n}/nic")]
    found = imported(readme(), runs=runs)
    sign_in(page, live_server, make.user("ada", role="triager"))
    page.goto(live_server.url + found.get_absolute_url())
    fits(page, "report-of-three", wide=1440)
    page.get_by_label("Margin").fill("30")
    page.get_by_role("button", name="Set margin").click()
    expect(page.locator("main")).to_contain_text("margin changed by ada: 2 % → 30 %")
    before = page.locator("h1").inner_text()
    page.get_by_label("Baseline").select_option(label="r300001")
    page.get_by_role("button", name="Compare with it").click()
    expect(page.locator("main")).to_contain_text("baseline changed by ada: r300000 → r300001")
    expect(page.locator(".side").first).to_contain_text("r300001")
    expect(page.locator("h1")).not_to_have_text(before)
    assert beyond(page) == []


def test_two_directories_become_one_report_by_a_press(page: Page, live_server: LiveServer) -> None:
    plain = imported(runs=of_directory("X", "tx"), source="bench/nic/tx/X")
    patched = of_directory("X.D58513", "tx", "D58513")
    imported(readme(), runs=patched, source="bench/nic/tx/X.D58513")
    sign_in(page, live_server, make.user("ada", role="triager"))
    page.goto(live_server.url + plain.get_absolute_url())
    page.get_by_role("button", name="Make one report of both").click()
    expect(page.locator("h1")).to_contain_text("r300000~D58513 against r300000")
    page.goto(live_server.url + plain.get_absolute_url())
    page.get_by_role("link", name="one report of both").click()
    expect(page.locator("h1")).to_contain_text("r300000~D58513 against r300000")
