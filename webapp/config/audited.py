"""The wiring of the audit log: which tables it covers, which is every table of ours but those that
follow from others, and who acts in a command; who acts in a request: `webapp.config.middleware`.
Changes enter the log by these two ways alone.

`migrate` puts the triggers on the tables (webapp/accounts/services/audit.py states who acts).
"""

import getpass
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db import connection, models
from django.http import HttpRequest

from webapp.accounts.limits import client_address
from webapp.accounts.models import AuditEntry, User
from webapp.accounts.services import audit

MOST_ROWS = 100
"""A statement about more rows is one entry with their number: an import adds 50,000 commits."""

LEFT_OUT: Mapping[str, str] = {
    "accounts.AuditEntry": "the log itself",
    "readiness.Heartbeat": "what works at present",
    "readiness.Backup": "which backups the instance made of itself",
    "notifications.Problem": "what is wrong with the instance at present",
    "outbox.MailServer": "how the mail server does at present",
    "results.AliasedRun": "follows from the aliases",
    "results.CostSamples": "follows from the measurements",
    "results.HardwareFact": "follows from the runs",
    "results.HourlyRuns": "follows from the runs",
    "results.Kernel": "uploaded with the runs",
    "results.Measurement": "uploaded; its run names the agent",
    "results.Point": "follows from the measurements",
    "results.Profile": "uploaded; it names the agent",
    "results.ProfiledFunction": "uploaded with the profiles",
    "results.RevisionAlias": "follows from the revisions",
    "results.RunHistograms": "uploaded with the run",
    "results.Series": "follows from the runs; what people set is in analysis_seriessettings",
    "jobs.Worker": "who asked for work lately",
    "events.CanaryJob": "which canary asked for which job",
    "analysis.Checkpoint": "follows from the points",
    "analysis.NotedPoint": "follows from the points",
    "analysis.Finding": "follows from the points",
    "analysis.FindingEvent": "follows from the points",
    "analysis.SeriesAnalysis": "how far the analysis is",
    "alerts.AlertFinding": "follows from the findings and the assignments",
    "alerts.AlertHold": "follows from the bisects",
    "bisects.BisectDecision": "follows from boots and acts",
    "experiments.Cell": "follows from the sides",
}
"""By model, with the reason."""

COUNTERS = (
    *("last_login", "looked_at", "seen_at", "last_used_at", "last_seen_at"),
    *("version", "day", "runs", "trees", "series", "profiles"),
)
"""Columns that change by use. Where nothing else of a row changes there is no entry."""

HIDDEN = (
    *("password", "secret", "digest", "feed_token"),
    *("url", "subject", "text", "html", "data", "payload"),
    *("username", "first_name", "last_name", "email", "aliases", "address", "unsubscribe_url"),
    *("author_name", "author_email"),
)
"""Secrets, mails and what names a person: the log notes that they changed, not what they are."""

SHOWN = {"experiments.ExperimentEvent": ("text",)}
"""Columns named as hidden ones that are a note on a page."""


EVENTS = {
    "insert": "NEW TABLE AS rows_after",
    "update": "OLD TABLE AS rows_before NEW TABLE AS rows_after",
    "delete": "OLD TABLE AS rows_before",
}

UNNAMED = frozenset({"migrate", "runserver"})
"""Commands whose changes are nobody's: a version's own rows, and requests of people."""


def audited() -> Iterator[type[models.Model]]:
    """The models of the tables that the log covers."""
    yield from (model for model in _ours() if model._meta.label not in LEFT_OUT)  # noqa: SLF001


def install_triggers(**options: Any) -> None:
    """Put the triggers on the audited tables, and take them off the others; idempotent.

    A receiver of ``post_migrate``. Flushing, in tests, sends that too, without a plan.
    """
    if options.get("plan") is None or not _is_there():
        return
    with connection.cursor() as cursor:
        covered = set(audited())
        for model in _ours():
            cursor.execute(_triggers(model) if model in covered else _no_triggers(model))


def _is_there() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regproc('driftline_audit') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def _ours() -> Iterator[type[models.Model]]:
    found = apps.get_models(include_auto_created=True)
    yield from (model for model in found if model.__module__.startswith("webapp."))


def _triggers(model: type[models.Model]) -> str:
    """A trigger for each event, because rows of transition belong to one."""
    meta = model._meta  # noqa: SLF001 (documented)
    hidden = [one for one in HIDDEN if one not in SHOWN.get(meta.label, ())]
    arguments = (
        meta.pk.column,
        "{" + ",".join(COUNTERS) + "}",
        "{" + ",".join(hidden) + "}",
        str(MOST_ROWS),
    )
    values = ", ".join(f"'{one}'" for one in arguments)
    table = connection.ops.quote_name(meta.db_table)
    return ";".join(
        f"CREATE OR REPLACE TRIGGER driftline_audit_{event} AFTER {event} ON {table}"
        f" REFERENCING {named} FOR EACH STATEMENT"
        f" WHEN (coalesce(current_setting('driftline.acting', true), '') <> '')"
        f" EXECUTE FUNCTION driftline_audit({values})"
        for event, named in EVENTS.items()
    )


def _no_triggers(model: type[models.Model]) -> str:
    table = connection.ops.quote_name(model._meta.db_table)  # noqa: SLF001 (documented)
    return ";".join(f"DROP TRIGGER IF EXISTS driftline_audit_{one} ON {table}" for one in EVENTS)


def command_acting(arguments: Sequence[str]) -> AbstractContextManager[None]:
    """A command of ``manage.py`` with its arguments, started by a user of this machine."""
    name = arguments[1] if len(arguments) > 1 else ""
    if not name or name.startswith("-") or name in UNNAMED:
        return nullcontext()
    actor = audit.other_acting(AuditEntry.Kind.COMMAND, name, action=name, origin=_local_user())
    return audit.acting(lambda: actor)


def note_signing_in(request: HttpRequest, user: User, **_: Any) -> None:
    """A receiver of ``user_logged_in``."""
    audit.note_event(user, action="signed in", origin=address_of(request))


def note_signing_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    """A receiver of ``user_logged_out``, which knows nobody where nobody was signed in."""
    if user is not None:
        audit.note_event(user, action="signed out", origin=address_of(request))


def connect_signals() -> None:
    """Have signing in and out noted."""
    user_logged_in.connect(note_signing_in, dispatch_uid="audit")
    user_logged_out.connect(note_signing_out, dispatch_uid="audit")


def address_of(request: HttpRequest) -> str:
    """Where a request came from, as the log notes it."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    peer = request.META.get("REMOTE_ADDR", "")
    return client_address(peer, forwarded, proxies=settings.PROXIES)[:64]


def _local_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this number, as in a container
        return ""
