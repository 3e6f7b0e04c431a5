"""Clients that are slow on purpose, or without: they lose their place, and nobody else does."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from django.db import connection

from tests import make
from tests.config.serving.server import Server, heard, serving, status_of, wait_until
from tests.servers import STATIC
from webapp.labs import services

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
# Shorter than the product's, so that a test sees them pass.
DEADLINES = {
    "DRIFTLINE_HEAD_SECONDS": "3",
    "DRIFTLINE_BODY_SECONDS": "3",
    "DRIFTLINE_ANSWER_SECONDS": "3",
}
PATIENT = dict.fromkeys(DEADLINES, "600")
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.fixture
def token(transactional_db: None) -> str:
    return services.issue_token(agent=make.agent()).text


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose deadlines are far away: what hangs in it hangs for the whole test."""
    with serving(tmp_path_factory.mktemp("patient") / "web.log", **PATIENT) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose deadlines come soon."""
    with serving(tmp_path_factory.mktemp("hasty") / "web.log", **DEADLINES) as running:
        yield running


@pytest.fixture
def downloads() -> bytes:
    """Requests for a file of megabytes, one behind the other."""
    file = max(STATIC.glob("**/*.js"), key=lambda path: path.stat().st_size)
    path = f"/static/{file.relative_to(STATIC)}"
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 2000


def upload_head(token: str, length: int) -> bytes:
    return (
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def busy_connections() -> int:
    """Connections to the database that are in a transaction, without ours."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND (state = 'active' OR state LIKE 'idle in transaction%')""")
        return int(cursor.fetchone()[0])


@contextlib.contextmanager
def open_at_once(server: Server, said: bytes, number: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(server.raw(said)) for _ in range(number)]


@pytest.mark.parametrize("length", [2_000, 2_000_000])
def test_pages_answer_while_uploads_with_a_good_token_drip(
    server: Server, token: str, length: int
) -> None:
    with open_at_once(server, upload_head(token, length) + b"{", 30) as uploads:
        for _ in range(10):
            for upload in uploads:
                upload.sendall(b" ")
            assert server.get("/")[0] == 200
        assert busy_connections() == 0


def test_the_health_check_answers_while_hundreds_send_half_a_head(server: Server) -> None:
    with open_at_once(server, HALF_A_HEAD, 250):
        for _ in range(10):
            assert server.get("/healthz")[0] == 200
        assert server.get("/")[0] == 200


def test_forms_of_strangers_that_drip_take_no_thread(server: Server) -> None:
    head = b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\nname="
    with open_at_once(server, head, 240):
        assert server.get("/")[0] == 200
        assert server.get("/healthz")[0] == 200


def test_readers_that_take_nothing_keep_neither_threads_nor_the_database(
    server: Server, downloads: bytes
) -> None:
    with open_at_once(server, downloads, 250):
        for _ in range(5):
            assert server.get("/")[0] == 200
        wait_until(lambda: busy_connections() == 0)


def test_a_head_that_does_not_end_is_answered_408(hasty: Server) -> None:
    with hasty.raw(HALF_A_HEAD) as slow:
        assert status_of(heard(slow)) == 408


def test_a_connection_that_says_nothing_is_closed(hasty: Server) -> None:
    with hasty.raw() as silent:
        assert heard(silent) == b""


def test_a_body_that_drips_is_answered_408(hasty: Server, token: str) -> None:
    with hasty.raw(upload_head(token, 2_000_000)) as slow:
        stop = threading.Event()
        dripping = threading.Thread(target=drip, args=(slow, stop))
        dripping.start()
        answer = heard(slow)
        stop.set()
        dripping.join()
    assert status_of(answer) == 408


def drip(upload: socket.socket, stop: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while not stop.wait(0.5):
            upload.sendall(b" ")


def test_a_reader_that_takes_nothing_is_cut_off(hasty: Server, downloads: bytes) -> None:
    with hasty.raw(downloads):
        wait_until(lambda: any("too slowly" in line for line in hasty.lines()))


def test_a_poll_may_wait_longer_than_any_deadline(hasty: Server, token: str) -> None:
    asked = {"worker": "w", "serves": [{"hardware": make.hardware().name}], "wait": 6}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    began = time.monotonic()
    status, answer = hasty.send("POST", "/api/v1/jobs/poll", json.dumps(asked), **headers)
    assert (status, json.loads(answer)["job"]) == (200, None)
    assert time.monotonic() - began >= 6
