"""What is due is sent over a real conversation, and every end of it is recorded."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from tests import make
from tests.outbox.conftest import Composer
from tests.smtp import MailServer, Mode
from webapp.accounts.models import User
from webapp.outbox import messages, services
from webapp.outbox.messages import Message, NothingToSay, NotYet
from webapp.outbox.models import Mail
from webapp.outbox.models import MailServer as ServerRow
from webapp.outbox.services import items, mailing
from webapp.outbox.services.mailing import retry_mails

pytestmark = pytest.mark.django_db
Post = Callable[..., Mail]


def send() -> None:
    while services.send_due_mails():
        pass


def wait_over() -> None:
    """As if every pause had passed."""
    past = timezone.now() - timedelta(seconds=1)
    Mail.objects.unfinished().update(due=past)
    ServerRow.objects.update(next_try=past)


def test_a_due_mail_arrives_and_is_recorded(server: MailServer, post: Post) -> None:
    mail = post()
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.attempts, mail.claim, mail.address) == (
        "sent",
        1,
        None,
        "ada@example.org",
    )
    (arrived,) = server.mails
    assert arrived["Subject"] == "A subject"
    assert arrived["To"] == "ada@example.org"
    assert arrived.get_body(("plain",)).get_content().strip() == "The text."
    assert arrived.get_body(("html",)).get_content().strip() == "<p>The text.</p>"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028"])
def test_no_end_of_a_line_in_a_subject_adds_a_header(
    server: MailServer, post: Post, composer: Composer, end: str
) -> None:
    subject = f"r1 of a lab{end}Bcc: eve@example.org{end}{end}A body"
    composer.message = replace(composer.message, subject=subject)
    post()
    send()
    (arrived,) = server.mails
    assert arrived["Subject"] == "r1 of a lab Bcc: eve@example.org A body"
    assert arrived["Bcc"] is None
    assert arrived.get_body(("plain",)).get_content().strip() == "The text."


def test_a_mail_gives_machines_what_they_need(server: MailServer, post: Post) -> None:
    post(thread="alert:17")
    send()
    (arrived,) = server.mails
    assert arrived["Auto-Submitted"] == "auto-generated"
    assert arrived["List-Unsubscribe"] == "<https://x.example/u/1>"
    assert arrived["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert arrived["List-Id"] == "Driftline <driftline.127.0.0.1>"
    assert arrived["Date"].datetime.tzinfo is not None
    assert arrived["In-Reply-To"] == arrived["References"] != arrived["Message-ID"]


def test_mails_of_one_thread_to_one_person_refer_to_the_same(
    server: MailServer, post: Post
) -> None:
    bob = make.user("bob", email="bob@example.org")
    for about in ("thing:1", "thing:2"):
        post(about, thread="alert:17")
    post("thing:1", to=bob, thread="alert:17")
    send()
    roots = [(mail["To"], mail["References"]) for mail in server.mails]
    assert roots[0] == roots[1]
    assert roots[2][1] != roots[0][1]
    assert len({mail["Message-ID"] for mail in server.mails}) == 3


def test_a_message_id_is_a_function_of_what_the_mail_is() -> None:
    first = messages.message_id(kind="alert.opened", about="alert:17", recipient=5)
    assert first == messages.message_id(kind="alert.opened", about="alert:17", recipient=5)
    assert first.startswith("<alert.opened.alert-17.5.")
    assert first != messages.message_id(kind="alert.opened", about="alert-17", recipient=5)


def test_a_mail_is_not_sent_before_it_is_due(server: MailServer, post: Post) -> None:
    mail = post()
    Mail.objects.update(due=timezone.now() + timedelta(seconds=30))
    send()
    assert not server.mails
    mail.refresh_from_db()
    assert mail.state == "waiting"


def test_a_batch_goes_over_one_connection(server: MailServer, post: Post) -> None:
    for number in range(5):
        post(f"thing:{number}")
    send()
    assert len(server.mails) == 5
    assert server.connections == 1


def test_the_statements_for_a_mail_do_not_grow_with_the_batch(
    server: MailServer, post: Post, django_assert_num_queries
) -> None:
    for number in range(10):
        post(f"thing:{number}")
    # The pause, the claim (4 with its savepoint), the read, the end of the failures; and for each
    # mail: a savepoint to compose in (2), what is kept, what became of it.
    with django_assert_num_queries(7 + 10 * 4):
        assert services.send_due_mails()


def test_what_is_no_longer_so_is_dropped_with_the_reason(
    server: MailServer, post: Post, composer: Composer
) -> None:
    composer.error = NothingToSay("The alert was retracted.")
    mail = post()
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.reason) == ("dropped", "The alert was retracted.")
    assert not server.mails


def test_a_mail_whose_time_has_not_come_waits_and_that_is_no_try(
    server: MailServer, post: Post, composer: Composer
) -> None:
    until = timezone.now() + timedelta(minutes=5)
    composer.error = NotYet("It follows another.", until)
    mail = post()
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.attempts, mail.due) == ("waiting", 0, until)
    assert mail.reason == "It follows another."
    composer.error = None
    wait_over()
    send()
    assert len(server.mails) == 1


def test_what_was_held_up_until_the_quiet_hours_waits_for_their_end(
    server: MailServer, post: Post, ada: User
) -> None:
    mail, now = post(), timezone.now()
    ends = (now + timedelta(hours=2)).replace(second=0, microsecond=0)
    hours = {"quiet_from": (now - timedelta(hours=1)).time(), "quiet_until": ends.time()}
    User.objects.filter(pk=ada.pk).update(**hours)
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.attempts, mail.due) == ("waiting", 0, ends)
    assert "quiet hours" in mail.reason
    Mail.objects.update(due=now, data={"to": "new@example.org"})
    send()  # the person waits for that one
    assert [mail["To"] for mail in server.mails] == ["new@example.org"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"email": ""}, "ada has no e-mail address."),
        ({"is_active": False}, "The account ada is not active."),
    ],
)
def test_a_mail_to_nobody_is_dropped_with_the_reason(
    server: MailServer, post: Post, ada: User, change: dict[str, object], reason: str
) -> None:
    mail = post()
    User.objects.filter(pk=ada.pk).update(**change)
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.reason) == ("dropped", reason)


def test_a_mail_that_cannot_be_composed_is_tried_again_and_holds_up_no_other(
    server: MailServer, post: Post, composer: Composer
) -> None:
    composer.errors_about["thing:1"] = ZeroDivisionError("by zero")
    bad, good = post("thing:1"), post("thing:2")
    send()
    bad.refresh_from_db()
    good.refresh_from_db()
    assert good.state == "sent"
    assert (bad.state, bad.attempts) == ("waiting", 1)
    assert bad.reason == "It could not be composed: ZeroDivisionError: by zero"
    assert bad.due > timezone.now()
    composer.errors_about.clear()
    wait_over()
    send()
    bad.refresh_from_db()
    assert (bad.state, bad.reason) == ("sent", "")


def test_a_kind_that_nobody_composes_waits_with_the_reason(server: MailServer, post: Post) -> None:
    mail = post()
    Mail.objects.update(kind="unknown")
    send()
    mail.refresh_from_db()
    assert (mail.state, mail.attempts) == ("waiting", 1)
    assert "unknown" in mail.reason


def test_a_recipient_refused_for_good_ends_the_mail_at_once(server: MailServer, post: Post) -> None:
    server.refused.add("ada@example.org")
    mail, other = post(), post(to=make.user("bob", email="bob@example.org"))
    send()
    mail.refresh_from_db()
    other.refresh_from_db()
    assert (mail.state, mail.attempts) == ("dead", 1)
    assert mail.reason == "The server answered 550 5.1.1 nobody of that name"
    assert other.state == "sent"


def test_an_address_that_is_none_ends_the_mail(server: MailServer, post: Post, ada: User) -> None:
    mail = post()
    User.objects.filter(pk=ada.pk).update(email="no\r\naddress@example.org")
    send()
    mail.refresh_from_db()
    assert mail.state == "dead"
    assert mail.reason.startswith("It cannot be written as a message")


def test_a_refusal_for_now_is_tried_again_after_longer_and_longer_pauses_then_given_up(
    server: MailServer, post: Post
) -> None:
    server.mode = Mode.LATER
    mail = post()
    for number, pause in enumerate(items.PAUSES, 1):
        before = timezone.now()
        send()
        mail.refresh_from_db()
        assert (mail.state, mail.attempts) == ("waiting", number)
        assert before + pause <= mail.due <= timezone.now() + pause * (1 + items.JITTER)
        wait_over()
    send()
    mail.refresh_from_db()
    assert mail.state == "dead"
    assert mail.reason.startswith(f"Given up after {len(items.PAUSES) + 1} tries: The server")


def test_every_try_sends_the_same_message(
    server: MailServer, post: Post, composer: Composer
) -> None:
    server.mode = Mode.DIE_BEFORE_REPLY
    post()
    send()
    server.mode, composer.message = Mode.ACCEPT, Message("Another subject", "Other.", "")
    wait_over()
    send()
    first, second = server.mails
    for header in ("Message-ID", "Date", "Subject"):
        assert first[header] == second[header]
    assert first.get_body(("plain",)).get_content() == second.get_body(("plain",)).get_content()
    assert composer.calls == 1


def test_what_is_sent_again_after_it_was_given_up_is_the_latest(
    server: MailServer, post: Post, composer: Composer
) -> None:
    server.mode = Mode.REFUSE
    mail = post()
    send()
    server.mode, composer.message = Mode.ACCEPT, Message("What is so now", "Other.", "")
    assert retry_mails([mail.pk]) == 1
    send()
    assert [mail["Subject"] for mail in server.mails] == ["What is so now"]


def test_a_server_that_is_away_costs_no_mail_a_try(server: MailServer, post: Post) -> None:
    mails = [post(f"thing:{number}") for number in range(3)]
    server.stop()
    send()
    states = set(Mail.objects.values_list("state", "attempts"))
    assert states == {("waiting", 0)}
    row = ServerRow.objects.get()
    assert row.failures == 1
    assert row.reason.startswith("Connection refused. Nothing listens there")
    server.start()
    send()
    assert not server.mails  # left alone until the pause is over
    wait_over()
    send()
    assert len(server.mails) == len(mails)
    row.refresh_from_db()
    assert (row.failures, row.next_try) == (0, None)


@pytest.mark.parametrize(
    ("mode", "first"),
    [
        (Mode.REFUSE_SENDER, 0),
        (Mode.CLOSING, 1),
        (Mode.DIE_BEFORE_REPLY, 1),
    ],
)
def test_a_server_that_stops_taking_mails_costs_at_most_the_one_under_way_a_try(
    server: MailServer, post: Post, mode: Mode, first: int
) -> None:
    for number in range(3):
        post(f"thing:{number}")
    server.mode = mode
    send()
    tries = Mail.objects.order_by("pk").values_list("state", "attempts")
    assert list(tries) == [("waiting", first), ("waiting", 0), ("waiting", 0)]
    server.mode = Mode.ACCEPT
    wait_over()
    send()
    assert set(Mail.objects.values_list("state", flat=True)) == {"sent"}


def test_a_claim_that_ran_out_is_taken_by_another_and_the_first_sends_nothing(
    server: MailServer, post: Post
) -> None:
    mail = post()
    token = items.claim(Mail.objects.all(), limit=1, lease=mailing.LEASE)
    assert token
    assert items.claim(Mail.objects.all(), limit=1, lease=mailing.LEASE) is None
    wait_over()
    send()
    mail.refresh_from_db()
    assert mail.state == "sent"
    mailing._send_claimed(token)
    mail.claim = token
    assert not items.record_failed(mail, "too late")
    mail.refresh_from_db()
    assert (mail.state, len(server.mails)) == ("sent", 1)
