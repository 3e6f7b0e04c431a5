"""PostgreSQL's own programs, and connections to the server that they are for."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from subprocess import DEVNULL
from typing import IO, Any

import psycopg

from webapp.launcher.backups.archive import BackupError
from webapp.launcher.servers import find_clients
from webapp.readiness.services import heartbeats

Database = Mapping[str, Any]
"""Django's settings of one database."""


def connect(database: Database) -> heartbeats.Connection:
    """A connection of our own, without a limit on its statements. Raises `BackupError`."""
    try:
        return heartbeats.connect(database)
    except psycopg.OperationalError as error:
        raise BackupError(
            f"PostgreSQL does not answer: {str(error).strip()}\nIs the instance running? `make up` "
            "starts it; for an instance elsewhere set STATE, or DATABASE_URL."
        ) from error


def major_of(connection: heartbeats.Connection) -> int:
    """The major version of the server."""
    return connection.info.server_version // 10_000


@contextmanager
def client(
    name: str,
    database: Database,
    major: int,
    *options: str,
    stdin: int = DEVNULL,
    stdout: int = DEVNULL,
) -> Iterator["subprocess.Popen[bytes]"]:
    """A program of PostgreSQL at work on `database`; it has succeeded when the block ends.

    Raises `BackupError` with what it printed. A block that fails ends the program.
    """
    command = [str(find_clients(major) / name), *options]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            env=os.environ | _variables(database),
            stdin=stdin,
            stdout=stdout,
            stderr=errors,
        )
        try:
            yield process
        except BrokenPipeError:
            process.wait()  # it ended early, and printed why
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait():
            raise BackupError(f"{name} failed:\n{_printed(errors)}")


def _printed(errors: IO[bytes]) -> str:
    errors.seek(0)
    return "\n".join(errors.read(64_000).decode(errors="replace").strip().splitlines()[-20:])


def _variables(database: Database) -> dict[str, str]:
    """By the environment, because everybody may read command lines."""
    given = {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
        "PGCLIENTENCODING": "UTF8",
    }
    options = database.get("OPTIONS", {})
    tls = {f"PG{name.upper()}": value for name, value in options.items() if name.startswith("ssl")}
    return {name: str(value) for name, value in (given | tls).items() if value}
