"""Wires what must be in place in every process that runs Django: Celery, what one room asks of
another that it must not import, the triggers of the audit log, the system checks of what settings
alone cannot refuse, and the role of the database that the web server signs in as, which reads and
writes rows and can change neither the schema nor what the audit log holds. `migrate`, commands and
workers use the role that owns the tables.
"""

import gc
from collections.abc import Sequence
from inspect import isfunction
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules, import_string
from psycopg import sql


class WiringConfig(AppConfig):
    """Makes our Celery application the current one."""

    name = "webapp.config"
    label = "wiring"

    def ready(self) -> None:
        """Import for the side effect: without it `task.delay()` would look for a broker on AMQP."""
        from webapp.config import audited, celery  # noqa: F401, PLC0415

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


Apps = Sequence[AppConfig] | None


@register()
def no_message_comes_back_while_its_task_runs(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Redis hands a message out again that is not acknowledged, which most are when their task
    ends, for the visibility timeout.
    """
    from webapp.config.celery import app  # noqa: PLC0415 (Celery reads the settings)

    autodiscover_modules("tasks")  # Celery's own loader runs all checks: this one too
    own = [task for name, task in app.tasks.items() if name.startswith("webapp.")]
    longest = max(
        task.time_limit or settings.CELERY_TASK_TIME_LIMIT for task in own if task.acks_late
    )
    visibility = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    if longest < visibility:
        return []
    return [
        Error(
            f"A task may run for {longest} s, but after {visibility} s it would be started again.",
            hint="Raise CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout'].",
            id="driftline.E002",
        )
    ]


@register()
def every_mail_has_templates(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """A kind of mail whose function is not there would wait in the outbox for ever."""
    return [
        Error(
            f"Mails of the kind {kind} are composed by {path}, which is not a function.",
            hint="Mend the table in webapp/config/fixed_settings.py.",
            id="driftline.E004",
        )
        for kind, path in settings.MAIL_COMPOSERS.items()
        if not _is_function(path)
    ]


@register(Tags.security, deploy=True)
def passwords_are_not_sent_in_clear(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Sign-in over plain HTTP is for this machine only."""
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https" or _is_local(public.hostname or ""):
        return []
    return [
        Warning(
            f"Passwords and tokens travel unencrypted to {settings.PUBLIC_URL}",
            hint="Set DRIFTLINE_HOST to the name of this server: docs/running.md, HTTPS.",
            id="driftline.W001",
        )
    ]


@register(Tags.security, deploy=True)
def proxy_is_trusted_when_tls_ends_there(app_configs: Apps, **_: Any) -> list[CheckMessage]:
    """Without a host of its own, an https address means that there is a proxy."""
    is_over_tls = settings.PUBLIC_URL.startswith("https:")
    if not is_over_tls or settings.HOST or settings.TRUSTED_PROXIES:
        return []
    return [
        Warning(
            "DRIFTLINE_PUBLIC_URL is https, but no proxy is trusted to say who the client is.",
            hint="Set DRIFTLINE_TRUSTED_PROXIES=1 (the number of proxies in front).",
            id="driftline.W002",
        )
    ]


UNRELEASED = {("results", "0001_trees_runs_series")}
"""Migrations that became part of others before the first release."""


@register(Tags.database)
def database_is_of_this_layout(
    app_configs: Apps, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Before the first release one schema became another: `migrate` refuses it untouched."""
    if not databases or "default" not in databases or not _has_former_tables():
        return []
    return [
        Error(
            "This database was made by an unreleased version whose tables cannot be upgraded.",
            hint="Start with an empty database (another STATE) and upload its runs again: agents "
            "send a directory twice without harm. Nothing was changed.",
            id="driftline.E003",
        )
    ]


def _has_former_tables() -> bool:
    if UNRELEASED & MigrationRecorder(connection).applied_migrations().keys():
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('regressions_finding') IS NOT NULL")
        row = cursor.fetchone()
    return bool(row and row[0])


def _is_function(path: str) -> bool:
    try:
        return isfunction(import_string(path))
    except ImportError:
        return False


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
