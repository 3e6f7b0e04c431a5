"""The clock is set back by days: what waits is sent all the same."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from tests.smtp import MailServer
from webapp.outbox import services
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.models import MailServer as ServerRow
from webapp.outbox.services import delivering, items, mailing

pytestmark = pytest.mark.django_db
DAYS = timedelta(days=3)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def write(mail: Mail, **fields: object) -> None:
    Mail.objects.filter(pk=mail.pk).update(**fields)


@pytest.mark.parametrize("ahead", [DAYS, timedelta(hours=6)], ids=["days", "hours"])
def test_what_was_posted_ahead_of_time_is_sent(
    post: Callable[..., Mail], server: MailServer, now: datetime, ahead: timedelta
) -> None:
    write(post(), created_at=now + ahead, due=now + ahead)
    assert items.correct_times(Mail.objects.all()) == 1
    services.send_due_mails()
    assert server.number == 1
    assert items.correct_times(Mail.objects.all()) == 0


@pytest.mark.parametrize("ahead", [DAYS, timedelta(hours=6)], ids=["days", "hours"])
def test_a_pause_that_began_ahead_of_time_is_over(
    post: Callable[..., Mail], server: MailServer, now: datetime, ahead: timedelta
) -> None:
    write(post(), tried_at=now + ahead, due=now + ahead + timedelta(hours=2), attempts=4)
    assert items.correct_times(Mail.objects.all()) == 1
    services.send_due_mails()
    assert server.number == 1


def test_a_claim_made_ahead_of_time_is_over(post: Callable[..., Mail], now: datetime) -> None:
    mail = post()
    write(mail, state="claimed", claim="36a77ff0-99ca-4651-907a-8d81b42ddd5d", due=now + DAYS)
    assert items.correct_times(Mail.objects.all()) == 1
    assert Mail.objects.claimable(timezone.now()).get() == mail


@pytest.mark.parametrize("hours", [24, 30])
def test_what_waits_for_a_reason_goes_on_waiting(
    post: Callable[..., Mail], now: datetime, hours: int
) -> None:
    write(post(), due=now + timedelta(hours=hours))
    assert items.correct_times(Mail.objects.all()) == 0


def test_a_mail_server_left_alone_ahead_of_time_is_tried(now: datetime) -> None:
    mailing.note_failure("refused")
    assert items.correct_pauses() == 0
    ServerRow.objects.update(next_try=now + DAYS, failing_since=now + DAYS)
    assert items.correct_pauses() == 1
    assert not mailing.is_left_alone(timezone.now())
    row = ServerRow.objects.get()
    assert row.failing_since is not None
    assert row.failing_since <= timezone.now()


def test_an_endpoint_left_alone_ahead_of_time_is_tried_with_the_same_bytes(now: datetime) -> None:
    endpoint = Endpoint.objects.create(
        name="ci", url="http://x.example/", next_try=now + DAYS, failures=1
    )
    made = now + DAYS
    HookDelivery.objects.create(
        endpoint=endpoint,
        uid="36a77ff0-99ca-4651-907a-8d81b42ddd5d",
        kind="alert.opened",
        about="alert:1",
        payload={},
        created_at=made,
        tried_at=made,
        due=made,
    )
    assert items.correct_pauses() == items.correct_times(HookDelivery.objects.all()) == 1
    assert delivering.are_deliveries_due()
    assert HookDelivery.objects.get().created_at == made
