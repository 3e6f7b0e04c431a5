"""However many people sign in, one password is hashed at a time, and pages go on."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth import authenticate
from django.db import connection
from django.test import Client, RequestFactory

from tests import make
from tests.accounts.signing_in.hashers import NotingHasher
from tests.operators import text_of
from tests.system.running import wait_for
from webapp.accounts.factors import HashingBusy
from webapp.accounts.limits import MOST_WAITING, Gate, gate
from webapp.accounts.models import User

_addresses = count(1)


@pytest.fixture
def address() -> str:
    """One that no other test used: the counts of wrong passwords outlive a test."""
    return f"198.51.100.{next(_addresses)}"


@contextmanager
def occupied(by: Gate, *, waiting: int) -> Iterator[None]:
    """One thread is inside the gate and ``waiting`` others wait there."""
    done, inside = threading.Event(), threading.Event()

    def pass_through() -> None:
        with by.passed():
            inside.set()
            done.wait(60)

    with ThreadPoolExecutor(waiting + 1) as threads, ExitStack() as after:
        after.callback(done.set)
        for _ in range(waiting + 1):
            threads.submit(pass_through)
        assert inside.wait(60)
        while by.there < waiting + 1:
            done.wait(0.01)
        yield


def test_one_is_inside_others_wait_and_the_next_is_turned_away_at_once() -> None:
    narrow = Gate(at_once=1, waiting=2, seconds=60)
    with occupied(narrow, waiting=2), pytest.raises(HashingBusy), narrow.passed():
        pass
    with narrow.passed():
        pass


def test_a_turn_that_does_not_come_in_time_is_given_up() -> None:
    narrow = Gate(at_once=1, waiting=5, seconds=0.05)
    with occupied(narrow, waiting=0), pytest.raises(HashingBusy), narrow.passed():
        pass
    with narrow.passed():
        pass


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/sign-in/", "/account/password/", "/sign-in/again/"])
def test_whoever_finds_the_gate_full_is_asked_to_come_again_later(page: str, address: str) -> None:
    client = Client()
    form = {"username": "ada", "password": "x", "old_password": "x"}
    user = make.user()
    if page != "/sign-in/":
        client.force_login(user)
    with occupied(gate, waiting=MOST_WAITING):
        refused = client.post(page, form, REMOTE_ADDR=address)
    assert refused.status_code == 503
    assert refused["Retry-After"] == "5"
    assert "Try again in 5 seconds" in text_of(refused)  # type: ignore[arg-type]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ada", "gone", "without", "nobody"])
def test_every_name_costs_one_hash_whether_it_exists_or_not(
    name: str, address: str, settings: Any
) -> None:
    """By the clock nobody learns which names there are."""
    settings.PASSWORD_HASHERS = ["tests.accounts.signing_in.hashers.NotingHasher"]
    make.user("ada")
    make.user("gone", is_active=False)
    User.objects.create_user("without", password=None)
    NotingHasher.noted.clear()
    request = RequestFactory().post("/", REMOTE_ADDR=address)
    assert authenticate(request, username=name, password="wrong") is None
    assert len(NotingHasher.noted) == 1


@contextmanager
def pool_of_one() -> Iterator[None]:
    """The threads of this process share one connection."""
    options = connection.settings_dict["OPTIONS"] | {"pool": {"max_size": 1, "min_size": 1}}
    connection.close()
    with patch.dict(connection.settings_dict, OPTIONS=options, CONN_MAX_AGE=0):
        try:
            yield
        finally:
            connection.close()
            connection.close_pool()


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_at_the_gate_holds_no_connection(address: str) -> None:
    """Who waits had it, to read the account."""
    user, signed_in = make.user(), []

    def sign_in() -> None:
        form = RequestFactory().post("/", REMOTE_ADDR=address)
        signed_in.append(authenticate(form, username="ada", password="a long password"))
        connection.close()

    waiting = threading.Thread(target=sign_in)
    with pool_of_one():
        with gate.passed():
            waiting.start()
            wait_for(lambda: gate.there == 2, seconds=60)
            assert User.objects.count() == 1
            connection.close()
        waiting.join()
    assert signed_in == [user]
