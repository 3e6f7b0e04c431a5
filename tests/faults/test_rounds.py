"""`make faults` in small: a quiet round, one that fails, one that kills, and the counts."""

import random
import signal
import subprocess
import sys

import pytest

from tests.faults.rounds import lab, table
from tests.faults.rounds.breaking import STARVED, kill
from tests.faults.rounds.fault import Broken, Fault
from tests.faults.rounds.playing import IDENTICAL, Outcome, plan, play
from tests.faults.rounds.rig import Rig, rig
from tests.faults.rounds.workload import Work

LEFT: "list[subprocess.Popen[bytes]]" = []


def fail(rig: Rig, _work: Work, _draw: random.Random) -> Broken:
    """The launcher dies, a program of STATE is left, and the fault itself fails."""
    rig.launch.kill()
    command = [sys.executable, "-c", "import time; time.sleep(600)", f"{rig.launch.state}/"]
    LEFT.append(subprocess.Popen(command, start_new_session=True))
    raise AssertionError("by design")


@pytest.fixture(scope="module")
def rounds() -> list[Outcome]:
    """A quiet round, one that fails, and one that kills, on one instance."""
    faults: list[tuple[str, Fault]] = [
        ("fails", fail),
        ("kill -9 postgres", kill("postgres")),
    ]
    with rig() as running:
        return list(play(running, faults))


@pytest.mark.release
@pytest.mark.stack
def test_a_killed_postgres_changes_nothing_of_what_is_concluded(rounds: list[Outcome]) -> None:
    quiet, _, killed = rounds
    assert [(one.fault, one.outcome, one.lost) for one in (quiet, killed)] == [
        ("nothing", IDENTICAL, 0),
        ("kill -9 postgres", IDENTICAL, 0),
    ]
    assert killed.kills > 0
    assert lab.DRIFT < 1
    for part in ("runs", "samples", "findings", "alerts", "jobs", "bisects", "bisect-boots"):
        assert not quiet.digest[part].endswith(" 0"), part
        assert killed.digest[part] == quiet.digest[part], part
    assert quiet.mails


@pytest.mark.release
@pytest.mark.stack
def test_a_round_that_fails_states_why_and_leaves_the_next_a_sound_instance(
    rounds: list[Outcome],
) -> None:
    _, failed, after = rounds
    assert [failed.outcome, after.outcome] == ["failed: AssertionError: by design", IDENTICAL]
    assert [process.wait(0) for process in LEFT] == [-signal.SIGKILL]


def test_what_starves_comes_first_and_then_every_program_has_its_turn() -> None:
    names = [name for name, _ in plan(["web", "worker"], rounds=3)]
    assert names == [*STARVED, "kill -9 web", "kill -9 worker", "kill -9 web"]
    assert [name for name, _ in plan(["web"], rounds=1, only="clock")] == [
        name for name in STARVED if "clock" in name
    ]


def test_each_kind_of_fault_has_a_line_of_counts_and_all_have_one() -> None:
    found = [
        Outcome("kill -9 web", IDENTICAL, 1.0, kills=2, mails=3, twice=1),
        Outcome("kill -9 web", "differs: points", 1.0, kills=2),
        Outcome("disk full", "skipped: needs root", 1.0),
    ]
    assert table.rendered(found).splitlines() == [
        *table.HEAD.splitlines(),
        "| kill -9 web | 2 | 4 | 1 of 2 (differs: points) | 0 | 1 |",
        "| disk full | skipped: needs root | | | | |",
        "| all | 2 | 4 | 1 of 2 | 0 | 1 |",
    ]
