"""Pages read from a real streaming replica: what they name as its moment, and who reads it not."""

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import ConnectionHandler, connection, connections
from django.test import Client
from django.urls import reverse

from tests import make
from tests.servers import THROW_AWAY
from tests.system.running import wait_for
from tests.whole_site import fill, pages_from
from webapp.config import replica
from webapp.launcher.postgres import ADMINISTRATOR, Cluster
from webapp.readiness import heartbeats

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
SECONDS = 60
NAMED = "Data as of"


class Server:
    """The replica of the tests' server, whose replay can be paused."""

    def __init__(self, place: Path) -> None:
        primary = str(connection.settings_dict["HOST"])
        sockets, data = place / "sockets", place / "postgres"
        sockets.mkdir(mode=0o700)
        data.mkdir(mode=0o700)
        chosen = Cluster.choose(place, sockets)
        self.cluster = replace(chosen, data=data)
        self.cluster.identity.own(sockets, data)
        backup = ("--host", primary, "--username", ADMINISTRATOR, "--write-recovery-conf")
        made = self.cluster.identity.run(
            [chosen.postgres.bin / "pg_basebackup", "-D", data, *backup, "--checkpoint=fast"]
        )
        assert made.returncode == 0, made.stderr
        self._log = place / "postgres.log"
        self.start()

    def start(self) -> None:
        identity = self.cluster.identity
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.cluster.command(*THROW_AWAY),
                cwd="/",
                user=identity.user if not identity.prefix else None,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_for(self.cluster.answers, SECONDS)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def do(self, statement: str) -> Any:
        """What its administrator is answered."""
        with psycopg.connect(
            host=str(self.cluster.sockets), user=ADMINISTRATOR, dbname="postgres", autocommit=True
        ) as own:
            return own.execute(statement.encode()).fetchone()

    def catch_up(self) -> None:
        """Wait until it has all that was written, a moment ago at most."""
        with connection.cursor() as cursor:
            # A commit of now: on this server nobody writes heartbeats.
            cursor.execute("SELECT pg_current_xact_id()")
            cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
            position = cursor.fetchone()[0]
            # The position may lie behind the head of a page that only the next record begins.
            cursor.execute("SELECT pg_current_xact_id()")
        query = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
        wait_for(lambda: bool(self.do(query)[0]), SECONDS)


@pytest.fixture(scope="module")
def _server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Server]:
    with (
        tempfile.TemporaryDirectory(prefix="dl-", dir="/tmp") as place,
        django_db_blocker.unblock(),
    ):
        Path(place).chmod(0o711)
        server = Server(Path(place))
        yield server
        server.stop()


@pytest.fixture
def server(_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """It runs and replays, and pages know of it."""
    here = connection.settings_dict | {"HOST": str(_server.cluster.sockets)}
    monkeypatch.setitem(connections.settings, replica.ALIAS, here)
    # Under the name that tests may use
    connections[replica.ALIAS] = ConnectionHandler({"default": here})["default"]
    monkeypatch.setattr(replica, "_failed", float("-inf"))
    _server.catch_up()
    yield _server
    connections[replica.ALIAS].close()
    del connections[replica.ALIAS]


@pytest.fixture
def paused(server: Server) -> Iterator[Server]:
    """What is written from now on does not reach it."""
    server.do("SELECT pg_wal_replay_pause()")
    wait_for(lambda: server.do("SELECT pg_get_wal_replay_pause_state()")[0] == "paused", SECONDS)
    yield server
    server.do("SELECT pg_wal_replay_resume()")


def page(reader: Client, address: str) -> str:
    answer = reader.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_page_is_read_from_the_replica_and_names_its_moment(paused: Server) -> None:
    make.hardware("Written/since")
    text = page(Client(), "/hardware/")
    assert NAMED in text
    assert "s ago (replica)" in text
    assert "Written" not in text


def test_who_wrote_something_reads_it_from_the_primary_until_the_replica_has_it(
    server: Server,
) -> None:
    writer, other = Client(), Client()
    writer.force_login(make.user("ada"))
    other.force_login(make.user("bob"))
    server.catch_up()
    server.do("SELECT pg_wal_replay_pause()")
    try:
        view = {"name": "kept just now", "address": "/alerts/?state=new"}
        assert writer.post(reverse("saved_views"), view).status_code == 302
        text = page(writer, reverse("saved_views"))
        assert "kept just now" in text
        assert NAMED not in text
        assert NAMED in page(other, reverse("saved_views"))
    finally:
        server.do("SELECT pg_wal_replay_resume()")
    server.catch_up()
    text = page(writer, reverse("saved_views"))
    assert "kept just now" in text
    assert NAMED in text


def test_what_a_page_notes_is_written_to_the_primary(server: Server) -> None:
    """The overview notes who looked at it."""
    ada = make.user("ada")
    make.point(make.series(), make.revision("r300000"))
    reader = Client()
    reader.force_login(ada)
    server.catch_up()
    assert NAMED in page(reader, "/")
    ada.refresh_from_db()
    assert ada.looked_at is not None


def test_the_status_is_that_of_the_primary(server: Server) -> None:
    operator = Client()
    operator.force_login(make.user("op", role="operator"))
    heartbeats.note(*heartbeats.PARTS)
    server.catch_up()
    text = page(operator, "/status/")
    assert NAMED in text
    assert "Nothing needs an operator" in text


@pytest.mark.usefixtures("server")
def test_a_replica_that_is_late_is_not_read_from(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NAMED in page(Client(), "/hardware/")
    monkeypatch.setattr(replica, "LATE", timedelta(0))
    assert NAMED not in page(Client(), "/hardware/")


def test_while_the_replica_is_away_pages_are_read_from_the_primary(server: Server) -> None:
    reader = Client()
    assert NAMED in page(reader, "/hardware/")
    server.stop()
    try:
        assert NAMED not in page(reader, "/hardware/")
        assert replica._rests()  # no page waits for it
    finally:
        server.start()


def test_every_page_can_be_read_from_the_replica(server: Server) -> None:
    reader = Client()
    reader.force_login(fill())
    server.catch_up()
    pages = pages_from(reader, "/", of_each=1)
    assert len(pages) > 20
    own = [one for one, html in pages.items() if "<footer" in html and NAMED not in html]
    # Signing in reads and writes; the description of the API reads nothing.
    assert [each for each in own if not each.startswith(("/sign-in/", "/account/", "/api/"))] == []
