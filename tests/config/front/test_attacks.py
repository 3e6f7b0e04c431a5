"""What two rounds of attacks tried: others see pages and upload meanwhile, and afterwards."""

import contextlib
import itertools
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests import make
from tests.config.front.server import Server, heard, serving, status_of
from tests.places import STATIC
from webapp.labs import services
from webapp.launcher import processes

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
ADDRESSES = [f"127.0.3.{each}" for each in range(1, 13)]
OTHERS = "127.0.4.1"
FILES = 8_000
PAGES = ["/healthz", "/", "/sign-in/", "/healthz", "/trends/"]
PIECE = b" " * 65536
HASTY_SECONDS = 5
MEMORY_BYTES = 512 * 2**20


@pytest.fixture(scope="module", autouse=True)
def many_files() -> None:
    """Each connection is a file of this process, and one of Caddy's."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"{FILES} open files are needed, and {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With the limits of the product, so that what hangs in it hangs for the whole test."""
    log = tmp_path_factory.mktemp("attacks") / "web.log"
    with serving(log, DRIFTLINE_WEB_WORKERS="2") as running:
        yield running


@pytest.fixture
def token(transactional_db: None) -> str:
    return services.issue_token(agent=make.agent()).text


@dataclass
class Attack:
    """Connections that begin something, send ``rest`` bytes as fast as they are taken, then one
    of ``drip`` each half second. One thread serves them all, and reads nothing."""

    connections: list[socket.socket]
    rest: int = 0
    drip: bytes = b""
    left: dict[socket.socket, int] = field(default_factory=dict)
    cut_off: int = 0

    def __post_init__(self) -> None:
        for connection in self.connections:
            connection.setblocking(False)
        self.left = dict.fromkeys(self.connections, self.rest)

    @property
    def is_sent(self) -> bool:
        """Whether those that were not cut off have sent all they wanted to."""
        return not any(self.left.values())

    def go_on(self, until: threading.Event) -> None:
        due = 0.0
        while not until.wait(0.01):
            drips = self.drip and time.monotonic() > due
            for connection, left in list(self.left.items()):
                if left:
                    self._send(connection, PIECE[:left])
                elif drips:
                    self._send(connection, self.drip)
            due = time.monotonic() + 0.5 if drips else due

    def _send(self, connection: socket.socket, data: bytes) -> None:
        try:
            sent = connection.send(data)
            self.left[connection] = max(0, self.left[connection] - sent)
        except BlockingIOError:
            pass
        except OSError:
            self.cut_off += 1
            del self.left[connection]


@contextlib.contextmanager
def attacking(
    server: Server, beginnings: Sequence[bytes], *, rest: int = 0, drip: bytes = b""
) -> Iterator[Attack]:
    """The connections are there inside, spread over twelve addresses."""
    with contextlib.ExitStack() as stack:
        sources = itertools.cycle(ADDRESSES)
        opened = [
            stack.enter_context(server.raw(each, source=next(sources))) for each in beginnings
        ]
        attack, over = Attack(opened, rest, drip), threading.Event()
        thread = threading.Thread(target=attack.go_on, args=(over,))
        thread.start()
        try:
            yield attack
        finally:
            over.set()
            thread.join()


def require_answers(server: Server, token: str) -> None:
    """Others see pages, and upload little and much."""
    for path in PAGES:
        assert server.get(path)[0] == 200, path
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for size in (1_000, 1_000_000):
        status, _ = server.send("POST", "/api/v1/runs", b" " * size, source=OTHERS, **headers)
        assert status == 400, "read to its end, and no JSON"


def request(line: str, *headers: str) -> bytes:
    return "\r\n".join([f"{line} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]).encode()


def a_large_file() -> str:
    file = max(STATIC.glob("**/*.js"), key=lambda path: path.stat().st_size)
    return f"/static/{file.relative_to(STATIC)}"


FORM = request("POST /sign-in/", "Content-Length: 60000") + b"name="
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.mark.parametrize(
    ("beginning", "count", "drip"),
    [
        pytest.param(HALF_A_HEAD, 440, b"x", id="half heads"),
        pytest.param(FORM, 2880, b"x", id="half bodies"),
        pytest.param(b"", 3000, b"", id="idle connections"),
        pytest.param(request("GET /trends/") * 50, 100, b"", id="slow readers of pages"),
    ],
)
def test_others_are_answered_during(
    server: Server, token: str, beginning: bytes, count: int, drip: bytes
) -> None:
    with attacking(server, [beginning] * count, drip=drip):
        require_answers(server, token)
    require_answers(server, token)


def test_others_are_answered_while_files_are_read_slowly(server: Server, token: str) -> None:
    with attacking(server, [request(f"GET {a_large_file()}") * 2000] * 250):
        require_answers(server, token)


def test_64_large_bodies_of_one_viewer_leave_room_to_others(server: Server, token: str) -> None:
    viewer = Client()
    viewer.force_login(make.user())
    name = settings.SESSION_COOKIE_NAME
    cookie = f"Cookie: {name}={viewer.cookies[name].value}"
    head = request("POST /api/v1/runs", cookie, "Content-Length: 1000000")
    with attacking(server, [head] * 64, rest=999_999):
        require_answers(server, token)


def test_1000_stalled_uploads_cost_bounded_memory(server: Server, token: str) -> None:
    sender = services.issue_token(agent=make.agent()).text
    size = settings.UPLOAD_MAX_BYTES
    head = request(
        "POST /api/v1/runs", f"Authorization: Bearer {sender}", f"Content-Length: {size}"
    )
    before = memory(server)
    with attacking(server, [head] * 1000, rest=size - 1) as attack:
        require_answers(server, token)
        most = memory(server)
        while not attack.is_sent:
            require_answers(server, token)
            most = max(most, memory(server))
        assert attack.cut_off > 900
    assert most - before < MEMORY_BYTES


def memory(server: Server) -> int:
    """Bytes that Caddy and the web server have for themselves."""
    ours = {server.web.pid, server.caddy.pid}
    found = [each for each in processes.running() if each.pid in ours or _parent(each.pid) in ours]
    return sum(map(_private_bytes, (each.pid for each in found)))


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _private_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Private"))
    return 0


@pytest.mark.parametrize("wanted", [0, 1000], ids=["before the answer", "during it"])
def test_connections_that_are_reset_leave_nothing_behind(
    server: Server, token: str, wanted: int
) -> None:
    paths = ["/", "/trends/", a_large_file(), "/api/docs"]
    for path, source in itertools.product(paths, ADDRESSES * 4):
        connection = server.raw(request(f"GET {path}"), source=source)
        if wanted:
            connection.recv(wanted)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    require_answers(server, token)


HIDDEN = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CHUNKED = f"0\r\n\r\n{HIDDEN}"
FRAMINGS: dict[str, tuple[str, str, set[int]]] = {
    # What is odd about it: its headers, its body, the statuses that refuse it (none: it is read)
    "length with chunks": (
        f"Content-Length: {len(CHUNKED)}\r\nTransfer-Encoding: chunked",
        CHUNKED,
        set(),
    ),
    "chunks with length": ("Transfer-Encoding: chunked\r\nContent-Length: 4", CHUNKED, set()),
    "two lengths": (f"Content-Length: 0\r\nContent-Length: {len(HIDDEN)}", HIDDEN, {400}),
    "a list of lengths": ("Content-Length: 0, 0", HIDDEN, {400}),
    "a signed length": ("Content-Length: +0", HIDDEN, {400}),
    "unknown coding": ("Transfer-Encoding: xchunked", CHUNKED, {400, 501}),
    "two codings": ("Transfer-Encoding: chunked, identity", CHUNKED, {400, 501}),
    "a space before the colon": ("Transfer-Encoding : chunked", CHUNKED, {400}),
    "a folded header": ("Transfer-Encoding:\r\n chunked", CHUNKED, set()),
    "bare line feeds": ("Content-Length: 0\nX: y", HIDDEN, set()),
    "an extended chunk": ("Transfer-Encoding: chunked", f"1;a=b\r\nx\r\n{CHUNKED}", set()),
    "a chunk with a bare line feed": ("Transfer-Encoding: chunked", f"1;\nx\r\n{CHUNKED}", set()),
    "a trailer": ("Transfer-Encoding: chunked", f"0\r\nContent-Length: 9\r\n\r\n{HIDDEN}", set()),
    "another host in the line": ("Content-Length: 0", HIDDEN, set()),
}
TARGETS = ["/", "/healthz", "/sign-in/", "/trends/", "/api/v1/runs", "/api/v1/hardware", "/nothing"]


def test_none_of_98_ambiguous_requests_answers_for_another(server: Server, token: str) -> None:
    """The web server's connections are shared, so that what Caddy and it read differently would
    answer the next request of somebody else."""
    cases = list(itertools.product(FRAMINGS.items(), TARGETS))
    assert len(cases) == 98
    for (odd, (headers, body, refusals)), target in cases:
        line = f"http://other.example{target}" if odd == "another host in the line" else target
        head = f"POST {line} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n\r\n"
        with server.raw((head + body).encode()) as connection:
            connection.shutdown(socket.SHUT_WR)
            status = status_of(heard(connection))
        assert status in refusals or (not refusals and status < 500), (odd, target, status)
        assert server.get("/api/v1/nothing", source=OTHERS)[0] == 404, (odd, target)
    require_answers(server, token)


@pytest.fixture(scope="module")
def hasty(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("hasty") / "web.log"
    with serving(log, body_seconds=HASTY_SECONDS) as running:
        yield running


def test_bodies_that_do_not_come_are_answered_408(
    hasty: Server, server: Server, token: str
) -> None:
    """One that stays small, one that drips, and a large one whose sender is silent: Gunicorn gives
    that one up long before Caddy would."""
    large = request(
        "POST /api/v1/runs", f"Authorization: Bearer {token}", "Content-Length: 1000000"
    )
    with contextlib.ExitStack() as stack:
        beginnings = [(hasty, FORM), (hasty, large + PIECE * 2), (server, large + PIECE * 2)]
        opened = [stack.enter_context(each.raw(text)) for each, text in beginnings]
        assert [status_of(heard(each)) for each in opened] == [408, 408, 408]


def test_a_head_that_does_not_come_ends(hasty: Server) -> None:
    with hasty.raw(HALF_A_HEAD) as half, hasty.raw() as silent:
        assert status_of(heard(half)) in {0, 400}
        assert heard(silent) == b""


def test_a_sender_of_64_kilobytes_a_second_is_heard(server: Server, token: str) -> None:
    length = 4 * len(PIECE)
    head = request(
        "POST /api/v1/runs",
        f"Authorization: Bearer {token}",
        f"Content-Length: {length}",
        "Connection: close",
    )
    with server.raw(head) as slow:
        for _ in range(4):
            slow.sendall(PIECE)
            time.sleep(1)
        assert status_of(heard(slow)) == 400, "read to its end, and no JSON"
    assert settings.UPLOAD_MAX_BYTES / len(PIECE) < settings.BODY_SECONDS
