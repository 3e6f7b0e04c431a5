"""Secrets of apps and recovery codes in the database, and other keys."""

import hmac
import importlib
import re
from hashlib import sha1
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.apps import apps
from django.db import connection
from django.test import Client

from tests import make
from tests.accounts.signing_in.steps import (
    RIGHT,
    SECRET,
    code_of_now,
    give_code,
    give_password,
    is_signed_in,
    new_address,
    recovery_codes,
    with_app,
)
from tests.operators import text_of
from webapp import encryption
from webapp.accounts.models import User
from webapp.accounts.services import reencrypt_factors
from webapp.notifications.services import checks

pytestmark = pytest.mark.django_db
OTHER = "another key, long enough to encrypt with"
APP, CODES = Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES
REMEDY = "SECRET_KEY_FALLBACKS"


@pytest.fixture
def ada(db: None) -> User:
    user = make.user("ada", role="operator")
    User.objects.filter(pk=user.pk).update(username=f"ada-{new_address()}")
    user.refresh_from_db()
    return with_app(user)


def asked_for_a_code(person: User) -> Client:
    """A browser that gave the password."""
    browser = Client(REMOTE_ADDR=new_address())
    give_password(browser, person.username)
    return browser


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(data::text, ' ' ORDER BY id) FROM mfa_authenticator")
        return str(cursor.fetchone()[0])


def first_code_of(seed: str) -> str:
    """As allauth derives it."""
    digest = hmac.new(seed.encode(), b"  0,", sha1).digest()
    return str(int.from_bytes(digest[:4]) % 10**8).zfill(8)


def test_the_database_holds_neither_the_secret_nor_the_seed(ada: User) -> None:
    seed = encryption.decrypt(Authenticator.objects.get(type=CODES).data["seed"])
    assert first_code_of(seed) == recovery_codes(ada)[0]
    assert SECRET not in stored()
    assert seed not in stored()


def test_the_session_holds_the_secret_of_a_new_app_encrypted_until_its_code_is_right() -> None:
    bob = make.user(f"bob-{new_address()}")
    browser = Client(REMOTE_ADDR=new_address())
    give_password(browser, bob.username)
    browser.post("/sign-in/again/", {"password": RIGHT})
    page = browser.get("/account/factors/app/").content.decode()
    found = re.search(r'class="secret">([A-Z2-7]{32})<', page)
    assert found
    secret = found[1]
    assert secret not in str(dict(browser.session))
    wrong = browser.post("/account/factors/app/", {"code": "000000"})
    assert secret in text_of(wrong)  # type: ignore[arg-type]
    assert secret not in str(dict(browser.session))
    code = code_of_now(secret=secret)
    browser.post("/account/factors/app/", {"code": code})
    app = Authenticator.objects.get(user=bob, type=APP)
    assert encryption.decrypt(app.data["secret"]) == secret
    assert totp.SECRET_SESSION_KEY not in browser.session
    other = Client(REMOTE_ADDR=new_address())
    give_password(other, bob.username)
    assert "Wrong code or key" in text_of(give_code(other, code))  # used up by the app's adding
    give_code(other, code_of_now(1, secret=secret))
    assert is_signed_in(other)


@pytest.mark.parametrize("case", ["another key", "stored in clear", "empty"])
def test_no_code_verifies_against_a_secret_that_cannot_be_read(
    case: str, ada: User, settings: Any
) -> None:
    right = recovery_codes(ada)[0]
    if case == "another key":
        settings.SECRET_KEY = OTHER
    else:
        empty = encryption.encrypt("")
        Authenticator.objects.filter(type=APP).update(
            data={"secret": SECRET if case == "stored in clear" else empty}
        )
        Authenticator.objects.filter(type=CODES).update(data={"seed": empty, "used_mask": 0})
    client = asked_for_a_code(ada)
    for code in (code_of_now(secret=""), first_code_of(""), code_of_now(), right):
        answer = give_code(client, code)
        assert answer.status_code == 200
        assert REMEDY in text_of(answer)
        assert not is_signed_in(client)


def test_guesses_are_counted_where_one_factor_cannot_be_read(ada: User, settings: Any) -> None:
    """Recovery codes that were made under the present key could be guessed."""
    settings.SECRET_KEY = OTHER
    client = asked_for_a_code(ada)
    statuses = [give_code(client, "00000000").status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_codes_of_the_present_key_sign_in_beside_an_app_of_a_lost_one(
    ada: User, settings: Any
) -> None:
    settings.SECRET_KEY = OTHER
    Authenticator.objects.filter(type=CODES).delete()
    RecoveryCodes.activate(ada)
    browser = asked_for_a_code(ada)
    give_code(browser, recovery_codes(ada)[0])
    assert is_signed_in(browser)


def test_a_former_key_opens_until_all_is_encrypted_anew(ada: User, settings: Any) -> None:
    before = recovery_codes(ada)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], OTHER
    assert recovery_codes(ada) == before
    assert reencrypt_factors() == 2
    settings.SECRET_KEY_FALLBACKS = []
    assert recovery_codes(ada) == before
    browser = asked_for_a_code(ada)
    give_code(browser, code_of_now())
    assert is_signed_in(browser)


def test_what_cannot_be_read_stays_and_every_place_names_the_remedy(
    ada: User, client: Client, settings: Any
) -> None:
    before = stored()
    settings.SECRET_KEY = OTHER
    client.force_login(ada)
    client.post(client.get("/account/factors/codes/")["Location"], {"password": RIGHT})
    assert reencrypt_factors() == 0
    assert stored() == before
    (check,) = (one for one in checks() if one.name == "Second factors without their key")
    assert (check.is_wrong, REMEDY in check.remedy) == (True, True)
    assert ada.username in check.text
    page = text_of(client.get("/account/factors/"))
    assert "cannot check its codes" in page
    assert "This instance cannot read them" in page
    assert REMEDY in text_of(client.get("/account/factors/codes/"))
    client.post("/account/factors/codes/new/")
    assert len(recovery_codes(ada)) == 10


def test_what_was_stored_in_clear_is_encrypted_once_by_the_migration(ada: User) -> None:
    seed = encryption.decrypt(Authenticator.objects.get(type=CODES).data["seed"])
    codes = recovery_codes(ada)
    Authenticator.objects.filter(type=APP).update(data={"secret": SECRET, "last_step": 7})
    Authenticator.objects.filter(type=CODES).update(data={"seed": seed, "used_mask": 0})
    migration = importlib.import_module("migrations.accounts.0006_encrypted_factors")
    migration.encrypt_secrets(apps, None)
    after = stored()
    assert SECRET not in after
    assert seed not in after
    app = Authenticator.objects.get(type=APP).data
    assert (encryption.decrypt(app["secret"]), app["last_step"]) == (SECRET, 7)
    assert recovery_codes(ada) == codes
    migration.encrypt_secrets(apps, None)
    assert stored() == after


@pytest.mark.django_db(transaction=True)
def test_a_session_of_a_former_key_opens_the_next_page_and_outlives_that_key(settings: Any) -> None:
    """Django stores such a session anew, and pages read in a transaction that cannot write."""
    browser = Client()
    browser.force_login(make.user("ada"))
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], OTHER
    assert browser.get("/account/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert browser.get("/account/").status_code == 200
