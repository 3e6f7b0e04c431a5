"""Wrong passwords delay whoever tries them, and lock nobody out."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client, override_settings

from tests import make
from tests.operators import text_of
from webapp.accounts.models import User

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "a long password", "another password"
_addresses = count(1)


@pytest.fixture
def address() -> str:
    """One that no other test used: the counts outlive a test."""
    return f"192.0.2.{next(_addresses)}"


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return make.user(role="operator")


@pytest.fixture(params=["with Redis", "without Redis"])
def redis(request: pytest.FixtureRequest, settings: Any) -> Iterator[None]:
    """In the second case a port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        if request.param == "without Redis":
            settings.REDIS_URL = f"redis://127.0.0.1:{free.getsockname()[1]}/0"
        yield


def knock(
    client: Client,
    address: str,
    password: str = WRONG,
    *,
    name: str = "ada",
    **headers: Any,
) -> HttpResponse:
    form = {"username": name, "password": password}
    return client.post("/sign-in/", form, REMOTE_ADDR=address, headers=headers)  # type: ignore[return-value]


def is_in(response: HttpResponse) -> bool:
    return response.status_code == 302


def test_after_five_wrong_passwords_the_sixth_is_not_looked_at(redis: None, address: str) -> None:
    statuses = [knock(Client(), address).status_code for _ in range(60)]
    assert statuses == [200] * 5 + [429] * 55
    refused = knock(Client(), address, RIGHT)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert f"Try again in {refused['Retry-After']} second" in text_of(refused)


def test_the_admin_has_no_door_of_its_own(address: str) -> None:
    """It would ask for no second factor."""
    answer = Client().post(
        "/admin/login/?next=/admin/labs/", {"username": "ada", "password": RIGHT}
    )
    assert answer["Location"] == "/sign-in/?next=/admin/labs/"
    assert knock(Client(), address, RIGHT).status_code == 302


def test_whoever_tries_a_name_delays_nobody_at_another_address(redis: None, address: str) -> None:
    for _ in range(10):
        knock(Client(), address)
    assert is_in(knock(Client(), f"198.51.100.{address.rpartition('.')[2]}", RIGHT))


def test_the_right_password_is_taken_again_within_a_minute(redis: None, address: str) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        for _ in range(10):
            refused = knock(Client(), address)
        clock.shift(timedelta(seconds=int(refused["Retry-After"]) + 1))
        assert is_in(knock(Client(), address, RIGHT))


def test_refused_tries_do_not_lengthen_the_wait(address: str) -> None:
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        for _ in range(5):
            knock(Client(), address)
        for _ in range(5):
            clock.shift(timedelta(seconds=11))
            assert knock(Client(), address).status_code == 429
        clock.shift(timedelta(seconds=11))
        assert is_in(knock(Client(), address, RIGHT))


def test_a_browser_in_which_one_signed_in_before_is_not_delayed_by_others(
    redis: None, address: str
) -> None:
    """Even from the same address: that of an office, or of a proxy that is not trusted."""
    own = Client()
    knock(own, address, RIGHT)
    own.post("/sign-out/")
    for name in ["ada"] * 10 + [f"guess-{number}" for number in range(30)]:
        knock(Client(), address, name=name)
    assert knock(Client(), address, RIGHT).status_code == 429
    assert is_in(knock(own, address, RIGHT))


def test_a_known_browser_has_a_limit_too_and_is_known_for_one_name_only(address: str) -> None:
    make.user("bob")
    own = Client()
    knock(own, address, RIGHT)
    statuses = [knock(own, address).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    statuses = [knock(own, address, name="bob").status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_a_forged_cookie_of_a_browser_counts_for_nothing(address: str) -> None:
    client = Client()
    knock(client, address, RIGHT)
    [name] = [name for name in client.cookies if "browser" in name]
    for number in range(5):
        forged = Client()
        forged.cookies[name] = client.cookies[name].value.replace(":", f":{number}")
        knock(forged, address)
    assert knock(Client(), address).status_code == 429


def test_one_address_does_not_try_one_password_with_every_name(redis: None, address: str) -> None:
    names = [f"name-{number}" for number in range(30)]
    statuses = [knock(Client(), address, name=name).status_code for name in names]
    assert statuses == [200] * 20 + [429] * 10


def test_signing_in_with_an_account_of_ones_own_does_not_reset_the_count(address: str) -> None:
    make.user("mallory")
    for _ in range(5):
        knock(Client(), address)
        knock(Client(), address, RIGHT, name="mallory")
    assert knock(Client(), address).status_code == 429


def test_a_name_that_does_not_exist_is_counted_as_one_that_does(address: str) -> None:
    statuses = [knock(Client(), address, name="nobody").status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_one_ipv6_network_is_one_address() -> None:
    statuses = [
        knock(Client(), f"2001:db8:0:{next(_addresses) // 1000}::{number:x}").status_code
        for number in range(1, 7)
    ]
    assert statuses == [200] * 5 + [429]


def test_a_clock_that_was_set_back_keeps_nobody_out(address: str) -> None:
    with time_machine.travel("2026-03-04T12:00:00Z", tick=False):
        for _ in range(6):
            knock(Client(), address)
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False):
        assert is_in(knock(Client(), address, RIGHT))


def test_the_client_is_whom_the_nearest_trusted_proxy_names(address: str) -> None:
    with override_settings(PROXIES=1):
        for number in range(6):
            last = knock(
                Client(), "127.0.0.1", **{"x-forwarded-for": f"10.0.0.{number}, {address}"}
            )
        assert last.status_code == 429
        other = {"x-forwarded-for": "203.0.113.5"}
        assert is_in(knock(Client(), "127.0.0.1", RIGHT, **other))


def test_without_a_trusted_proxy_nobody_names_an_address_for_himself(address: str) -> None:
    for number in range(6):
        last = knock(Client(), address, **{"x-forwarded-for": f"10.0.0.{number}"})
    assert last.status_code == 429


def test_the_present_password_is_not_guessed_on_the_page_that_changes_it(address: str) -> None:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    form = {"new_password1": "yet another one 7", "new_password2": "yet another one 7"}
    statuses = [
        client.post(
            "/account/password/", {**form, "old_password": WRONG}, REMOTE_ADDR=address
        ).status_code
        for _ in range(8)
    ]
    assert statuses == [200] * 5 + [429] * 3


def test_the_admin_has_no_other_page_that_changes_a_password() -> None:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    assert client.get("/admin/password_change/")["Location"] == "/account/password/"
