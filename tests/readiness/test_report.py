"""Readiness proves that each part works, with real servers, workers and a real beat."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection

from tests.celery_processes import celery, celery_worker, pool_of
from tests.system.running import wait_for
from webapp.config import alive
from webapp.config.celery import app
from webapp.readiness import heartbeats
from webapp.readiness.services import Reporter

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
SECONDS = 90


@pytest.fixture
def reporter() -> Reporter:
    """One that has seen nothing yet."""
    cache.clear()
    app.control.purge()
    return Reporter(connection.settings_dict, settings.REDIS_URL)


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


GROWN_OLD = "UPDATE readiness_heartbeat SET at = at - interval '3 minutes'"


def failing(reporter: Reporter) -> set[str]:
    return {each.part for each in reporter.report().problems}


def wait_until_failing(reporter: Reporter, *parts: str) -> None:
    wait_for(lambda: failing(reporter) == set(parts), SECONDS)


def test_it_is_ready_only_when_every_part_was_seen_at_work(reporter: Reporter) -> None:
    assert failing(reporter) == {"worker", "deliveries", "beat"}
    heartbeats.note("worker", "deliveries", "beat")
    wait_until_failing(reporter)


def test_workers_and_beat_are_seen_without_one_another(reporter: Reporter, tmp_path: Path) -> None:
    with celery_worker(tmp_path / "worker.log", "--concurrency=1"):
        wait_until_failing(reporter, "beat")
        (problem,) = reporter.report().problems
        assert "restart beat" in problem.remedy
    sql("DELETE FROM readiness_heartbeat")
    with celery(tmp_path / "beat.log", "beat"):
        wait_until_failing(reporter, "worker", "deliveries")


def test_each_queue_needs_a_worker(reporter: Reporter, tmp_path: Path) -> None:
    with celery_worker(tmp_path / "worker.log", "--concurrency=1", "--queues=analysis"):
        wait_until_failing(reporter, "deliveries", "beat")


def test_a_worker_whose_processes_are_stopped_is_not_ready_though_it_answers_pings(
    tmp_path: Path, reporter: Reporter
) -> None:
    with celery_worker(tmp_path / "worker.log", "--concurrency=2") as worker:
        wait_until_failing(reporter, "beat")
        stopped = pool_of(worker)
        assert len(stopped) == 2
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        heartbeats.note("beat")
        sql(f"{GROWN_OLD} WHERE part <> 'beat'")
        wait_until_failing(reporter, "worker", "deliveries")
        assert app.control.ping(timeout=2)
        problem = reporter.report().problems[0]
        assert "last seen at work" in problem.reason
        assert problem.since is not None
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        wait_until_failing(reporter)


def test_one_of_two_workers_that_is_stopped_is_named_and_the_other_is_alive(
    tmp_path: Path, reporter: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alive.settings, "DATABASES", {"default": connection.settings_dict})
    with (
        celery_worker(tmp_path / "one.log", "--concurrency=1", "--hostname=worker@one"),
        celery_worker(tmp_path / "two.log", "--concurrency=1", "--hostname=worker@two") as two,
    ):
        heartbeats.note("beat")
        wait_for(lambda: set(reporter.report().ages.get("worker", {})) == {"one", "two"}, SECONDS)
        wait_until_failing(reporter)
        (stopped,) = pool_of(two)
        os.kill(stopped, signal.SIGSTOP)
        sql(f"{GROWN_OLD} WHERE part <> 'beat'")
        wait_for(lambda: reporter.report().state_of("worker").startswith("worker on two "), SECONDS)
        assert "1 of 2 are silent" in reporter.report().state_of("worker")
        for host, status in (("one", 0), ("two", 1)):
            monkeypatch.setattr(heartbeats, "_host", host)
            assert alive.main(["worker"]) == alive.main(["deliveries"]) == status
        os.kill(stopped, signal.SIGCONT)
        wait_for(lambda: alive.main(["worker"]) == 0, SECONDS)


def test_a_worker_that_is_asked_to_end_is_not_missed(tmp_path: Path, reporter: Reporter) -> None:
    heartbeats.note("beat", "deliveries")
    with (
        celery_worker(tmp_path / "one.log", "--concurrency=1", "--hostname=worker@one"),
        celery_worker(tmp_path / "two.log", "--concurrency=1", "--hostname=worker@two") as two,
    ):
        wait_for(lambda: set(reporter.report().ages.get("worker", {})) == {"one", "two"}, SECONDS)
        two.terminate()
        two.wait(SECONDS)
        wait_for(lambda: set(reporter.report().ages["worker"]) == {"one"}, SECONDS)
        wait_until_failing(reporter)


def test_a_heartbeat_from_the_future_proves_nothing(reporter: Reporter) -> None:
    heartbeats.note("worker", "deliveries", "beat")
    sql("UPDATE readiness_heartbeat SET at = at + interval '3 days'")
    assert failing(reporter) == {"worker", "deliveries", "beat"}
    assert "clock was set back" in reporter.report().state_of("worker")


@pytest.fixture
def database_setting() -> Iterator[Any]:
    """Sets something for new connections to the test's database."""
    name = connection.settings_dict["NAME"]
    yield lambda value: sql(f'ALTER DATABASE "{name}" SET {value}')
    sql(f'ALTER DATABASE "{name}" RESET ALL')


def test_a_database_that_takes_no_writes_is_not_ready(
    reporter: Reporter, database_setting: Any
) -> None:
    heartbeats.note("worker", "deliveries", "beat")
    database_setting("default_transaction_read_only = on")
    assert "read-only" in reporter.report().state_of("database")
    database_setting("default_transaction_read_only = off")
    wait_until_failing(reporter)


def test_the_look_writes_to_the_disk_more_than_fits_into_what_is_there(reporter: Reporter) -> None:
    """A full disk still takes the update of one row."""
    heartbeats.note("worker", "deliveries", "beat")
    query = "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"

    def spilled() -> int:
        with connection.cursor() as cursor:
            cursor.execute(query)
            return int(cursor.fetchone()[0])

    before = spilled()
    assert reporter.report().is_ready
    wait_for(lambda: spilled() - before > 300_000, SECONDS)


def test_without_a_database_nothing_is_stated_of_the_workers(tmp_path: Path) -> None:
    nowhere = connection.settings_dict | {"HOST": str(tmp_path)}
    report = Reporter(nowhere, settings.REDIS_URL).report()
    assert [each.part for each in report.problems] == ["database"]
    assert report.state_of("beat") == "not known while the database does not answer"


def test_without_a_broker_nothing_is_stated_of_the_workers(tmp_path: Path) -> None:
    heartbeats.note("beat")
    report = Reporter(connection.settings_dict, f"unix://{tmp_path}/none.sock").report()
    assert [each.part for each in report.problems] == ["broker"]
    assert report.state_of("worker") == "not known while the broker does not answer"
    assert report.state_of("beat") == "ok"


def test_many_who_ask_cause_one_look(reporter: Reporter) -> None:
    heartbeats.note("worker", "deliveries", "beat")
    first = reporter.report()
    assert first.is_ready
    assert all(reporter.report() is first for _ in range(50))
