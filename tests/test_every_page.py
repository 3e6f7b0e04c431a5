"""Every page that links lead to, with real content: what readers are shown, no trace of its
template, and what caches may keep of it.
"""

import re
from functools import cache

import pytest
from django.test import Client

from tests import make
from tests.addresses import Address
from tests.approved import Approvals, changed_lines, read
from tests.remains import remains_in_html
from tests.test_every_address import OPERATOR, TRIAGER, VIEWER, rights
from tests.whole_site import corners, fill, kind_of, linked_from, pages_from
from webapp.accounts.models import User
from webapp.outbox.models import Endpoint
from webapp.pages import pictures

pytestmark = pytest.mark.django_db
SECRET_LINK = re.compile(r"/(?:feeds/subscription|unsubscribe)/[\w:-]{8,}")


@pytest.fixture
def reader() -> Client:
    """The operator of an instance with something on every page."""
    client = Client()
    client.force_login(fill())
    return client


def test_every_page_reads_as_it_was_approved(approved: Approvals) -> None:
    """As the operator is shown it, and what is another for who has no role and for a stranger."""
    operator, readers = fill(), {name: Client() for name in ("viewer", "stranger")}
    reader = Client()
    reader.force_login(operator)
    readers["viewer"].force_login(make.user("eve"))
    starts = ["/", *corners(operator)]
    texts: dict[str, str] = {}
    for address, html in pages_from(reader, *starts, of_each=1).items():
        shown = {"operator": read(html) or _shown(reader, address)}
        shown |= {name: _shown(other, address) for name, other in readers.items()}
        if address == "/status/":
            continue  # the state of this machine: tests/notifications/test_status.py
        name = kind_of(address) if address != "/nothing/here/" else "not_found"
        if name not in texts or address in starts:
            others = (
                f"\n=== {other}\n{changed_lines(shown['operator'], shown[other])}"
                for other in ("viewer", "stranger")
                if shown[other] != shown["operator"]
            )
            key = name if name not in texts else f"{name}-{starts.index(address)}"
            texts[key] = f"{address}\n{shown['operator']}{''.join(others)}"
    wrong = [approved.difference(f"site/{name}", text) for name, text in texts.items()]
    assert "\n".join(filter(None, wrong)) == ""


def _shown(reader: Client, address: str) -> str:
    answer = reader.get(address)
    return read(answer.content.decode()) or f"{answer.status_code} {answer.get('Location', '')}"


@cache
def walked(of_each: int) -> dict[str, str]:
    """The pages that the operator reaches, read once for the tests below; asked with the fixture
    ``reader``, which puts the same rows back for each.
    """
    reader = Client()
    reader.force_login(User.objects.get(username="ada"))
    return pages_from(reader, "/", of_each=of_each)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("of_each", [2, pytest.param(4, marks=pytest.mark.release)])
def test_no_page_shows_what_its_template_left(of_each: int) -> None:
    pages = walked(of_each)
    kinds = {kind_of(address) for address in pages}
    assert kinds >= {"alert", "bisect", "commit", "compare", "trends", "outbox", "subscription"}
    assert kinds >= {"events", "event", "event_new", "canaries", "canary", "knob"}
    wrong = {address: remains_in_html(html) for address, html in pages.items()}
    assert {address: found for address, found in wrong.items() if found} == {}


def test_no_page_with_a_lasting_secret_may_be_compressed(reader: Client) -> None:
    """What a stranger puts into a page must not reveal the rest of it by the size of the answer."""
    keys = [endpoint.secret for endpoint in Endpoint.objects.all()]
    holding = {
        address
        for address, page in walked(2).items()
        if SECRET_LINK.search(page) or any(key in page for key in keys)
    }
    assert "/subscriptions/" in holding
    kept = {address: reader.get(address).headers.get("Cache-Control", "") for address in holding}
    assert [address for address in kept if "no-transform" not in kept[address]] == []


def test_what_caches_may_keep_of_a_page(reader: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What htmx gets in part is kept apart from the whole page, nothing that was made for a person
    by a cache that others share, and pages that only a person may see by none at all.
    """
    # What a PNG shows: tests/pages/test_pictures.py
    monkeypatch.setattr(pictures, "png_bytes", lambda *_, **__: b"")
    wrong = []
    one_of_each = {kind_of(address): address for address in reversed(walked(2))}.values()
    for address in linked_from({address: walked(2)[address] for address in reversed(one_of_each)}):
        name, whole = kind_of(address), reader.get(address)
        # htmx fetches no pictures, which take a third of a second each.
        is_picture = whole.get("Content-Type", "").startswith("image/")
        part = whole if is_picture else reader.get(address, headers={"HX-Request": "true"})
        differs = whole.status_code != part.status_code or (
            (b"<html" in whole.content) != (b"<html" in part.content)
        )
        if differs and "HX-Request" not in whole.get("Vary", "") + part.get("Vary", ""):
            wrong.append(f"{address}: a part of it may be shown as the page")
        kept = whole.get("Cache-Control", "")
        if "private" not in kept:
            wrong.append(f"{address}: {kept or 'no reason'}")
        own = rights(Address(name, address, ("GET",)), "GET") in (VIEWER, TRIAGER, OPERATOR)
        if own and whole.status_code == 200 and "no-store" not in kept:
            wrong.append(f"{address}: {kept}, and a person's own")
    assert wrong == []
