"""Secrets of webhooks and URLs of channels in the database, and other keys."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client

from tests import make
from webapp.notifications.services import checks
from webapp.outbox.deadlines import Deadline
from webapp.outbox.models import Endpoint, HookDelivery
from webapp.outbox.services import post_event, reencrypt_secrets
from webapp.outbox.services.delivering import DeliveryError, post_delivery

pytestmark = pytest.mark.django_db
URL = "slack://T1/B2/the-key"


@pytest.fixture
def chat() -> Endpoint:
    return Endpoint.objects.create(name="chat", url=URL)


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(one::text, ' ') FROM outbox_endpoint AS one")
        return str(cursor.fetchone()[0])


def test_the_database_holds_neither_the_secret_nor_the_url(chat: Endpoint) -> None:
    found = Endpoint.objects.get()
    assert (found.url, found.secret, found.is_channel) == (URL, chat.secret, True)
    assert "the-key" not in stored()
    assert chat.secret not in stored()


def test_a_former_key_still_opens_what_it_encrypted_until_all_is_encrypted_anew(
    chat: Endpoint, settings: Any
) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, long enough to encrypt with"
    assert Endpoint.objects.get().url == URL
    assert reencrypt_secrets() == 1
    settings.SECRET_KEY_FALLBACKS = []
    found = Endpoint.objects.get()
    assert (found.url, found.secret) == (URL, chat.secret)


def test_without_its_key_nothing_is_sent_and_every_place_names_the_remedy(
    settings: Any, client: Client
) -> None:
    hook = Endpoint.objects.create(name="ci", url="https://ci.example/")
    post_event(kind="alert.opened", about="alert:1", payload={})
    before = stored()
    settings.SECRET_KEY = "a key that nothing was encrypted with"
    delivery = HookDelivery.objects.select_related("endpoint").get()
    with pytest.raises(DeliveryError, match="add that key to SECRET_KEY_FALLBACKS"):
        post_delivery(delivery, Deadline(5))
    (check,) = (one for one in checks() if one.name == "Webhooks without their key")
    assert check.is_wrong
    client.force_login(make.user("op", role="operator"))
    for address in ("/webhooks/", hook.get_absolute_url()):
        assert "SECRET_KEY_FALLBACKS" in client.get(address).content.decode()
    assert reencrypt_secrets() == 0
    with pytest.raises(ValueError, match="SECRET_KEY_FALLBACKS"), transaction.atomic():
        Endpoint.objects.get().save()
    assert stored() == before


def test_a_key_of_the_environment_is_rotated_there(chat: Endpoint, settings: Any) -> None:
    settings.SECRET_KEY_GIVEN, settings.SECRET_KEY_FALLBACKS = True, []
    with pytest.raises(CommandError, match="SECRET_KEY_FALLBACKS"):
        call_command("rotate_secrets")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, long enough to encrypt with"
    output = io.StringIO()
    call_command("rotate_secrets", stdout=output)
    assert "secrets of 1 webhooks and channels, 0 second factors" in output.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    assert Endpoint.objects.get().url == URL
