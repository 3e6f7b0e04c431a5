"""The simulated lab in the loop, as it should be and with each fault."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from labagent.client import Client
from labagent.readers.profiles import read_profile
from labagent.simulate import SAMPLES, FaultyApi, Silence, SimulatedLab, simulated_graph
from labagent.simulate.truth import load_truth
from labagent.work.state import StateDirectory
from labagent.work.worker import Pauses, Worker

from agents.tests.board import HARDWARE, job
from agents.tests.server import TOKEN, FakeServer, listening
from agents.tests.work.lab import wait_for

SOURCES = Path(__file__).parents[2] / "src"
TRUTH = """
run_noise = 0.5
boot_noise = 0.5
build_seconds = 6
boot_seconds = 6
run_seconds = 6
[[hardware]]
name = "{hardware}"
levels = {{ "forwarding@inet4" = 1e6 }}
[faults]
{faults}
"""


@pytest.fixture
def truth(tmp_path):
    def write(faults="", top=""):
        path = tmp_path / "truth.toml"
        path.write_text(top + TRUTH.format(hardware=HARDWARE, faults=faults))
        return path

    return write


@pytest.fixture
def simulate(server, tmp_path, truth):
    def run(*jobs, faults="", state="state", top=""):
        known, silence = load_truth(truth(faults, top)), Silence()
        client = Client("https://driftline.test", TOKEN, transport=server.transport)
        server.jobs.queue = list(jobs)
        worker = Worker(
            FaultyApi(client, "sim-1", known, silence),
            SimulatedLab(known, "sim-1", 600.0, silence),
            StateDirectory(tmp_path / state),
            say=lambda _line: None,
            wait=0,
            pauses=Pauses(0.01, 0.05),
        )
        server.jobs.idle = worker.drain
        worker.run()

    return run


def test_jobs_are_answered_with_values_of_the_truth(simulate, server):
    simulate(job(1, boots=3, iterations=2), job(2, "r1"))
    (_, run), (_, other) = server.jobs.results
    pps = run["metrics"]["pps"]
    assert pps["boots"] == [0, 0, 1, 1, 2, 2]
    assert all(abs(value - 1e6) < 5e4 for value in pps["samples"])
    assert len(set(pps["samples"])) == 6
    assert run["build_id"] != other["build_id"]


def test_a_job_that_asks_gets_profiles_of_further_boots(simulate, server):
    simulate(job(1, boots=2, profile=True), job(2, boots=1))
    (_, run), (_, other) = server.jobs.results
    assert len(server.profiles[run["uuid"]]) == 2
    assert other["uuid"] not in server.profiles
    first, second = server.profiles[run["uuid"]]
    assert first["count"] != second["count"]
    assert 0.9e6 < first["pps"] < 1e6


def test_a_truth_may_have_boots_of_every_job_profiled(simulate, server):
    simulate(job(1, boots=1), top="profiled_boots = 3")
    assert [len(found) for found in server.profiles.values()] == [3]


def test_the_same_jobs_get_the_same_answers(simulate, server):
    simulate(job(1))
    first = server.jobs.results.pop()
    simulate(job(1), state="another")
    assert server.jobs.results[0][1]["uuid"] == first[1]["uuid"]


def test_a_revision_that_does_not_build_fails_at_the_build(simulate, server):
    simulate(job(), faults='unbuildable = ["r303643"]')
    ((_, failed),) = server.jobs.failures
    assert failed["stage"] == "build"
    assert "does not build" in failed["log"]


@pytest.mark.parametrize(
    ("fault", "stage", "reason"),
    [
        ("build_failure", "build", "build failed"),
        ("wrong_kernel", "boot", "wrong kernel: .*r303642"),
        ("hang", "boot", "did not come back"),
    ],
)
def test_a_fault_is_reported_with_its_stage(simulate, server, fault, stage, reason):
    simulate(job(), faults=f"{fault} = 1.0")
    ((_, failed),) = server.jobs.failures
    assert failed["stage"] == stage
    assert re.search(reason, failed["reason"])


def test_a_result_sent_twice_is_one(simulate, server):
    simulate(job(), faults="twice = 1.0")
    paths = [path for _, path, _ in server.requests if path.endswith("/result")]
    assert len(paths) == 2
    assert len(server.jobs.results) == 1


def test_a_late_result_still_comes(simulate, server):
    server.jobs.lease_seconds = 0.1
    simulate(job(), faults="late = 1.0")
    assert len(server.jobs.results) == 1


def test_a_revision_without_a_place_is_the_labs_fault(simulate, server):
    simulate(job(revision="deadbeef"))
    assert server.jobs.failures[0][1]["stage"] == "lab"


def two_workers(truth, address, state):
    command = [sys.executable, "-m", "labagent", "simulate", "--truth", truth, "--workers", "2"]
    return [*command, "--server", address, "--state", state, "--wait", "0"]


def test_several_workers_crash_are_started_again_and_drain(tmp_path, truth):
    server = FakeServer()
    server.jobs.queue = [job(number, boots=1) for number in range(1, 3)]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCES), "DRIFTLINE_TOKEN": TOKEN}
    with listening(server) as address:
        process = subprocess.Popen(
            two_workers(truth("crash = 1.0"), address, tmp_path / "s"),
            env=environ,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(server.jobs.results) == 2, 60)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "simulated crash" in err
    assert "starting it again" in err
    assert {poll["worker"] for poll in server.jobs.polls} == {"sim-1-1", "sim-1-2"}
    assert {one.name for one in (tmp_path / "s").iterdir()} == {"sim-1-1", "sim-1-2"}


def test_workers_leave_when_the_one_that_started_them_is_killed(tmp_path, truth):
    server = FakeServer()
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCES), "DRIFTLINE_TOKEN": TOKEN}
    with listening(server) as address:
        process = subprocess.Popen(
            two_workers(truth(), address, tmp_path / "s"),
            env=environ,
            stderr=subprocess.PIPE,
        )
        wait_for(lambda: {poll["worker"] for poll in server.jobs.polls} == {"sim-1-1", "sim-1-2"})
        process.kill()
        # Their end closes the pipe.
        process.communicate(timeout=30)


PROFILED = "Simulated_Atom_8Cores/10G"
DEARER = {
    "forwarding": "ip_tryforward",
    "pf-statefull": "pf_find_state",
    "ipfw-statefull": "ipfw_dyn_lookup",
}


@pytest.fixture
def profile(tmp_path):
    def make(workload="forwarding", gain=1.0, seed=1, hardware=PROFILED):
        path = tmp_path / "bench.graph"
        path.write_text(simulated_graph(hardware, workload, gain, random.Random(seed)))
        return read_profile(path)

    return make


def costs(profile, gain=1.0):
    """What each function itself costs, in percent of a packet before any step."""
    found = {}
    for section in profile.sections:
        for stack, count in section.items():
            name = stack[-1][0]
            found[name] = found.get(name, 0) + 100 * count / profile.samples / gain
    return found


def test_a_graph_is_whole_and_has_a_section_a_cpu(profile):
    found = profile()
    assert (found.truncated, found.warnings, found.cores) == (False, [], 8)
    assert found.samples == 8 * SAMPLES
    assert profile(hardware="box").cores == 4


@pytest.mark.parametrize(("workload", "dearer"), DEARER.items())
@pytest.mark.parametrize("gain", [0.9, 0.96, 1.05])
def test_a_step_changes_the_cost_of_one_function(profile, workload, dearer, gain):
    before, after = costs(profile(workload)), costs(profile(workload, gain, seed=2), gain)
    changes = {name: after[name] - before[name] for name in before}
    assert abs(changes.pop(dearer) - 100 * (1 / gain - 1)) < 1.5
    assert max(map(abs, changes.values())) < 1.5


def test_modules_are_read_back_as_they_were_written(profile):
    modules = {
        frame for section in profile("pf-statefull").sections for s in section for frame in s
    }
    assert ("pf_test", "pf") in modules
    assert ("pfil_run_hooks", "kernel") in modules
    assert {module for name, module in modules if not name.startswith("pf_")} == {"kernel"}


def test_rows_are_formed_as_pmcstat_forms_them():
    text = simulated_graph(PROFILED, "pf", 1.0, random.Random(1))
    rows = [line for line in text.splitlines() if line and not line.startswith("@")]
    form = re.compile(r"( *)(\d\d\.\d\d|100\.0)%  \[\d+\] +\S+( @ /boot/kernel/\S+)?")
    assert all(form.fullmatch(row) for row in rows)
    assert all((" @ " in row) for row in rows if not row.startswith(" "))
