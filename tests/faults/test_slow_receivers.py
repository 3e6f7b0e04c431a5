"""Slow endpoints and a slow mail server beside real workers: analysis and fast receivers go on."""

from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from tests import make
from tests.celery_processes import celery_worker
from tests.outbox.receivers import receiving
from tests.outbox.slow import dripping, serving
from tests.smtp import mail_server
from tests.system.running import wait_for
from webapp.alerts.tasks import analyse_series
from webapp.config.celery import app
from webapp.outbox import services
from webapp.outbox.messages import NewMail
from webapp.outbox.models import HookDelivery
from webapp.outbox.models import MailServer as ServerRow
from webapp.outbox.services import endpoints
from webapp.results.models import Series
from webapp.results.services import mark_dirty

pytestmark = [pytest.mark.long, pytest.mark.stack, pytest.mark.django_db(transaction=True)]
SECONDS = 120
ADDRESS_MAIL = "account.address"


@pytest.fixture(autouse=True)
def no_earlier_messages(settings: Any) -> Iterator[None]:
    settings.WEBHOOKS_ALLOW = [ip_network("127.0.0.0/8")]
    settings.WEBHOOKS_PORTS = [range(1, 2**16)]
    cache.clear()
    app.control.purge()
    yield
    app.control.purge()


def workers(stack: ExitStack, place: Path, mail_url: str) -> None:
    """As `make up` runs them."""
    variables = {
        "DRIFTLINE_EMAIL_URL": mail_url,
        "DRIFTLINE_WEBHOOKS_ALLOW": "127.0.0.0/8",
        "DRIFTLINE_WEBHOOKS_PORTS": "1-65535",
    }
    for name, options in (
        ("worker", ["--queues=analysis", "--concurrency=1"]),
        ("deliveries", ["--queues=deliveries", "--concurrency=2"]),
    ):
        log = place / f"{name}.log"
        stack.enter_context(celery_worker(log, f"--hostname={name}@%h", *options, **variables))


def require_analysis() -> None:
    """Ask for the analysis of a series, and wait for it."""
    revision = make.revisions(1, first=300_000)[0]
    row = make.series()
    make.point(row, revision)
    mark_dirty({row.pk: revision.position})
    analyse_series.delay()
    wait_for(lambda: not Series.objects.dirty().exists(), SECONDS)


def post_mail() -> None:
    ada = make.user("ada", email="ada@example.org")
    data = {"to": "ada@example.net", "former": ada.email}
    services.post_mails([NewMail(ada.pk, ADDRESS_MAIL, "address:1", timezone.now(), data=data)])


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.release)])
def test_slow_endpoints_stop_neither_the_analysis_nor_mails_nor_fast_endpoints(
    count: int, tmp_path: Path
) -> None:
    operator = make.user("op", is_staff=True)
    with ExitStack() as stack:
        drip = dripping(b"HTTP/1.1 200 OK\r\n", every=5)
        slow = [stack.enter_context(serving(drip)) for _ in range(count)]
        fast, mails = stack.enter_context(receiving()), stack.enter_context(mail_server())
        workers(stack, tmp_path, mails.url)
        for number, server in enumerate([*slow, fast]):
            url = server.url() if callable(server.url) else server.url
            endpoints.add_endpoint(name=str(number), url=url, allow_private=True, by=operator)
        for number in range(5):
            services.post_event(kind="alert.opened", about=f"alert:{number}", payload={})
        wait_for(lambda: all(server.connections for server in slow), SECONDS)
        require_analysis()
        post_mail()
        wait_for(lambda: mails.number == 1 and len(fast.requests) == 5, SECONDS)
        assert (
            not HookDelivery.objects.filter(state="sent")
            .exclude(endpoint__name=str(count))
            .exists()
        )
        wait_for(lambda: HookDelivery.objects.filter(attempts=1).count() >= count, SECONDS)
        assert {server.connections for server in slow} == {1}, "one at a time, then a pause"


def test_a_mail_server_that_drips_stops_neither_the_analysis_nor_webhooks(tmp_path: Path) -> None:
    operator = make.user("op", is_staff=True)
    with ExitStack() as stack:
        mails = stack.enter_context(serving(dripping(b"220-still here\r\n", request=False)))
        fast = stack.enter_context(receiving())
        workers(stack, tmp_path, f"smtp://127.0.0.1:{mails.port}")
        endpoints.add_endpoint(name="ci", url=fast.url(), allow_private=True, by=operator)
        post_mail()
        wait_for(lambda: mails.connections == 1, SECONDS)
        require_analysis()
        services.post_event(kind="alert.opened", about="alert:1", payload={})
        wait_for(lambda: len(fast.requests) == 1, SECONDS)
        wait_for(lambda: ServerRow.objects.filter(failures=1).exists(), SECONDS)
