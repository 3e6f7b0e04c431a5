"""Many who ask, report and act at the same moment, on a real PostgreSQL."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests import make
from tests.jobs.steps import NOW, asking, fail, request, take
from tests.system.running import wait_for
from webapp.jobs import services, waiting_polls
from webapp.jobs.models import Job
from webapp.jobs.services import leasing

pytestmark = pytest.mark.django_db(transaction=True)
WAIT = 60.0


@pytest.fixture(autouse=True)
def _nobody_watches_on() -> Iterator[None]:
    """The watcher of the process goes when it looks after the last poll."""
    yield
    if (watcher := waiting_polls.polls._watcher) is not None:
        waiting_polls._announce()
        watcher.join()
    waiting_polls._client.cache_clear()  # as the last watcher knew it


def at_once(*calls: Callable[[], Any]) -> Sequence[Any]:
    """What the calls give, each in a thread of its own, all begun together."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def _workers(count: int) -> list[str]:
    return [f"rig-{number}" for number in range(count)]


def test_each_job_is_taken_once_and_none_is_left() -> None:
    jobs = [request(f"r{number}") for number in range(8)]
    got = at_once(*[lambda name=name: take(name) for name in _workers(12)])  # type: ignore[misc]
    numbers = Counter(job.pk for job in got if job is not None)
    assert numbers == Counter(job.pk for job in jobs)


def test_one_worker_that_asks_many_times_gets_one_job() -> None:
    request("r1"), request("r2")
    got = at_once(*[take] * 6)
    assert len({(job.pk, job.lease) for job in got}) == 1
    assert Job.objects.filter(state="leased").count() == 1


def test_a_lease_that_ran_out_is_handed_on_once_while_its_failure_comes_in() -> None:
    request()
    job = take("rig-0")
    assert job is not None
    late = NOW + services.LEASE
    calls = [lambda name=name: take(name, at=late) for name in _workers(6)[1:]]  # type: ignore[misc]
    got = at_once(lambda: fail(job, "lab", at=late), *calls)[1:]
    row = Job.objects.get()
    assert sum(each is not None for each in got) == (row.state == "leased")
    assert row.events.filter(kind__in=["expired", "failed"]).count() == 1


def _poll(worker: str, wait: float = WAIT) -> leasing.Polled:
    return services.poll(request=asking(worker), wait=wait)


def _queue_when_waiting(count: int, revisions: int) -> None:
    _until_waiting(count)
    for number in range(revisions):
        request(f"r{number}")


def _until_waiting(count: int) -> None:
    wait_for(lambda: len(waiting_polls.polls) == count, seconds=60)


def test_a_new_job_wakes_one_who_waits_and_the_others_wait_on() -> None:
    make.hardware()

    def queue() -> None:
        _queue_when_waiting(4, 2)
        _until_waiting(2)
        for poll in waiting_polls.polls._waiting():
            poll.finish()

    polls = [lambda name=name: _poll(name) for name in _workers(4)]  # type: ignore[misc]
    *polled, _ = at_once(*polls, queue)
    assert sorted(each.job is not None for each in polled) == [False, False, True, True]
    assert all(each.again_after == 0 for each in polled)
    assert len(waiting_polls.polls) == 0


def test_without_redis_a_job_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    make.hardware()
    monkeypatch.setattr("django.conf.settings.REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(waiting_polls, "LOOK_EVERY_SECONDS", 0.05)
    waiting_polls._client.cache_clear()
    polled, _ = at_once(lambda: _poll("rig-1"), lambda: _queue_when_waiting(1, 1))
    assert polled.job is not None


def test_a_second_poll_of_a_worker_ends_the_first() -> None:
    make.hardware()

    def second() -> leasing.Polled:
        _until_waiting(1)
        return _poll("rig-1", 0.3)

    first, again = at_once(lambda: _poll("rig-1"), second)
    assert (first.job, again.job) == (None, None)


def test_who_finds_no_place_is_answered_at_once_with_when_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make.hardware()
    monkeypatch.setattr("django.conf.settings.WAITING_POLLS", 1)

    def second() -> leasing.Polled:
        _until_waiting(1)
        try:
            return _poll("rig-2")
        finally:
            request()

    first, turned_away = at_once(lambda: _poll("rig-1"), second)
    assert first.job is not None
    assert turned_away.job is None
    seconds = leasing.COME_BACK_SECONDS
    assert 0.5 * seconds <= turned_away.again_after <= 1.5 * seconds


def test_a_process_that_ends_lets_waiting_polls_go(monkeypatch: pytest.MonkeyPatch) -> None:
    make.hardware()
    monkeypatch.setattr(waiting_polls, "LOOK_EVERY_SECONDS", 0.05)
    ending = threading.Event()
    monkeypatch.setattr(waiting_polls.polls, "closes", ending.is_set)

    def end() -> None:
        _until_waiting(1)
        ending.set()

    polled, _ = at_once(lambda: _poll("rig-1"), end)
    assert polled.job is None


def test_who_waits_holds_no_connection_to_the_database() -> None:
    make.hardware()
    before = _connections()

    def look() -> None:
        _until_waiting(3)
        while _connections() > before + 1:  # that of this thread
            assert len(waiting_polls.polls) == 3
        for number in range(3):
            request(f"r{number}")

    polls = [lambda name=name: _poll(name) for name in _workers(3)]  # type: ignore[misc]
    *polled, _ = at_once(*polls, look)
    assert all(each.job for each in polled)


def _connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
