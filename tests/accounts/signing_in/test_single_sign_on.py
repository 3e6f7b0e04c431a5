"""Single sign-on by OpenID Connect: by settings alone, and nobody becomes somebody else by it."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from tests import make
from tests.accounts.signing_in.provider import ADA, asked_at, provider, sent_back, sign_on
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
from webapp.accounts.limits import ASKED
from webapp.accounts.models import User
from webapp.outbox.models import Mail

pytestmark = pytest.mark.django_db
EVE = {"email": "ada@example.org", "email_verified": False, "preferred_username": "ada"}


@pytest.fixture
def at(settings: Any) -> Iterator[str]:
    """A provider that knows Ada and Eve, who vouches for Ada's address."""
    with provider(settings, ada=ADA, eve=EVE, bob={"preferred_username": "bob b"}) as url:
        yield url


@pytest.fixture
def client() -> Client:
    return Client(REMOTE_ADDR=new_address())


@pytest.fixture
def ada(db: None) -> User:
    return make.user("ada", email="ada@example.org")


def connect(client: Client, sub: str = "ada") -> Any:
    """Of somebody who is signed in, with the password that is asked for."""
    again = sign_on(client, sub, process="connect")
    return client.post(again["Location"], {"password": RIGHT}, follow=True)


def test_without_settings_there_is_none(client: Client) -> None:
    assert "Sign in with Lab" not in client.get("/sign-in/").content.decode()
    assert client.post("/sign-in/oidc/").status_code == 404
    assert client.get("/sign-in/oidc/callback/?code=x&state=y").status_code == 404


def test_who_connected_an_account_signs_in_by_it(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    assert "Your account is connected." in text_of(connect(client))
    assert Mail.objects.get().data["what"] == "Your account was connected with single sign-on."
    client.post("/sign-out/")
    assert "Sign in with Lab accounts" in text_of(client.get("/sign-in/"))  # type: ignore[arg-type]
    assert sign_on(client, "ada", next="/alerts/")["Location"] == "/alerts/"
    assert client.get("/account/").context["user"] == ada
    assert SocialAccount.objects.get().extra_data == {"name": "ada.l"}


@pytest.mark.parametrize("sub", ["ada", "eve", "bob"])
def test_an_address_connects_nobody_whether_the_provider_vouches_for_it_or_not(
    sub: str, at: str, client: Client, ada: User
) -> None:
    refused = sign_on(client, sub)
    assert refused.status_code == 403
    assert ("An account here has the address ada@example.org" in text_of(refused)) == (sub == "ada")
    assert not is_signed_in(client)
    assert list(User.objects.values_list("username", "email")) == [("ada", "ada@example.org")]
    assert not SocialAccount.objects.exists()


def test_newcomers_get_a_viewers_account_where_the_settings_allow_it(
    at: str, client: Client, ada: User, settings: Any
) -> None:
    settings.OIDC_ACCOUNTS = True
    assert sign_on(client, "ada").status_code == 403  # has an account, to be connected
    sign_on(client, "eve")
    eve = client.get("/account/").context["user"]
    assert (eve.role, eve.email) == (User.Role.VIEWER, "")  # an address that did not answer
    assert eve != ada
    assert eve.username != "ada"
    assert not eve.has_usable_password()
    other = Client(REMOTE_ADDR=new_address())
    sign_on(other, "bob")
    User.objects.filter(pk=ada.pk).delete()
    third = Client(REMOTE_ADDR=new_address())
    sign_on(third, "ada")
    assert third.get("/account/").context["user"].email == "ada@example.org"
    page = text_of(third.get("/account/factors/"))  # type: ignore[arg-type]
    assert "You sign in with Lab accounts" in page
    again = Client(REMOTE_ADDR=new_address())
    sign_on(again, "eve")
    assert again.get("/account/").context["user"] == eve


def test_a_second_factor_is_asked_for_all_the_same(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    connect(client)
    client.post("/sign-out/")
    with_app(ada)
    assert sign_on(client, "ada")["Location"] == "/sign-in/code/"
    assert not is_signed_in(client)
    give_code(client, code_of_now())
    assert is_signed_in(client)


def test_another_provider_has_other_people(
    at: str, client: Client, ada: User, settings: Any
) -> None:
    give_password(client, "ada")
    connect(client)
    client.post("/sign-out/")
    with provider(settings, ada={}):
        assert sign_on(client, "ada").status_code == 403
    assert not is_signed_in(client)


def test_an_account_is_connected_by_who_shows_to_be_its_person(
    at: str, client: Client, ada: User
) -> None:
    client.force_login(ada)
    assert sign_on(client, "eve", process="connect")["Location"].startswith("/sign-in/again/")
    assert not SocialAccount.objects.exists()


def test_an_identity_belongs_to_one_account(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    connect(client)
    other = Client(REMOTE_ADDR=new_address())
    make.user("bob")
    give_password(other, "bob")
    assert "Another account is connected" in text_of(connect(other))
    assert SocialAccount.objects.get().user == ada


def test_a_connection_is_removed_by_who_has_a_password(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    connect(client)
    form = {"account": SocialAccount.objects.get().pk}
    password = ada.password
    User.objects.update(password="!")
    client.force_login(User.objects.get())
    page = client.post("/account/factors/oidc/remove/", form, follow=True)
    assert "without single sign-on you could not sign in" in text_of(page)
    User.objects.update(password=password)
    client.force_login(User.objects.get())
    again = client.post("/account/factors/oidc/remove/", form)["Location"]
    assert "is disconnected" in text_of(client.post(again, {"password": RIGHT}, follow=True))
    assert not SocialAccount.objects.exists()


def test_who_is_not_active_stays_out(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    connect(client)
    client.post("/sign-out/")
    User.objects.update(is_active=False)
    assert "not active" in text_of(client.get(sign_on(client, "ada")["Location"]))  # type: ignore[arg-type]
    assert not is_signed_in(client)


def test_another_browsers_answer_signs_nobody_in(at: str, client: Client, ada: User) -> None:
    """Else a page could sign its visitor in as somebody else, who then reads what is typed."""
    give_password(client, "ada")
    connect(client)
    client.post("/sign-out/")
    back = sent_back(asked_at(client), "ada")
    victim = Client(REMOTE_ADDR=new_address())
    assert "failed" in text_of(victim.get(back, follow=True))  # type: ignore[arg-type]
    assert not is_signed_in(victim)
    assert victim.get("/sign-in/oidc/").status_code == 405


def test_the_way_there_has_a_state_a_challenge_and_no_other_host(at: str, client: Client) -> None:
    to = asked_at(client, next="https://evil.example/", scope="admin", auth_params="prompt=none")
    query = parse_qs(urlsplit(to).query)
    assert to.startswith(f"{at}/oauth2/authorize?")
    assert query["redirect_uri"] == ["http://testserver/sign-in/oidc/callback/"]
    assert query["code_challenge_method"] == ["S256"]
    assert sorted(query["scope"][0].split()) == ["email", "openid", "profile"]
    assert len(query["state"][0]) >= 16


def test_next_leads_to_no_other_site(at: str, client: Client, ada: User) -> None:
    give_password(client, "ada")
    connect(client)
    client.post("/sign-out/")
    assert sign_on(client, "ada", next="https://evil.example/")["Location"] == "/"


def test_a_provider_that_is_away_or_refuses_is_named(
    at: str, client: Client, settings: Any
) -> None:
    to = asked_at(client)
    state = parse_qs(urlsplit(to).query)["state"][0]  # this provider forgets it where it refuses
    back = f"{sent_back(to, '', action='deny')}&state={state}"
    assert "Lab accounts was cancelled" in text_of(client.get(back, follow=True))  # type: ignore[arg-type]
    settings.OIDC_URL = "http://localhost:9"
    page = client.post("/sign-in/oidc/", follow=True)
    assert "Lab accounts does not answer now" in text_of(page)  # type: ignore[arg-type]


def test_a_stranger_makes_the_server_ask_so_often_a_minute(at: str, client: Client) -> None:
    statuses = [client.post("/sign-in/oidc/").status_code for _ in range(ASKED.amount + 2)]
    assert statuses == [200] * ASKED.amount + [429] * 2
