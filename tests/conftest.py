"""Fixtures for all tests. The servers come from `tests.servers`."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import hypothesis
import pytest
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.backends.signals import connection_created
from django.db.models.expressions import Col
from django.dispatch import receiver
from django.test import override_settings
from psycopg._preparing import PrepareManager

from tests.kept import forget_drawn, migrated, write
from tests.places import PROJECT, TEMPLATE
from tests.remains import every_name_resolves
from tests.smtp import MailServer, mail_server
from tests.system.running import System
from webapp.bisects import draft
from webapp.config.celery import app
from webapp.outbox.smtp import SMTP

# What is loaded lives as long as the run: to look through it for garbage as often as Python does
# costs more than the garbage.
gc.set_threshold(100_000, 20, 50)

# The suite tries the same examples each time, so that a change alone can fail it, and each example
# may take as long as a busy machine needs. `make fuzz` draws others, by the second profile. The
# agent's tests, which go without Django, have the same two: where both run, the later one counts.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=10_000, database=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

MANY_ROWS = 1 << 20
"""Bytes of a table."""


class KeptPlans(PrepareManager):
    """The statements that a connection prepared, also after a transaction was rolled back.

    psycopg forgets them then, for what they name may be gone. Each test is rolled back, and asks
    what the one before it asked: two thirds of PostgreSQL's work was to plan that again.
    """

    prepared_max = 1000

    def clear(self) -> bool:
        return False


@receiver(connection_created)
def keep_plans(connection: Any, **_: Any) -> None:
    """Let a connection prepare what it is asked a second time, if it is to prepare anything."""
    if connection.connection.prepare_threshold is not None:
        connection.connection._prepared = KeptPlans()
        connection.connection.prepare_threshold = 1


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Clone each process's database from the one that `tests.servers` migrated."""
    connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE


@pytest.fixture(scope="session", autouse=True)
def quick_flushes(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Empty the tables that a test wrote to, and no others: to truncate all makes a file for each
    of 300 tables and indexes, a quarter of a second a test. Many rows are truncated as ever, for
    deleted ones stay in the way. What migrations wrote is there again afterwards, permissions and
    content types among it: to ask for each of them whether it is there was most of the time.
    """
    truncate, execute = DatabaseOperations.sql_flush, DatabaseOperations.execute_sql_flush

    def sql_flush(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        rows = " UNION ALL ".join(
            f"SELECT '{table}', pg_relation_size('{table}')"
            f' WHERE EXISTS (SELECT 1 FROM "{table}")'
            for table in tables
        )
        with connection.cursor() as cursor:
            cursor.execute(rows)
            sizes = dict(cursor.fetchall())
        if options["reset_sequences"] or any(size > MANY_ROWS for size in sizes.values()):
            return truncate(self, style, tables, **options)
        # Without the checks of foreign keys, in any order
        return [
            "SET LOCAL session_replication_role = replica",
            *(f'DELETE FROM "{table}"' for table in sizes),
        ]

    def execute_sql_flush(self: Any, statements: list[str]) -> None:
        execute(self, statements)
        write(migrated())
        forget_drawn()

    with django_db_blocker.unblock():
        migrated()
    # In the class: browser tests have a connection of their own.
    with (
        patch.multiple(
            DatabaseOperations, sql_flush=sql_flush, execute_sql_flush=execute_sql_flush
        ),
        patch.object(flush, "emit_post_migrate_signal"),
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def static_files_on_demand() -> Iterator[None]:
    """Look for a static file when it is asked for. A server reads all of them once, as it starts;
    each of the thousands of test clients would, in 40 ms.
    """
    with override_settings(WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> Iterator[None]:
    """Hash passwords in one round: the third of a second that a real hash takes proves nothing."""
    with override_settings(PASSWORD_HASHERS=["tests.accounts.signing_in.hashers.QuickHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def short_forecasts() -> Iterator[None]:
    """Forecast bisects from a few simulated ones; most tests of bisects read no forecast."""
    with patch.multiple(draft, TRIALS_BEFORE=2, TRIALS_WHILE=1):
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_columns() -> Iterator[None]:
    """Compare columns by what they are made of. Django binds the signature of their constructor for
    each column of each ordered statement, which took a tenth of the time of pages.
    """
    identity = property(lambda column: (Col, column.alias, column.target, column.output_field))
    with patch.object(Col, "identity", identity):
        yield


@pytest.fixture(scope="session", autouse=True)
def loud_templates() -> Iterator[None]:
    """Fail where a template names what is not there, instead of leaving a gap."""
    with every_name_resolves():
        yield


@pytest.fixture
def worker(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """A real Celery worker with its scheduler on the test's database.

    What other tests queued is gone before. The sweep comes often, as it does for users: a message
    may be lost, its work may not.
    """
    cache.clear()
    app.control.purge()
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "-A", "webapp.config.celery", "worker"),
                *("--loglevel=info", "--concurrency=1", "--without-mingle", "--without-gossip"),
                "--beat",
            ],
            cwd=PROJECT,
            env=environment_of_the_database() | {"DRIFTLINE_SWEEP_SECONDS": "5"},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        _wait_for_answer(process, log)
        yield
    finally:
        # With its processes; it would take seconds to end by itself, and nothing is kept.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def environment_of_the_database() -> dict[str, str]:
    """The environment of a process that is to work on the test's database."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{quote(database['HOST'])}/{database['NAME']}"
    return os.environ | {"DATABASE_URL": url}


def _wait_for_answer(process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + 30
    while not app.control.ping(timeout=0.5):
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"The worker did not start:\n{log.read_text(errors='replace')}")


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    """The mail server that Driftline is set to use."""
    with mail_server() as running:
        settings.EMAIL_BACKEND = SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A whole instance of its own, for tests that upload with the agent or break something."""
    with System.started(tmp_path_factory.mktemp("system") / "state") as running:
        yield running
