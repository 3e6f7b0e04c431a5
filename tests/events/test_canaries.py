"""Canaries: when a job is asked for, and what their boots show."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.events.steps import CALM, NOW, boots, canary
from webapp.events.models import Canary, CanaryJob
from webapp.events.queries import watch
from webapp.events.services import create_canary, end_twins, set_canary_active
from webapp.events.services.canaries import NewCanary, request_due
from webapp.jobs.models import Job
from webapp.jobs.services import ActRefused, request_more_runs
from webapp.results.services import Unprocessable

DAY = timedelta(days=1)


@pytest.mark.django_db
def test_a_new_canary_is_due_at_once_and_asks_for_one_job() -> None:
    made = canary(boots=3)
    (job,) = request_due(NOW)
    assert (job.purpose, job.boots, job.revision, job.hardware) == (
        "canary",
        3,
        made.revision,
        made.hardware,
    )
    assert request_due(NOW + 30 * DAY) == []


@pytest.mark.django_db
def test_the_next_job_is_asked_for_when_the_last_one_ended_and_the_interval_is_over() -> None:
    canary(interval_days=2)
    (first,) = request_due(NOW)
    Job.objects.update(state=Job.State.DONE, ended_at=NOW)
    assert request_due(NOW + DAY) == []
    (second,) = request_due(NOW + 2 * DAY)
    assert second.pk != first.pk


@pytest.mark.django_db
def test_a_job_that_failed_waits_for_the_next_day_too() -> None:
    canary()
    request_due(NOW)
    Job.objects.update(
        state=Job.State.FAILED, ended_at=NOW, failure_reason="x", failure_stage="run"
    )
    assert request_due(NOW) == []
    assert len(request_due(NOW + DAY)) == 1


@pytest.mark.django_db
def test_a_clock_that_was_wrong_delays_nothing() -> None:
    canary()
    request_due(NOW + 1000 * DAY)
    Job.objects.update(state=Job.State.DONE, ended_at=NOW)
    assert len(request_due(NOW)) == 1


@pytest.mark.django_db
def test_a_stopped_canary_asks_for_nothing() -> None:
    made = canary()
    set_canary_active(canary=made, is_active=False)
    assert request_due(NOW) == []
    canary()
    with pytest.raises(Unprocessable, match="another active canary"):
        set_canary_active(canary=made, is_active=True)


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_ask_for_one_job() -> None:
    for number in range(3):
        canary(mode=make.mode(f"mode-{number}"))
    barrier = threading.Barrier(2)

    def sweep() -> None:
        barrier.wait()
        request_due(NOW)
        connection.close()

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Job.objects.count() == CanaryJob.objects.count() == 3


@pytest.mark.django_db
def test_people_do_not_ask_for_jobs_of_canaries() -> None:
    with pytest.raises(ActRefused, match="purpose"):
        request_more_runs(
            revisions=[make.revision("r300000")],
            hardware=make.hardware(),
            mode=make.mode(),
            boots=1,
            requested_by=make.user(),
            purpose="canary",
        )


@pytest.mark.django_db
def test_numbers_out_of_bounds_are_refused() -> None:
    made = canary()
    rows = (made.hardware, made.mode, made.metric, made.revision)
    with pytest.raises(Unprocessable) as refused:
        create_canary(wanted=NewCanary(*rows, interval_days=0, boots=21), created_by=None)
    assert {one.path for one in refused.value.problems} == {"interval_days", "boots"}
    same, is_new = create_canary(wanted=NewCanary(*rows), created_by=None)
    assert (same, is_new) == (made, False)


@pytest.mark.django_db
def test_every_run_of_the_kernel_counts_boot_by_boot_whoever_asked_for_it() -> None:
    made = canary()
    at = make.DAY_ONE + 5 * DAY
    place = {"on": made.hardware, "in_mode": made.mode}
    two = make.run(made.revision, **place, samples=[1.0, 3.0, 10.0], measured_at=at)
    two.measurements.update(boots=[0, 0, 1])
    make.run(made.revision, **place, samples=[7.0, 9.0], measured_at=None, received_at=at - DAY)
    make.run(make.revision("r300001"), **place, samples=[99.0])
    gone = make.run(made.revision, **place, samples=[99.0])
    type(gone).objects.filter(pk=gone.pk).update(withdrawn_at=NOW, withdrawn_reason="x")
    (watched,) = watch([made])
    assert [(boot.value, boot.samples) for boot in watched.boots] == [(8.0, 2), (2.0, 2), (10.0, 1)]
    assert watched.chart.limits is None


@pytest.mark.django_db
def test_a_canary_that_left_its_limits_states_since_when() -> None:
    made = canary()
    boots(made, [*CALM, 80.0, 80.0])
    (watched,) = watch([made])
    assert watched.chart.is_out
    assert watched.left_at == make.DAY_ONE + 11 * DAY
    boots(made, [100.0, 100.0], since=make.DAY_ONE + 20 * DAY)
    (watched,) = watch([made])
    assert watched.left_at is None


@pytest.mark.django_db
def test_many_canaries_are_watched_in_one_query() -> None:
    made = [canary(mode=make.mode(f"mode-{number}")) for number in range(4)]
    for one in made:
        boots(one, CALM)
    with CaptureQueriesContext(connection) as captured:
        found = watch(made)
    assert len(captured) == 1
    assert [len(one.boots) for one in found] == [len(CALM)] * 4


@pytest.mark.django_db
def test_of_two_that_become_one_the_one_that_goes_ends() -> None:
    kept = canary()
    xeon = make.hardware("Xeon/T580")
    twin, alone = canary(hardware=xeon), canary(hardware=xeon, mode=make.mode("other"))
    end_twins(xeon, kept.hardware)
    assert set(Canary.objects.active()) == {kept, alone}
    assert not Canary.objects.get(pk=twin.pk).is_active
