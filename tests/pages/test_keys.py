"""One key, one meaning: the table of keys, and who uses it."""

import re

import pytest
from django.test import Client

from tests import make
from tests.browser.keys import SOURCE, table
from tests.places import PROJECT
from webapp.accounts.models import User

TEMPLATES = PROJECT / "webapp" / "templates"
SCRIPTS = PROJECT / "static" / "js"


def keys() -> set[str]:
    return {key for key, _, _ in table()}


def test_a_key_has_one_meaning() -> None:
    assert len(keys()) == len(table()) > 20
    assert SOURCE.read_text().count("{ key:") == len(table())


def test_every_key_of_a_page_stands_in_the_table() -> None:
    used = {
        key
        for file in TEMPLATES.rglob("*.html")
        for key in re.findall(r'data-key="([^"]+)"', file.read_text())
    }
    handled = {
        key
        for file in SCRIPTS.rglob("*.js")
        for key in re.findall(r'\bhandle\("([^"]+)"', file.read_text())
    }
    assert {"a", "e", "n", "u", "z", "m", "b"} <= used
    assert used | handled <= keys()


def test_every_key_at_a_foot_or_on_a_button_stands_in_the_table() -> None:
    capped = {
        key
        for file in TEMPLATES.rglob("*.html")
        for key in re.findall(r"<kbd>([^<{]+)</kbd>", file.read_text())
    }
    single = {part for key in keys() for part in key.split()} | {"Esc"}
    assert {part for key in capped for part in key.split()} <= single


@pytest.mark.django_db
def test_letters_are_switched_off_in_the_account(client: Client) -> None:
    person = make.user("ada")
    client.force_login(person)
    assert "data-single-keys" not in client.get("/").content.decode()
    form = {"email": "", "initial-email": "", "aliases": "", "time_zone": "UTC"}
    client.post("/account/", form)
    assert not User.objects.get(pk=person.pk).single_keys
    assert '<html lang="en" data-single-keys="off">' in client.get("/").content.decode()
    client.post("/account/", {**form, "single_keys": "on"})
    assert User.objects.get(pk=person.pk).single_keys
