"""Heartbeats, failures, silence, and what people do meanwhile."""

import pytest

from tests import make
from tests.jobs.steps import MINUTE, NOW, fail, hear, kinds, request, take, taken
from webapp.jobs import services
from webapp.jobs.models import Job, Worker
from webapp.jobs.services.events import ActRefused, ForeignJob, LeaseLost, NoSuchJob, job_ended
from webapp.jobs.tasks import sweep_jobs

pytestmark = pytest.mark.django_db
LATER = NOW + services.LEASE


def test_a_heartbeat_extends_the_lease_and_states_what_is_done() -> None:
    request()
    job = taken()
    heard = services.hear(
        number=job.pk,
        agent=make.agent(),
        lease=job.lease,
        stage="boot",
        progress="waiting for ssh",
        log="x" * 5000,
        now=NOW + MINUTE,
    )
    assert (heard.state, heard.cancel) == ("leased", False)
    job.refresh_from_db()
    assert job.lease_until == NOW + MINUTE + services.LEASE
    assert (job.stage, job.progress, len(job.log)) == ("boot", "waiting for ssh", 4096)
    assert Worker.objects.get().last_seen_at == NOW + MINUTE


def test_a_silent_worker_loses_its_job_to_the_next_that_asks() -> None:
    request()
    first = taken("rig-1")
    second = taken("rig-2", at=LATER)
    assert (second.pk, second.attempts) == (first.pk, 2)
    assert kinds(second) == ["queued", "leased", "expired", "leased"]
    with pytest.raises(LeaseLost):
        hear(first, at=LATER)


def test_the_sweep_finds_what_nobody_asks_for() -> None:
    request(at=NOW), request(at=NOW, deadline=NOW)
    taken()
    sweep_jobs()
    states = Job.objects.order_by("pk").values_list("state", "cancel_reason")
    assert list(states) == [("queued", ""), ("cancelled", "its deadline passed")]


def test_a_job_whose_workers_all_fall_silent_is_given_up() -> None:
    request()
    at = NOW
    for number in range(5):
        taken(f"rig-{number}", at=at)
        at += services.LEASE
    assert take("rig-9", at=at) is None
    job = Job.objects.get()
    assert (job.state, job.failure_stage) == ("failed", "lab")
    assert kinds(job)[-2:] == ["expired", "gave up"]


@pytest.mark.parametrize(
    ("stage", "tries", "pause"),
    [("build", 2, 0), ("boot", 3, 1), ("run", 3, 1), ("upload", 5, 1), ("lab", 5, 5)],
)
def test_a_stage_that_fails_is_tried_again_so_often_and_so_late(
    stage: str, tries: int, pause: int
) -> None:
    request()
    at = NOW
    for left in reversed(range(tries)):
        state = fail(taken(at=at), stage, at=at).state
        assert state == ("queued" if left else "failed")
        assert not left or not pause or take("rig-2", at=at) is None
        at += pause * MINUTE
    job = Job.objects.get()
    assert (job.failure_stage, job.failure_reason) == (stage, "iperf3 exited with 1")
    assert job.ended_at is not None


def test_a_failure_keeps_the_end_of_its_log_and_reported_twice_counts_once() -> None:
    request()
    job = taken()
    assert fail(job, log="first" + "x" * 70_000 + "last").state == "queued"
    assert fail(job).state == "queued"
    failed = job.events.get(kind="failed")
    assert len(failed.log) == 65_536
    assert failed.log.endswith("last")
    taken("rig-2", at=NOW + MINUTE)
    assert fail(job, at=NOW + MINUTE).state == "leased"
    assert job.events.filter(kind="failed").count() == 1


def test_who_never_had_the_job_cannot_fail_it() -> None:
    request()
    job = taken()
    job.lease = "0" * 32
    with pytest.raises(LeaseLost):
        fail(job)
    with pytest.raises(ForeignJob):
        services.fail(
            number=job.pk,
            agent=make.agent("spy", of=make.lab("another")),
            lease=job.lease,
            stage="run",
            reason="x",
        )
    with pytest.raises(NoSuchJob):
        services.fail(number=0, agent=make.agent(), lease="", stage="run", reason="x")


def test_a_queued_job_is_cancelled_at_once_and_a_leased_one_when_its_worker_hears_of_it() -> None:
    queued, held = request("r1"), request("r2", priority=99)
    job = taken()
    ada = make.user()
    for each in (queued, held):
        services.cancel_job(job=each.pk, reason="found it", actor=ada, now=NOW)
    assert Job.objects.get(pk=queued.pk).state == "cancelled"
    heard = hear(job)
    assert (heard.state, heard.cancel, heard.reason) == ("leased", True, "found it")
    assert fail(job, "lab", reason="cancelled").state == "cancelled"
    assert kinds(job) == ["queued", "leased", "cancel requested", "cancelled"]
    assert hear(job).cancel


def test_a_job_to_be_cancelled_ends_also_when_its_worker_falls_silent() -> None:
    request()
    job = taken()
    services.cancel_job(job=job.pk, reason="found it")
    services.expire_leases(now=LATER)
    assert Job.objects.get().state == "cancelled"


def test_a_cancel_needs_a_reason() -> None:
    with pytest.raises(ActRefused, match="reason"):
        services.cancel_job(job=request().pk, reason="  ")


def test_a_job_queued_again_by_hand_has_all_its_attempts() -> None:
    request()
    for _ in range(2):
        fail(taken(), "build")
    job = services.retry_job(job=Job.objects.get().pk, actor=make.user(), now=NOW)
    assert (job.state, job.attempts, job.failure_reason) == ("queued", 0, "")
    assert fail(taken(), "build").state == "queued"
    with pytest.raises(ActRefused, match="only a failed"):
        services.retry_job(job=job.pk, actor=make.user("bob"))


def test_every_end_of_a_job_is_reported() -> None:
    notified: list[int] = []

    def listen(job: Job, **_: object) -> None:
        notified.append(job.pk)

    job_ended.connect(listen)
    try:
        cancelled, failed = request("r1"), request("r2", max_attempts=1)
        services.cancel_job(job=cancelled.pk, reason="found it")
        fail(taken())
    finally:
        job_ended.disconnect(listen)
    assert notified == [cancelled.pk, failed.pk]


def test_an_end_is_undone_with_what_a_receiver_writes() -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("not written")

    job = request("r1")
    job_ended.connect(refuse)
    try:
        with pytest.raises(RuntimeError):
            services.cancel_job(job=job.pk, reason="found it")
    finally:
        job_ended.disconnect(refuse)
    assert Job.objects.get().state == "queued"


def test_priority_changes_while_a_job_waits_and_within_bounds() -> None:
    first, second = request("r1"), request("r2")
    ada = make.user()
    services.change_priority(job=second.pk, priority=100, actor=ada)
    assert kinds(second)[-1] == "priority"
    assert taken().pk == second.pk
    for job, priority in ((first, 101), (second, 3)):
        with pytest.raises(ActRefused):
            services.change_priority(job=job.pk, priority=priority, actor=ada)
