"""What pages, the API, feeds and webhooks state of an alert that rests on one build a side."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests.alerts.steps import arrive
from tests.alerts.test_one_build import PF, PF_SLOWER, run, the_pair, times
from tests.approved import Approvals
from tests.kept import kept
from tests.pages.conftest import words
from webapp.alerts.models import Alert
from webapp.alerts.queries import suspicion_of
from webapp.analysis.models import Finding
from webapp.jobs.models import Job
from webapp.notifications.services import payload_of
from webapp.results.models import Metric, Revision, Series

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


@pytest.fixture(autouse=True)
@kept
def one_alert() -> None:
    arrive(the_pair())
    Revision.objects.update(author_name="mjg", subject="Implement trivial backoff")


def the_alert() -> Alert:
    return Alert.objects.with_revisions().get()


def test_the_page_states_by_what_it_is_believed_and_what_would_settle_it(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    page = client.get(the_alert().get_absolute_url())
    approved("pages/one-build/the-page-states-by-what-it-is-believed", page)
    text = words(page.content.decode())

    assert re.search(
        r"One build a side: pf seems to have lost [\d.]+ % at r303643, against r303642", text
    )
    assert re.search(r"packets/s \? −11\.4 % \[−\d+\.\d, −\d\.\d\] 1 revision before", text)
    assert "Regression" not in text
    figures = visit(f"{the_alert().get_absolute_url()}?show=findings")
    row = figures.rpartition(" packets/s ")[2]
    assert re.match(r"\? −11\.4 \[−\d+\.\d, −\d\.\d\] 1 / 1 cannot tell r303643", row), row[:80]


def test_a_latency_seems_as_well(visit: Visit) -> None:
    Metric.objects.update(unit="us", better="less")
    Finding.objects.update(change_pct=11.4, verdict="worse")
    text = visit(the_alert().get_absolute_url())
    assert "One build a side: pf seems to have got 11.4 % slower at r303643" in text


def test_the_front_page_claims_no_more_than_the_alert(visit: Visit) -> None:
    title = "One build a side: pf seems 11.4 % lower on bench nic at r303643 , against r303642"
    assert title in visit("/")


def test_the_page_offers_no_bisect_and_states_why(visit: Visit) -> None:
    alert = the_alert()

    assert "No bisect starts from one build a side" in visit(alert.get_absolute_url())
    assert "rests on one build a side" in visit(f"/bisects/new/?alert={alert.pk}")


def test_a_triager_may_ask_for_more_builds_of_both_and_for_nothing_that_settles_it_not(
    tess: Client,
) -> None:
    address = the_alert().get_absolute_url()
    text = words(tess.get(address).content.decode())
    assert "2 more builds a side" in text
    assert "Confirm this candidate" not in text
    form = {"purpose": "more runs", "revision": ["r303642", "r303643"], "boots": "5"}
    series = Series.objects.get(mode__name="pf")
    fields = {"tree": series.tree.name, "hardware": series.hardware.name, "mode": series.mode.name}
    answer = tess.post("/jobs/request/", form | fields | {"builds": "2", "next": address})
    assert answer.headers["Location"] == address
    asked = Job.objects.values_list("revision__name", "rebuild")
    assert sorted(asked) == [("r303642", True)] * 2 + [("r303643", True)] * 2
    again = tess.get(address).content.decode()
    assert words(again).count("2 more builds a side: already asked") == 4
    assert '<form class="ask"' not in again


def test_a_withdrawn_one_states_what_the_builds_came_to(visit: Visit) -> None:
    arrive([run(303643, times(PF, 0.995), build=1)])

    text = visit(the_alert().get_absolute_url())
    assert "Withdrawn: 1 build before and 2 from it on, the last of r303643, do not show it" in text
    assert "Not a fact about the commit yet" not in text


def test_a_confirmed_one_is_an_alert_as_others_are(client: Client, approved: Approvals) -> None:
    arrive([run(303643, times(PF_SLOWER, 1.01), build=1)])

    page = client.get(the_alert().get_absolute_url())
    approved("pages/one-build/a-confirmed-one-is-an-alert-as-others-are", page)
    text = words(page.content.decode())
    assert "▾ regression" in text
    assert "Not a fact about the commit yet" not in text


def test_the_commit_is_not_called_a_regression(client: Client, approved: Approvals) -> None:
    page = client.get("/commits/freebsd-head/r303643/")
    approved("pages/one-build/the-commit-is-not-called-a-regression", page)
    text = words(page.content.decode())

    assert "Regression" not in text
    assert "against false discoveries" not in text


def test_lists_state_it_too(visit: Visit) -> None:
    assert re.search(r"\? −[\d.]+ % pf bench nic r303643 began after r303642", visit("/alerts/"))
    assert "? one build a side −11.4 ± 5.5 pf bench nic" in visit("/lately/")


def test_the_api_names_no_commit_and_gives_the_figures(client: Client) -> None:
    found = client.get(f"/api/v1/alerts/{the_alert().pk}").json()

    assert (found["one_build"], found["commit"]) == (True, None)
    (finding,) = found["findings"]
    assert finding["state"] == "one build"
    judged = finding["one_build"]
    assert judged["chance"] == pytest.approx(0.00156, abs=0.00001)
    assert judged["surely_percent"] == pytest.approx(-6.94, abs=0.01)
    assert judged["not_from_build_percent"] == pytest.approx(3.02, abs=0.01)
    assert (judged["builds_before"], judged["builds_after"]) == (1, 1)


def test_the_feed_states_it(client: Client) -> None:
    feed = client.get("/feeds/freebsd-head.atom").content.decode()

    assert "one build a side, r303643 against r303642" in feed
    assert "regression since" not in feed


def test_no_commit_and_no_author_is_named(client: Client) -> None:
    alert = the_alert()
    event = alert.events.get(kind="opened")
    findings = Finding.objects.with_subjects().with_revisions()
    payload = payload_of("alert.opened", event, alert, list(findings), suspicion_of(alert))

    assert suspicion_of(alert).commit is None
    assert (payload["commit"], payload["one_build"]) == (None, True)
    assert payload["findings"][0]["one_build"]["state"] == "open"
