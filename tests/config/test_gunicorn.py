"""How the web server's processes share connections."""

from dataclasses import dataclass, field

import pytest

from webapp.config import gunicorn, settings


@dataclass
class Worker:
    """What gunicorn knows of one process: its connections, and those that wait for a request."""

    nr_conns: int
    keepalived_conns: list[object] = field(default_factory=list)


@dataclass
class Request:
    closed: bool = False

    def force_close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("connections", "waiting", "closed"),
    [(1, 0, False), (2, 0, False), (3, 0, True), (4, 0, True), (4, 2, False), (20, 18, False)],
)
def test_a_process_with_more_than_half_its_threads_busy_gives_connections_back(
    monkeypatch: pytest.MonkeyPatch, connections: int, waiting: int, closed: bool
) -> None:
    monkeypatch.setattr(settings, "WEB_THREADS", 4)
    request = Request()
    gunicorn.pre_request(Worker(connections, [object()] * waiting), request)
    assert request.closed is closed
