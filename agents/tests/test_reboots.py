"""`labagent run --reboot`: one repetition a boot, with a stand-in for the command that reboots."""

from __future__ import annotations

import configparser
import getpass
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from labagent.limits import faults

from agents.tests.server import TOKEN, FakeServer, error, listening
from agents.tests.test_kill import wait_for
from agents.tests.work.test_config import GOOD

SOURCES = Path(__file__).parents[1] / "src"


@pytest.fixture
def machine(tmp_path, world):
    """A machine whose boots are numbered in a file: `reboot` adds one."""
    boots = tmp_path / "boots"
    boots.write_text("0")
    script = tmp_path / "reboot"
    script.write_text(
        f"#!/bin/sh\necho $(($(cat {boots}) + 1)) > {boots}.new\nmv {boots}.new {boots}\n"
    )
    script.chmod(0o755)
    count = tmp_path / "count"
    bench = tmp_path / "bench"
    bench.write_text(
        f"#!/bin/sh\necho x >> {count}\n"
        f'echo "{{\\"metric\\": \\"pps\\", \\"unit\\": \\"p/s\\", \\"better\\": \\"more\\","'
        f' "\\"value\\": $(wc -l < {count})}}"\n'
    )
    bench.chmod(0o755)
    world.boot = lambda: boots.read_text().strip()
    return Machine(boots, script, bench, count)


class Machine:
    def __init__(self, boots, reboot, bench, count):
        self.boots, self.reboot, self.bench, self.count = boots, reboot, bench, count

    @property
    def boot(self):
        return int(self.boots.read_text())

    @property
    def times(self):
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0

    def arguments(self, repeat=3):
        return ("run", "--repeat", repeat, "--reboot", "--reboot-command", self.reboot)


def samples(server):
    (run,) = server.runs.values()
    return run["metrics"]["pps"]["samples"], run["metrics"]["pps"]["boots"]


def test_each_repetition_has_its_boot_and_all_become_one_run(labagent, server, machine, capsys):
    assert labagent(*machine.arguments(), "--mode", "loop", "--", machine.bench) == 0
    assert (machine.boot, machine.times) == (1, 1)
    assert "labagent run --resume" in capsys.readouterr().err
    assert labagent("run", "--resume") == 0
    assert not server.runs
    assert labagent("run", "--resume") == 0
    assert samples(server) == ([1, 2, 3], [0, 1, 2])
    (run,) = server.runs.values()
    assert run["mode"]["workload"] == "loop"
    assert machine.boot == 2  # the last is not followed by a reboot
    assert labagent("run", "--resume") == 0
    assert machine.times == 3
    assert "no series" in capsys.readouterr().err


def test_histograms_survive_reboots(labagent, server, machine):
    sample = Path(__file__).parent / "readers/formats/samples/rtla-timerlat.txt"
    machine.bench.write_text(
        f"#!/bin/sh\necho x >> {machine.count}\n"
        f'sed "s/^7 /$((7 + $(wc -l < {machine.count}))) /" {sample}\n'
    )
    assert labagent(*machine.arguments(2), "--", machine.bench) == 0
    assert labagent("run", "--resume") == 0
    (run,) = server.runs.values()
    metric = run["metrics"]["thread_latency"]
    assert metric["boots"] == [0, 1]
    assert [one["values"] for one in metric["histograms"]] == [
        [1, 2, 3, at, 12, 301] for at in (8, 9)
    ]
    assert [one["counts"] for one in metric["histograms"]] == [[1950, 17500, 510, 37, 2, 1]] * 2
    assert not faults(run)


def test_no_boot_is_measured_twice(labagent, server, machine):
    assert labagent(*machine.arguments(), "--", machine.bench) == 0
    machine.boots.write_text("0")  # the machine did not go down
    assert labagent("run", "--resume") == 0
    assert (machine.boot, machine.times) == (1, 1)


def test_a_reboot_that_is_refused_loses_nothing(labagent, server, machine, capsys):
    machine.reboot.write_text("#!/bin/sh\necho not permitted >&2\nexit 1\n")
    assert labagent(*machine.arguments(2), "--", machine.bench) == 1
    assert "not permitted" in capsys.readouterr().err
    machine.boots.write_text("7")  # by hand
    assert labagent("run", "--resume") == 0
    assert samples(server) == ([1, 2], [0, 1])


def test_a_command_that_fails_ends_the_reboots_until_it_is_resumed(labagent, server, machine):
    good = machine.bench.read_text()
    assert labagent(*machine.arguments(2), "--", machine.bench) == 0
    machine.bench.write_text("#!/bin/sh\nexit 3\n")
    assert labagent("run", "--resume") == 1
    assert machine.boot == 1
    machine.bench.write_text(good)
    assert labagent("run", "--resume") == 0
    assert samples(server) == ([1, 2], [0, 1])


def test_a_command_that_never_works_leaves_no_series(labagent, machine):
    assert labagent(*machine.arguments(), "--", "false") == 1
    assert labagent(*machine.arguments(), "--", machine.bench) == 0
    assert machine.boot == 1


def test_one_series_at_a_time_and_it_can_be_given_up(labagent, server, machine, capsys):
    assert labagent(*machine.arguments(), "--", machine.bench) == 0
    assert labagent(*machine.arguments(), "--", machine.bench) == 3
    assert "under way" in capsys.readouterr().err
    assert labagent("run", "--abandon") == 0
    assert labagent("run", "--resume") == 0
    assert (machine.times, len(server.runs)) == (1, 0)


def test_another_kernel_is_not_measured(labagent, machine, environ, capsys):
    assert labagent(*machine.arguments(), "--", machine.bench) == 0
    file = Path(environ["DRIFTLINE_SPOOL"]) / "reboots.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "kernel": "Linux of yesterday"}))
    assert labagent("run", "--resume") == 3
    assert "Linux of yesterday" in capsys.readouterr().err
    assert machine.times == 1


def test_what_is_measured_waits_in_the_spool_when_the_server_does_not_answer(
    labagent, server, machine
):
    assert labagent(*machine.arguments(2), "--", machine.bench) == 0
    server.script = [error(503)] * 20
    assert labagent("run", "--resume") == 5
    server.script.clear()
    assert labagent("run", "--resume") == 0
    assert labagent("upload") == 0
    assert samples(server) == ([1, 2], [0, 1])


def test_systemd_calls_the_agent_at_boot(labagent, environ, capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert labagent("run", "--service") == 0
    unit = configparser.RawConfigParser()
    unit.read_string(capsys.readouterr().out)
    command = shlex.split(unit["Service"]["ExecStart"])
    spool, config = environ["DRIFTLINE_SPOOL"], environ["DRIFTLINE_CONFIG"]
    assert command[:2] == ["/usr/bin/env", f"DRIFTLINE_CONFIG={config}"]
    assert command[-4:] == ["run", "--resume", "--spool", spool]


RC_SUBR = """
load_rc_config() { :; }
run_rc_command() {
  eval "enabled=\\$$rcvar"
  eval "set -- $command $command_args"
  printf '%s\\n' "$enabled" "$@"
}
"""
"""Of rc.subr(8), how a script of a daemon is started: command_args is read once more."""


@pytest.mark.parametrize("kept", [False, True])
def test_rc_d_calls_the_agent_at_boot(labagent, environ, capsys, monkeypatch, tmp_path, kept):
    """The script of FreeBSD, by a shell and a stand-in for rc.subr(8)."""
    monkeypatch.setattr(sys, "platform", "freebsd14")
    spool = str(tmp_path / "the spool")
    lab = tmp_path / "my lab.toml"
    lab.write_text(GOOD)
    arguments = ["work", "--config", lab] if kept else ["run", "--resume", "--spool", spool]
    given = ("work", "--config", lab) if kept else ("run", "--spool", spool)
    assert labagent(*given, "--service") == 0
    script, subr = tmp_path / "script", tmp_path / "rc.subr"
    script.write_text(capsys.readouterr().out.replace("/etc/rc.subr", f"'{subr}'"))
    subr.write_text(RC_SUBR)
    done = subprocess.run(["sh", script, "start"], capture_output=True, text=True, check=True)
    assert not done.stderr
    enabled, daemon, *command = done.stdout.splitlines()
    assert (enabled, daemon) == ("NO", "/usr/sbin/daemon")
    name = "labagent" if kept else "labagent_resume"
    restart = ["-r", "-R", "30"] if kept else []
    user = ["-u", getpass.getuser(), "-P", f"/var/run/{name}.pid", "-o", f"/var/log/{name}.log"]
    assert command[: len(restart) + 6] == [*restart, *user]
    assert command[-len(arguments) :] == list(map(str, arguments))


def test_it_needs_a_command_and_sends(labagent, machine):
    assert labagent("run") == 2
    assert labagent(*machine.arguments(), "--dry-run", "--", machine.bench) == 2


def reaches(process, reached):
    """Wait until the process is there or has ended; whether it is there."""
    wait_for(lambda: process.poll() is not None or reached())
    return process.poll() is None


LAUNCHER = """
import sys
from pathlib import Path
from labagent.cli import run
from labagent.cli_shared import World
boots = Path(sys.argv[1])
sys.exit(run(sys.argv[2:], World(boot=lambda: boots.read_text().strip())))
"""


@pytest.mark.long
@pytest.mark.parametrize("at", ["bench", "reboot", "post"])
def test_killed_anywhere_it_loses_and_repeats_nothing(machine, tmp_path, at):
    """Killed while it measures, while it reboots, or while the server stores the run."""
    fake = FakeServer()
    flag = tmp_path / "killed-once"
    stop = f"if [ ! -e {flag} ]; then touch {flag}; while :; do sleep 1; done; fi\n"
    if at != "post":
        script = machine.bench if at == "bench" else machine.reboot
        script.write_text(script.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{stop}"))
    with listening(fake) as address:
        environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCES),
            "DRIFTLINE_SERVER": address,
            "DRIFTLINE_TOKEN": TOKEN,
            "DRIFTLINE_SPOOL": str(tmp_path / "spool"),
            "DRIFTLINE_CONFIG": str(tmp_path / "none.toml"),
        }

        def agent(*arguments):
            command = [sys.executable, "-c", LAUNCHER, machine.boots, *map(str, arguments)]
            return subprocess.Popen(
                command, env=environ, start_new_session=True, stderr=subprocess.DEVNULL
            )

        fake.delay = 0.5 if at == "post" else 0.0
        reached, killed = (fake.posts if at == "post" else flag.exists), False
        process = agent(*machine.arguments(), "--", machine.bench)
        for _ in range(8):
            if not killed and reaches(process, reached):
                os.killpg(process.pid, signal.SIGKILL)
                killed = True
            process.wait()
            process = agent("run", "--resume")
        assert killed
        process.wait()
        agent("upload").wait()
    assert samples(fake) == ([1, 2, 3], [0, 1, 2])
    assert machine.times == 3
