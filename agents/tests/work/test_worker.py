"""The loop, with a lab of real processes and a server in this process."""

from __future__ import annotations

import os
import threading
import uuid
from datetime import UTC, datetime

import httpx2
import pytest
from labagent.errors import RefusedError, SettingsError
from labagent.job import Abandoned

from agents.tests.board import job, refusal
from agents.tests.server import error
from agents.tests.work.lab import DirectoryLab, make_worker, overdue_when, wait_for


@pytest.fixture
def lab(tmp_path):
    return DirectoryLab(tmp_path / "lab")


@pytest.fixture
def work(server, lab, tmp_path):
    """Gives these jobs to a worker and lets it work until there are none."""

    def run(*jobs, **more):
        server.jobs.queue = list(jobs)
        worker = make_worker(server, lab, tmp_path / "state", **more)
        worker.run()
        return worker

    return run


def test_a_job_becomes_one_run_with_its_boots(work, server, lab):
    work(job(boots=2, iterations=2))
    ((number, run),) = server.jobs.results
    assert number == 1
    assert run["metrics"]["pps"] == {
        "unit": "packets/s",
        "better": "more",
        "samples": [10001.0, 10002.0, 10011.0, 10012.0],
        "boots": [0, 0, 1, 1],
    }
    assert (run["tree"], run["revision"], run["hardware"]) == ("freebsd-head", "r303643", "A/B")
    assert run["mode"] == {"workload": "forwarding", "traffic": "inet4", "options": []}
    assert "r303643" in run["kernel_ident"]
    assert run["build_id"] == "lab-1 r303643 job 1"
    assert run["facts"]["worker"] == "lab-1"
    assert uuid.UUID(run["uuid"]).version == 5
    assert lab.trace.count("identify") == 4, "before and after each run"


def test_the_digest_of_a_kernel_goes_with_its_runs(work, server, lab):
    lab.takes_digests()
    work(job(1), job(2))
    assert {run["facts"]["kernel_sha256"] for _, run in server.jobs.results} == {"ab" * 32}


def test_a_lab_without_digests_reports_none(work, server, lab):
    work(job())
    ((_, run),) = server.jobs.results
    assert "kernel_sha256" not in run["facts"]


def test_a_digest_that_is_none_fails_the_job_as_the_labs_fault(work, server, lab):
    lab.takes_digests("MD5 (kernel) = 12")
    work(job())
    ((_, failed),) = server.jobs.failures
    assert failed["stage"] == "lab"
    assert "digest printed 'md5' first, not the 64 digits of a SHA-256" in failed["reason"]


def test_a_build_in_the_cache_is_not_built_again_and_keeps_its_name(work, server, lab):
    work(job(1), job(2))
    assert lab.count("build") == 1
    assert {run["build_id"] for _, run in server.jobs.results} == {"lab-1 r303643 job 1"}


def test_a_rebuild_is_built_although_it_is_cached_and_is_another_build(work, server, lab):
    work(job(1), job(2, rebuild=True), job(3))
    assert lab.count("build") == 2
    builds = [run["build_id"] for _, run in server.jobs.results]
    assert builds == ["lab-1 r303643 job 1", "lab-1 r303643 job 2", "lab-1 r303643 job 2"]


def test_another_kernel_is_a_failed_boot_and_no_result(work, server, lab):
    lab.boots_another_kernel("r303642")
    work(job())
    assert server.jobs.results == []
    ((_, failed),) = server.jobs.failures
    assert failed["stage"] == "boot"
    assert failed["reason"].startswith("wrong kernel:")
    assert "r303642" in failed["reason"]
    assert lab.count("run") == 0


def test_the_kernel_may_name_an_alias(work, server, lab):
    lab.boots_another_kernel("n255632-0123456789ab")
    work(job(revision="r303643", aliases=["0123456789abcdef0123456789abcdef01234567"]))
    assert len(server.jobs.results) == 1


@pytest.mark.parametrize(
    ("stage", "status", "blamed"),
    [
        ("build", 1, "build"),
        ("boot", 1, "boot"),
        ("identify", 1, "boot"),
        ("run", 2, "run"),
        ("build", 255, "lab"),
        ("run", 75, "lab"),
        ("has_build", 3, "lab"),
    ],
)
def test_a_failed_command_is_reported_with_its_stage_and_log(
    work, server, lab, stage, status, blamed
):
    lab.fail(stage, status)
    work(job())
    ((number, failed),) = server.jobs.failures
    assert (number, failed["stage"]) == (1, blamed)
    assert f"{stage} ended with {status}" in failed["reason"]
    assert "it is broken" in failed["log"]
    assert "\n" not in failed["reason"]
    assert server.jobs.results == []


def test_a_command_that_does_not_end_is_ended(server, tmp_path, monkeypatch):
    lab = DirectoryLab(tmp_path / "lab")
    text = lab.config.read_text().replace("boot = [", "boot = {timeout = 600, command = [")
    lab.config.write_text(text.replace('"{boot}"]', '"{boot}"]}', 1))
    lab.hold("boot")
    overdue_when(lab.directory / "held.boot", monkeypatch)
    server.jobs.queue = [job()]
    make_worker(server, lab, tmp_path / "state").run()
    ((_, failed),) = server.jobs.failures
    assert failed["reason"] == "boot did not end in 600 s"
    assert not is_alive(lab.held("boot"))


def test_what_a_job_may_not_contain_reaches_no_command(work, server, lab):
    work(job(1, revision="-rf"), job(2, revision="r1;reboot"), job(3, mode="forwarding@$(id)"))
    assert lab.trace == []
    assert [failed["stage"] for _, failed in server.jobs.failures] == ["lab"] * 3


def test_a_job_for_another_machine_is_refused(work, server, lab):
    work(job(1, hardware="C/D"), job(2, mode="pf"))
    assert lab.trace == []
    assert all("does not serve" in failed["reason"] for _, failed in server.jobs.failures)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def in_background(worker):
    failed = []

    def run():
        try:
            worker.run()
        except Abandoned as problem:
            failed.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, failed


def test_a_cancelled_job_ends_its_commands_and_reports_it(server, lab, tmp_path):
    server.jobs.queue = [job()]
    lab.hold("run")
    thread, _ = in_background(make_worker(server, lab, tmp_path / "state"))
    process = lab.held("run")
    server.jobs.cancelled.add(1)
    thread.join(30)
    ((_, failed),) = server.jobs.failures
    assert (failed["stage"], failed["reason"]) == ("lab", "cancelled")
    assert not is_alive(process)
    assert server.jobs.results == []


def test_heartbeats_report_what_is_done(work, server, lab):
    work(job())
    stages = {body["stage"] for _, body in server.jobs.beats}
    assert stages <= {"build", "boot", "run"}
    assert all(len(body["log"].encode()) <= 4096 for _, body in server.jobs.beats)


def test_a_lost_lease_is_no_reason_to_stop(server, lab, tmp_path):
    server.jobs.queue, server.jobs.lost = [job()], {1}
    lab.hold("run")
    worker = make_worker(server, lab, tmp_path / "state")
    thread, _ = in_background(worker)
    lab.held("run")
    wait_for(lambda: any("late result" in line for line in worker.lines))
    lab.release("run")
    thread.join(30)
    assert len(server.jobs.results) == 1


def test_a_job_that_the_server_has_closed_is_dropped(server, lab, tmp_path):
    server.jobs.queue, server.jobs.states = [job()], {1: "cancelled"}
    lab.hold("run")
    worker = make_worker(server, lab, tmp_path / "state")
    thread, _ = in_background(worker)
    process = lab.held("run")
    server.jobs.leased.clear()
    server.jobs.lost = {1}
    thread.join(30)
    assert not is_alive(process)
    assert (server.jobs.results, server.jobs.failures) == ([], [])


def test_draining_finishes_the_job_in_hand_and_takes_no_other(server, lab, tmp_path):
    server.jobs.queue = [job(1), job(2)]
    lab.hold("run")
    worker = make_worker(server, lab, tmp_path / "state")
    thread, _ = in_background(worker)
    lab.held("run")
    worker.drain()
    lab.release("run")
    thread.join(30)
    assert [number for number, _ in server.jobs.results] == [1]
    assert [one["id"] for one in server.jobs.queue] == [2]
    assert server.jobs.polls[-1]["draining"] is True


def test_an_abandoned_job_is_taken_up_by_the_next_start(server, lab, tmp_path):
    server.jobs.queue = [job(boots=3)]
    worker = make_worker(server, lab, tmp_path / "state")
    lab.hold("boot")
    thread, failed = in_background(worker)
    process = lab.held("boot")
    assert worker.abandon()
    thread.join(30)
    assert isinstance(failed[0], Abandoned)
    assert not is_alive(process)
    assert server.jobs.failures == []
    lab.release("boot")
    make_worker(server, lab, tmp_path / "state").run()
    assert lab.count("build") == 1
    assert len(server.jobs.results) == 1


def test_a_result_is_kept_while_the_server_is_away(work, server, lab):
    away = iter([httpx2.ConnectError("refused"), httpx2.ConnectError("refused")])

    def judge(_run):
        if trouble := next(away, None):
            raise trouble

    server.jobs.judge = judge
    worker = work(job())
    assert len(server.jobs.results) == 1
    assert lab.count("run") == 2, "measured once"
    assert any("trying again" in line for line in worker.lines)


def test_a_worker_that_drains_without_a_server_keeps_the_result_for_the_next(server, lab, tmp_path):
    server.jobs.queue = [job()]
    worker = make_worker(server, lab, tmp_path / "state")

    def judge(_run):
        worker.drain()
        raise httpx2.ConnectError("refused")

    server.jobs.judge = judge
    worker.run()
    assert server.jobs.results == []
    server.jobs.judge = lambda _run: None
    make_worker(server, lab, tmp_path / "state").run()
    assert len(server.jobs.results) == 1
    assert lab.count("run") == 2


def test_a_server_that_is_away_does_not_stop_a_measurement(server, lab, tmp_path):
    server.jobs.queue = [job()]
    lab.hold("run")
    worker = make_worker(server, lab, tmp_path / "state")
    thread, _ = in_background(worker)
    lab.held("run")
    server.script = [httpx2.ConnectError("refused")] * 2
    wait_for(lambda: not server.script)
    lab.release("run")
    thread.join(30)
    assert len(server.jobs.results) == 1
    assert any("no heartbeat" in line for line in worker.lines)


def test_a_report_on_which_the_server_fails_does_not_hold_up_the_next_job(work, server):
    times = []

    def judge(run):
        times.append(run["revision"])
        return error(500) if run["revision"] == "r1" and len(times) < 4 else None

    server.jobs.judge = judge
    server.jobs.leased = {}
    work(job(1, "r1"), job(2, "r2"))
    assert sorted(number for number, _ in server.jobs.results) == [1, 2]


def test_a_clock_that_is_not_believed_costs_the_time_and_not_the_result(work, server):
    server.jobs.judge = lambda run: (
        refusal(422, "invalid", "lies in the future", "run.measured_at")
        if run["measured_at"]
        else None
    )
    work(job(), now=lambda: datetime(2099, 1, 1, tzinfo=UTC))
    ((_, run),) = server.jobs.results
    assert run["measured_at"] is None
    assert "2099" in run["warnings"][-1]


def test_a_refused_result_is_kept_and_the_job_failed(work, server, tmp_path):
    server.jobs.judge = lambda _run: refusal(422, "invalid", "unknown unit", "run.metrics.pps.unit")
    work(job())
    ((_, failed),) = server.jobs.failures
    assert failed["stage"] == "lab"
    assert "unknown unit" in failed["reason"]
    (kept,) = (tmp_path / "state" / "refused").iterdir()
    assert "r303643" in kept.read_text()


def test_a_kernel_that_the_server_refuses_is_not_reported_once_more(work, server, tmp_path):
    server.jobs.judge = lambda _run: (server.jobs._end(1, "queued"), refusal(409, "wrong_kernel"))[
        1
    ]
    work(job())
    assert server.jobs.failures == []
    assert len(list((tmp_path / "state" / "refused").iterdir())) == 1


def test_a_bad_token_ends_the_worker_and_keeps_the_result(server, lab, tmp_path):
    server.jobs.queue = [job()]
    server.jobs.judge = lambda _run: error(401)
    with pytest.raises(RefusedError):
        make_worker(server, lab, tmp_path / "state").run()
    assert list((tmp_path / "state" / "outbox").glob("*.json"))


def test_two_workers_do_not_share_a_directory(server, lab, tmp_path):
    worker = make_worker(server, lab, tmp_path / "state")
    with worker.state.locked(), pytest.raises(SettingsError, match=r"another worker.*--state"):
        make_worker(server, lab, tmp_path / "state").run()


def test_two_workers_share_the_jobs(server, tmp_path):
    server.jobs.queue = [job(number) for number in range(1, 7)]
    labs = [DirectoryLab(tmp_path / name) for name in ("one", "two")]
    workers = [
        make_worker(server, lab, tmp_path / f"state-{lab.directory.name}", lab.directory.name)
        for lab in labs
    ]
    server.jobs.idle = lambda: [worker.drain() for worker in workers]
    threads = [in_background(worker)[0] for worker in workers]
    for thread in threads:
        thread.join(60)
    assert sorted(number for number, _ in server.jobs.results) == [1, 2, 3, 4, 5, 6]


def test_a_step_that_the_agent_never_survives_is_given_up(server, lab, tmp_path, monkeypatch):
    monkeypatch.setattr("labagent.work.worker.MOST_RESTARTS", 2)
    server.jobs.queue = [job()]
    lab.hold("boot")
    for _ in range(3):
        (lab.directory / "held.boot").unlink(missing_ok=True)
        worker = make_worker(server, lab, tmp_path / "state")
        thread, _ = in_background(worker)
        lab.held("boot")
        worker.abandon()
        thread.join(30)
    make_worker(server, lab, tmp_path / "state").run()
    ((_, failed),) = server.jobs.failures
    assert "started 2 times" in failed["reason"]
