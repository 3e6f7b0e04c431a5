"""Chat channels: the text of the mail, once, and by no way that a webhook may not take."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from ipaddress import ip_network
from types import ModuleType
from typing import Any

import pytest
import requests
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.conftest import PROJECT, environment_of_the_database
from tests.outbox.receivers import Receiver, receiving
from tests.results.steps import analyse
from webapp.accounts.models import User
from webapp.alerts.models import Alert
from webapp.notifications.services import notify_events
from webapp.outbox import channels, http_post
from webapp.outbox.deadlines import Deadline
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.services import (
    delivering,
    endpoints,
    move_mails,
    post_messages,
    send_due_mails,
)
from webapp.outbox.services.endpoints import EndpointError, checked
from webapp.results.models import Run
from webapp.results.services import forget_names, withdraw_run

pytestmark = pytest.mark.django_db
ATOM = "Atom/T540"
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
METADATA = "https://169.254.169.254"
KEY = "3ccdd113474722377935511fc85d3dd4"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """In a network that is allowed."""
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1024, 2**16)]
    forget_names()
    with receiving() as server:
        yield server


@pytest.fixture
def operator(db: None) -> User:
    return make.user("op", is_staff=True)


@pytest.fixture
def channel(receiver: Receiver, operator: User) -> Endpoint:
    """Of a Mattermost that the receiver plays."""
    return add(f"mmost://127.0.0.1:{receiver.port}/{KEY}", by=operator)


def add(url: str, *, by: User, private: bool = True, name: str = "perf") -> Endpoint:
    return endpoints.add_endpoint(name=name, url=url, allow_private=private, by=by)


def send() -> None:
    """What is posted, as if every pause were over."""
    notify_events()
    past = timezone.now() - timedelta(seconds=1)
    HookDelivery.objects.unfinished().update(due=past)
    Mail.objects.unfinished().update(due=past)
    Endpoint.objects.update(next_try=past)
    delivering.send_due_deliveries()


def texts(receiver: Receiver) -> list[str]:
    return [json.loads(body)["text"] for _, body in receiver.requests]


def a_loss(**more: Any) -> Alert:
    arrive(runs_of({(ATOM, "pf"): {15: 0.9}}, **more))
    return Alert.objects.get()


def withdraw_it() -> None:
    for run in Run.objects.filter(revision__position__gte=115):
        withdraw_run(run=run, by=None, reason="wrong kernel")
    analyse()


def test_a_channel_gets_the_text_of_the_mail_without_what_is_personal(
    receiver: Receiver, channel: Endpoint
) -> None:
    make.subscription()
    alert = a_loss()
    send()
    send_due_mails()
    (text,) = texts(receiver)
    mail = Mail.objects.get()
    assert mail.subject in text
    # Both name the second in which they were composed.
    lines = [line for line in mail.text.splitlines() if not line.startswith("As of this mail")]
    missing = [line for line in lines if line and line not in text]
    personal, stop = missing
    assert personal.startswith("You get this mail because")
    assert stop.startswith("Stop these mails")
    link = f"http://127.0.0.1:8000{alert.get_absolute_url()}"
    assert text.index(link) < text.index("Before"), "what is cut at a service's limit is the table"


def test_a_channel_gets_one_message_of_a_kind_about_an_alert(
    receiver: Receiver, channel: Endpoint
) -> None:
    alert = a_loss(count=18)
    send()
    alert.events.update(is_read=False)
    send()
    assert len(receiver.requests) == 1
    withdraw_it()
    send()
    assert f"Alert {alert.pk} is retracted" in texts(receiver)[1]
    kinds = HookDelivery.objects.order_by("pk").values_list("kind", "about")
    assert list(kinds) == [("alert.opened", f"alert:{alert.pk}"), ("alert.retracted", kinds[0][1])]


def test_what_follows_waits_for_the_first_and_is_not_sent_without_it(
    receiver: Receiver, channel: Endpoint
) -> None:
    alert = a_loss(count=18)
    receiver.status = 500
    send()
    withdraw_it()
    receiver.status = 200
    notify_events()
    HookDelivery.objects.filter(kind="alert.retracted").update(due=timezone.now())
    Endpoint.objects.update(next_try=None)
    delivering.send_due_deliveries()
    waiting = HookDelivery.objects.get(kind="alert.retracted")
    assert (waiting.state, waiting.attempts) == ("waiting", 0)
    assert "which waits" in waiting.reason
    send()
    assert [f"Alert {alert.pk} is retracted" in text for text in texts(receiver)] == [
        False,
        False,
        True,
    ]


def test_a_failure_is_tried_again_with_the_same_text(receiver: Receiver, channel: Endpoint) -> None:
    a_loss()
    receiver.status = 500
    send()
    delivery = HookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.status) == ("waiting", 1, 500)
    assert delivery.reason == "It answered 500."
    channel.refresh_from_db()
    assert channel.failures == 1
    receiver.status = 200
    Alert.objects.update(state="acknowledged")
    send()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.response) == ("sent", 2, "thanks")
    first, second = texts(receiver)
    assert first == second
    channel.refresh_from_db()
    assert channel.failures == 0


def test_alerts_that_become_one_are_one_in_the_channel(
    receiver: Receiver, channel: Endpoint
) -> None:
    a_loss()
    send()
    number = Alert.objects.get().pk
    move_mails(about=f"alert:{number}", to="alert:99", alert=99)
    moved = HookDelivery.objects.get()
    assert (moved.about, moved.payload["alert"]) == ("alert:99", 99)


SENDER = """
import django
django.setup()
from webapp.outbox.services.delivering import send_due_deliveries
send_due_deliveries()
"""


@pytest.mark.django_db(transaction=True)
def test_what_is_under_way_when_its_process_is_killed_is_sent_again(
    receiver: Receiver, channel: Endpoint
) -> None:
    endpoints.ping_endpoint(endpoint=channel, by=channel.created_by)
    receiver.on_request = lambda: os.kill(sender.pid, signal.SIGKILL)
    allowed = {
        "DRIFTLINE_WEBHOOKS_ALLOW": "127.0.0.0/8",
        "DRIFTLINE_WEBHOOKS_PORTS": "1024-65535",
    }
    sender = subprocess.Popen(
        [sys.executable, "-c", SENDER], env=environment_of_the_database() | allowed, cwd=PROJECT
    )
    sender.wait(60)
    receiver.on_request = lambda: None
    claimed = HookDelivery.objects.get()
    assert (claimed.state, claimed.attempts, len(receiver.requests)) == ("claimed", 0, 1)
    send()
    assert HookDelivery.objects.get().state == "sent"
    assert len(receiver.requests) == 2


def test_matrix_is_written_to_by_its_token_over_several_requests(
    receiver: Receiver, operator: User
) -> None:
    receiver.answer = b'{"room_id": "!ops:chat.example", "event_id": "$1", "user_id": "@bot:x"}'
    one = add(f"matrix://syt_token@127.0.0.1:{receiver.port}/!ops:chat.example", by=operator)
    endpoints.ping_endpoint(endpoint=one, by=operator)
    send()
    delivery = HookDelivery.objects.get()
    assert (delivery.state, delivery.reason) == ("sent", "")
    methods = [each.split()[0] for each in receiver.lines]
    assert methods[-1] == "PUT"
    assert "A test by op" in receiver.requests[-1][1].decode()
    assert {headers["Authorization"] for headers, _ in receiver.requests} == {"Bearer syt_token"}


@pytest.mark.parametrize(
    ("url", "host", "content"),
    [
        (SLACK, "hooks.slack.com", b'"text": "Rehearsal"'),
        (f"discord://417429632418316298/{KEY}{KEY}", "discord.com", b"Rehearsal"),
        ("tgram://123456789:abcdefg_hijklmnop/12315544", "api.telegram.org", b"Rehearsal"),
        (f"workflows://prod-1.example.com/{KEY}/{KEY}", "prod-1.example.com", b"Rehearsal"),
        ("matrixs://token@chat.example/!a:chat.example", "chat.example", b""),
    ],
)
def test_each_service_is_asked_over_tls_at_its_address(url: str, host: str, content: bytes) -> None:
    asked: list[tuple[str, Any]] = []

    class Seen(channels.Conversation):
        def send(self, request: requests.PreparedRequest) -> requests.Response:
            asked.append((request.url or "", request.body or b""))
            raise requests.ConnectionError

    talk = Seen(lambda _: pytest.fail("nothing is connected"), Deadline(1))
    channels._notify(url, "Driftline", "Rehearsal", talk)
    address, body = asked[0]
    assert address.startswith((f"https://{host}/", f"https://{host}:443/"))
    assert content in (body.encode() if isinstance(body, str) else body)


def test_an_address_that_a_service_gives_for_its_channel_becomes_the_url_of_one() -> None:
    found = channels.canonical("https://hooks.slack.com/services/" + SLACK.removeprefix("slack://"))
    assert found.startswith(SLACK)
    channels._read(found)
    assert channels.canonical("https://ci.example/hook") == "https://ci.example/hook"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("syslog://localhost", "no kind of channel"),
        ("dbus://", "no kind of channel"),
        ("windows://", "no kind of channel"),
        ("exec://id", "no kind of channel"),
        ("file:///etc/passwd", "no kind of channel"),
        ("mailto://user:pass@example.org", "no kind of channel"),
        ("json://127.0.0.1:8000/", "no kind of channel"),
        (f"{SLACK}?template=/etc/passwd", "template"),
        (f"{SLACK}/#perf?template=/etc/passwd", "template"),
        (f"{SLACK}?TEMPLATE=http://127.0.0.1/", "template"),
        (f"{SLACK}?verify=no", "verify"),
        (f"{SLACK}?retry=9&wait=60", "may not stand"),
        (f"{SLACK}?+X-Forwarded-For=127.0.0.1", "may not stand"),
        ("ntfys://ntfy.example/topic?attach=file:///etc/passwd", "attach"),
        (f"{SLACK}/#one/#two", "several places"),
        ("matrixs://bot:password@chat.example/!a:chat.example", "access token"),
        ("slack://", "not complete"),
        ("slack://[", "not complete"),
        (f"mmost://127.0.0.1/{KEY}", "not a public address"),
        (f"mmost://localhost:8065/{KEY}", "not a public address"),
        (f"mmost://[::ffff:127.0.0.1]/{KEY}", "not a public address"),
        (f"mmosts://169.254.169.254/{KEY}", "not a public address"),
        (f"mmost://1.1.1.1:22/{KEY}", "Port 22"),
        (f"mmost://1.1.1.1@127.0.0.1/{KEY}", "not a public address"),
        ("matrixs://token@127.0.0.1/!a:x", "not a public address"),
        ("gotify://127.0.0.1:6379/AbCdEf", "Port 6379"),
    ],
)
def test_a_url_that_reaches_further_than_a_channel_is_refused(
    operator: User, url: str, reason: str
) -> None:
    with pytest.raises(EndpointError, match=reason) as refused:
        add(url, by=operator, private=False)
    assert refused.value.field == "url"
    assert not Endpoint.objects.exists()


def test_a_name_that_became_private_since_it_was_added_is_not_reached(
    receiver: Receiver, channel: Endpoint
) -> None:
    Endpoint.objects.update(allow_private=False)
    a_loss()
    send()
    assert not receiver.requests
    assert "not a public address" in HookDelivery.objects.get().reason


def test_a_redirect_is_not_followed(receiver: Receiver, channel: Endpoint) -> None:
    receiver.status = 307
    receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
    a_loss()
    send()
    assert len(receiver.requests) == 1
    assert "Redirects are not followed" in HookDelivery.objects.get().reason


def test_a_server_that_an_answer_names_is_checked_like_the_first() -> None:
    """A home server names where its clients are to go: not the metadata of a cloud."""

    class Discovering(channels.Conversation):
        def exchange(self, request: requests.PreparedRequest) -> http_post.Answer:
            if "/.well-known/" not in (request.url or ""):
                return super().exchange(request)
            where = json.dumps({"m.homeserver": {"base_url": METADATA}})
            return http_post.Answer(200, where, "", 1)

    refused: list[str] = []

    def check(url: str) -> Any:
        with pytest.raises(http_post.AddressError) as error:
            checked(url, allow_private=False)
        refused.append(str(error.value))
        raise error.value

    talk = Discovering(check, Deadline(10))
    assert not channels._notify("matrixs://token@chat.example/!a:x", "t", "x", talk)
    assert "169.254.169.254 is 169.254.169.254, which is not a public address" in refused[0]
    assert not talk.asked


def test_nothing_of_apprise_connects_by_itself() -> None:
    """In the modules of every kind, whatever could open a connection or a program is ours."""
    for scheme, (name, kind) in channels.KINDS.items():
        channels._plugin(scheme)
        module = import_module(f"apprise.plugins.{name}")
        assert getattr(module, kind).enabled
        assert module.requests is channels.Guarded
        own = {value.__name__ for value in vars(module).values() if isinstance(value, ModuleType)}
        assert not own & {"socket", "ssl", "subprocess", "urllib3", "http.client", "smtplib"}
    with pytest.raises(LookupError):
        channels.Guarded.get("http://127.0.0.1/")


def test_an_answer_that_never_ends_is_given_up(receiver: Receiver, channel: Endpoint) -> None:
    receiver.drips = True
    endpoints.ping_endpoint(endpoint=channel, by=channel.created_by)
    HookDelivery.objects.update(due=timezone.now())
    delivering.send_due_deliveries(each_seconds=0.3)
    assert HookDelivery.objects.get().reason == "No whole answer within 0.3 s."


def test_a_huge_answer_is_read_in_part(receiver: Receiver, channel: Endpoint) -> None:
    receiver.answer = b"a" * 5_000_000
    endpoints.ping_endpoint(endpoint=channel, by=channel.created_by)
    send()
    assert len(HookDelivery.objects.get().response) == http_post.EXCERPT_BYTES


def test_the_url_of_a_channel_is_not_shown(channel: Endpoint) -> None:
    assert channel.shown_url == "mmost://127.0.0.1/…"
    assert channels.shown(SLACK) == "slack://…"


def test_a_channel_hears_of_nothing_it_does_not_listen_to(
    receiver: Receiver, channel: Endpoint
) -> None:
    Endpoint.objects.update(kinds=["bisect.done"])
    a_loss()
    post_messages([])
    assert not HookDelivery.objects.exists()


def test_a_channel_does_not_become_a_webhook(channel: Endpoint) -> None:
    changed = {"name": "perf", "kinds": [], "allow_private": True}
    endpoints.change_endpoint(endpoint=channel, url="", **changed)
    assert KEY in Endpoint.objects.get().url
    with pytest.raises(EndpointError, match="another endpoint"):
        endpoints.change_endpoint(endpoint=channel, url="http://127.0.0.1/", **changed)
