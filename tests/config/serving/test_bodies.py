"""Bodies that are too large are refused in a way that any client can read."""

import contextlib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests import make
from tests.config.serving.server import Server, heard, serving, status_of, wait_until
from webapp.config import settings
from webapp.config.serving.spool import BODIES_AT_ONCE
from webapp.labs import services

pytestmark = pytest.mark.django_db(transaction=True)
LARGE = b" " * (settings.UPLOAD_MAX_BYTES + 1_000_000)
PIECE = b" " * 1_000_000
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("bodies") / "web.log") as running:
        yield running


@pytest.fixture
def authorized(transactional_db: None) -> dict[str, str]:
    return {"Authorization": f"Bearer {services.issue_token(agent=make.agent()).text}"}


def pieces(size: int) -> Iterator[bytes]:
    """A body of which nobody says how long it is."""
    for _ in range(size // len(PIECE)):
        yield PIECE


@pytest.mark.parametrize("kind", [JSON, FORM, "text/plain"])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_over_the_limit_is_413_in_the_form_of_the_api(
    server: Server, authorized: dict[str, str], kind: str, is_chunked: bool
) -> None:
    body = pieces(len(LARGE)) if is_chunked else LARGE
    headers = authorized | {"Content-Type": kind}
    status, answer = server.send("POST", "/api/v1/runs", body, chunked=is_chunked, **headers)
    assert status == 413
    assert json.loads(answer)["error"]["code"] == "too_large"


@pytest.mark.parametrize("is_chunked", [False, True])
def test_the_agents_client_reads_413_too(
    server: Server, authorized: dict[str, str], is_chunked: bool
) -> None:
    url = f"http://127.0.0.1:{server.port}/api/v1/runs"
    body = pieces(len(LARGE)) if is_chunked else LARGE
    assert httpx2.post(url, content=body, headers=authorized, timeout=60).status_code == 413


def test_a_bomb_is_413(server: Server, authorized: dict[str, str]) -> None:
    bomb = gzip.compress(b" " * 200_000_000)
    headers = authorized | {"Content-Encoding": "gzip", "Content-Type": JSON}
    assert server.send("POST", "/api/v1/runs", bomb, **headers)[0] == 413


def test_a_body_below_the_limit_is_read(server: Server, authorized: dict[str, str]) -> None:
    body = json.dumps({"runs": []}).encode() + b" " * 10_000_000
    headers = authorized | {"Content-Type": JSON}
    assert server.send("POST", "/api/v1/runs", body, **headers)[0] == 422
    chunked = iter([body[:20], body[20:]])
    assert server.send("POST", "/api/v1/runs", chunked, chunked=True, **headers)[0] == 422


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_stranger_hears_401_and_is_not_listened_to(server: Server, is_chunked: bool) -> None:
    for token in ("", "Bearer dl_0_0"):
        body = pieces(3_000_000) if is_chunked else LARGE
        status, _ = server.send(
            "POST", "/api/v1/runs", body, chunked=is_chunked, Authorization=token
        )
        assert status == 401


def test_a_stranger_is_refused_before_it_sends(server: Server) -> None:
    head = (
        b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n"
        b"Expect: 100-continue\r\n\r\n"
    )
    with server.raw(head) as stranger:
        assert status_of(stranger.recv(65536)) == 401


def test_a_form_of_a_stranger_is_small(server: Server) -> None:
    headers = {"Content-Type": FORM}
    assert server.send("POST", "/sign-in/", b"a" * 1000, **headers)[0] == 403
    assert server.send("POST", "/sign-in/", b"a" * 100_000, **headers)[0] == 413
    assert server.send("POST", "/sign-in/", pieces(3_000_000), chunked=True, **headers)[0] == 413


@pytest.mark.parametrize(
    "body", [b"zz\r\n", b"5\r\nabcdefgh\r\n", b"-1\r\n", b"\r\n", b"5;" + b"x" * 5000]
)
def test_chunks_that_are_none_are_a_bad_request(server: Server, body: bytes) -> None:
    head = b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with server.raw(head + body) as client:
        assert status_of(heard(client)) in {400, 431}


def test_requests_follow_one_another_on_a_connection_whatever_their_bodies(
    server: Server, authorized: dict[str, str]
) -> None:
    token = authorized["Authorization"].encode()
    head = b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\n" % token
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nA: b\r\n\r\n"
    known = head + b"Content-Length: 2\r\n\r\n{}"
    last = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with server.raw(chunked + known + last) as client:
        answers = heard(client)
    assert answers.count(b"HTTP/1.1 422") == 2
    assert answers.count(b"HTTP/1.1 200") == 1


def test_a_server_that_is_told_to_end_answers_what_was_asked(tmp_path: Path) -> None:
    head = b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\n"
    with serving(tmp_path / "web.log") as server, server.raw(head + b"ab") as client:
        assert server.get("/healthz")[0] == 200
        server.process.terminate()
        wait_until(lambda: any("Handling signal: term" in line for line in server.lines()))
        client.sendall(b"cd")
        assert status_of(heard(client)) == 403
        assert server.process.wait(60) == 0


def test_large_bodies_that_come_in_at_once_have_room_that_ends(
    authorized: dict[str, str], tmp_path: Path
) -> None:
    """Disks, and the memory that `/tmp` of a container is, do not fill up."""
    length = 1_000_000
    head = (
        "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: {authorized['Authorization']}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()
    limits = {"DRIFTLINE_UPLOAD_MAX_BYTES": str(length), "DRIFTLINE_BODY_SECONDS": "600"}
    headers = authorized | {"Content-Type": JSON}
    sent = head + b" " * (length - 1)

    def status_of_a_large_one() -> int:
        return server.send("POST", "/api/v1/runs", b" " * length, **headers)[0]

    with serving(tmp_path / "web.log", **limits) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(BODIES_AT_ONCE):
                stack.enter_context(server.raw(sent))
            while status_of_a_large_one() != 503:
                # It was read before one of the others, which then found no room.
                stack.enter_context(server.raw(sent))
            assert server.send("POST", "/api/v1/runs", b" " * 1000, **headers)[0] == 400
            assert server.get("/")[0] == 200
        wait_until(lambda: status_of_a_large_one() == 400)
        for _ in range(2 * BODIES_AT_ONCE):
            assert status_of_a_large_one() == 400, "each gives its room back"
