"""Pages answer though what they show changes while they read it: between any two statements."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest
from django.core.cache import cache
from django.db import InternalError, close_old_connections, connection, connections, transaction
from django.test import Client

from tests import whole_site
from tests.alerts.steps import arrive, runs_of
from tests.results.steps import analyse
from webapp.config.middleware import snapshot
from webapp.results.models import Run, Tree
from webapp.results.services import withdraw_run

pytestmark = pytest.mark.django_db(transaction=True)

Change = Callable[[], None]
READ_MOST = ("alert", "commit", "trends"), ("alerts", "bisect", "experiment", "hardware")
"""What is measured meanwhile shows on these; all pages read in the same way, and the second portion
is tried before a release.
"""

API = ["/api/v1/alerts", "/api/v1/series", "/api/v1/hardware"]
"""These read no snapshot."""


class World:
    """A lab that goes on measuring, withdrawing and deciding, from a connection of its own."""

    def __init__(self) -> None:
        self._revision, self._machine = 5030, 0
        self.failed: Exception | None = None
        self._does = cycle([self.measure, self.withdraw, self.begin_a_machine, self.withdraw_all])
        self._thread = ThreadPoolExecutor(1)

    def change(self) -> None:
        """The next thing that happens; done when this returns."""
        try:
            self._thread.submit(self._act, next(self._does)).result()
        except Exception as error:  # not to be taken for the page's
            self.failed = error
            raise

    def end(self) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    def _act(self, change: Change) -> None:
        close_old_connections()
        change()
        analyse()

    def measure(self) -> None:
        """Three more revisions at another level: findings arise, move, and are reported."""
        factor = 0.8 if self._revision % 2 else 1.25
        places = {("Atom/T540", "forwarding"): {0: factor}, ("Xeon/T580", "pf"): {0: 1 / factor}}
        arrive(runs_of(places, count=3, first=self._revision))
        self._revision += 3

    def withdraw(self) -> None:
        """Findings of the newest runs are retracted, and their alerts closed."""
        newest = Run.objects.counted().filter(hardware__name__in=["Atom/T540", "Xeon/T580"])
        for run in newest.order_by("-id")[:6]:
            withdraw_run(run=run, by=None, reason="a bad cable")

    def begin_a_machine(self) -> None:
        self._machine += 1
        places = {(f"Machine-{self._machine}/X", "pf"): {8: 0.7}}
        arrive(runs_of(places, count=12, first=5010))

    def withdraw_all(self) -> None:
        """A series that had a chart has nothing any more."""
        for run in Run.objects.counted().filter(hardware__name=f"Machine-{self._machine}/X"):
            withdraw_run(run=run, by=None, reason="not this machine")


@contextmanager
def changed_before(number: int, world: World) -> Iterator[list[str]]:
    """Let the world change before a statement of that number; the statements, as they come."""
    seen: list[str] = []

    def statement(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        if len(seen) == number:
            world.change()
        return execute(sql, *rest)

    with connection.execute_wrapper(statement):
        yield seen


@pytest.fixture
def world() -> Iterator[World]:
    one = World()
    yield one
    one.end()


def broken(reader: Client, address: str, world: World) -> list[str]:
    """The statements of a page before which a change breaks it."""
    found, number = [], 1
    while True:
        cache.clear()
        with changed_before(number, world) as seen:
            answer: Any = reader.get(address)
        assert world.failed is None
        if answer.status_code >= 500:
            where = traceback.extract_tb(answer.exc_info[2])[-3:]
            found.append(f"{address} before statement {number}: {answer.exc_info[1]!r} {where}")
        if len(seen) < number:
            return found
        number += 1


def test_the_front_page_outlives_a_change_between_any_two_of_its_statements(world: World) -> None:
    whole_site.fill()

    assert not broken(Client(raise_request_exception=False), "/?show=all", world)


@pytest.mark.parametrize(
    ("kinds", "answers"),
    [
        pytest.param(READ_MOST[0], API, marks=pytest.mark.long),
        pytest.param(READ_MOST[1], [], marks=pytest.mark.release),
    ],
)
def test_a_page_outlives_a_change_between_any_two_of_its_statements(
    world: World, kinds: Sequence[str], answers: Sequence[str]
) -> None:
    reader = Client(raise_request_exception=False)
    reader.force_login(whole_site.fill())
    found = whole_site.pages_from(reader, "/", of_each=1)
    addresses = [one for one in found if whole_site.kind_of(one) in kinds]

    assert len(addresses) == len(kinds)
    found_broken = [each for one in (*addresses, *answers) for each in broken(reader, one, world)]
    assert not found_broken, "\n".join(found_broken)


def test_a_snapshot_shows_one_moment_and_writes_nothing() -> None:
    with ThreadPoolExecutor(1) as other, snapshot():
        assert Tree.objects.count() == 0
        other.submit(_store_a_tree).result()
        assert Tree.objects.count() == 0
        with pytest.raises(InternalError, match="read-only"), transaction.atomic():
            Tree.objects.create(name="second")

    assert list(Tree.objects.values_list("name", flat=True)) == ["first"]
    Tree.objects.create(name="third")  # the connection writes again


def _store_a_tree() -> None:
    Tree.objects.create(name="first")
    connections.close_all()
