"""Wires what must be in place in every process that runs Django: Celery, what one room asks of
another that it must not import, the triggers of the audit log, and the role of the database that
the web server signs in as, which reads and writes rows and can change neither the schema nor what
the audit log holds. `migrate`, commands and workers use the role that owns the tables.
"""

import gc
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import post_migrate
from psycopg import sql


class WiringConfig(AppConfig):
    """Makes our Celery application the current one, and registers the system checks."""

    name = "webapp.config"
    label = "wiring"

    def ready(self) -> None:
        """Import for the side effect: without it `task.delay()` would look for a broker on AMQP."""
        from webapp.config import audited, celery, checks  # noqa: F401, PLC0415

        audited.connect_signals()
        _connect_rooms()
        # Sent for apps with models only, and once all tables are there
        accounts = apps.get_app_config("accounts")
        post_migrate.connect(audited.install_triggers, sender=accounts, dispatch_uid="audit")
        post_migrate.connect(grant_to_web_role, sender=accounts, dispatch_uid="web role")

        # The settings switched it off. What was imported stays: it need not be looked through.
        gc.freeze()
        gc.enable()


def _connect_rooms() -> None:
    """What follows in a room from what happens in one below it."""
    from webapp.bisects import tasks  # noqa: F401, PLC0415  a job that ended queues the next step
    from webapp.events.queries.stretches import epoch_times  # noqa: PLC0415
    from webapp.results.services import ask_for_epochs  # noqa: PLC0415  receives a signal, too

    # Results lie below and judge runs of one revision; where epochs begin is known by events.
    ask_for_epochs(epoch_times)
    # Django signals only apps with models of their own
    post_migrate.connect(adopt_rules, sender=apps.get_app_config("results"))
    post_migrate.connect(_forget_heartbeats, sender=apps.get_app_config("readiness"))


def adopt_rules(**migrated: Any) -> None:
    """Rules that come with the program file stored runs, once all tables are as this version has
    them: a step of a migration would work with tables that later ones change.
    """
    from webapp.merging.services import adopt_builtin_rules  # noqa: PLC0415 (models are not ready)

    if "plan" not in migrated or are_of_this_version():
        adopt_builtin_rules()


def are_of_this_version() -> bool:
    """Whether every migration is applied: `migrate` may be asked to stop at an earlier one."""
    loader = MigrationLoader(connection)
    return set(loader.graph.nodes) <= set(loader.applied_migrations)


def _forget_heartbeats(**_: Any) -> None:
    """An instance migrates when it starts: what its last life did proves nothing of this one."""
    from webapp.readiness.models import Heartbeat  # noqa: PLC0415 (models are not ready before)

    Heartbeat.objects.all().delete()


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
