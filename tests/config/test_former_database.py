"""A database of the schema before the first release, and one that two machines migrate at once."""

import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.conftest import environment_of_the_database
from tests.places import PROJECT
from tests.servers import LOCKS
from tests.system.running import wait_for
from webapp.launcher.management.commands.migrate import LOCK

pytestmark = pytest.mark.django_db
WAITING = f"{LOCKS} WHERE locktype = 'advisory' AND NOT granted"


def test_a_database_of_an_unreleased_schema_is_refused_before_anything_is_touched() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE regressions_finding (id bigint)")
    with pytest.raises(CommandError, match=r"(?s)unreleased version.*upload its runs again"):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_a_database_of_migrations_that_became_part_of_others_is_refused_too() -> None:
    MigrationRecorder(connection).record_applied("results", "0001_trees_runs_series")
    with pytest.raises(CommandError, match=r"(?s)unreleased version.*upload its runs again"):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_a_database_of_this_schema_is_migrated() -> None:
    call_command("migrate", verbosity=0, skip_checks=False)


@pytest.mark.django_db(transaction=True)
def test_of_two_machines_that_start_the_second_migrates_after_the_first() -> None:
    """Two at once grant rights on the same rows, and PostgreSQL refuses one of them."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(LOCK)
        with subprocess.Popen(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"],
            cwd=PROJECT,
            env=environment_of_the_database(),
        ) as second:

            def waits() -> bool:
                cursor.execute(WAITING)
                return cursor.fetchone() is not None

            wait_for(waits, 60)
            assert second.poll() is None
            cursor.execute("COMMIT")
            assert second.wait(60) == 0
