"""A process killed while it decides, re-files or records leaves what was, or what was meant.

Each act runs in a process of its own and is stopped by a lock where it has written a part; then it
is killed for real.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from tests.conftest import environment_of_the_database
from tests.documents import run_document
from tests.places import PROJECT
from tests.results.steps import upload
from tests.servers import LOCKS
from tests.system.running import wait_for
from webapp.events.models import LabEvent
from webapp.launcher.management.commands.digest import digest
from webapp.results.models import Point, RevisionAlias, Series, WaitingRun
from webapp.results.services import forget_names

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
HASH = "97be6fced7d"
SECONDS = 60

DECIDE = """
from webapp.results.models import WaitingRun
from webapp.results.services import decide_waiting
runs = list(WaitingRun.objects.open().values_list("run__uuid", flat=True))
decide_waiting(runs=runs, choice="kernel", by=None, rule="a test")
"""
REFILE = """
from webapp.results.services.reidentifying import reidentify
reidentify(tree_name="freebsd-head")
"""
RECORD = """
from datetime import datetime, timezone
from webapp.events.services import EventFields, record_event
from webapp.results.models import Hardware
fields = EventFields(
    kind="hardware", text="a new NIC", hardware=Hardware.objects.get(), begins_epoch=True,
    happened_at=datetime(2026, 1, 2, tzinfo=timezone.utc),
)
record_event(fields=fields, source="person", external_id="one")
"""


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


def begun(act: str) -> "subprocess.Popen[bytes]":
    """A process that does ``act``."""
    code = f"import django; django.setup()\n{act}"
    settings = {"DJANGO_SETTINGS_MODULE": "webapp.config.settings"}
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment_of_the_database() | settings
    )


@contextmanager
def held(table: str) -> Iterator[None]:
    """Nobody else reads or writes ``table`` inside."""
    given = connection.settings_dict
    with psycopg.connect(host=given["HOST"], dbname=given["NAME"], user=given["USER"]) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        yield


def count(query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])


def backends() -> int:
    """Connections to the test's database besides this one."""
    return count(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )


def content() -> list[str]:
    """All that is stored, and which series wait to be analysed."""
    dirty = Series.objects.filter(dirty_from__isnull=False).order_by("pk").values_list("pk")
    return [*map(str, digest()), str(list(dirty))]


def killed_in(act: str, table: str) -> None:
    """Do ``act`` until it waits for ``table``, then kill it; return when its connection is gone.

    A live server of tests before this one may keep connections of its own.
    """
    others = backends()
    with held(table):
        process = begun(act)
        waiting = f"{LOCKS} WHERE NOT granted AND relation = '{table}'::regclass"
        wait_for(lambda: bool(count(f"SELECT count(*) FROM ({waiting}) AS _")), SECONDS)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    wait_for(lambda: backends() <= others, SECONDS)


def check(act: str, table: str) -> None:
    """Killed, it leaves what was; done after that, it does the whole, and done twice no more."""
    before = content()
    killed_in(act, table)
    assert content() == before
    assert begun(act).wait(SECONDS) == 0
    after = content()
    assert after != before
    assert begun(act).wait(SECONDS) == 0
    assert content() == after


def wait_for_a_decision(number: int, **fields: str) -> None:
    evidence = {"label": "fbsd12-r309257", "label_revision": "r309257", **fields}
    upload(run_document(revision="r309257", evidence=evidence, build_id=f"build {number}"))


@pytest.mark.parametrize(
    "table", [pytest.param("results_point", marks=pytest.mark.release), "results_waitingrun"]
)
def test_deciding_a_waiting_directory(table: str) -> None:
    upload(run_document(revision="r303643"))
    for number in range(3):
        wait_for_a_decision(number, kernel_revision="r303643")
    assert WaitingRun.objects.open().count() == 3
    check(DECIDE, table)
    assert WaitingRun.objects.open().count() == 0
    assert Point.objects.get().runs == 4


def test_refiling_by_imported_history() -> None:
    for number in range(3):
        found = {"label": "fbsd12", "label_revision": "r303640", "kernel_hash": HASH}
        upload(run_document(revision="r303640", evidence=found, build_id=f"build {number}"))
    upload(run_document(revision="r303643"))
    commit = Point.objects.get(revision__name="r303643").revision
    RevisionAlias.objects.create(tree=commit.tree, revision=commit, name=f"{HASH}{'0' * 29}")
    check(REFILE, "results_point")
    assert Point.objects.get().runs == 4


def test_recording_an_event_that_begins_an_epoch() -> None:
    for number in (1, 2, 3):
        at = f"2026-01-0{number}T00:00:00Z"
        upload(run_document(revision=f"r30000{number}", measured_at=at))
    Series.objects.update(dirty_from=None, dirty_since=None)
    check(RECORD, "results_series")
    assert LabEvent.objects.count() == 1
    assert Series.objects.get().dirty_from == 0
