"""Over two hundred mails while things break: none is lost, and a second copy is known by its id.

What counts is what the receiving server took. A second copy may come from one window only, that
between its acceptance and our note of it, and then under the same Message-ID.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.cache import cache
from django.utils import timezone

from tests import make
from tests.conftest import PROJECT, environment_of_the_database
from tests.smtp import MailServer, mail_server
from tests.system.running import wait_for
from webapp.config.celery import app
from webapp.launcher.servers import SOCKET, Redis
from webapp.outbox import services
from webapp.outbox.messages import NewMail
from webapp.outbox.models import Mail
from webapp.outbox.models import MailServer as ServerRow

pytestmark = [pytest.mark.long, pytest.mark.stack, pytest.mark.django_db(transaction=True)]
MAILS = 240
SECONDS = 60
COMPOSES = """
import pathlib, time
from django.conf import settings
from webapp.config.celery import app

settings.MAIL_COMPOSERS = {"fault": "composing.compose"}

held = pathlib.Path(__file__).with_name("held")

def compose(mail):
    from webapp.outbox.messages import Message  # of models, once Django is set up

    while held.exists() and mail.about == "alert:7":
        held.with_name("reached").touch()
        time.sleep(0.05)
    return Message(f"About {mail.about}", "The text.", "<p>The text.</p>")
"""
"""A module for the worker: the application with a kind of mail to compose. While there is a file
``held``, composing a certain mail does not end."""


class Worker:
    """A real Celery worker that sweeps every second, and can be killed with all its processes."""

    def __init__(self, place: Path, server: MailServer, **variables: str) -> None:
        (place / "composing.py").write_text(COMPOSES)
        self.place = place
        self._log = place / "worker.log"
        self._environment = environment_of_the_database() | {
            "PYTHONPATH": f"{place}:{PROJECT}",
            "DRIFTLINE_EMAIL_URL": server.url,
            "DRIFTLINE_MAIL_SWEEP_SECONDS": "1",
            **variables,
        }
        self.processes = 2
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            *(sys.executable, "-m", "celery", "-A", "composing", "worker", "--beat"),
            *(
                f"--concurrency={self.processes}",
                "--without-mingle",
                "--without-gossip",
                "--loglevel=info",
            ),
        ]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=self._environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def kill(self) -> None:
        """All of its processes at once, as a power cut would."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as running:
        yield running


@pytest.fixture
def worker(tmp_path: Path, server: MailServer) -> Iterator[Worker]:
    cache.clear()
    app.control.purge()
    made = Worker(tmp_path, server)
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def redis_of_its_own(place: Path) -> Iterator["OwnRedis"]:
    """A broker that can be stopped without the other tests."""
    place.mkdir(mode=0o700)
    running = OwnRedis(place)
    running.start()
    try:
        yield running
    finally:
        running.kill()


class OwnRedis:
    """Redis on a socket in ``place``."""

    def __init__(self, place: Path) -> None:
        self._redis = Redis.choose(place, place)
        self._redis.create(pidfile=place / "redis.pid")
        self.url = f"unix://{place}/{SOCKET}?db=0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command, quiet = self._redis.command(), subprocess.DEVNULL
        self._process = subprocess.Popen(command, cwd="/", stdout=quiet, stderr=quiet)
        wait_for(self._redis.answers, SECONDS)

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()


def post_all() -> None:
    now = timezone.now()
    people = [make.user(f"u{n}", email=f"u{n}@example.org").pk for n in range(6)]
    for to in people:
        services.post_mails(
            [NewMail(to, "fault", f"alert:{n}", now) for n in range(MAILS // len(people))]
        )


def wait_until_all_are_sent() -> None:
    """As if pauses ran out at once; they take minutes."""

    def all_sent() -> bool:
        now = timezone.now()
        Mail.objects.filter(state="waiting", due__gt=now).update(due=now)
        ServerRow.objects.update(next_try=None)
        time.sleep(0.2)
        return not Mail.objects.exclude(state="sent").exists()

    wait_for(all_sent, SECONDS)


def wait_until_nothing_comes(server: MailServer) -> None:
    """Wait until the server took no mail for a second."""
    seen = -1
    while seen != server.number:
        seen = server.number
        time.sleep(1)


def let_claims_run_out() -> None:
    """Of workers that are dead; it takes minutes."""
    Mail.objects.filter(state="claimed").update(due=timezone.now())


def second_copies(server: MailServer) -> dict[str, int]:
    """The copies above one, by Message-ID; fails when a mail is missing."""
    sent = set(Mail.objects.values_list("message_id", flat=True))
    assert len(sent) == MAILS
    assert set(server.copies) == sent
    return {name: number - 1 for name, number in server.copies.items() if number > 1}


def test_undisturbed_each_mail_arrives_once(server: MailServer, worker: Worker) -> None:
    post_all()
    worker.start()
    wait_until_all_are_sent()
    assert second_copies(server) == {}


def test_a_worker_killed_between_claim_and_sending_loses_and_doubles_nothing(
    server: MailServer, worker: Worker
) -> None:
    worker.processes = 1  # another might be killed between an acceptance and its note of it
    (worker.place / "held").touch()
    post_all()
    worker.start()
    wait_for((worker.place / "reached").exists, SECONDS)
    assert Mail.objects.filter(state="sent").count() == server.number
    assert Mail.objects.filter(state="claimed").exists()
    worker.kill()
    let_claims_run_out()
    (worker.place / "held").unlink()
    worker.start()
    wait_until_all_are_sent()
    assert second_copies(server) == {}


def test_a_worker_killed_before_it_noted_an_acceptance_sends_that_mail_again_under_its_id(
    server: MailServer, worker: Worker
) -> None:
    worker.processes = 1  # so that only the held mail is under way
    server.holds_at = {100}
    post_all()
    worker.start()
    wait_for(lambda: server.number >= 100, SECONDS)
    assert Mail.objects.filter(state="sent").count() == 99
    held = server.mails[99]
    worker.kill()
    let_claims_run_out()
    server.holds_at = set()
    worker.start()
    wait_until_all_are_sent()
    assert second_copies(server) == {held["Message-ID"]: 1}


@pytest.mark.release
def test_a_worker_killed_again_and_again_loses_nothing(server: MailServer, worker: Worker) -> None:
    server.delay = 0.01
    post_all()
    kills = 0
    for wanted in (40, 90, 140):
        worker.start()
        wait_for(lambda wanted=wanted: server.number >= wanted, SECONDS)
        worker.kill()
        kills += 1
        let_claims_run_out()
    worker.start()
    wait_until_all_are_sent()
    # Each of the two processes had at most one mail accepted and not noted when it was killed.
    assert sum(second_copies(server).values()) <= 2 * kills


def test_a_mail_server_that_is_stopped_and_started_loses_nothing(
    server: MailServer, worker: Worker
) -> None:
    server.delay = 0.01
    post_all()
    worker.start()
    wait_for(lambda: server.number >= 50, SECONDS)
    server.stop()
    wait_for(lambda: ServerRow.objects.filter(failures__gt=0).exists(), SECONDS)
    server.start()
    wait_until_all_are_sent()
    # Each of the two processes had at most one mail under way when the server went.
    assert sum(second_copies(server).values()) <= 2
    tries = Mail.objects.values_list("attempts", flat=True)
    assert sum(tries) <= MAILS + 2


@pytest.mark.release
def test_a_broker_that_is_killed_and_comes_back_loses_nothing(
    server: MailServer, tmp_path: Path, short_directory: Path
) -> None:
    server.delay = 0.05
    with redis_of_its_own(short_directory / "redis") as broker:
        worker = Worker(tmp_path, server, REDIS_URL=broker.url)
        post_all()
        worker.start()
        try:
            wait_for(lambda: server.number >= 50, SECONDS)
            broker.kill()
            assert server.number < MAILS
            # The task under way goes on without its broker as long as it may; what it leaves,
            # claimed or not, is for the next one.
            wait_until_nothing_comes(server)
            let_claims_run_out()
            broker.start()
            wait_until_all_are_sent()
        finally:
            worker.kill()
    assert sum(second_copies(server).values()) <= 2


@pytest.fixture
def short_directory() -> Iterator[Path]:
    """The path of a socket has to be short."""
    with tempfile.TemporaryDirectory(prefix="driftline-", dir="/tmp") as made:
        yield Path(made)
