"""Workers and beat prove that they work, each by itself; of several beats one sends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery.app.amqp import Queues
from celery.schedules import schedule
from django.conf import settings
from django.db import connection
from kombu import Queue
from kombu.utils.imports import symbol_by_name

from tests.servers import LOCKS
from webapp.config.celery import app
from webapp.readiness.models import Heartbeat
from webapp.readiness.scheduling import SingleScheduler, SingletonLock
from webapp.readiness.services import Reporter
from webapp.readiness.tasks import Pulse, heartbeat

pytestmark = pytest.mark.django_db(transaction=True)
HOLDERS = f"{LOCKS} WHERE locktype = 'advisory' AND granted AND pid <> %s"


def failing() -> list[str]:
    """The parts that do not work."""
    report = Reporter(connection.settings_dict, settings.REDIS_URL).report()
    return [each.part for each in report.problems]


class Beat(SingleScheduler):
    """Sends nothing, and counts."""

    sent = 0

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sent += 1

    def sends(self) -> bool:
        """Whether one round of the schedule sends anything."""
        before = self.sent
        self.tick()
        return self.sent > before


@contextmanager
def beat() -> Iterator[Beat]:
    started = Beat(app, schedule={})
    started.update_from_dict({"any": {"task": "any", "schedule": schedule(0.0)}})
    try:
        yield started
    finally:
        started.close()


def end_session_of_the_holder() -> None:
    """As a restart of the server ends it, or the loss of the holder's machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        cursor.execute(HOLDERS, [cursor.fetchone()[0]])
        for (pid,) in cursor.fetchall():
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def test_the_scheduler_of_beat_is_the_one_of_which_one_sends() -> None:
    used = symbol_by_name(settings.CELERY_BEAT_SCHEDULER)
    assert used is SingleScheduler


def test_a_second_beat_waits_until_the_first_ends() -> None:
    with beat() as second:
        with beat() as first:
            assert first.sends()
            assert not second.sends()
            assert first.sends()
        assert second.sends()


def test_a_beat_whose_connection_died_sends_nothing_before_another_begins() -> None:
    with beat() as first, beat() as second:
        assert first.sends()
        end_session_of_the_holder()
        assert not first.sends()
        assert second.sends()
        assert not first.sends()


def test_a_beat_alone_goes_on_after_its_connection_died() -> None:
    with beat() as alone:
        assert alone.sends()
        end_session_of_the_holder()
        assert not alone.sends()
        assert alone.sends()


def test_a_database_that_does_not_answer_gives_no_lock_and_no_error(tmp_path: Path) -> None:
    database = connection.settings_dict | {"HOST": str(tmp_path)}
    lock = SingletonLock(database, "test")
    assert not lock.is_locked()
    database["HOST"] = connection.settings_dict["HOST"]
    assert lock.is_locked()
    lock.release()


def test_beat_notes_its_own_heartbeat_and_whether_it_sends() -> None:
    with beat() as first, beat() as second:
        first.tick()
        assert Heartbeat.objects.get().part == "beat"
        Heartbeat.objects.all().delete()
        second.tick()
        assert Heartbeat.objects.get().part == "standby"
        assert "beat" in failing()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat that is queued is executed."""
    monkeypatch.setattr(heartbeat, "apply_async", lambda given, **_: heartbeat.apply(given))


def consumer(*queues: str) -> Any:
    """As much of a worker as its heartbeats need; its timer runs at once."""
    timer = SimpleNamespace(call_repeatedly=lambda seconds, call, arguments: call(*arguments))
    chosen = Queues({name: Queue(name) for name in ("analysis", "deliveries")})
    chosen.select(queues)
    amqp = SimpleNamespace(queues=chosen)
    return SimpleNamespace(app=SimpleNamespace(amqp=amqp), timer=timer, hostname="worker@here")


@pytest.mark.usefixtures("at_once")
def test_without_beat_only_beat_is_not_ready() -> None:
    assert Pulse in app.steps["consumer"]
    for queue in ("analysis", "deliveries"):
        Pulse(consumer(queue)).start(consumer(queue))
    assert failing() == ["beat"]


@pytest.mark.usefixtures("at_once")
def test_a_worker_answers_for_its_own_queues_only() -> None:
    Pulse(consumer("analysis")).start(consumer("analysis"))
    assert [each.part for each in Heartbeat.objects.all()] == ["worker"]


def test_a_worker_sends_its_heartbeats_where_no_other_one_takes_them() -> None:
    one = consumer("analysis")
    Pulse(one)
    assert set(one.app.amqp.queues.consume_from) == {"analysis", "alive-worker@here"}
