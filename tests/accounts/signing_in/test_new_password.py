"""A forgotten password: a link by mail, which shows nobody who has an account."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from tests import make
from tests.accounts.signing_in.steps import (
    RIGHT,
    code_of_now,
    give_code,
    give_password,
    is_signed_in,
    new_address,
    with_app,
)
from tests.operators import text_of
from tests.pages.conftest import words
from tests.smtp import MailServer
from webapp.accounts.limits import ASKED
from webapp.accounts.models import User
from webapp.notifications.mails.notices import MOST_A_DAY
from webapp.outbox import services, smtp
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db
ASK, NEW = "/sign-in/forgotten/", "quite another one 7"
FORM = dict.fromkeys(("password1", "password2"), NEW)


@pytest.fixture
def ada(db: None) -> User:
    return make.user("ada", email="Ada@example.org")


@pytest.fixture
def client(settings: Any) -> Client:
    settings.EMAIL_BACKEND = smtp.SMTP
    settings.PUBLIC_URL = "https://perf.example.org/"
    return Client(REMOTE_ADDR=new_address())


def ask(client: Client, address: str = "ada@example.org", **more: Any) -> Any:
    return client.post(ASK, {"email": address}, follow=True, **more)


def links(server: MailServer) -> list[str]:
    """The links that were mailed, oldest first."""
    services.send_due_mails()
    texts = [mail.get_body(("plain",)).get_content() for mail in server.mails]  # type: ignore[union-attr]
    return [url for text in texts for url in re.findall(r"http\S+/new-password/\S+", text)]


def path_of(link: str) -> str:
    return "/" + link.partition("://")[2].partition("/")[2]


def test_a_mailed_link_sets_a_new_password_once(
    server: MailServer, client: Client, ada: User
) -> None:
    other = Client()
    other.force_login(ada)
    ask(client, headers={"host": "localhost"})
    (link,) = links(server)
    assert server.mails[0]["To"] == "Ada@example.org"
    assert link.startswith("https://perf.example.org/sign-in/new-password/")
    strict = Client(enforce_csrf_checks=True)
    form = strict.get(path_of(link))["Location"]
    assert link.rpartition("-")[2] not in form  # else other pages got it as their referrer
    assert strict.post(form, FORM).status_code == 403
    client.get(path_of(link))
    assert "too short" in text_of(client.post(form, {"password1": "x1", "password2": "x1"}))
    done = client.post(form, FORM, follow=True)
    assert "Your password is changed." in text_of(done)
    assert not is_signed_in(client)
    assert not is_signed_in(other)
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    again = Client().get(path_of(link))
    assert "This link was used" in text_of(again)  # type: ignore[arg-type]
    services.send_due_mails()
    assert [mail["Subject"] for mail in server.mails][1:] == [
        "[driftline] Your password was set anew by mail."
    ]


def test_a_second_factor_is_asked_for_after_a_new_password(
    server: MailServer, client: Client, ada: User
) -> None:
    with_app(ada)
    ask(client)
    form = client.get(path_of(links(server)[0]))["Location"]
    client.post(form, FORM)
    answer = client.post("/sign-in/", {"username": "ada", "password": NEW})
    assert answer["Location"] == "/sign-in/code/"
    assert not is_signed_in(client)
    give_code(client, code_of_now())
    assert is_signed_in(client)


def test_the_answer_is_the_same_whether_an_account_has_the_address(
    server: MailServer, client: Client, ada: User
) -> None:
    make.user("gone", email="gone@example.org", is_active=False)
    User.objects.create_user("by-provider", email="sso@example.org", password=None)
    names = ("ada@example.org", "nobody@example.org", "gone@example.org", "sso@example.org")
    answers = [ask(client, name) for name in names]
    assert len({words(answer.content.decode()) for answer in answers}) == 1
    assert "a link was mailed to it" in text_of(answers[0])
    assert len(links(server)) == 1
    assert [mail["To"] for mail in server.mails] == ["Ada@example.org"]


@pytest.mark.parametrize("lookalike", ["ada@example.org\u200b", "ada@exampl\u0435.org"])
def test_a_lookalike_of_an_address_gets_nothing(
    lookalike: str, server: MailServer, client: Client, ada: User
) -> None:
    ask(client, lookalike)
    assert links(server) == []


def test_a_flood_fills_no_mailbox_and_leaves_a_link_that_holds(
    server: MailServer, ada: User, client: Client
) -> None:
    for _ in range(MOST_A_DAY + 4):
        answer = ask(Client(REMOTE_ADDR=new_address()))
        assert "a link was mailed" in text_of(answer)
    assert len(links(server)) == MOST_A_DAY
    form = client.get(path_of(links(server)[0]))["Location"]
    assert "Your password is changed." in text_of(client.post(form, FORM, follow=True))


def test_one_address_asks_so_often_a_minute(client: Client) -> None:
    most = ASKED.amount
    statuses = [ask(client, f"{number}@example.org").status_code for number in range(most + 2)]
    assert statuses == [200] * most + [429] * 2


def test_a_link_ends_after_a_day_and_by_signing_in(
    server: MailServer, client: Client, ada: User
) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        ask(client)
        ask(client)
        first, _ = links(server)
        give_password(client, "ada")  # by who remembers it after all
        assert "This link was used" in text_of(Client().get(path_of(first)))  # type: ignore[arg-type]
        client.post("/sign-out/")
        ask(client)
        *_, third = links(server)
        assert Client().get(path_of(third)).status_code == 302
        clock.shift(timedelta(days=1, minutes=1))
        assert "older than a day" in text_of(Client().get(path_of(third)))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["1-x", "zzzzzzzzzzzz-abc-def", "0-set-password", "é-1"])
def test_a_made_up_link_is_refused(key: str) -> None:
    uid, _, rest = key.partition("-")
    answer = Client().get(f"/sign-in/new-password/{uid}/{rest}/")
    assert answer.status_code in (200, 404)


def test_a_link_goes_to_no_address_that_the_account_left(
    server: MailServer, client: Client, ada: User
) -> None:
    ask(client)
    User.objects.update(email="new@example.org")
    assert links(server) == []
    assert Mail.objects.get().state == Mail.State.DROPPED


def test_where_no_mail_leaves_the_page_names_who_helps(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    page = text_of(Client().get(ASK))  # type: ignore[arg-type]
    assert "into the log, to nobody" in page
    assert "An operator can set a new password" in page


def test_whoever_changes_the_password_is_mailed(server: MailServer, ada: User) -> None:
    client = Client()
    client.force_login(ada)
    form = {"old_password": RIGHT} | dict.fromkeys(("new_password1", "new_password2"), NEW)
    client.post("/account/password/", form)
    services.send_due_mails()
    assert [mail["Subject"] for mail in server.mails] == ["[driftline] Your password was changed."]
