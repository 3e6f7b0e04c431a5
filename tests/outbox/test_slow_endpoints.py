"""Endpoints that are as slow as they like, or break off: nobody else waits for them, and what did
not arrive whole is not reported to have arrived."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from tests import make
from tests.outbox.receivers import Receiver, receiving
from tests.outbox.slow import answering, dripping, serving, silent
from webapp.outbox import deadlines, http_post, services
from webapp.outbox.deadlines import Deadline
from webapp.outbox.http_post import Target
from webapp.outbox.models import Endpoint, HookDelivery
from webapp.outbox.services import delivering, endpoints, items
from webapp.outbox.services.items import singleton_lock

pytestmark = pytest.mark.django_db
LONG = pytest.mark.long
PATIENCE = 30
HEAD = b"HTTP/1.1 200 OK\r\n"
BROKEN_OFF = {
    "in the status line": b"HTTP/1.1 20",
    "after the status line": HEAD,
    "in the header": HEAD + b"Content-Type: text/plain\r\nContent-Le",
    "before the empty line": HEAD + b"Content-Length: 0\r\n",
    "in the body": HEAD + b"Content-Length: 10\r\n\r\nthan",
    "before the body": HEAD + b"Content-Length: 10\r\n\r\n",
    "in a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nth",
    "between two chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nth\r\n",
}
WHOLE = {
    "with a length": HEAD + b"Content-Length: 2\r\n\r\nok",
    "without a body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "to the end of the connection": HEAD + b"\r\nok",
    "in chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "longer than what is read": HEAD + b"Content-Length: 100000\r\n\r\n" + 3000 * b"a",
}


@pytest.fixture
def listening(settings: Any) -> Any:
    """Adds an endpoint that listens to everything."""
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1, 2**16)]
    operator = make.user("op", is_staff=True)

    def add(name: str, url: str) -> Endpoint:
        return endpoints.add_endpoint(name=name, url=url, allow_private=True, by=operator)

    return add


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


OverdueAfter = Callable[[int], list[int]]


@pytest.fixture
def overdue_after(monkeypatch: pytest.MonkeyPatch) -> OverdueAfter:
    """Lets what is under way be late when so many deliveries were sent, and never before; gives how
    many had failed when each of these was."""

    def after(count: int) -> list[int]:
        failed: list[int] = []
        record = items.record_sent

        def record_sent(*arguments: Any, **options: Any) -> None:
            record(*arguments, **options)
            failed.append(HookDelivery.objects.filter(state="waiting", attempts__gt=0).count())

        def monotonic() -> float:
            return time.monotonic() + (2 * PATIENCE if len(failed) >= count else 0)

        monkeypatch.setattr(items, "record_sent", record_sent)
        monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=monotonic))
        return failed

    return after


def post_event(about: str = "alert:17") -> None:
    services.post_event(kind="alert.opened", about=about, payload={"alert": 17})


def post(port: int, seconds: float = 10.0) -> http_post.Answer:
    target = Target("http", "x.example", port, "/", "127.0.0.1")
    return http_post.post(target, b"{}", {}, deadline=Deadline(seconds))


@pytest.mark.parametrize("answer", BROKEN_OFF.values(), ids=list(BROKEN_OFF))
def test_an_answer_that_breaks_off_is_none(answer: bytes) -> None:
    with serving(answering(answer)) as server, pytest.raises(http_post.PostError):
        post(server.port)


@pytest.mark.parametrize("answer", WHOLE.values(), ids=list(WHOLE))
def test_a_whole_answer_counts(answer: bytes) -> None:
    with serving(answering(answer)) as server:
        assert post(server.port).status in (200, 204)


@pytest.mark.parametrize(
    "behaviour",
    [
        dripping(b"HTTP/1.1 200 OK\r\n"),
        dripping(b"X-Slow: yes\r\n", first=HEAD),
        dripping(b"a", first=HEAD + b"Content-Length: 1000\r\n\r\n"),
        dripping(b"1\r\na\r\n", first=HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
        silent,
    ],
    ids=["status line", "header", "body", "chunks", "silence"],
)
def test_who_drips_is_given_up_at_the_deadline(behaviour: Any) -> None:
    late = pytest.raises(http_post.PostError, match=r"No whole answer within 0\.2 s")
    with serving(behaviour) as server, late:
        post(server.port, seconds=0.2)


def test_a_delivery_that_broke_off_is_tried_again(listening: Any) -> None:
    with serving(answering(BROKEN_OFF["in the header"])) as server:
        listening("ci", server.url)
        post_event()
        delivering.send_due_deliveries()
    delivery = HookDelivery.objects.get()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert delivery.reason == "The answer broke off in its header."


@pytest.mark.parametrize("count", [20, *(pytest.param(each, marks=LONG) for each in (2, 4))])
def test_slow_endpoints_hold_up_no_fast_one(
    listening: Any, receiver: Receiver, overdue_after: OverdueAfter, count: int
) -> None:
    failed_before = overdue_after(5)
    with ExitStack() as stack:
        for number in range(count):
            slow = stack.enter_context(serving(dripping(HEAD)))
            listening(f"a slow one {number}", slow.url)
        listening("fast", receiver.url())
        for number in range(5):
            post_event(f"alert:{number}")
        delivering.send_due_deliveries(seconds=600, each_seconds=PATIENCE)
    fast = HookDelivery.objects.filter(endpoint__name="fast")
    assert list(fast.values_list("state", "attempts")) == 5 * [("sent", 1)]
    assert failed_before == 5 * [0]
    slow_ones = HookDelivery.objects.exclude(endpoint__name="fast")
    assert slow_ones.filter(attempts=1, reason="No whole answer within 30 s.").count() == count
    assert slow_ones.filter(attempts=0).count() == 4 * count
    assert Endpoint.objects.filter(failures=1, next_try__isnull=False).count() == count


def test_an_endpoint_gets_one_delivery_at_a_time(listening: Any, receiver: Receiver) -> None:
    under_way: list[int] = []
    receiver.on_request = lambda: under_way.append(receiver.at_once)
    listening("ci", receiver.url())
    for number in range(10):
        post_event(f"alert:{number}")
    delivering.send_due_deliveries()
    assert under_way == 10 * [1]


def test_what_becomes_due_while_a_slow_one_is_under_way_is_sent_meanwhile(
    listening: Any,
    receiver: Receiver,
    overdue_after: OverdueAfter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed_before = overdue_after(2)
    monkeypatch.setattr(delivering, "LOOK_SECONDS", 0.05)
    listening("fast", receiver.url())
    with serving(dripping(HEAD)) as slow:
        listening("slow", slow.url)
        post_event("alert:1")
        first = threading.Event()
        receiver.on_request = first.set
        sending = delivering.Sending(seconds=600, each_seconds=PATIENCE)
        sending._begin_due()
        assert first.wait(PATIENCE)
        post_event("alert:2")
        sending.run()
    assert failed_before == [0, 0]


def test_a_resolver_that_hangs_is_left_behind(
    listening: Any,
    receiver: Receiver,
    overdue_after: OverdueAfter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overdue_after(1)
    monkeypatch.setattr(delivering, "LOOK_SECONDS", 0.05)
    listening("hanging", "http://127.0.0.1/")
    listening("fast", receiver.url())
    Endpoint.objects.filter(name="hanging").update(url="http://hangs.example/")
    resolve, over = socket.getaddrinfo, threading.Event()

    def hanging(host: str, *arguments: Any, **options: Any) -> Any:
        if host == "hangs.example":
            over.wait(60)
        return resolve("127.0.0.1" if host == "hangs.example" else host, *arguments, **options)

    monkeypatch.setattr(http_post.socket, "getaddrinfo", hanging)
    post_event()
    delivering.send_due_deliveries(seconds=600, each_seconds=PATIENCE)
    states = dict(HookDelivery.objects.values_list("endpoint__name", "state"))
    assert states == {"hanging": "waiting", "fast": "sent"}
    over.set()


def test_no_thread_is_left_when_all_is_sent(
    listening: Any, receiver: Receiver, overdue_after: OverdueAfter, monkeypatch: pytest.MonkeyPatch
) -> None:
    overdue_after(1)
    monkeypatch.setattr(delivering, "GRACE_SECONDS", 600.0)
    listening("fast", receiver.url())
    with serving(dripping(HEAD)) as slow:
        listening("slow", slow.url)
        post_event()
        delivering.send_due_deliveries(seconds=600, each_seconds=PATIENCE)
    for thread in delivering.Sending._threads:
        thread.join(PATIENCE)
    assert "delivery" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.django_db(transaction=True)
def test_only_one_process_sends_at_a_time() -> None:
    seen: list[bool] = []

    def other() -> None:
        with singleton_lock("mails") as mine, singleton_lock("deliveries") as free:
            seen.extend([mine, free])
        connection.close()

    with singleton_lock("mails") as mine:
        assert mine
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [False, True]
