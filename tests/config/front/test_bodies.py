"""Bodies that are too large are refused in a way that any client can read."""

import contextlib
import gzip
import io
import json
import select
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import RequestFactory

from tests import make
from tests.config.front.server import (
    ANSWER_SECONDS,
    Server,
    heard,
    status_of,
    upload_head,
    wait_until,
)
from webapp.config import settings
from webapp.config.admission import Admission
from webapp.labs import services

pytestmark = pytest.mark.django_db(transaction=True)
LARGE = b" " * (settings.UPLOAD_MAX_BYTES + 1_000_000)
PIECE = b" " * 1_000_000
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


@pytest.fixture
def authorized(transactional_db: None) -> dict[str, str]:
    return {"Authorization": f"Bearer {services.issue_token(agent=make.agent()).text}"}


def pieces(size: int) -> Iterator[bytes]:
    """A body whose length nobody states."""
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


def test_the_body_of_a_stranger_is_read_to_its_end_for_clients_that_read_last() -> None:
    body, answered = io.BytesIO(PIECE), io.BytesIO()

    def application(environ: Any, start_response: Any) -> list[bytes]:
        answered.write(environ["CONTENT_LENGTH"].encode())
        start_response("413 Content Too Large", [])
        return [b"too large"]

    environ = RequestFactory().post("/api/v1/runs", content_type=JSON).environ
    environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(len(PIECE))}
    answer = Admission(application)(environ, lambda *_: lambda _: None)
    assert b"".join(answer) == b"too large"
    assert body.tell() == len(PIECE)
    assert int(answered.getvalue()) > settings.UPLOAD_MAX_BYTES


def test_a_stranger_is_refused_before_it_sends(server: Server) -> None:
    head = (
        b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n"
        b"Expect: 100-continue\r\n\r\n"
    )
    with server.raw(head) as stranger:
        assert stranger.recv(65536).startswith(b"HTTP/1.1 100 ")
        stranger.sendall(b" " * 70_000)
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


def test_who_has_all_its_large_bodies_under_way_is_refused_and_nobody_else(
    server: Server, transactional_db: None
) -> None:
    length = 1_000_000
    greedy, modest = [services.issue_token(agent=make.agent()).text for _ in range(2)]

    def status(token: str, source: str, size: int = length) -> int:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": JSON}
        return server.send("POST", "/api/v1/runs", b" " * size, source=source, **headers)[0]

    with contextlib.ExitStack() as stack:
        for _ in range(64):
            begun = upload_head(greedy, length) + b" " * 100_000
            stack.enter_context(server.raw(begun, source="127.0.0.2"))
        wait_until(lambda: status(greedy, "127.0.0.2") == 429)
        assert status(greedy, "127.0.0.3") == 429, "wherever the sender is"
        # An address has room for several senders, once those too many have their answer.
        wait_until(lambda: status(modest, "127.0.0.2") == 400)
        assert status(modest, "127.0.0.3") == 400
        assert status(greedy, "127.0.0.2", 1000) == 400, "small ones are not counted"
        assert server.get("/")[0] == 200
    wait_until(lambda: status(greedy, "127.0.0.2") == 400)


def test_a_refused_upload_is_answered_with_the_reason_and_when_to_come_again(
    server: Server, authorized: dict[str, str]
) -> None:
    token = authorized["Authorization"].removeprefix("Bearer ")
    begun = upload_head(token, 1_000_000) + b" " * 100_000
    with contextlib.ExitStack() as stack:
        opened = [
            stack.enter_context(server.raw(begun))
            for _ in range(settings.LARGE_BODIES_PER_SENDER + 1)
        ]
        first, _, _ = select.select(opened, [], [], ANSWER_SECONDS)
        answer = heard(first[0])
    assert status_of(answer) == 429
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Retry-After: 5" in head
    assert json.loads(body)["error"]["code"] == "too_many_at_once"


def test_answers_are_compressed_unless_they_hold_secrets(server: Server) -> None:
    def coding(path: str) -> str:
        with contextlib.closing(server.connection()) as connection:
            connection.request("GET", path, headers={"Accept-Encoding": "br, gzip"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            return answer.headers.get("Content-Encoding", "")

    script = staticfiles_storage.url("js/trends.js")
    assert [coding(path) for path in ("/", script, "/sign-in/")] == ["gzip", "br", ""]
