"""What operators see of mails and webhooks, and that nobody else does."""

import re
from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests import make
from tests.approved import Approvals
from tests.pages.conftest import Counted, words
from tests.smtp import Mode, mail_server
from webapp.accounts.models import User
from webapp.outbox.models import Endpoint, Mail, MailServer
from webapp.outbox.services import endpoints
from webapp.outbox.smtp import SMTP

pytestmark = pytest.mark.django_db
Visit = Callable[[str], str]


@pytest.fixture
def operator(client: Client) -> User:
    user = make.user("op", is_staff=True, email="op@example.org")
    client.force_login(user)
    return user


@pytest.fixture
def hook(settings: Any, db: None) -> Endpoint:
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1, 2**16)]
    by = User.objects.filter(username="op").first() or make.user("adder")
    url = "http://127.0.0.1:1/hook"
    return endpoints.add_endpoint(name="ci", url=url, allow_private=True, by=by)


def mail(about: str, **fields: Any) -> Mail:
    to = User.objects.filter(username="ada").first() or make.user("ada", email="ada@example.org")
    return Mail.objects.create(
        recipient=to, kind="alert.opened", about=about, **({"due": timezone.now()} | fields)
    )


def dead(about: str = "alert:1") -> Mail:
    return mail(about, state="dead", attempts=3, reason="550 nobody there", ended_at=timezone.now())


ADDRESSES = [
    ("get", "/outbox/"),
    ("get", "/outbox/1/"),
    ("post", "/outbox/act/"),
    ("post", "/outbox/test/"),
    ("get", "/webhooks/"),
    ("post", "/webhooks/"),
    ("get", "/webhooks/1/"),
    ("post", "/webhooks/1/act/"),
]


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_strangers_are_asked_to_sign_in_and_others_are_refused(
    client: Client, method: str, address: str
) -> None:
    stranger = getattr(client, method)(address)
    assert stranger.status_code == 302
    assert stranger["Location"].startswith("/sign-in/?next=")
    client.force_login(make.user("nobody"))
    assert getattr(client, method)(address).status_code == 403


def test_the_outbox_states_what_waits_and_what_failed_and_why(
    client: Client, operator: User, visit: Visit, approved: Approvals
) -> None:
    mail("alert:1")
    dead("alert:2")
    approved("pages/outbox/the-outbox-states-what-waits-and-what-failed", client.get("/outbox/"))
    assert "alert:1" not in visit("/outbox/?state=dead")
    assert "No mail fits" in visit("/outbox/?to=bob")


def test_the_outbox_states_that_the_server_is_away(
    client: Client, operator: User, approved: Approvals
) -> None:
    now = timezone.now()
    MailServer.objects.create(
        pk=1,
        failures=2,
        failing_since=now - timedelta(minutes=5, seconds=1),
        next_try=now + timedelta(minutes=1),
        reason="Connection refused.",
    )
    approved("pages/outbox/the-outbox-states-that-the-server-is-away", client.get("/outbox/"))


def test_a_page_of_the_outbox_needs_the_same_statements_for_one_mail_and_for_fifty(
    operator: User, queries: Counted
) -> None:
    dead()
    one = queries("/outbox/")
    for number in range(60):
        dead(f"alert:{number + 10}")
    assert queries("/outbox/") == one


def test_older_mails_are_on_the_next_page(operator: User, client: Client) -> None:
    for number in range(51):
        mail(f"alert:{number}")
    page = client.get("/outbox/").content.decode()
    assert "before=" in page
    assert "alert:0" not in page


def test_one_mail_shows_what_was_sent(operator: User, visit: Visit) -> None:
    sent = mail(
        "alert:1", composed_at=timezone.now(), subject="Slower", text="11 % slower", state="sent"
    )
    assert "11 % slower" in visit(f"/outbox/{sent.pk}/")
    assert "composed when it is sent" in visit(f"/outbox/{mail('alert:2').pk}/")


def test_mails_given_up_are_sent_again_and_others_dropped(operator: User, client: Client) -> None:
    first, second, third = dead("alert:1"), dead("alert:2"), mail("alert:3")
    client.post("/outbox/act/", {"act": "retry", "mail": [first.pk]})
    client.post("/outbox/act/", {"act": "drop", "mail": [third.pk]})
    for row in (first, second, third):
        row.refresh_from_db()
    assert [row.state for row in (first, second, third)] == ["waiting", "dead", "dropped"]
    assert third.reason == "Dropped by op."
    client.post("/outbox/act/", {"act": "retry", "mail": [third.pk]})
    third.refresh_from_db()
    assert (third.state, third.data) == ("waiting", {})
    odd = client.post("/outbox/act/", {"act": "dance", "mail": [first.pk]}, follow=True)
    assert "Choose what to do" in odd.content.decode()
    client.post("/outbox/act/", {"act": "retry-all"})
    second.refresh_from_db()
    assert second.state == "waiting"


def test_a_mail_being_sent_is_not_dropped_under_its_sender(operator: User, client: Client) -> None:
    claimed = mail("alert:1", state="claimed", claim="0" * 32)
    client.post("/outbox/act/", {"act": "drop", "mail": [claimed.pk]})
    claimed.refresh_from_db()
    assert claimed.state == "claimed"


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        (Mode.ACCEPT, "The test mail to op@example.org left."),
        (Mode.REFUSE, "did not leave. The server answered 550 5.1.1 nobody of that name."),
        (Mode.REFUSE_SENDER, "set DRIFTLINE_EMAIL_FROM"),
    ],
)
def test_a_test_mail_states_how_it_went(
    operator: User, client: Client, settings: Any, mode: Mode, message: str
) -> None:
    with mail_server() as server:
        server.mode = mode
        settings.EMAIL_BACKEND = SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        form = {"address": "op@example.org"}
        page = client.post("/outbox/test/", form, follow=True).content.decode()
    assert message in words(page)
    assert len(server.mails) == (mode is Mode.ACCEPT)


def test_no_page_shows_the_password(operator: User, client: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = SMTP
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "relay-user", "hidden-word"
    page = client.get("/outbox/").content.decode()
    assert "relay-user" in page
    assert "hidden-word" not in page


def test_a_secret_is_shown_when_it_is_made_and_never_again(
    operator: User, client: Client, hook: Endpoint
) -> None:
    form = {"name": "chat", "url": hook.url, "kinds": "alert.opened", "allow_private": "yes"}
    answer = client.post("/webhooks/", form)
    made = Endpoint.objects.get(name="chat")
    assert made.secret in answer.content.decode()
    assert made.kinds == ["alert.opened"]
    for address in ("/webhooks/", f"/webhooks/{made.pk}/"):
        assert made.secret not in client.get(address).content.decode()
    renewed = client.post(f"/webhooks/{made.pk}/act/", {"act": "renew-secret"})
    before = made.secret
    made.refresh_from_db()
    assert made.secret != before
    assert made.secret in renewed.content.decode()


def test_an_endpoint_that_cannot_be_is_refused_with_what_was_typed(
    operator: User, client: Client
) -> None:
    form = {"name": "chat", "url": "http://127.0.0.1/", "kinds": ""}
    answer = client.post("/webhooks/", form)
    assert answer.status_code == 400
    at_field = r'aria-invalid="true" aria-errormessage="url-error">\s*<p [^>]*id="url-error">'
    reason = "127.0.0.1 is 127.0.0.1, which is not a public"
    assert re.search(f"{at_field}{reason}", answer.content.decode())
    assert 'value="chat"' in answer.content.decode()


def test_a_kind_that_nothing_is_sent_of_is_refused_with_those_that_there_are(
    operator: User, client: Client
) -> None:
    for kinds in ("alert.opened, alert.recoverd", "alert.opened alert.moved"):
        form = {"name": "chat", "url": "https://1.1.1.1/", "kinds": kinds}
        answer = client.post("/webhooks/", form)
        assert answer.status_code == 400
        assert "alert.recovered, alert.returned" in words(answer.content.decode())
    assert not Endpoint.objects.exists()


def test_an_endpoint_is_disabled_and_enabled_and_its_log_shows_what_was_sent(
    operator: User, client: Client, hook: Endpoint, visit: Visit, approved: Approvals
) -> None:
    act = f"/webhooks/{hook.pk}/act/"
    client.post(act, {"act": "ping"})
    assert "waiting ping" in visit(f"/webhooks/{hook.pk}/")
    client.post(act, {"act": "disable"})
    approved(
        "pages/outbox/an-endpoint-is-disabled-and-enabled-and-its-log",
        client.get(f"/webhooks/{hook.pk}/"),
    )
    late = client.post(act, {"act": "ping"}, follow=True)  # another tab
    assert "is disabled; enable it first." in late.content.decode()
    client.post(act, {"act": "enable"})
    assert "enabled" in visit(f"/webhooks/{hook.pk}/")


def test_an_endpoint_is_changed_and_what_is_wrong_with_the_change_is_stated(
    operator: User, client: Client, hook: Endpoint
) -> None:
    page = f"/webhooks/{hook.pk}/"
    Endpoint.objects.update(failures=3, next_try=timezone.now() + timedelta(hours=1))
    form = {"name": "renamed", "url": "https://1.1.1.1/in", "kinds": "alert.moved"}
    refused = client.post(page, form | {"url": "http://127.0.0.1/"})
    assert refused.status_code == 400
    assert 'id="url-error">127.0.0.1 is 127.0.0.1, which is not' in refused.content.decode()
    assert Endpoint.objects.get().name == hook.name
    assert client.post(page, form).status_code == 302
    changed = Endpoint.objects.get()
    assert (changed.name, changed.url, changed.kinds) == (
        "renamed",
        "https://1.1.1.1/in",
        ["alert.moved"],
    )
    assert (changed.secret, changed.failures, changed.next_try) == (hook.secret, 0, None)
    assert 'value="https://1.1.1.1/in"' in client.get(page).content.decode()


def test_an_endpoint_is_deleted_once_it_is_disabled(
    operator: User, client: Client, hook: Endpoint
) -> None:
    act = f"/webhooks/{hook.pk}/act/"
    client.post(act, {"act": "ping"})
    early = client.post(act, {"act": "delete"}, follow=True)
    assert "is enabled; disable it first." in words(early.content.decode())
    client.post(act, {"act": "disable"})
    gone = client.post(act, {"act": "delete"}, follow=True)
    assert "is deleted." in words(gone.content.decode())
    assert not Endpoint.objects.exists()
