"""People put an archive right: an alias, marked samples, a rule about labels; and take it back."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests import make
from tests.browser.steps import fits, sign_in
from tests.operators import url
from tests.results.steps import analyse, measured, mode, upload
from webapp.accounts.models import User
from webapp.results.models import LabelRule, Point, Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def modes() -> set[str]:
    """What stored runs are filed under, with their variants."""
    runs = Run.objects.select_related("mode", "variant")
    return {f"{run.mode.name}{f'~{run.variant.name}' if run.variant else ''}" for run in runs}


@pytest.mark.usefixtures("trouble")
def test_an_operator_looks_what_an_alias_moves_makes_it_and_takes_it_back(
    page: Page, live_server: LiveServer
) -> None:
    upload(
        measured("r300000", mode=mode("fastforwarding")),
        measured("r300001", mode=mode("fastforwarding")),
        measured("r300001", 1.9, mode=mode("forwarding")),
    )
    analyse()
    sign_in(page, live_server, make.user("olga", role=User.Role.OPERATOR))
    page.goto(f"{live_server.url}/aliases/")
    page.get_by_role("link", name="New alias").click()
    page.get_by_label("The name").fill("fastforwarding")
    page.get_by_label("stands for").fill("forwarding")
    page.get_by_label("Tree").select_option("freebsd-head")
    page.get_by_label("up to revision").fill("r300000")
    page.get_by_role("button", name="Look what it would move").click()
    moves = page.get_by_role("region", name="What it would move")
    expect(moves).to_contain_text("1 stored run would be filed under another name")
    assert modes() == {"fastforwarding", "forwarding"}
    page.get_by_label("up to revision").fill("")
    page.get_by_label("up to revision").press("Enter")
    expect(moves).to_contain_text("2 stored runs would be filed under another name")
    expect(moves).to_contain_text("Both names were measured at the same revisions")
    expect(moves).to_be_in_viewport()
    fits(page, "alias-preview")

    moves.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("status")).to_contain_text("2 stored runs were filed so")
    assert modes() == {"forwarding"}
    row = page.get_by_role("row").filter(has_text="fastforwarding")
    expect(row).to_contain_text("olga")
    fits(page, "alias-list")

    row.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status")).to_contain_text("Taken back")
    expect(row).to_contain_text("taken back")
    assert modes() == {"fastforwarding", "forwarding"}
    fits(page, "alias-undone")


@pytest.mark.usefixtures("trouble")
def test_a_triager_counts_marked_samples_leaves_them_out_and_undoes_it(
    page: Page, live_server: LiveServer
) -> None:
    upload(measured("r300000"), marked("r300001"))
    analyse()
    sign_in(page, live_server, make.user("tess", role=User.Role.TRIAGER))
    page.goto(f"{live_server.url}/commits/freebsd-head/r300001/")
    region = page.get_by_role("region", name="Marked samples")
    expect(region).to_contain_text("1 of 5 samples left out: warm-up")
    assert counted() == 4
    fits(page, "marked")

    decide(page, "Count them")
    expect(region).to_contain_text("as tess decided")
    expect(region).to_contain_text("1 of 5 samples marked; all count")
    assert counted() == 5
    expect(page.get_by_text("counts, as was decided")).to_be_in_viewport()
    fits(page, "marked-counted")

    decide(page, "Leave them out")
    expect(region).to_contain_text("1 of 5 samples left out: warm-up")
    assert counted() == 4

    decide(page, "Undo")
    expect(region).not_to_contain_text("as tess decided")
    assert counted() == 4


def marked(revision: str) -> dict[str, Any]:
    """A run whose last sample is far off, and marked."""
    document = measured(revision)
    pps = document["metrics"]["pps"]
    pps["samples"] = [*pps["samples"][:-1], 60.0]
    pps["validity"] = [{"sample": 4, "kind": "warm-up", "text": "the rate rises by 12.0 %"}]
    return document


def counted() -> int:
    return Point.objects.get(revision__name="r300001").n


def decide(page: Page, button: str) -> None:
    panel = page.locator("details.marked")
    if panel.get_attribute("open") is None:
        panel.locator("summary").click()
    page.get_by_role("button", name=button, exact=True).click()


@pytest.mark.usefixtures("trouble")
def test_an_operator_makes_an_option_an_image_by_a_label_rule_and_an_option_again(
    page: Page, live_server: LiveServer
) -> None:
    rule = LabelRule.objects.create(pattern="uma", kind=LabelRule.Kind.OPTION)
    upload(measured("r300000", mode=mode("pf", "uma")))
    assert modes() == {"pf+uma"}
    sign_in(page, live_server, make.user("olga", role=User.Role.OPERATOR))
    page.goto(live_server.url + url(LabelRule, "change", rule.pk))
    kind = page.get_by_label("Kind", exact=False).first
    fits(page, "rule-form")
    kind.select_option(LabelRule.Kind.IMAGE)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Stored runs filed anew: 1")).to_be_visible()
    expect(page.get_by_role("columnheader", name="built in")).to_be_in_viewport()
    assert modes() == {"pf~uma"}
    fits(page, "rule-list")

    page.goto(f"{live_server.url}/commits/freebsd-head/r300000/")
    expect(page.get_by_role("main")).to_contain_text("Measured with variants")
    fits(page, "rule-commit")

    page.goto(live_server.url + url(LabelRule, "change", rule.pk))
    kind.select_option(LabelRule.Kind.OPTION)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Stored runs filed anew: 1")).to_be_visible()
    assert modes() == {"pf+uma"}
