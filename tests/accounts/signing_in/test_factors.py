"""Who has a second factor is asked for it wherever a session begins; a code opens once."""

import socket
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.test import Client

from tests import make
from tests.accounts.signing_in.steps import (
    RIGHT,
    code_of_now,
    give_code,
    give_password,
    is_signed_in,
    new_address,
    recovery_codes,
    with_app,
)
from tests.operators import text_of
from webapp.accounts.models import User
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db
WRONG = "000000"
HOSTILE = [
    "",
    "x",
    "[]",
    "7",
    "null",
    "{}",
    '{"id": 1}',
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {}}',
    (
        '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "AA", '
        '"authenticatorData": "AA", "signature": "AA", "userHandle": "AA"}}'
    ),
    (
        '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "e30", '
        '"attestationObject": "oA"}}'
    ),
    '{"id": "\\u0000", "rawId": [], "type": 3, "response": [1]}',
]
LIMITED = [200] * 5 + [429]


@pytest.fixture
def ada(db: None) -> User:
    user = make.user("ada", role="operator", email="ada@example.org")
    # Numbers of rows come again in each test, and names are counted for an hour.
    User.objects.filter(pk=user.pk).update(username=f"ada-{new_address()}")
    user.refresh_from_db()
    return with_app(user)


@pytest.fixture
def client() -> Client:
    return Client(REMOTE_ADDR=new_address())


@pytest.fixture
def signed_in(client: Client, ada: User) -> Client:
    give_password(client, ada.username)
    give_code(client, code_of_now())
    return client


def test_a_password_alone_opens_nothing(client: Client, ada: User) -> None:
    answer = give_password(client, ada.username)
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/code/")
    for address in ("/account/", "/admin/", "/account/factors/", "/api/v1/canaries"):
        client.get(address)
    assert not is_signed_in(client)
    assert client.get("/admin/")["Location"].startswith("/admin/login/")
    assert client.post("/api/v1/aliases", "{}", content_type="application/json").status_code == 401


def test_the_code_of_the_app_signs_in_and_leads_on(client: Client, ada: User) -> None:
    form = {"username": ada.username, "password": RIGHT, "next": "/alerts/?state=all"}
    client.post("/sign-in/", form)
    before = client.session.session_key
    assert give_code(client, code_of_now())["Location"] == "/alerts/?state=all"
    assert is_signed_in(client)
    assert client.session.session_key != before


def test_a_code_opens_once(client: Client, ada: User) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False):
        code = code_of_now()
        for wanted in (True, False):
            browser = Client(REMOTE_ADDR=new_address())
            give_password(browser, ada.username)
            give_code(browser, code)
            assert is_signed_in(browser) is wanted
        # Nor one that the app showed before.
        give_password(client, ada.username)
        assert "Wrong code or key" in text_of(give_code(client, code_of_now(-1)))
        give_code(client, code_of_now(1))
        assert is_signed_in(client)


def test_a_recovery_code_opens_once(ada: User) -> None:
    code = recovery_codes(ada)[0]
    for wanted in (True, False):
        browser = Client(REMOTE_ADDR=new_address())
        give_password(browser, ada.username)
        give_code(browser, code)
        assert is_signed_in(browser) is wanted
    assert len(recovery_codes(ada)) == 9


def test_codes_are_not_guessed_from_wherever(ada: User) -> None:
    """Whoever guesses them knows the password: that delays, and keeps nobody out."""
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        statuses = []
        for _ in range(6):
            thief = Client(REMOTE_ADDR=new_address())
            give_password(thief, ada.username)
            statuses.append(give_code(thief, WRONG).status_code)
        assert statuses == LIMITED
        refused = give_code(thief, code_of_now())
        assert "Too many wrong codes" in text_of(refused)
        clock.shift(timedelta(seconds=int(refused["Retry-After"]) + 1))
        give_code(thief, code_of_now())
        assert is_signed_in(thief)


def test_nor_slowly_over_hours(ada: User) -> None:
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        thief = Client(REMOTE_ADDR=new_address())
        give_password(thief, ada.username)
        statuses = []
        for _ in range(40):
            clock.shift(timedelta(seconds=15))
            statuses.append(give_code(thief, WRONG).status_code)
        assert statuses == [200] * 30 + [429] * 10


def test_a_browser_that_knows_the_person_is_not_delayed_by_others(
    signed_in: Client, ada: User
) -> None:
    signed_in.post("/sign-out/")
    for _ in range(7):
        thief = Client(REMOTE_ADDR=new_address())
        give_password(thief, ada.username)
        give_code(thief, WRONG)
    give_password(signed_in, ada.username)
    give_code(signed_in, recovery_codes(ada)[0])
    assert is_signed_in(signed_in)


def test_without_redis_codes_are_asked_and_taken_once_all_the_same(
    client: Client, ada: User, settings: Any
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"redis://127.0.0.1:{free.getsockname()[1]}/0"
        settings.REDIS_URL = nowhere
        settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": nowhere}}
        code = code_of_now()
        give_password(client, ada.username)
        give_code(client, code)
        assert is_signed_in(client)
        other = Client(REMOTE_ADDR=new_address())
        give_password(other, ada.username)
        assert give_code(other, code).status_code == 200
        assert not is_signed_in(other)


def test_signing_in_as_somebody_else_ends_the_session_before_a_code_is_asked(
    client: Client, ada: User
) -> None:
    client.force_login(make.user("bob"))
    give_password(client, ada.username)
    assert not is_signed_in(client)
    give_code(client, code_of_now())
    assert client.get("/account/").context["user"] == ada


CHANGES = [
    ("GET", "/account/factors/app/"),
    ("GET", "/account/factors/keys/"),
    ("GET", "/account/factors/codes/"),
    ("POST", "/account/factors/app/remove/"),
    ("POST", "/account/factors/codes/new/"),
]


@pytest.mark.parametrize(("method", "address"), CHANGES)
def test_whoever_found_a_browser_open_changes_no_factor(
    method: str, address: str, ada: User, signed_in: Client
) -> None:
    if address.endswith("/app/"):
        Authenticator.objects.filter(type=Authenticator.Type.TOTP).delete()
    before = list(Authenticator.objects.order_by("pk").values())
    answer = signed_in.generic(method, address)
    assert answer["Location"].startswith("/sign-in/again/?next=")
    again = answer["Location"]
    statuses = [signed_in.post(again, {"password": "wrong"}).status_code for _ in range(6)]
    assert statuses == LIMITED
    assert list(Authenticator.objects.order_by("pk").values()) == before


def test_the_app_is_removed_by_who_shows_to_be_the_person_who_is_mailed(
    ada: User, signed_in: Client
) -> None:
    again = signed_in.post("/account/factors/app/remove/")["Location"]
    done = signed_in.post(again, {"password": RIGHT}, follow=True)
    assert "The app is removed." in text_of(done)
    assert not Authenticator.objects.exists()  # recovery codes alone are no second factor
    assert Mail.objects.get(kind="account.changed").data == {
        "to": "ada@example.org",
        "what": "The authenticator app of your account was removed.",
    }


def test_factors_of_others_are_not_there(signed_in: Client, ada: User) -> None:
    other = Authenticator.objects.create(
        user=make.user("bob"), type=Authenticator.Type.WEBAUTHN, data={"name": "b"}
    )
    address = f"/account/factors/keys/{other.pk}/remove/"
    again = signed_in.post(address)["Location"]
    assert signed_in.post(again, {"password": RIGHT}).status_code == 404
    assert Authenticator.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize("answer", HOSTILE)
def test_what_no_key_answered_is_refused(answer: str, ada: User) -> None:
    stranger = Client(REMOTE_ADDR=new_address())
    challenge = {"headers": {"Accept": "application/json"}}
    assert "request_options" in stranger.get("/sign-in/passkey/", **challenge).json()
    assert stranger.post("/sign-in/passkey/", {"credential": answer})["Location"] == "/sign-in/"
    give_password(stranger, ada.username)
    assert stranger.post("/sign-in/code/", {"credential": answer}).status_code == 200
    assert not is_signed_in(stranger)
    give_code(stranger, code_of_now())
    again = stranger.get("/account/factors/keys/")["Location"]
    stranger.post(again, {"password": RIGHT})
    assert stranger.get("/account/factors/keys/").status_code == 200
    assert stranger.post("/account/factors/keys/", {"credential": answer}).status_code == 200
    assert not Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).exists()


def test_an_operator_removes_the_factors_of_who_lost_them(ada: User, client: Client) -> None:
    client.force_login(make.user("olga", role="operator"))
    form = {"action": "remove_factors", "_selected_action": [str(ada.pk)]}
    assert "with the password alone" in text_of(client.post("/admin/accounts/user/", form))
    assert Authenticator.objects.exists()
    client.post("/admin/accounts/user/", {**form, "confirmed": "1"})
    assert not Authenticator.objects.exists()


def test_so_does_a_command_where_no_operator_is_left(ada: User, client: Client) -> None:
    call_command("remove_factors", ada.username)
    give_password(client, ada.username)
    assert is_signed_in(client)
    with pytest.raises(CommandError, match="nobody"):
        call_command("remove_factors", "nobody")


def test_the_admin_shows_no_secret_of_a_factor(client: Client, ada: User) -> None:
    client.force_login(ada)
    assert "allauth" not in client.get("/admin/").content.decode()
    for app in ("mfa", "socialaccount", "account"):
        assert client.get(f"/admin/{app}/").status_code == 404
