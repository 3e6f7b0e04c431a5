"""Subscriptions, the account, the mail in the browser, and the alert as it was mailed."""

from datetime import time, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.approved import Approvals
from tests.pages.conftest import words
from webapp.accounts.models import User
from webapp.alerts.models import Alert, AlertEvent
from webapp.analysis.models import Finding, FindingEvent
from webapp.notifications.models import Subscription
from webapp.pages.account.subscriptions import SubscriptionForm
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db
ATOM = "Atom/T540"


@pytest.fixture
def ada(client: Client) -> User:
    user = make.user("ada", email="ada@example.org")
    client.force_login(user)
    return user


@pytest.fixture
def alert() -> Alert:
    forget_names()
    arrive(runs_of({(ATOM, "pf"): {12: 0.88}}))
    return Alert.objects.get()


def wanted(**fields: object) -> dict[str, object]:
    return {"name": "mine", "direction": "any", "cadence": "immediate", **fields}


@pytest.mark.parametrize(
    "address",
    [
        "/account/",
        "/subscriptions/",
        "/subscriptions/1/",
        "/subscriptions/preview/1/",
        "/subscriptions/preview/1/mail.html",
    ],
)
def test_a_stranger_is_asked_to_sign_in(client: Client, address: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer["Location"]) == (302, f"/sign-in/?next={address}")
    assert client.post("/subscriptions/", wanted()).status_code == 302
    assert client.post("/subscriptions/1/act/", {"act": "delete"}).status_code == 302
    assert not Subscription.objects.exists()


def test_one_subscribes_and_sees_what_would_have_matched(
    client: Client, ada: User, alert: Alert, approved: Approvals
) -> None:
    mode = Finding.objects.get().series.mode_id
    assert client.post("/subscriptions/", wanted(mode=mode, severity="5")).status_code == 302
    assert client.post("/subscriptions/", wanted(name="huge", severity="50")).status_code == 302
    small, _ = Subscription.objects.order_by("pk")
    assert (small.user, small.describe()) == (ada, "pf, at least 5 %")
    approved(
        "pages/subscriptions/one-subscribes-and-sees-what-would-have-matched",
        client.get("/subscriptions/"),
    )
    assert f"Alert {alert.pk}" in words(client.get(f"/subscriptions/{small.pk}/").content.decode())


def test_a_mistake_is_shown_beside_its_field(client: Client, ada: User) -> None:
    make.subscription(ada, "mine")
    for fields, message in (
        (wanted(), "choose another"),
        (wanted(name=""), "required"),
        (wanted(name="x", severity="-1"), "greater than or equal"),
        (wanted(name="x", cadence="hourly"), "Select a valid choice"),
        (wanted(name="x", author="Ada <ada@example.org>"), "give the address alone"),
    ):
        answer = client.post("/subscriptions/", fields)
        assert answer.status_code == 400
        assert message in words(answer.content.decode())
    assert Subscription.objects.count() == 1


def test_who_presses_twice_subscribes_once_and_is_shown_why(
    client: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.subscription(ada, "mine")
    # The other request stored it after this one asked whether the name is free.
    monkeypatch.setattr(SubscriptionForm, "clean_name", lambda form: form.cleaned_data["name"])
    answer = client.post("/subscriptions/", wanted())
    assert answer.status_code == 400
    assert "choose another" in words(answer.content.decode())
    assert Subscription.objects.count() == 1


def test_one_edits_switches_off_and_deletes_ones_own_only(client: Client, ada: User) -> None:
    own = make.subscription(ada)
    other = make.subscription(make.user("bob", email="bob@example.org"))
    assert client.post(f"/subscriptions/{own.pk}/", wanted(cadence="daily")).status_code == 302
    own.refresh_from_db()
    assert (own.name, own.cadence) == ("mine", "daily")
    client.post(f"/subscriptions/{own.pk}/act/", {"act": "off"})
    own.refresh_from_db()
    assert not own.enabled
    assert client.get(f"/subscriptions/{other.pk}/").status_code == 404
    forged = client.post(f"/subscriptions/{other.pk}/act/", {"act": "delete"}, follow=True)
    assert "You have no such subscription" in forged.content.decode()
    client.post(f"/subscriptions/{own.pk}/act/", {"act": "delete"})
    assert list(Subscription.objects.all()) == [other]


def test_the_mail_is_shown_in_the_browser_before_anything_is_sent(
    client: Client, ada: User, alert: Alert
) -> None:
    page = client.get(f"/subscriptions/preview/{alert.pk}/").content.decode()
    assert "To ada · [driftline] -1" in words(page)
    assert "Difference at 95.0% confidence" in words(page)
    assert f'src="/subscriptions/preview/{alert.pk}/mail.html"' in page
    assert 'sandbox=""' in page
    mail = client.get(f"/subscriptions/preview/{alert.pk}/mail.html")
    policy = mail["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'none'" in policy
    assert "img-src 'none'" in policy
    assert mail["X-Frame-Options"] == "SAMEORIGIN"
    assert client.get("/subscriptions/preview/999999/").status_code == 404


def test_the_mail_that_is_shown_names_a_subscription_that_asks_for_the_alert(
    client: Client, ada: User, alert: Alert
) -> None:
    def shown() -> str:
        return words(client.get(f"/subscriptions/preview/{alert.pk}/").content.decode())

    make.subscription(ada, "huge", severity=500)
    assert "subscription “an example” (any change)" in shown()
    make.subscription(ada, "losses", direction="regressions")
    assert "subscription “losses” (regressions only)" in shown()


def test_people_set_their_names_quiet_hours_and_address(client: Client, ada: User) -> None:
    settings = {
        "email": "",
        "aliases": "mjg\r\n mjg@FreeBSD.org \r\n\r\nmjg",
        "time_zone": "Europe/Paris",
        "quiet_from": "22:00",
        "quiet_until": "07:30",
    }
    assert client.post("/account/", {**settings, "is_staff": "on"}).status_code == 302
    ada.refresh_from_db()
    assert ada.aliases == ["mjg", "mjg@FreeBSD.org"]
    assert (ada.quiet_from, ada.quiet_until) == (time(22), time(7, 30))
    assert not ada.is_staff
    assert "mjg@FreeBSD.org" in client.get("/account/").content.decode()
    for change, message in (
        ({"quiet_from": ""}, "Give both ends"),
        ({"quiet_from": "07:30"}, "Give another time"),
        ({"time_zone": "Mars/Olympus"}, "Select a valid choice"),
        ({"aliases": "x" * 300}, "at most 254 characters"),
        ({"aliases": "mjg\r\nmjg@FreeBSD.org, mjg"}, "“mjg@FreeBSD.org, mjg” is more than"),
        ({"email": "nobody"}, "valid email"),
    ):
        answer = client.post("/account/", settings | change)
        assert answer.status_code == 400
        assert message in words(answer.content.decode())


def test_a_mails_link_shows_what_the_mail_reported(client: Client, alert: Alert) -> None:
    row = Finding.objects.get()
    then = timezone.now() - timedelta(hours=1)
    AlertEvent.objects.update(at=then)
    FindingEvent.objects.update(at=then)
    Finding.objects.update(change_pct=-50.0, low_pct=-51.0, high_pct=-49.0)
    moment = f"{timezone.now() - timedelta(minutes=30):%Y-%m-%dT%H:%M:%SZ}"
    text = words(client.get(f"/alerts/{alert.pk}/?asof={moment}").content.decode())
    assert "data may have changed since" in text
    assert f"−{abs(row.change_pct or 0):.1f} [" in text
    assert "−50.0 [−51.0, −49.0]" in text
    before = f"{timezone.now() - timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}"
    assert "held no finding then" in words(
        client.get(f"/alerts/{alert.pk}/?asof={before}").content.decode()
    )
    for odd in ("yesterday", "2026-99-99T00:00:00", "", "\0", "0001-01-01T00:00+14:00"):
        answer = client.get(f"/alerts/{alert.pk}/", {"asof": odd})
        assert answer.status_code == 200
        assert b"data may have changed" not in answer.content
