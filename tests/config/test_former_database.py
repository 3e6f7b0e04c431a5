"""A database of the schema before the first release."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


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
