"""Databases beside the test's own: made, filled from a dump, migrated, and looked at."""

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg
from django.core.management import call_command
from django.db import connection

from tests.places import PROJECT
from webapp.launcher.servers import find_postgres

VARYING = re.compile(r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|)$")
"""Lines of a dump that state when and by which program it was made."""

A_LAB = """
INSERT INTO labs_lab (id, name, description, simulated, created_at)
VALUES (1, 'netlab', '', false, now());
INSERT INTO labs_agent (id, lab_id, name, created_at) VALUES (1, 1, 'control', now());
INSERT INTO results_tree (id, name, description, created_at)
VALUES (1, 'freebsd-head', '', now());
INSERT INTO results_hardware (id, name, lab_id, description, facts, created_at)
VALUES (1, 'bench/nic', 1, '', '{}', now());
INSERT INTO results_metric (id, name, unit, better) VALUES (1, 'pps', 'packets/s', 'more');
"""
"""Rows, by the columns of the first versions: an agent, a tree, a machine and a metric."""


@dataclass(frozen=True, slots=True)
class Database:
    """One database of a server that is reached by a socket in ``host``."""

    host: str
    user: str
    name: str

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a process that is to work on it."""
        url = f"postgresql://{self.user}@/{quote(self.host)}/{self.name}"
        return os.environ | {"DATABASE_URL": url}

    def load(self, dump: Path) -> None:
        """Run a plain dump; the first error ends it."""
        psql = ("psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", str(dump))
        self._run(psql)

    def dump(self, *options: str) -> str:
        """A plain dump."""
        return self._run(("pg_dump", "--no-owner", "--no-privileges", *options))

    def manage(self, *arguments: str) -> str:
        """What ``manage.py`` prints."""
        return subprocess.run(
            [sys.executable, "-W", "ignore", "manage.py", *arguments],
            cwd=PROJECT,
            env=self.variables,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def migrate(self, *arguments: str) -> None:
        """``manage.py migrate ARGUMENTS`` in this process, whose tests may ask any database."""
        own = connection.settings_dict
        connection.close()
        connection.settings_dict = {**own, "HOST": self.host, "USER": self.user, "NAME": self.name}
        try:
            call_command("migrate", *arguments, verbosity=0)
        finally:
            connection.close()
            connection.settings_dict = own

    def schema(self) -> set[str]:
        """Its tables, indexes, constraints and functions, one line of SQL for each column: a column
        that was added later may stand in another place.

        Read from a copy, because PostgreSQL writes a condition that it read from a dump otherwise
        than one that it read from a migration.
        """
        with TemporaryDirectory() as place, new_database(self.host, self.user) as copy:
            dump = Path(place) / "schema.sql"
            dump.write_text(self.dump("--schema-only"), encoding="utf-8")
            copy.load(dump)
            lines = copy.dump("--schema-only").splitlines()
        return {line.strip().rstrip(",") for line in lines if not VARYING.fullmatch(line)}

    def digest(self) -> Mapping[str, str]:
        """Part → its line of ``manage.py digest``."""
        return {line.split()[0]: line for line in self.manage("digest").splitlines()}

    def execute(self, statement: str) -> None:
        with psycopg.connect(host=self.host, user=self.user, dbname=self.name) as connection:
            connection.execute(statement.encode())

    def _run(self, command: tuple[str, ...]) -> str:
        program, *arguments = command
        where = ("--host", self.host, "--username", self.user, "--dbname", self.name)
        done = subprocess.run(
            [str(find_postgres().bin / program), *where, *arguments],
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def new_database(host: str, user: str, template: str = "template1") -> Iterator[Database]:
    """An empty database, or a copy of another one, that goes with the block."""
    name = f"upgrade_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(host=host, user=user, dbname="postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        try:
            yield Database(host, user, name)
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
