"""Every page that links lead to, with real content, shows no trace of its template."""

import pytest
from django.test import Client

from tests.remains import remains_in_html
from tests.whole_site import fill, kind_of, pages_from

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> Client:
    """The operator of an instance with something on every page."""
    client = Client()
    client.force_login(fill())
    return client


@pytest.mark.parametrize("of_each", [2, pytest.param(4, marks=pytest.mark.long)])
def test_no_page_shows_what_its_template_left(reader: Client, of_each: int) -> None:
    pages = pages_from(reader, "/", of_each=of_each)
    kinds = {kind_of(address) for address in pages}
    assert kinds >= {"alert", "bisect", "commit", "compare", "trends", "outbox", "subscription"}
    assert kinds >= {"events", "event", "event_new", "canaries", "canary", "knob"}
    wrong = {address: remains_in_html(html) for address, html in pages.items()}
    assert {address: found for address, found in wrong.items() if found} == {}
