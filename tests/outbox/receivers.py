"""A real HTTP server that plays the endpoint of a webhook, or a chat service."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver(ThreadingHTTPServer):
    """``requests`` is what came: headers and body, ``lines`` how they began. It answers ``status``
    with ``answer``.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.lines: list[str] = []
        self.status, self.answer = 200, b"thanks"
        self.headers: dict[str, str] = {}
        self.drips = False
        self.on_request: Callable[[], object] = lambda: None
        self.at_once = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/hook?x=1"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.requests.append((dict(self.headers), body))
        self.server.lines.append(self.requestline)
        self.server.at_once += 1
        self.server.on_request()
        try:
            self._answer()
        finally:
            self.server.at_once -= 1

    do_GET = do_PUT = do_POST  # noqa: N815

    def _answer(self) -> None:
        if self.server.drips:
            self._drip()
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def _drip(self) -> None:
        """One byte of a status line that never ends, again and again."""
        try:
            while True:
                self.wfile.write(b"H")
                time.sleep(0.05)
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@contextmanager
def receiving() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
