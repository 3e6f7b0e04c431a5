"""How long jobs take, and when those that wait will begin."""

from datetime import timedelta

import pytest

from tests import make
from tests.jobs.steps import MINUTE, NOW, request, take, taken
from webapp.jobs import services
from webapp.jobs.models import Job
from webapp.jobs.queries import queue_forecast

pytestmark = pytest.mark.django_db


def _done(minutes: int, *, boots: int = 1, mode: str = "forwarding") -> None:
    job = request("r1", boots=boots, mode=make.mode(mode))
    ended = NOW - timedelta(hours=1)
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.DONE, started_at=ended - minutes * MINUTE, ended_at=ended
    )


def test_an_estimate_is_the_median_of_the_last_jobs_of_the_mode_for_each_boot() -> None:
    for minutes in (4, 6, 50):
        _done(minutes)
    _done(90, boots=3, mode="ipfw")
    assert request("r2", boots=2).estimate_seconds == 2 * 6 * 60
    assert request("r2", mode=make.mode("ipfw")).estimate_seconds == 30 * 60


def test_a_mode_never_measured_takes_as_long_as_the_others_and_without_any_ten_minutes() -> None:
    assert request("r2").estimate_seconds == 600
    _done(4)
    assert request("r2", mode=make.mode("ipfw")).estimate_seconds == 4 * 60


def test_jobs_are_forecast_one_after_the_other_on_the_worker_that_is_free_first() -> None:
    jobs = [request(f"r{i}") for i in (1, 2, 3, 4)]
    taken("rig-1")
    take("rig-2", draining=True)
    rows = queue_forecast(now=NOW)[jobs[0].hardware_id]
    starts = [(row.starts_at - NOW) / MINUTE for row in rows if row.starts_at]
    assert starts == [0, 10, 20, 30]
    assert {row.worker.name for row in rows if row.worker} == {"rig-1"}


def test_a_job_that_no_living_worker_can_do_has_no_forecast() -> None:
    request("r1"), request("r2", rebuild=True)
    take("rig-2", serves=[services.Serves(make.hardware().name, modes=[])])
    rows = queue_forecast(now=NOW)[make.hardware().pk]
    assert [row.worker for row in rows] == [None, None]
    assert queue_forecast(now=NOW, hardware=[]) == {}


def test_a_job_that_takes_too_long_is_forecast_to_end_soon_not_in_the_past() -> None:
    request("r1")
    taken()
    later = NOW + timedelta(minutes=30)
    row = queue_forecast(now=later)[make.hardware().pk][0]
    assert row.ends_at == later + timedelta(seconds=30)
