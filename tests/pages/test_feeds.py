"""The Atom feeds."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.notifications.queries import ENTRIES
from webapp.results.models import Revision, Run
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM, XEON = "Atom/T540", "Xeon/T580"
ATOM_NS = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def entries(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    found = ElementTree.fromstring(answer.content).findall(f"{ATOM_NS}entry")
    return [
        (one.findtext(f"{ATOM_NS}id") or "", one.findtext(f"{ATOM_NS}title") or "") for one in found
    ]


def test_a_tree_a_hardware_and_a_subscription_have_a_feed_that_anybody_can_read(
    client: Client,
) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}, (XEON, "pf"): {20: 0.9}}))
    subscription = make.subscription(severity=11.5)
    both = entries(client.get("/feeds/freebsd-head.atom"))
    assert len(both) == 2
    assert len({pk for pk, _ in both}) == 2
    assert all(pk.startswith("tag:127.0.0.1,2026-01-01:alert/") for pk, _ in both)
    ((_, title),) = entries(client.get(f"/feeds/hardware/{ATOM}.atom"))
    assert title.startswith("Opened: Alert ")
    assert "pf on Atom T540 1" in title
    only = entries(client.get(f"/feeds/subscription/{subscription.feed_token}.atom"))
    assert [one for _, one in only] == [title]
    for missing in ("linux", "hardware/x", "subscription/x"):
        assert client.get(f"/feeds/{missing}.atom").status_code == 404


def test_a_retracted_alert_stays_in_the_feeds(client: Client) -> None:
    subscription = make.subscription()
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, count=18))
    first = entries(client.get(f"/feeds/hardware/{ATOM}.atom"))
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()
    for address in (f"hardware/{ATOM}", f"subscription/{subscription.feed_token}"):
        found = entries(client.get(f"/feeds/{address}.atom"))
        assert [title.partition(":")[0] for _, title in found] == ["No findings left", "Opened"]
        assert found[1][0] == first[0][0]


def test_the_feed_of_somebody_who_left_is_closed(client: Client) -> None:
    subscription = make.subscription()
    address = f"/feeds/subscription/{subscription.feed_token}.atom"
    assert client.get(address).status_code == 200
    User.objects.update(is_active=False)
    assert client.get(address).status_code == 404


def test_history_is_in_no_feed(client: Client) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}), history=True)
    assert entries(client.get("/feeds/freebsd-head.atom")) == []


def test_a_feed_that_did_not_change_is_not_sent_again(client: Client) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}))
    answer = client.get("/feeds/freebsd-head.atom")
    again = client.get("/feeds/freebsd-head.atom", headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304
    seen = {"If-Modified-Since": answer["Last-Modified"]}
    assert client.get("/feeds/freebsd-head.atom", headers=seen).status_code == 304


def test_a_feed_is_bounded_and_its_queries_are_counted(
    client: Client, queries: Callable[[str], int]
) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}))
    few = queries("/feeds/freebsd-head.atom")
    alert = Alert.objects.get()
    AlertEvent.objects.bulk_create(
        AlertEvent(alert=alert, at=make.DAY_ONE, kind="recovered", version=2) for _ in range(70)
    )
    assert len(entries(client.get("/feeds/freebsd-head.atom"))) == ENTRIES
    assert queries("/feeds/freebsd-head.atom") == few


def test_awkward_subjects_are_escaped(client: Client) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}))
    subject = "<b> & \x0b\u2028 \U0001f600 " + "x" * 300
    Revision.objects.filter(pk=Alert.objects.get().likeliest_id).update(subject=subject)
    answer = client.get("/feeds/freebsd-head.atom")
    ((_, title),) = entries(answer)
    assert "“<b> & \U0001f600 xxx" in title
    summary = ElementTree.fromstring(answer.content).findtext(f".//{ATOM_NS}summary") or ""
    assert "&lt;b&gt; &amp;" in summary


def test_pages_name_their_feeds(client: Client) -> None:
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}))
    assert b'href="/feeds/freebsd-head.atom"' in client.get("/commits/freebsd-head/").content
    assert b'href="/feeds/freebsd-head.atom"' in client.get("/alerts/").content
    page = client.get(f"/hardware/{ATOM}/").content
    assert f'href="/feeds/hardware/{ATOM}.atom"'.encode() in page
