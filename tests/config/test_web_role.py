"""The role of the web server: rows, and neither the schema nor what the audit log holds."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from tests.accounts.test_audit import by
from webapp.accounts.models import AuditEntry
from webapp.accounts.services import prune_entries
from webapp.config.apps import grant
from webapp.config.instance import WEB_ROLE
from webapp.labs.models import Lab

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_web() -> Iterator[None]:
    """The transaction goes on as the role of the web server, which the tests' server has."""
    with connection.cursor() as cursor:
        grant(cursor, WEB_ROLE)
        cursor.execute(f"SET LOCAL ROLE {WEB_ROLE}")
        yield
        cursor.execute("RESET ROLE")


def refused(statement: str) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        return isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege)
    return False


@pytest.mark.usefixtures("as_web")
def test_rows_are_written_with_their_entries_and_old_entries_are_pruned() -> None:
    with by("one"):
        Lab.objects.create(name="netlab").delete()
    assert AuditEntry.objects.count() == 2
    assert prune_entries(days=30, most=10) == 0


@pytest.mark.usefixtures("as_web")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_auditentry SET actor = 'somebody else'",
        "DELETE FROM accounts_auditentry",
        "TRUNCATE accounts_auditentry",
        "ALTER TABLE accounts_auditentry DISABLE TRIGGER ALL",
        "DROP TRIGGER driftline_audit_update ON labs_lab",
        "CREATE OR REPLACE FUNCTION driftline_audit() RETURNS trigger LANGUAGE sql AS ''",
        "ALTER TABLE labs_lab ADD COLUMN other int",
        "CREATE TABLE other (id int)",
        "DROP TABLE labs_token",
    ],
)
def test_neither_the_schema_nor_the_log_is_changed(statement: str) -> None:
    with by("one"):
        Lab.objects.create(name="netlab")
    for setting in ("", "SET LOCAL driftline.audit_retention = 'on'; "):
        assert refused(setting + statement)
