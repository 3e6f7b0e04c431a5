"""What is posted is there once, and is sent when it is due."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import transaction
from django.utils import timezone
from redis.exceptions import ConnectionError as ConnectionLost

from tests import make
from webapp.outbox import services
from webapp.outbox.messages import NewMail
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.services.mailing import drop_mails

pytestmark = pytest.mark.django_db


def new_mail(to: int, about: str = "alert:17", *, wait: int = 0) -> NewMail:
    due = timezone.now() + timedelta(seconds=wait)
    return NewMail(
        recipient=to, kind="alert.opened", about=about, due=due, thread="alert:17", data={"n": 1}
    )


def test_one_person_gets_one_mail_of_a_kind_about_a_thing() -> None:
    ada, bob = make.user("ada").pk, make.user("bob").pk
    assert services.post_mails([new_mail(ada), new_mail(bob)]) == 2
    assert services.post_mails([new_mail(ada), new_mail(ada, "alert:18"), new_mail(ada)]) == 1
    assert Mail.objects.count() == 3


def test_a_posted_mail_waits_with_what_its_composer_needs() -> None:
    services.post_mails([new_mail(make.user().pk)])
    mail = Mail.objects.get()
    assert (mail.state, mail.attempts, mail.thread) == ("waiting", 0, "alert:17")
    assert mail.data == {"n": 1}


def test_posting_many_mails_is_one_statement(django_assert_num_queries) -> None:
    to = make.user().pk
    mails = [new_mail(to, f"alert:{number}") for number in range(200)]
    with transaction.atomic(), django_assert_num_queries(1):
        assert services.post_mails(mails) == 200


def test_posting_nothing_asks_the_database_nothing(django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        assert services.post_mails([]) == 0


@pytest.mark.parametrize(("wait", "queued"), [(0, 1), (60, 0)])
def test_only_mails_that_are_due_are_asked_for_on_commit(
    django_capture_on_commit_callbacks, wait: int, queued: int
) -> None:
    to = make.user().pk
    with django_capture_on_commit_callbacks() as callbacks:
        services.post_mails([new_mail(to, wait=wait)])
    assert len(callbacks) == queued


def test_a_lost_broker_loses_no_mail(django_capture_on_commit_callbacks) -> None:
    with (
        patch("webapp.queueing.cache.add", side_effect=ConnectionLost),
        django_capture_on_commit_callbacks(execute=True),
    ):
        services.post_mails([new_mail(make.user().pk)])
    assert Mail.objects.get().state == "waiting"


def test_an_event_goes_once_to_each_enabled_endpoint_that_listens_to_its_kind() -> None:
    for name, kinds, enabled in (
        ("all", [], True),
        ("these", ["alert.opened"], True),
        ("others", ["bisect.ended"], True),
        ("off", [], False),
    ):
        Endpoint.objects.create(name=name, url="https://x.example/", kinds=kinds, enabled=enabled)
    for _ in range(2):
        services.post_event(kind="alert.opened", about="alert:17", payload={"alert": 17})
    assert sorted(d.endpoint.name for d in HookDelivery.objects.all()) == ["all", "these"]


def test_what_was_dropped_unsent_waits_again_when_it_is_posted_again(
    django_assert_num_queries,
) -> None:
    to = make.user().pk
    services.post_mails([new_mail(to), new_mail(to, "alert:18"), new_mail(to, "alert:19")])
    fields = {"ended_at": timezone.now(), "reason": "No longer so.", "attempts": 2, "data": {}}
    Mail.objects.filter(about="alert:17").update(state="dropped", **fields)
    Mail.objects.filter(about="alert:18").update(state="sent", **fields)
    with transaction.atomic(), django_assert_num_queries(1):
        assert services.post_mails([new_mail(to, f"alert:{n}") for n in (17, 18, 19)]) == 1
    mail = Mail.objects.get(about="alert:17")
    assert (mail.state, mail.attempts, mail.reason, mail.ended_at) == ("waiting", 0, "", None)
    assert mail.data == {"n": 1}
    assert Mail.objects.get(about="alert:18").state == "sent"


def test_what_an_operator_dropped_stays_so() -> None:
    to = make.user().pk
    services.post_mails([new_mail(to)])
    assert drop_mails([Mail.objects.get().pk], by="op") == 1
    assert services.post_mails([new_mail(to)]) == 0
    assert Mail.objects.get().state == "dropped"
