"""What pages and the API say of series that agree, and what feeds and mail do not."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests.alerts.steps import arrive
from tests.alerts.test_agreeing import AT, COUNT, LARGE, SMALL, runs
from tests.approved import Approvals
from tests.pages.conftest import Counted
from webapp.alerts.models import Agreement, Alert
from webapp.outbox.models import Mail
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]
COMMIT = "/commits/freebsd-head/r129/"


@pytest.fixture(autouse=True)
def no_names() -> None:
    forget_names()


def test_the_commit_page_says_who_agrees_and_how_often_that_is_chance(
    client: Client, visit: Visit, approved: Approvals
) -> None:
    arrive(runs({AT: SMALL}))
    approved("pages/agreeing/the-commit-page-says-who-agrees-and-how-often", client.get(COMMIT))
    assert "Agreeing candidates" not in visit("/commits/freebsd-head/r128/")


def test_it_is_neither_red_nor_a_headline(client: Client) -> None:
    arrive(runs({AT: SMALL}))
    (said,) = re.findall(
        r'<p id="agreeing">.*?</p>', client.get(COMMIT).content.decode(), re.DOTALL
    )
    assert 'class="worse"' not in said
    (row,) = [
        one
        for one in client.get("/commits/freebsd-head/").context["commits"]
        if one.revision.name == "r129"
    ]
    assert (row.text, row.css_class, row.marks) == ("agreeing candidates", "cannot-tell", "?")


def test_lists_name_the_commit_in_a_line(visit: Visit) -> None:
    arrive(runs({AT: SMALL}))
    row = Agreement.objects.get()
    said = f"{row.series} of 9 series, {row.machines} machines"
    assert said in visit("/commits/freebsd-head/")
    assert said in visit("/lately/")


def test_an_alert_takes_the_place_of_the_line(visit: Visit) -> None:
    arrive(runs({AT: LARGE}, count=COUNT + 2))
    assert Alert.objects.filter(is_active=True).exists()
    for page in (COMMIT, "/commits/freebsd-head/", "/"):
        assert "greeing candidates" not in visit(page).replace("greeing candidates, then", "")


def test_feed_inbox_and_mail_say_nothing_of_it(client: Client, visit: Visit) -> None:
    documents = runs({AT: SMALL})
    arrive(documents)
    assert Agreement.objects.exists()
    assert b"<entry" not in client.get("/feeds/freebsd-head.atom").content
    assert "greeing" not in visit("/alerts/")
    assert client.get("/api/v1/alerts").json()["alerts"] == []
    assert not Mail.objects.exists()


def test_pages_that_say_it_keep_to_their_statements(queries: Counted) -> None:
    arrive(runs({AT: SMALL}))
    assert Agreement.objects.exists()
    assert queries("/commits/freebsd-head/") <= 7  # one for releases
    assert queries("/") <= 20
    assert queries(COMMIT) <= 11


def test_an_alert_says_where_its_series_together_see_the_change(
    client: Client, approved: Approvals
) -> None:
    arrive(runs({24: 0.975}, count=40, scatter=0.012))
    alert = Alert.objects.get()
    found = client.get(f"/api/v1/alerts/{alert.pk}").json()["together"]
    assert found is not None
    assert int(found["after"][1:]) < 124 <= int(found["last"][1:])
    assert found["series"] >= 2
    approved(
        "pages/agreeing/an-alert-says-where-its-series-together-see",
        client.get(alert.get_absolute_url()),
    )


def test_one_series_alone_has_no_place_in_common(client: Client) -> None:
    only = [one for one in runs({24: 0.95}, count=40) if one["mode"]["workload"] == "mode-0"]
    arrive([one for one in only if one["hardware"] == "Box-0/em0"])
    alert = Alert.objects.get()
    assert client.get(f"/api/v1/alerts/{alert.pk}").json()["together"] is None
