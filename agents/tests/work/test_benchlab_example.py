"""`agents/examples/benchlab.toml`: its own commands, against a stand-in for bench-lab.sh."""

from __future__ import annotations

import os

import pytest
from labagent.work.state import BootRecord

from agents.tests.board import job
from agents.tests.work.benchlab import HARDWARE, BenchLab
from agents.tests.work.lab import make_worker, overdue_when
from agents.tests.work.test_worker import is_alive

VALUES = (1000.0, 1001.0, 1002.0, 1003.0, 1004.0)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    lab = BenchLab(tmp_path / "lab", VALUES)
    monkeypatch.setenv("PATH", f"{lab.home / 'bin'}:{os.environ['PATH']}")
    return lab


@pytest.fixture
def work(server, lab, tmp_path):
    def run(**more):
        server.jobs.queue = [job(**{"hardware": HARDWARE, "boots": 3, **more})]
        worker = make_worker(server, lab, tmp_path / "state")
        worker.run()
        return worker

    return run


@pytest.fixture
def failure(work, server):
    """The stage and reason with which a job fails."""

    def run(**more):
        work(**more)
        assert server.jobs.results == []
        ((_, failed),) = server.jobs.failures
        return failed["stage"], failed["reason"]

    return run


def test_a_job_is_one_call_of_the_script_and_each_iteration_a_boot(work, server, lab):
    work()
    ((_, run),) = server.jobs.results
    assert run["metrics"]["pps"]["samples"] == [1000.0, 1001.0, 1002.0]
    assert run["metrics"]["pps"]["boots"] == [0, 1, 2]
    assert (run["revision"], run["hardware"]) == ("r303643", HARDWARE)
    assert run["mode"] == {"workload": "forwarding", "traffic": "inet4", "options": []}
    assert "r303643" in run["kernel_ident"]
    assert run["warnings"] == []
    assert len(run["facts"]["run_seconds"]) == 3
    assert lab.count("shutdown") == 4, "image, configuration, and between the iterations"


@pytest.mark.parametrize(("asked", "measured"), [(1, 3), (5, 5)])
def test_the_script_measures_the_boots_of_the_job_but_three_at_least(work, server, asked, measured):
    work(boots=asked)
    ((_, run),) = server.jobs.results
    assert run["metrics"]["pps"]["boots"] == list(range(measured))


def test_more_iterations_a_boot_are_not_measured_and_that_is_reported(work, server):
    work(iterations=2)
    ((_, run),) = server.jobs.results
    assert run["metrics"]["pps"]["boots"] == [0, 1, 2]
    assert run["warnings"] == ["2 iterations a boot were asked for; this lab measures 1"]


def test_options_have_an_image_of_their_own(work, server, lab):
    (lab.home / "configs" / "pf-statefull" / "pf-statefull").mkdir(parents=True)
    work(mode="pf-statefull@inet4+VIMAGE")
    ((_, run),) = server.jobs.results
    assert run["mode"]["options"] == ["VIMAGE"]
    (image,) = (lab.home / "images").rglob("*.img.xz")
    assert image.relative_to(lab.home / "images").parts[:-1] == ("r303643", "VIMAGE")


def test_a_kept_image_is_measured_without_a_build(work, server, lab):
    work()
    lab.makes("r1")
    (lab.directory / "benches").unlink()
    work(number=2)
    assert len(server.jobs.results) == 2


def test_a_script_that_hangs_is_ended_at_its_time_limit(failure, lab, monkeypatch):
    (lab.directory / "hangs").touch()
    overdue_when(lab.directory / "held.rx", monkeypatch)
    stage, reason = failure()
    assert stage == "run"
    assert reason == "run did not end in 14400 s: bench 1 of 3: bench.303643.forwarding.inet4.1"
    assert not is_alive(lab.held("rx"))


def test_a_script_that_fails_gives_its_own_reason(failure, lab):
    (lab.directory / "refuses").touch()
    stage, reason = failure()
    assert stage == "run"
    assert reason.startswith("run ended with 1: EXIT: cannot upgrade to ")


def test_a_question_that_nobody_answers_fails_and_does_not_hang(failure, lab):
    lab.replace('  "-y",\n', "")
    assert failure() == ("run", "run ended with 1: EXIT: nobody answered")
    assert lab.count("shutdown") == 0


def test_fewer_than_three_iterations_are_refused_by_the_script(failure, lab):
    lab.replace("least_boots = 3", "least_boots = 2")
    assert failure(boots=1) == ("run", "run ended with 1: EXIT: at least 3 iterations")


def test_results_outlive_a_script_that_fails_when_all_is_measured(work, server, lab):
    script = lab.home / "netbenches" / "scripts" / "bench-lab.sh"
    script.write_text(f"{script.read_text()}no-such-mail -s benches root\n")
    work()
    ((_, run),) = server.jobs.results
    assert run["metrics"]["pps"]["samples"] == [1000.0, 1001.0, 1002.0]
    (warning,) = run["warnings"]
    assert warning.startswith("run ended with 127: ")
    assert "no-such-mail" in warning
    assert warning.endswith("; its results are complete, and were kept")


def test_a_script_that_fails_between_its_iterations_leaves_no_result(failure, lab):
    (lab.directory / "log.3").unlink()
    stage, reason = failure()
    assert stage == "run"
    assert reason.startswith("run ended with 1: ")


def test_another_kernel_is_refused_before_the_second_iteration(failure, lab):
    """By the first `.info`: the receiver, which would hang, is ended."""
    (lab.directory / "hangs").touch()
    lab.makes("r303642")
    stage, reason = failure()
    assert "in the results" in reason
    assert not is_alive(lab.held("rx"))
    assert stage == "boot"
    assert reason.startswith("wrong kernel:")
    assert "r303642" in reason
    assert lab.count("-f rx") == 1


def test_another_kernel_in_the_results_is_refused(failure, lab):
    """The kernel that was measured counts, not the one that runs when all is over."""
    lab.replace('"uname", "-a"', '"echo", "r303643"')
    ssh = lab.home / "bin" / "ssh"
    ssh.write_text(ssh.read_text().replace("upgrade)", '"echo r303643") echo r303643 ;;\nupgrade)'))
    lab.makes("r303642")
    stage, reason = failure()
    assert stage == "boot"
    assert "r303642" in reason
    assert "in the results" in reason


def test_more_than_one_set_in_a_directory_is_no_result(failure, lab):
    (lab.home / "configs" / "forwarding" / "ipfw").mkdir()
    for number in range(4, 7):
        (lab.directory / f"log.{number}").write_text((lab.directory / "log.1").read_text())
    stage, reason = failure()
    assert stage == "run"
    assert "holds the logs of more than one mode" in reason


def test_a_revision_without_a_number_is_refused_before_anything_runs(failure, lab):
    stage, reason = failure(revision="n277567")
    assert stage == "lab"
    assert "has_build uses {number}, and revision 'n277567' has none" in reason
    assert "write {revision}" in reason
    assert lab.trace == []


def test_a_run_of_many_boots_is_split_into_its_boots():
    values = {
        "a": {"unit": "u", "better": "more", "samples": [1.0, 2.0]},
        "b": {"unit": "u", "better": "less", "samples": [3.0]},
    }
    first, second = BootRecord("kernel", values, ["w"], {"run": 60.0}).split()
    assert [first.values["a"]["samples"], first.values["b"]["samples"]] == [[1.0], [3.0]]
    assert second.values == {"a": {"unit": "u", "better": "more", "samples": [2.0]}}
    assert (second.ident, second.warnings, second.seconds) == ("kernel", ["w"], {"run": 30.0})
