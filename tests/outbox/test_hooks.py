"""Events reach their endpoints signed, once, and never machines that only we can reach."""

import errno
import hashlib
import hmac
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests import make
from tests.outbox.receivers import Receiver, receiving
from webapp.accounts.models import User
from webapp.outbox import http_post, services
from webapp.outbox.deadlines import Deadline
from webapp.outbox.http_post import Target, explain
from webapp.outbox.models import Endpoint, HookDelivery
from webapp.outbox.services import delivering, endpoints, items

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def operator(db: None) -> User:
    return make.user("op", is_staff=True)


@pytest.fixture
def endpoint(receiver: Receiver, operator: User, settings: Any) -> Endpoint:
    """At the receiver, whose network is allowed."""
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1024, 2**16)]
    return endpoints.add_endpoint(
        name="ci", url=receiver.url(), kinds=["alert.opened"], allow_private=True, by=operator
    )


def post(about: str = "alert:17") -> None:
    services.post_event(kind="alert.opened", about=about, payload={"alert": 17})


def send() -> None:
    delivering.send_due_deliveries()


def wait_over() -> None:
    """As if every pause had passed."""
    past = timezone.now() - timedelta(seconds=1)
    HookDelivery.objects.unfinished().update(due=past)
    Endpoint.objects.update(next_try=past)


def test_an_event_arrives_with_a_signature_that_its_receiver_can_check(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    post()
    send()
    ((headers, body),) = receiver.requests
    delivery = HookDelivery.objects.get()
    assert (delivery.state, delivery.status, delivery.response) == ("sent", 200, "thanks")
    assert headers["X-Driftline-Delivery"] == str(delivery.uid) == json.loads(body)["id"]
    assert json.loads(body)["data"] == {"alert": 17}
    fields = dict(part.split("=") for part in headers["X-Driftline-Signature"].split(","))
    signed = f"{fields['t']}.".encode() + body
    expected = hmac.new(endpoint.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert fields["v1"] == expected


def test_a_failure_is_tried_again_with_the_same_delivery_id_and_body(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    receiver.status = 500
    post()
    send()
    delivery = HookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.reason) == (
        "waiting",
        1,
        "It answered 500.",
    )
    receiver.status = 204
    wait_over()
    send()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.reason) == ("sent", 2, "")
    (first, body), (second, again) = receiver.requests
    assert body == again
    assert first["X-Driftline-Delivery"] == second["X-Driftline-Delivery"]


def test_while_an_endpoint_fails_its_other_deliveries_wait_untried(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    receiver.status = 503
    for number in range(3):
        post(f"alert:{number}")
    send()
    tries = HookDelivery.objects.order_by("pk").values_list("attempts", flat=True)
    assert list(tries) == [1, 0, 0]
    receiver.status = 200
    wait_over()
    send()
    assert set(HookDelivery.objects.values_list("state", flat=True)) == {"sent"}
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since) == (0, None)


def test_an_endpoint_that_fails_for_days_is_disabled_and_shown_so(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    receiver.status = 500
    post("alert:1")
    post("alert:2")
    past = timezone.now() - endpoints.DISABLED_AFTER - timedelta(minutes=1)
    Endpoint.objects.update(failures=endpoints.LEAST_FAILURES - 1, failing_since=past)
    send()
    endpoint.refresh_from_db()
    assert not endpoint.enabled
    assert (
        endpoint.disabled_reason
        == "Every delivery failed for 5 days, the last so: It answered 500."
    )
    assert set(HookDelivery.objects.values_list("state", flat=True)) == {"dropped"}


def test_a_clock_that_is_set_forward_disables_nothing(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    receiver.status = 500
    past = timezone.now() - timedelta(days=30)
    Endpoint.objects.update(failures=2, failing_since=past)
    post()
    send()
    endpoint.refresh_from_db()
    assert (endpoint.enabled, endpoint.failures) == (True, 3)


def test_what_fails_while_its_endpoint_is_disabled_waits_no_more(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    post()
    token = items.claim(HookDelivery.objects.all(), limit=1, lease=timedelta(minutes=2))
    endpoints.disable_endpoint(endpoint=endpoint, reason="By op.")
    delivery = HookDelivery.objects.get(claim=token)
    items.record_failed(delivery, "It answered 500.")
    endpoints.note_failure(endpoint=endpoint, reason="It answered 500.")
    delivery.refresh_from_db()
    assert delivery.state == "dropped"


def test_nothing_is_reported_to_be_sent_to_a_disabled_endpoint(
    endpoint: Endpoint, operator: User
) -> None:
    post()
    endpoints.disable_endpoint(endpoint=endpoint, reason="By op.")
    with pytest.raises(endpoints.EndpointError, match="enable it first"):
        endpoints.ping_endpoint(endpoint=endpoint, by=operator)
    HookDelivery.objects.update(state="dead")
    with pytest.raises(endpoints.EndpointError, match="enable it first"):
        endpoints.retry_deliveries(endpoint=endpoint, numbers=[HookDelivery.objects.get().pk])
    assert HookDelivery.objects.get().state == "dead"


def test_a_redirect_is_not_followed(receiver: Receiver, endpoint: Endpoint) -> None:
    receiver.status = 307
    receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
    post()
    send()
    delivery = HookDelivery.objects.get()
    assert len(receiver.requests) == 1
    assert delivery.status == 307
    assert "Redirects are not followed" in delivery.reason


def test_a_huge_answer_is_read_to_its_first_two_kilobytes(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    receiver.answer = b"a\0" * 5_000_000
    post()
    send()
    delivery = HookDelivery.objects.get()
    assert delivery.state == "sent"
    assert len(delivery.response) == http_post.EXCERPT_BYTES // 2


def test_an_answer_that_never_ends_is_given_up(receiver: Receiver) -> None:
    receiver.drips = True
    target = Target("http", "x.example", receiver.port, "/", "127.0.0.1")
    with pytest.raises(http_post.PostError, match=r"No whole answer within 0\.3 s"):
        http_post.post(target, b"{}", {}, deadline=Deadline(0.3))


def test_nobody_listening_is_a_failure_with_its_reason(
    endpoint: Endpoint, receiver: Receiver
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        Endpoint.objects.update(url=f"http://127.0.0.1:{port}/")
        post()
        send()
    assert HookDelivery.objects.get().reason == (
        f"Nothing listens at 127.0.0.1, port {port}: check the port in the URL, and whether the "
        "server runs."
    )


def failure(scheme: str, port: int, seconds: float = 20.0) -> str:
    """Why nothing could be posted there."""
    target = Target(scheme, "ci.example", port, "/", "127.0.0.1")
    with pytest.raises(http_post.PostError) as refused:
        http_post.post(target, b"{}", {}, deadline=Deadline(seconds))
    return str(refused.value)


def test_tls_where_none_is_spoken_is_named(receiver: Receiver) -> None:
    assert failure("https", receiver.port) == (
        f"ci.example, port {receiver.port}, does not speak TLS as expected: check the port, and "
        "whether the URL is to begin with http://."
    )


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_that_nobody_known_signed_is_named(tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    about = ["-days", "2", "-subj", "/CN=ci.example"]
    subprocess.run(["openssl", "req", "-x509", *made, *about], check=True, capture_output=True)
    with receiving() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        reason = failure("https", server.port)
    assert reason == (
        f"The certificate of ci.example, port {server.port}, is not trusted (self-signed "
        "certificate): use the name in the certificate, renew it, or add its authority to those of "
        "this machine."
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "hung up without an answer: check whether the URL is to begin with https://"),
        (b"220 mail.example ESMTP\r\n", "does not answer in HTTP: check the port"),
    ],
)
def test_what_is_no_web_server_is_named(answer: bytes, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=once, args=[listening, answer])
        thread.start()
        port = listening.getsockname()[1]
        assert f"ci.example, port {port}, {reason}" in failure("http", port)
        thread.join()


def once(listening: socket.socket, answer: bytes) -> None:
    """Answer the first request, and hang up."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(answer)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError(), "ci.example, port 443, did not answer in time: check whether the server"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "No network leads to ci.example"),
        (OSError(errno.EMFILE, "Too many open files"), "cannot be reached (Too many open files):"),
    ],
)
def test_what_the_network_does_is_named(error: OSError, reason: str) -> None:
    assert reason in explain(error, "ci.example", 443)


def test_the_connection_goes_to_the_address_that_was_checked_whatever_the_name_resolves_to_now(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def changing(host: str, *_: object, **__: object) -> list[Any]:
        asked.append(host)
        address = "1.1.1.1" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(http_post.socket, "getaddrinfo", changing)
    target = http_post.check(receiver.url("rebinding.example"), more_ports=[range(1024, 2**16)])
    connected: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(http_post.socket, "create_connection", connect)
    with pytest.raises(http_post.PostError):
        http_post.post(target, b"{}", {})
    assert connected == [("1.1.1.1", receiver.port)]
    assert asked == ["rebinding.example"]
    assert not receiver.requests


def test_the_name_is_what_the_receiver_is_asked_for(receiver: Receiver) -> None:
    target = Target("http", "ci.example", receiver.port, "/hook", "127.0.0.1")
    http_post.post(target, b"{}", {})
    ((headers, _),) = receiver.requests
    assert headers["Host"] == f"ci.example:{receiver.port}"


def test_a_name_that_became_private_since_it_was_added_is_not_reached(
    receiver: Receiver, endpoint: Endpoint
) -> None:
    Endpoint.objects.update(allow_private=False)
    post()
    send()
    assert not receiver.requests
    assert "not a public address" in HookDelivery.objects.get().reason


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "ci"}, "name"),
        ({"kinds": ["Not a kind"]}, "kinds"),
        ({"url": "http://127.0.0.1/", "allow_private": False}, "url"),
        ({"url": "http://1.1.1.1:22/"}, "url"),
        ({"url": "gopher://x/"}, "url"),
    ],
)
def test_an_endpoint_that_cannot_be_is_refused_by_the_name_of_its_field(
    endpoint: Endpoint, operator: User, given: dict[str, Any], field: str
) -> None:
    good = {"name": "other", "url": endpoint.url, "kinds": [], "allow_private": True}
    with pytest.raises(endpoints.EndpointError) as refused:
        endpoints.add_endpoint(**(good | given), by=operator)
    assert refused.value.field == field
    assert Endpoint.objects.count() == 1


def test_a_ping_reaches_an_endpoint_that_listens_to_something_else(
    receiver: Receiver, endpoint: Endpoint, operator: User
) -> None:
    endpoints.ping_endpoint(endpoint=endpoint, by=operator)
    send()
    assert receiver.requests[0][0]["X-Driftline-Event"] == "ping"
