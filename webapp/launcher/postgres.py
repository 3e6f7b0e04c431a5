"""A PostgreSQL of our own: made once, run without root, reached by a Unix socket only.

PostgreSQL refuses to run as root. Elsewhere root is nothing special: in containers and CI root is
the usual user, often with the checkout in a directory that only root may enter. Then PostgreSQL's
user gets one capability, to pass directories, and nobody's modes are changed.
"""

import contextlib
import locale
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from webapp.config.instance import WEB_ROLE
from webapp.launcher import StackError
from webapp.launcher.servers import Postgres, find_postgres

UNPRIVILEGED_USERS = ("postgres", "pgsql", "nobody")
# The first suffices; containers often have only the second.
CAPABILITIES = ("dac_read_search", "dac_override")


@dataclass(frozen=True)
class Identity:
    """Whose rights a server runs with.

    `user` is None for the launcher's own. `prefix` is the command that switches to it where
    switching alone would leave the server unable to reach its files.
    """

    user: str | None = None
    prefix: tuple[str, ...] = ()

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run `command` with these rights, from the root directory, and return what it printed."""
        arguments = [*self.prefix, *map(str, command)]
        who = pwd.getpwnam(self.user) if self.user and not self.prefix else None
        return subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=who.pw_uid if who else None,
            group=who.pw_gid if who else None,
            extra_groups=[] if who else None,
        )

    def own(self, *paths: Path) -> None:
        """Hand `paths` to this user."""
        for path in paths:
            if self.user:
                shutil.chown(path, self.user)


def postgres_identity(program: Path, state: Path) -> Identity:
    """Who runs the PostgreSQL `program` on data inside `state`.

    Raises `StackError` for root when no other user can reach both.
    """
    if os.geteuid() != 0:
        return Identity()
    user = _unprivileged_user()
    for identity in _identities(user):
        if _reaches(identity, program, state):
            return identity
    raise StackError(
        f"PostgreSQL does not run as root, and the user {user} cannot reach both {program} and "
        f"{state}. Run this as another user, or put the checkout and STATE where others may pass "
        "(directories with mode 711), or set DATABASE_URL to use a server that runs already."
    )


def _unprivileged_user() -> str:
    for name in UNPRIVILEGED_USERS:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise StackError(
        "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`. "
        "Run this as another user."
    )


def _identities(user: str) -> Iterator[Identity]:
    yield Identity(user)
    setpriv = shutil.which("setpriv")
    if setpriv:
        group = str(pwd.getpwnam(user).pw_gid)
        for capability in CAPABILITIES:
            # Without no_setuid_fixup, access(2), by which PostgreSQL looks for its own files,
            # would ignore the capability.
            yield Identity(
                user,
                (
                    *(setpriv, "--reuid", user, "--regid", group, "--clear-groups"),
                    *("--inh-caps", f"+{capability}", "--ambient-caps", f"+{capability}"),
                    *("--securebits", "+no_setuid_fixup", "--"),
                ),
            )


def _reaches(identity: Identity, program: Path, state: Path) -> bool:
    commands: tuple[list[str | Path], ...] = ([program, "-V"], ["ls", "-d", f"{state}/."])
    try:
        return all(identity.run(command).returncode == 0 for command in commands)
    except OSError:
        return False


ADMINISTRATOR, OWNER, DATABASE = "postgres", "driftline", "driftline"
DRAFT = ".new-"
NEW_DATABASE_BYTES = 64 * 2**20
"""What initdb writes with PostgreSQL 18, its first WAL segment included, rounded up."""
# The second is the database `postgres`, which initdb makes last; 5 is its id since PostgreSQL 15.
FINISHED = ("global/pg_control", "base/5")
UNFINISHED = (
    "If this instance never ran, its first start was cut off: remove the directory, the next start "
    "makes it anew. If it did run, restore the directory from a backup: docs/running.md."
)


@dataclass(frozen=True)
class Cluster:
    """A data directory and what serves it."""

    data: Path
    sockets: Path
    postgres: Postgres
    identity: Identity

    @classmethod
    def choose(cls, state: Path, sockets: Path) -> "Cluster":
        """The cluster of `state`, served by the installation that its data need."""
        data = state / "postgres"
        postgres = find_postgres(major=data_major(data))
        return cls(data, sockets, postgres, postgres_identity(postgres.bin / "postgres", state))

    def create(self) -> None:
        """Make the data directory, unless it is there: whole or not at all.

        What is interrupted stays under another name, and the next start makes it anew. That name
        is new each time, for an initdb that lost its launcher goes on writing for a while.
        """
        if data_major(self.data) is not None:
            _require_finished(self.data)
            return
        for abandoned in self.data.parent.glob(f"{self.data.name}{DRAFT}*"):
            shutil.rmtree(abandoned)
        draft = Path(tempfile.mkdtemp(prefix=f"{self.data.name}{DRAFT}", dir=self.data.parent))
        self.identity.own(draft)
        self._initialise(draft)
        draft.rename(self.data)

    def _initialise(self, directory: Path) -> None:
        _require_room(directory)
        made = self.identity.run(
            [
                *(self.postgres.bin / "initdb", "-D", directory, "-U", ADMINISTRATOR),
                *("--auth=trust", "--encoding=UTF8", "--locale=C"),
                *_character_types(),
            ]
        )
        if made.returncode:
            shutil.rmtree(directory, ignore_errors=True)
            output = made.stderr.strip() or made.stdout.strip()
            raise StackError(f"initdb could not make {self.data}:\n{output}")

    def command(self, *settings: str) -> list[str]:
        """The command that serves the cluster in the foreground, with `settings` (`name=value`).

        Whoever may enter the directory of the sockets is trusted: nobody else can connect.
        """
        fixed = (
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
            "timezone=UTC",
            "log_timezone=UTC",
            "logging_collector=off",
            # A new instance grows from nothing to 100,000 rows within a minute, its first archive;
            # until its statistics are taken, plans are guesses.
            "autovacuum_naptime=10s",
        )
        options = [word for setting in (*fixed, *settings) for word in ("-c", setting)]
        return [
            *self.identity.prefix,
            str(self.postgres.bin / "postgres"),
            *("-D", str(self.data)),
            *options,
        ]

    def prepare(self) -> None:
        """Make both roles and the owner's database in the running server, unless they are there."""
        with self._connect() as connection:
            if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", OWNER):
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(sql.Identifier(OWNER))
                )
            if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", WEB_ROLE):
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(WEB_ROLE)))
            # Whoever is a member may end the sessions of the role: restoring does.
            connection.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(WEB_ROLE), sql.Identifier(OWNER))
            )
            if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(
                        sql.Identifier(DATABASE), sql.Identifier(OWNER)
                    )
                )

    def answers(self) -> bool:
        """True when the server takes connections."""
        with contextlib.suppress(psycopg.OperationalError), self._connect():
            return True
        return False

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self.sockets),
            user=ADMINISTRATOR,
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        )


def data_major(data: Path) -> int | None:
    """The version that wrote a data directory, or None when there is none.

    Raises `StackError` for a directory that shows nothing of it.
    """
    try:
        written = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        if data.is_dir() and any(data.iterdir()):
            raise StackError(f"{data} has no PG_VERSION. {UNFINISHED}") from None
        return None
    if not written.isdecimal():
        raise StackError(f"{data}/PG_VERSION is damaged: it reads {written!r}. {UNFINISHED}")
    return int(written)


def _require_room(directory: Path) -> None:
    """Raise `StackError` where a new database cannot fit: initdb may then die without a word."""
    free = shutil.disk_usage(directory).free
    if free < NEW_DATABASE_BYTES:
        raise StackError(
            f"No space left for a database below {directory.parent}: {free >> 20} MB are free, it "
            f"needs {NEW_DATABASE_BYTES >> 20}. Make room and start again."
        )


def _require_finished(data: Path) -> None:
    """Raise `StackError` for a directory without what initdb makes at the end."""
    for name in FINISHED:
        if not (data / name).exists():
            raise StackError(f"{data} has no {name}. {UNFINISHED}")


def wait_for(database: Mapping[str, Any], *, seconds: float) -> None:
    """Wait until the server of a Django `database` takes a connection, at most `seconds`.

    Raises `StackError` when it does not.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(
                host=database["HOST"] or None,
                port=database["PORT"] or None,
                user=database["USER"] or None,
                password=database["PASSWORD"] or None,
                dbname=database["NAME"],
                connect_timeout=5,
            ).close()
        except psycopg.OperationalError as error:
            if time.monotonic() > end:
                raise StackError(f"The server of DATABASE_URL does not answer: {error}") from error
            time.sleep(0.5)
        else:
            return


def _exists(connection: psycopg.Connection[tuple[object, ...]], query: str, name: str) -> bool:
    return connection.execute(query.encode(), [name]).fetchone() is not None


def _character_types() -> Sequence[str]:
    """Upper and lower case of all letters where the system knows them; sorting stays by bytes."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return []
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return ["--lc-ctype=C.UTF-8"]
