"""A new address counts once the link that is mailed to it was opened and the button pressed."""

import re
import time
from typing import Any

import pytest
from django.core.signing import TimestampSigner
from django.test import Client

from tests import make
from tests.pages.conftest import words
from tests.smtp import MailServer
from webapp.accounts.models import User
from webapp.notifications.mails.notices import MOST_A_DAY, NewAddress
from webapp.outbox import services, smtp

pytestmark = pytest.mark.django_db
NEW = "ada@lab.example.org"


def ask(client: Client, address: str = NEW) -> str:
    """What the page of the account answers to a new address."""
    fields = {"email": address, "time_zone": "UTC", "aliases": "", "quiet_from": ""}
    answer = client.post("/account/", fields, follow=True)
    return words(answer.content.decode())


@pytest.fixture
def ada(db: None) -> User:
    return make.user("ada", email="ada@example.org")


@pytest.fixture
def client(client: Client, ada: User, settings: Any) -> Client:
    settings.EMAIL_BACKEND = smtp.SMTP
    client.force_login(ada)
    return client


def test_a_new_address_counts_once_its_link_was_used(
    server: MailServer, client: Client, ada: User
) -> None:
    assert f"A link was mailed to {NEW}" in ask(client)
    waits = f"{NEW} was asked and has not answered yet"
    assert waits in words(client.get("/account/").content.decode())
    services.send_due_mails()
    (mail,) = server.mails
    assert mail["To"] == NEW
    (url,) = re.findall(r"http\S+", mail.get_body(("plain",)).get_content())
    path = "/account/" + url.partition("/account/")[2]
    scanner, strict = Client(), Client(enforce_csrf_checks=True)
    assert f"go to {NEW}?" in words(scanner.get(path).content.decode())
    assert strict.post(path).status_code == 403
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"
    for _ in range(2):  # pressed twice
        assert "Done: mails to ada go to" in words(scanner.post(path).content.decode())
    ada.refresh_from_db()
    assert ada.email == NEW
    assert waits not in words(client.get("/account/").content.decode())


def test_where_no_mail_can_be_sent_nobody_is_promised_a_link(client: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "go into the log, to nobody, so no link arrives" in ask(client)


def test_a_link_that_is_old_cut_made_up_or_overtaken_changes_nothing(
    client: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, now = NewAddress(ada.pk, ada.email, NEW, 0), time.time()
    with monkeypatch.context() as then:
        then.setattr("django.core.signing.time.time", lambda: now - 8 * 86_400)
        old = new.token
    made_up = TimestampSigner(salt="other").sign_object([ada.pk, ada.email, NEW, 0])
    gone = NewAddress(ada.pk, "before@example.org", NEW, 0)
    for token, message in (
        (old, "older than 7 days"),
        (new.token[:-2], "not complete"),
        (made_up, "not complete"),
        ("x", "not complete"),
        (gone.token, "changed after this link"),
        (NewAddress(ada.pk + 1, "", NEW, 0).token, "changed after this link"),
    ):
        answer = client.post(f"/account/address/{token}/")
        assert (answer.status_code, message in words(answer.content.decode())) == (404, True), (
            message
        )
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"


def test_a_link_that_was_used_does_not_change_the_address_again(client: Client, ada: User) -> None:
    ask(client)
    path = f"/account/address/{NewAddress(ada.pk, ada.email, NEW, ada.mails.get().pk).token}/"
    assert [Client().post(path).status_code for _ in range(2)] == [200, 200]
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    answer = Client().post(path)
    assert (answer.status_code, "was used" in words(answer.content.decode())) == (404, True)
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"


def test_nobody_is_flooded_with_links(client: Client, ada: User) -> None:
    for i in range(MOST_A_DAY):
        assert "A link was mailed" in ask(client, f"ada{i}@example.org")
    assert "links were sent within a day" in ask(client, "more@example.org")
    assert ada.mails.count() == MOST_A_DAY


def test_a_page_older_than_the_new_address_asks_for_none(client: Client, ada: User) -> None:
    page = client.get("/account/").content.decode()
    assert 'name="initial-email" value="ada@example.org"' in page
    User.objects.filter(pk=ada.pk).update(email=NEW)
    fields = {"initial-email": "ada@example.org", "email": "ada@example.org", "time_zone": "UTC"}
    answer = client.post("/account/", fields, follow=True)
    assert "Saved." in words(answer.content.decode())
    ada.refresh_from_db()
    assert (ada.email, ada.mails.count()) == (NEW, 0)


def test_no_address_is_given_up_at_once(client: Client, ada: User) -> None:
    assert "Saved." in ask(client, "")
    ada.refresh_from_db()
    assert ada.email == ""
    assert "till then you get no mails" in ask(client)


def test_an_address_that_no_account_can_hold_is_refused_by_its_field(
    client: Client, ada: User
) -> None:
    long = "a" * 60 + "@" + ".".join(["b" * 60] * 4) + ".example.org"
    assert "at most 254 characters" in ask(client, long)
    assert not ada.mails.exists()
