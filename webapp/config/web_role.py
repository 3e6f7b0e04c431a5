"""The role of the database that the web server signs in as: it reads and writes rows, and can
neither change the schema nor what the audit log holds.

`migrate`, commands and workers use the role that owns the tables.
"""

from typing import Any

from django.conf import settings
from django.db import connection
from psycopg import sql

LOG = "accounts_auditentry"


def grant_to_web_role(**options: Any) -> None:
    """Give the role its rights on every table, after those of `migrate` are there; idempotent.

    A receiver of ``post_migrate``. The role is made where it is missing and the owner may make it.
    """
    role = settings.WEB_DATABASE.get("USER", "")
    if options.get("plan") is None or not role:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
        if cursor.fetchone() is None:
            _create(cursor, role, settings.WEB_DATABASE.get("PASSWORD", ""))
        grant(cursor, role)


def grant(cursor: Any, role: str) -> None:
    """All rows of all tables and sequences of the schema; entries of the log are only added."""
    cursor.execute("SELECT quote_ident(current_schema())")
    schema = cursor.fetchone()[0]
    name = sql.Identifier(role).as_string(None)
    for statement in (
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name}",
        f"GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
        f"REVOKE UPDATE, DELETE ON {LOG} FROM {name}",
    ):
        cursor.execute(statement)


def _create(cursor: Any, role: str, password: str) -> None:
    statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
    cursor.execute(statement.format(sql.Identifier(role), sql.Literal(password)).as_string(None))
