"""Restore a backup into an empty instance; what runs on the database stops meanwhile, and forgets
what it cached.

The backup is loaded into a database beside the instance's own, and brought to the present schema
there; the two change places in one transaction. Until then the instance is as it was, and whatever
ends the restoring early, it can be repeated.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import psycopg
import redis
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError
from django.db import connection as django
from django.db.migrations.loader import MigrationLoader
from kombu.exceptions import OperationalError
from psycopg import sql

from webapp.config import instance
from webapp.config.celery import app
from webapp.launcher import SupervisorLost
from webapp.launcher.archive import (
    Backup,
    BackupError,
    Database,
    Manifest,
    client,
    connect,
    major_of,
)
from webapp.launcher.servers import find_clients
from webapp.launcher.supervision import Supervisor
from webapp.readiness.services import heartbeats


@contextmanager
def paused(state: Path, *, ours: bool) -> Iterator[Callable[[], None]]:
    """A function that stops the programs of the instance in `state`, which start again when the
    block ends, with the key that is stored then. Programs elsewhere lose their connections and
    make new ones.
    """
    supervisor = Supervisor(state, Path(instance.read(state).sockets))
    stopped: list[str] = []

    def pause() -> None:
        with contextlib.suppress(SupervisorLost):  # PostgreSQL alone may run
            stopped.extend(supervisor.pause() if ours else ())

    try:
        yield pause
    finally:
        for name in stopped:
            supervisor.launch(name)


def forget_in_redis() -> list[str]:
    """Remove what is cached and queued: all that is to be done is stored. Warnings, if any."""
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5)
        prefix = settings.CACHES["default"]["KEY_PREFIX"]
        for key in client.scan_iter(match=f"{prefix}:*", count=1000):
            client.delete(key)
        app.control.purge()
    except (redis.RedisError, OperationalError) as error:
        return [f"Redis does not answer ({error}); what it holds of before runs out by itself."]
    return []


LOADING = ("--no-owner", "--no-privileges", "--no-comments", "--exit-on-error")
MAINTENANCE = ("postgres", "template1")
OURS_FROM_THE_START = (
    *("django_", "auth_", "readiness_", "results_labelrule", "notifications_problem"),
    "accounts_auditentry",
)
"""Tables that a new instance fills by itself, or that show nothing of what it holds."""

ALONE_SECONDS = 60
LOCALE = """
SELECT datlocprovider::text, datcollate, datctype, to_jsonb(one) ->> 'datlocale',
       to_jsonb(one) ->> 'daticulocale'
  FROM pg_database AS one WHERE datname = %s"""
# Of other roles only an administrator may end them; the server itself ends its own vacuum.
END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = ANY(%s) AND pid <> pg_backend_pid() AND backend_type = 'client backend'
   AND (pg_has_role(usesysid, 'MEMBER')
        OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user))"""


def restore(database: Database, path: Path, take_over: Callable[[Backup], None]) -> Manifest:
    """Restore the backup at `path`; what wrote it. Raises `BackupError`.

    `take_over` is called when the data are ready and before they become those of the instance.
    """
    try:
        with path.open("rb") as file:
            return _restore(database, Backup.verified(file), take_over)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error
    except (psycopg.Error, DatabaseError) as error:
        raise BackupError(f"PostgreSQL failed, so nothing was restored: {error}") from error


def rehearse(database: Database, path: Path) -> int:
    """Load the backup at `path` beside the instance, bring it to the present schema, and remove it
    again; how many runs it held. Nobody notices. Raises `BackupError`.
    """
    try:
        with path.open("rb") as file, _maintenance(database) as server:
            backup = Backup.verified(file)
            _require_known(backup.manifest)
            name = str(database["NAME"])
            _require_right_to_create(server)
            draft = f"{name}_rehearsed"
            _drop(server, draft)
            _create(server, name, draft)
            try:
                loading = {**database, "NAME": draft}
                _load(loading, backup, server.info.server_version // 10_000)
                _migrate(draft)
                with connect(loading) as loaded:
                    row = loaded.execute("SELECT count(*) FROM results_run").fetchone()
            finally:
                _drop(server, draft)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error
    except (psycopg.Error, DatabaseError) as error:
        raise BackupError(f"PostgreSQL failed: {error}") from error
    return int(row[0]) if row else 0


def _restore(database: Database, backup: Backup, take_over: Callable[[Backup], None]) -> Manifest:
    _require_known(backup.manifest)
    with connect(database) as own:
        major = major_of(own)
        if backup.manifest.postgres > major:
            raise BackupError(
                f"The backup is of PostgreSQL {backup.manifest.postgres}, and this server is "
                f"PostgreSQL {major}: restore it to a server of that version or a later one."
            )
        find_clients(major)
        _require_empty(own)
        _require_right_to_create(own)
    with _maintenance(database) as server:
        name = str(database["NAME"])
        draft, former = f"{name}_restoring", f"{name}_replaced"
        for leftover in (draft, former):
            _drop(server, leftover)
        _create(server, name, draft)
        try:
            loading = {**database, "NAME": draft}
            _load(loading, backup, major)
            with _key_of(backup):
                _migrate(draft)
            take_over(backup)
            _swap(database, server, draft=draft, former=former)
        except BaseException:
            with contextlib.suppress(psycopg.Error):  # the next restoring drops it
                _drop(server, draft)
            raise
        _drop(server, former)
    return backup.manifest


def _require_known(manifest: Manifest) -> None:
    """Raise `BackupError` for a schema that is later than ours."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    known = set(loader.disk_migrations)
    known |= {old for one in loader.disk_migrations.values() for old in one.replaces}
    unknown = [
        f"{app}.{name}"
        for app, names in manifest.migrations.items()
        for name in names
        if (app, name) not in known
    ]
    if unknown:
        raise BackupError(
            f"The backup is of a later version of Driftline ({manifest.driftline}): this version "
            f"does not know {unknown[0]}. Upgrade Driftline here, then restore."
        )


def _require_empty(connection: heartbeats.Connection) -> None:
    rows = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    )
    tables = [str(name) for (name,) in rows if not str(name).startswith(OURS_FROM_THE_START)]
    if not tables:
        return
    part = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
    asked = [part.format(sql.Literal(name), sql.Identifier("public", name)) for name in tables]
    filled = [str(name) for (name,) in connection.execute(sql.SQL(" UNION ALL ").join(asked))]
    if filled:
        more = f" and {len(filled) - 3} more tables" if len(filled) > 3 else ""
        raise BackupError(
            f"This instance is not empty: it has rows in {', '.join(filled[:3])}{more}. A backup "
            "is restored only into a new instance: `make up PORT=8001 STATE=.run2` starts one, and "
            "`STATE=.run2 .venv/bin/python manage.py restore FILE` restores there. With a server "
            "of your own, make an empty database and name it in DATABASE_URL."
        )


def _require_right_to_create(connection: heartbeats.Connection) -> None:
    row = connection.execute(
        "SELECT rolcreatedb OR rolsuper, current_user FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is not None and not row[0]:
        raise BackupError(
            f"The user {row[1]} may not create databases, which restoring needs for a while. Its "
            f'administrator may allow it: ALTER ROLE "{row[1]}" CREATEDB'
        )


@contextmanager
def _maintenance(database: Database) -> Iterator[heartbeats.Connection]:
    """A connection to another database of the server; nobody else restores inside."""
    with _any_of(database) as server:
        lock = f"driftline-restore-{database['NAME']}"
        row = server.execute(
            "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [lock]
        ).fetchone()
        if row is None or not row[0]:
            raise BackupError("Somebody else restores into this instance right now.")
        yield server


def _any_of(database: Database) -> heartbeats.Connection:
    *others, last = MAINTENANCE
    for name in others:
        try:
            return connect({**database, "NAME": name})
        except BackupError:
            continue
    return connect({**database, "NAME": last})


def _create(server: heartbeats.Connection, like: str, name: str) -> None:
    """Make an empty database with the character types of another."""
    row = server.execute(LOCALE, [like]).fetchone()
    assert row is not None
    provider, collate, ctype, locale, icu_locale = row
    parts = [
        sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(
            sql.Identifier(name)
        ),
        sql.SQL("LC_COLLATE {} LC_CTYPE {}").format(sql.Literal(collate), sql.Literal(ctype)),
    ]
    if provider == "i":
        parts.append(
            sql.SQL("LOCALE_PROVIDER icu ICU_LOCALE {}").format(sql.Literal(locale or icu_locale))
        )
    elif provider == "b":
        parts.append(
            sql.SQL("LOCALE_PROVIDER builtin BUILTIN_LOCALE {}").format(sql.Literal(locale))
        )
    server.execute(sql.SQL(" ").join(parts))


def _drop(server: heartbeats.Connection, name: str) -> None:
    drop = sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name))
    _alone(server, [name], lambda: server.execute(drop))


def _alone(server: heartbeats.Connection, names: Sequence[str], act: Callable[[], object]) -> None:
    """Do what needs databases to which nobody is connected: the sessions of an instance that runs
    on are ended, until it is not in between.
    """
    end = time.monotonic() + ALONE_SECONDS
    while True:
        server.execute(END_SESSIONS, [list(names)])
        try:
            act()
        except psycopg.errors.ObjectInUse as error:
            if time.monotonic() > end:
                raise BackupError(
                    f"The instance is too busy to exchange its database ({error}). Stop its web "
                    "server, its workers and beat, and restore again."
                ) from error
        else:
            return


def _load(database: Database, backup: Backup, major: int) -> None:
    options = (*LOADING, f"--dbname={database['NAME']}")
    with client("pg_restore", database, major, *options, stdin=PIPE) as loading:
        assert loading.stdin is not None
        with loading.stdin as stream:
            for chunk in backup.chunks():
                stream.write(chunk)
    with connect(database) as loaded:
        loaded.execute("ANALYZE")


def _migrate(name: str) -> None:
    """Bring the database of this name to the present schema."""
    database: dict[str, Any] = django.settings_dict
    own = database["NAME"]
    django.close()
    database["NAME"] = name
    try:
        call_command("migrate", interactive=False, verbosity=0)
    finally:
        django.close()
        database["NAME"] = own


@contextmanager
def _key_of(backup: Backup) -> Iterator[None]:
    """Migrations encrypt with the key that the instance will have: the backup's, unless the
    environment has one.
    """
    own = settings.SECRET_KEY
    if not settings.SECRET_KEY_GIVEN:
        settings.SECRET_KEY = backup.secret_key
    try:
        yield
    finally:
        settings.SECRET_KEY = own


def _swap(database: Database, server: heartbeats.Connection, *, draft: str, former: str) -> None:
    """Let two databases change places, at one moment."""
    name = str(database["NAME"])
    with connect(database) as own:
        _require_empty(own)

    def exchange() -> None:
        with server.transaction():
            _rename(server, name, former)
            _rename(server, draft, name)

    _alone(server, [name, draft], exchange)


def _rename(server: heartbeats.Connection, old: str, new: str) -> None:
    server.execute(
        sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(old), sql.Identifier(new))
    )
