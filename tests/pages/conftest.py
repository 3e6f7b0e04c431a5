"""What the tests of pages share."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from html import unescape
from typing import Protocol

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.kept import forget_drawn, kept
from webapp.accounts.models import User
from webapp.results.models import Revision


class Counted(Protocol):
    """How many statements the page at an address needs."""

    def __call__(self, address: str, *, again: bool = False) -> int: ...


@pytest.fixture
def visit(client: Client) -> Callable[[str], str]:
    """The page at an address as text, its tags removed: what a reader reads."""

    def read(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200, f"{address}: {response.status_code}"
        return words(response.content.decode())

    return read


@pytest.fixture
def queries(client: Client) -> Counted:
    """How many statements a page needs where nothing drawn is kept, or ``again``."""

    def count(address: str, *, again: bool = False) -> int:
        if not again:
            forget_drawn()
        captured: AbstractContextManager[CaptureQueriesContext] = CaptureQueriesContext(connection)
        with captured as statements:
            assert client.get(address).status_code == 200
        return len(statements)

    return count


@pytest.fixture
def tess(client: Client) -> Client:
    """A browser in which a triager is signed in."""
    client.force_login(make.user("tess", role=User.Role.TRIAGER))
    return client


def words(html: str) -> str:
    """The text of a page, white space collapsed."""
    without = re.sub(r"<(script|style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(without).split())


@pytest.fixture
@kept
def along() -> list[Revision]:
    """Two series on one machine over four revisions; pf loses 10 % at the third."""
    revisions = make.revisions(4)
    make.history(make.series(in_mode="forwarding"), revisions, [1000] * 4)
    make.history(make.series(in_mode="pf"), revisions, [500, 500, 450, 450])
    return revisions


@pytest.fixture
@kept
def loss() -> list[Revision]:
    """Six revisions: pf loses a tenth at the fourth, with its finding, alert and analysis."""
    revisions = make.revisions(6)
    series = make.series(in_mode="pf")
    make.history(series, revisions, [100.0] * 3 + [90.0] * 3)
    alert = make.alert(revisions[3], after=revisions[2])
    make.finding(series, revisions[2], revisions[3], alert=alert)
    levels = [make.segment(revisions[0], revisions[2], 100.0)]
    noise = make.noise(run_pct=0.8)
    make.analysis(series, count=6, segments=levels, noise=noise, why_not="Nothing newer.")
    return revisions


@pytest.fixture
@kept
def pair() -> tuple[Revision, Revision]:
    """The published case: forwarding and ipfw gain, pf loses."""
    before, after = make.revision("r303642"), make.revision("r303643", subject="Implement backoff")
    for mode, percent in (("forwarding", 82.5), ("ipfw", 19.7), ("pf", -11.4)):
        series = make.series(in_mode=mode)
        make.pair(series, before, after, percent=percent)
        for revision in (before, after):
            make.run(revision, in_mode=mode)
        make.known_builds(series)
    return before, after


def changed(percent: float) -> list[float]:
    """Five samples that much off `make.FIVE_SAMPLES`, and as scattered."""
    return [value * (1 + percent / 100) for value in make.FIVE_SAMPLES]
