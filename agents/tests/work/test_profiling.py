"""Jobs that ask for profiles: further boots, after those that are measured."""

from __future__ import annotations

import pytest
from labagent.errors import SettingsError
from labagent.job import Abandoned
from labagent.work.config import load_lab

from agents.tests.board import job
from agents.tests.server import error
from agents.tests.work.lab import DirectoryLab, make_worker


@pytest.fixture
def lab(tmp_path):
    lab = DirectoryLab(tmp_path / "lab")
    lab.takes_profiles()
    return lab


@pytest.fixture
def work(server, tmp_path, lab):
    """Gives these jobs to a worker of the lab, or of another, and lets it work."""

    def run(*jobs, lab=lab):
        server.jobs.queue = list(jobs)
        worker = make_worker(server, lab, tmp_path / "state")
        worker.run()
        return worker

    return run


def profiles(server):
    """The profiles of the only run."""
    ((_, run),) = server.jobs.results
    return server.profiles.get(run["uuid"], [])


def stages(lab):
    """What the script was asked to do, but for the kernel's identity."""
    return [line.split()[0] for line in lab.trace if line != "identify"]


def test_boots_are_profiled_after_as_many_that_are_measured(work, server, lab):
    work(job(boots=2, profile=True))
    assert stages(lab)[2:] == ["boot", "run", "boot", "run", "boot", "profile", "boot", "profile"]
    ((_, run),) = server.jobs.results
    assert run["metrics"]["pps"]["boots"] == [0, 1]
    assert run["warnings"] == []
    assert lab.count("identify") == 8, "before and after each"


def test_each_profile_is_of_the_run_and_carries_its_rate(work, server):
    work(job(boots=2, profile=True))
    found = profiles(server)
    assert [one["name"] for one in found] == ["profile.boot2", "profile.boot3"]
    assert {(one["format"], one["pps"], one["boot"]) for one in found} == {("pmcstat", 710.0, None)}
    assert sum(found[0]["count"]) == 13


def test_a_job_that_does_not_ask_is_not_profiled(work, server, lab):
    work(job(boots=1))
    assert profiles(server) == []
    assert "profile" not in stages(lab)


def test_a_lab_without_the_command_measures_and_reports_it(work, server, tmp_path):
    plain = DirectoryLab(tmp_path / "plain")
    work(job(boots=1, profile=True), lab=plain)
    ((_, run),) = server.jobs.results
    assert run["warnings"] == ["the job asks for profiles, and this lab has no profile command"]


def test_a_profile_that_fails_costs_no_measurement_and_is_not_tried_again(work, server, lab):
    lab.fail("profile")
    work(job(boots=3, profile=True))
    ((_, run),) = server.jobs.results
    assert len(run["metrics"]["pps"]["samples"]) == 3
    assert run["warnings"] == ["profile 1 of 3 failed at run: profile ended with 1: it is broken"]
    assert lab.count("profile") == 1


@pytest.mark.parametrize(
    ("graph", "reason"),
    [("", "no profile: profile.boot1: cannot be read"), ("x\n", "is no profile")],
)
def test_a_command_that_leaves_no_profile_is_named(server, tmp_path, work, graph, reason):
    lab = DirectoryLab(tmp_path / "other")
    lab.takes_profiles(graph)
    work(job(boots=1, profile=True), lab=lab)
    ((_, run),) = server.jobs.results
    assert reason in run["warnings"][0]
    assert profiles(server) == []


def test_a_wrong_kernel_is_not_profiled(work, server, lab, tmp_path):
    worker = make_worker(server, lab, tmp_path / "state")
    inner = worker.lab.boot

    def boot(task, number):
        if number == 1:
            lab.boots_another_kernel("r1")
        inner(task, number)

    worker.lab.boot = boot
    server.jobs.queue = [job(boots=1, profile=True)]
    worker.run()
    ((_, run),) = server.jobs.results
    assert "failed at boot: wrong kernel" in run["warnings"][0]
    assert lab.count("profile") == 0


def test_what_was_profiled_is_not_profiled_again_after_a_restart(server, lab, tmp_path):
    server.jobs.queue = [job(boots=2, profile=True)]
    worker = make_worker(server, lab, tmp_path / "state")
    inner, calls = worker.lab.profile, []

    def profile(task, boot):
        calls.append(boot)
        if len(calls) == 2:
            task.watch.stop(Abandoned("abandoned"))
        return inner(task, boot)

    worker.lab.profile = profile
    with pytest.raises(Abandoned):
        worker.run()
    assert profiles_on_disk(tmp_path) == ["profile.boot2.json"]
    make_worker(server, lab, tmp_path / "state").run()
    assert [one["name"] for one in profiles(server)] == ["profile.boot2", "profile.boot3"]
    assert lab.count("run") == 2


def profiles_on_disk(tmp_path):
    return sorted(path.name for path in (tmp_path / "state" / "jobs" / "1").glob("profile.*.json"))


def test_profiles_that_do_not_arrive_wait_and_the_result_is_not_sent_again(
    work, server, lab, tmp_path
):
    inner, failed = server.store_profile, []

    def store(run, body):
        if not failed:
            failed.append(body)
            return error(503)
        return inner(run, body)

    server.store_profile = store
    work(job(boots=1, profile=True))
    assert failed
    assert len(profiles(server)) == 1
    results = [path for _, path, _ in server.requests if path.endswith("/result")]
    assert len(results) == 1
    assert list((tmp_path / "state" / "outbox").glob("*.json")) == []


def test_a_refused_profile_is_kept_and_fails_no_job(work, server, tmp_path):
    server.judge = lambda one: ("name", "is odd") if one["name"] == "profile.boot2" else None
    worker = work(job(boots=2, profile=True))
    assert [one["name"] for one in profiles(server)] == ["profile.boot3"]
    assert server.jobs.failures == []
    assert any("profiles refused: cannot be stored" in line for line in worker.lines)
    assert list((tmp_path / "state" / "refused").glob("1-*.json"))


def test_a_profile_command_must_be_given_its_file(tmp_path):
    lab = DirectoryLab(tmp_path / "lab")
    with lab.config.open("a") as file:
        file.write('profile = ["pmcstat", "{boot}"]\n')
    with pytest.raises(SettingsError, match=r"profile does not use \{output\}"):
        load_lab(lab.config)


def test_only_a_profile_command_knows_its_file(tmp_path):
    lab = DirectoryLab(tmp_path / "lab")
    with lab.config.open("a") as file:
        file.write('clean = ["rm", "{output}"]\n')
    with pytest.raises(SettingsError, match=r"clean does not know '\{output\}'"):
        load_lab(lab.config)
