"""System checks of the wiring: what settings alone cannot refuse, because it needs the whole."""

from collections.abc import Sequence
from inspect import isfunction
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils.module_loading import autodiscover_modules, import_string

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
