"""A bisect on two machines that drift, killed in its middle: it ends as a quiet one does.

Two machines work side by side, so that which result comes first, and with it what is measured
next, is a matter of milliseconds. What must be the same is the end, and nothing may be lost or
counted twice.
"""

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from tests.faults.rounds import lab
from tests.faults.rounds.breaking import kill
from tests.faults.rounds.rig import PATIENCE_SECONDS, Rig, rig
from tests.faults.rounds.workload import HUNTING, SEED, Work
from tests.launcher.running import PROJECT, variables
from tests.system.running import wait_for

pytestmark = [pytest.mark.release, pytest.mark.stack]

MACHINES = (lab.HARDWARE, lab.OTHER)
TOGETHER = SEED.replace(
    "most_boots=60)",
    'most_boots=60, beside=[(Series.objects.get(hardware__name="second/nic"), -3.0)])',
)
MEASURED = "SELECT count(*) FROM bisects_bisectboot WHERE source = 'run'"
END = """
SELECT b.state, b.outcome, r.name, (SELECT count(*) FROM bisects_bisectsubject)
FROM bisects_bisect b LEFT JOIN results_revision r ON r.id = b.culprit_id
"""
COUNTED = """
SELECT (SELECT count(*) FROM bisects_bisectboot WHERE source = 'run' AND dropped_at IS NULL),
       (SELECT count(DISTINCT run_id) FROM bisects_bisectboot WHERE source = 'run'),
       (SELECT count(*) FROM jobs_job_runs WHERE run_id IN (SELECT run_id FROM bisects_bisectboot)),
       (SELECT count(*) FROM jobs_job_runs),
       (SELECT count(DISTINCT subject) FROM bisects_bisectboot WHERE source = 'run')
"""


class Counted(NamedTuple):
    """Boots, the runs that they are of, and how many of these, and of all runs, answered a job."""

    boots: int
    runs: int
    used: int
    answered: int
    machines: int


@dataclass
class WorkOfTwo(Work):
    """A bisect, and an agent at each of its machines; no import and no uploads."""

    agents: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def prepare(self) -> None:
        """The history of both, analysed; then the bisect."""
        self.rig.empty()
        measured = [*range(-8, 1), *range(lab.COUNT, lab.COUNT + 9)]
        for hardware in MACHINES:
            names = [f"r{lab.FIRST + i}" for i in measured]
            runs = [lab.document(name, 0, boots=5, hardware=hardware) for name in names]
            self._send({"runs": runs}, query="?register=true&history=true")
        names = [f"r{lab.FIRST + i}" for i in range(-8, lab.COUNT + 9)]
        commits = self.place / "commits.csv"
        commits.write_text("\n".join(["revision", *names, ""]))
        seed = TOGETHER.format(tree=lab.TREE, commits=str(commits), patience=PATIENCE_SECONDS)
        self.rig.launch.manage("shell", "--no-imports", "-c", seed)

    def begin(self) -> None:
        for hardware in MACHINES:
            (self.place / hardware.partition("/")[0]).mkdir()
            self._start(hardware)

    def _start(self, hardware: str) -> None:
        launch, place = self.rig.launch, self.place / hardware.partition("/")[0]
        command = [sys.executable, lab.__file__, launch.url, self.rig.system.token, place, hardware]
        with (place / "lab.log").open("ab") as log:
            self.agents[hardware] = subprocess.Popen(
                command, cwd=PROJECT, env=variables(launch.state), stdout=log, stderr=log
            )

    def client(self, name: str) -> "subprocess.Popen[bytes] | None":
        """The agent that began first, which is the one to kill next."""
        return next(iter(self.agents.values()))

    def restart_agent(self) -> None:
        hardware = next(iter(self.agents))
        del self.agents[hardware]
        self._start(hardware)

    def stop(self) -> None:
        for process in self.agents.values():
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def running() -> Iterator[Rig]:
    with rig() as one:
        yield one


def ended(running: Rig, broken: str = "") -> tuple[list[object], Counted]:
    """How it ends, and what was counted; ``broken``: what is killed once it searches."""
    with tempfile.TemporaryDirectory(prefix="driftline-faults-") as place:
        work = WorkOfTwo(running, Path(place))
        try:
            work.prepare()
            work.begin()
            wait_for(lambda: running.count(MEASURED) >= 3, PATIENCE_SECONDS)
            if broken:
                assert running.count(HUNTING) == 1
                assert kill(broken)(running, work, random.Random(2)).kills > 0
            wait_for(lambda: _is_over(running), PATIENCE_SECONDS)
        finally:
            work.stop()
    (end,), (counts,) = running.system.rows(END), running.system.rows(COUNTED)
    return list(end), Counted(*(int(count) for count in counts))


def _is_over(running: Rig) -> bool:
    """Whether the bisect has ended; no answer while PostgreSQL starts again."""
    try:
        return not running.count(HUNTING)
    except psycopg.OperationalError:
        return False


def _is_complete(counted: Counted) -> None:
    """Nothing that was measured is lost or counted twice.

    A job is cancelled once what the other machine measured makes it useless; a result that is on
    its way then counts all the same. Each machine may be at work when the bisect ends: what it
    measures comes too late.
    """
    assert counted.boots == counted.runs == counted.used
    assert counted.answered - counted.used <= len(MACHINES)
    assert counted.machines == len(MACHINES)


@pytest.mark.parametrize(
    "broken",
    [
        "worker",
        *(pytest.param(name, marks=pytest.mark.release) for name in ("agent", "web", "postgres")),
    ],
)
def test_a_bisect_on_two_drifting_machines_ends_as_a_quiet_one_whatever_is_killed(
    running: Rig, quiet: list[object], broken: str
) -> None:
    assert lab.DRIFT < 1

    end, counted = ended(running, broken)

    assert end == quiet
    _is_complete(counted)


@pytest.fixture(scope="module")
def quiet(running: Rig) -> list[object]:
    end, counted = ended(running)
    culprit = f"r{lab.FIRST + lab.GUILTY}"
    assert end == ["done", "single", culprit, 1]
    _is_complete(counted)
    return end
