"""The clock is set back by days, as when a machine started with a wrong one and then asked."""

from datetime import datetime, timedelta

import pytest
from django.db.models import F

from tests.jobs.steps import MINUTE, NOW, fail, hear, request, take, taken
from webapp.jobs import services
from webapp.jobs.models import Job, Worker
from webapp.jobs.services.leasing import correct_times

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=3)
"""What the clock showed before it was corrected."""


def test_a_job_leased_ahead_of_time_is_queued_again_a_lease_after_the_correction() -> None:
    request(at=NOW)
    job = taken("rig-1", at=LATER)
    services.pass_time(now=NOW)
    job.refresh_from_db()
    assert job.lease_until == NOW + services.LEASE
    assert (job.started_at, job.last_heard_at) == (NOW, NOW)
    services.pass_time(now=NOW + services.LEASE + MINUTE)
    assert take("rig-2", at=NOW + services.LEASE + MINUTE) == job


def test_the_worker_that_goes_on_keeps_its_job() -> None:
    request(at=NOW)
    job = taken("rig-1", at=LATER)
    services.pass_time(now=NOW)
    assert taken("rig-1", at=NOW + MINUTE) == job


def test_a_job_asked_for_ahead_of_time_is_handed_out_at_once() -> None:
    job = request(at=LATER)
    assert take(at=NOW) is None
    services.pass_time(now=NOW)
    assert take(at=NOW) == job


def test_a_pause_that_began_ahead_of_time_is_over() -> None:
    request(at=NOW)
    job = fail(taken(at=LATER), at=LATER)
    services.pass_time(now=NOW)
    assert take(at=NOW) == job


def test_a_pause_of_these_minutes_is_kept() -> None:
    request(at=NOW)
    job = fail(taken(at=NOW), "lab", at=NOW)
    before = Job.objects.get(pk=job.pk).not_before
    assert before > NOW + MINUTE
    services.pass_time(now=NOW)
    assert Job.objects.get(pk=job.pk).not_before == before


def test_a_silent_worker_does_not_count_as_alive_for_days() -> None:
    take("rig-1", at=LATER)
    services.pass_time(now=NOW)
    assert Worker.objects.alive(NOW).exists()
    assert not Worker.objects.alive(NOW + timedelta(minutes=6)).exists()


def test_clocks_of_two_machines_may_differ_a_little() -> None:
    request(at=NOW)
    job = taken(at=NOW + MINUTE / 2)
    assert correct_times(now=NOW) == 0
    job.refresh_from_db()
    assert job.lease_until == NOW + MINUTE / 2 + services.LEASE


def took(job: Job) -> timedelta:
    job.refresh_from_db()
    assert job.ended_at
    assert job.started_at
    return job.ended_at - job.started_at


def test_days_that_the_clock_was_set_forward_are_no_work() -> None:
    request(at=NOW)
    job = taken("rig-1", at=NOW)
    hear(job, at=NOW + MINUTE)
    end = NOW + MINUTE + timedelta(days=3)
    hear(job, at=end)
    fail_for_good(job, at=end + 2 * MINUTE)
    assert took(job) == 3 * MINUTE + services.LEASE


def test_work_that_is_heard_of_counts_whole() -> None:
    request(at=NOW)
    job = taken("rig-1", at=NOW)
    for hours in range(1, 40):
        hear(job, at=NOW + hours * 4 * MINUTE)
    fail_for_good(job, at=NOW + 160 * MINUTE)
    assert took(job) == 160 * MINUTE


def fail_for_good(job: Job, *, at: datetime) -> None:
    Job.objects.filter(pk=job.pk).update(attempts=F("max_attempts"))
    fail(job, at=at)


def test_a_poll_that_takes_a_job_up_again_counts_no_days_either() -> None:
    request(at=NOW)
    taken("rig-1", at=NOW)
    job = taken("rig-1", at=NOW + timedelta(days=3))
    assert job.started_at == NOW + timedelta(days=3) - services.LEASE
