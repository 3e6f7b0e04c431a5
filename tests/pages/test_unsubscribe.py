"""One click stops mails; looking at the link does not."""

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.pages.conftest import words
from webapp.notifications.models import Subscription
from webapp.notifications.queries import Target
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db


def path_of(target: Target) -> str:
    return "/unsubscribe/" + target.url.partition("/unsubscribe/")[2]


def test_a_scanner_that_follows_the_link_changes_nothing(client: Client) -> None:
    path = path_of(Target(subscription=make.subscription().pk))
    for _ in range(2):
        answer = client.get(path)
        assert "Stop these mails" in words(answer.content.decode())
        assert client.head(path).status_code == 200
    assert Subscription.objects.get().enabled


def test_one_click_of_a_mail_program_stops_it_and_it_can_be_undone() -> None:
    """RFC 8058: a POST without a cookie, a session or a form token."""
    strict = Client(enforce_csrf_checks=True)
    path = path_of(Target(subscription=make.subscription().pk))
    for _ in range(2):
        answer = strict.post(path, {"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
        assert "can be undone here" in words(answer.content.decode())
        assert not Subscription.objects.get().enabled
    strict.post(path, {"act": "on"})
    assert Subscription.objects.get().enabled


def test_a_mail_that_waits_for_another_try_is_composed_anew_and_finds_that_it_was_stopped() -> None:
    subscription = make.subscription()
    mail = Mail.objects.create(
        recipient=subscription.user,
        kind="alert.opened",
        about="alert:1",
        due=timezone.now(),
        data={"subscription": subscription.pk, "alert": 1},
        composed_at=timezone.now(),
    )
    Client().post(path_of(Target(subscription=subscription.pk)))
    mail.refresh_from_db()
    assert mail.composed_at is None


def test_the_link_of_a_digest_stops_all_of_its_kind_and_no_other_persons(client: Client) -> None:
    ada = make.user("ada", email="ada@example.org")
    make.subscription(ada, "a", cadence="daily")
    make.subscription(ada, "b", cadence="daily")
    make.subscription(ada, "c", cadence="weekly")
    make.subscription(make.user("bob", email="bob@example.org"), "d", cadence="daily")
    client.post(path_of(Target(user=ada.pk, cadence="daily")))
    on = Subscription.objects.filter(enabled=True).order_by("name")
    assert [one.name for one in on] == ["c", "d"]


def test_a_link_that_was_cut_states_what_to_do(client: Client) -> None:
    path = path_of(Target(subscription=make.subscription().pk))
    for broken in (path[:-3] + "/", "/unsubscribe/x/", "/unsubscribe/1.0.~x/"):
        for answer in (client.get(broken), client.post(broken)):
            assert answer.status_code == 404
            assert "sign in and switch" in words(answer.content.decode())
    assert Subscription.objects.get().enabled


def test_a_deleted_subscription_is_reported_to_be_gone(client: Client) -> None:
    subscription = make.subscription()
    path = path_of(Target(subscription=subscription.pk))
    subscription.delete()
    assert "gone" in words(client.post(path).content.decode())
