"""`labagent run`: a command, what it printed, and where it was run; `labagent login`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import pytest
from labagent.execution import linux_position, machine_of, this_machine

from agents.tests.make import HEAD_12
from agents.tests.server import TOKEN, FakeServer, error, listening

IPERF3 = '{"start": {}, "intervals": [], "end": {"sum_received": {"bits_per_second": 8.5}}}'
PYTHON = sys.executable


def sent(server):
    return list(server.runs.values())


def samples(run):
    return {name: one["samples"] for name, one in run["metrics"].items()}


def test_what_is_printed_in_a_known_format_is_sent(labagent, server, capsys):
    assert labagent("run", "--repeat", "2", "--", "printf", "%s", IPERF3) == 0
    (run,) = sent(server)
    uname = os.uname()
    assert samples(run) == {"throughput": [8.5, 8.5]}
    assert run["metrics"]["throughput"]["boots"] == [0, 0]
    assert run["mode"] == {"workload": "iperf3", "traffic": None, "options": []}
    assert run["hardware"] == uname.nodename.partition(".")[0]
    assert run["kernel_ident"] == " ".join(uname)
    assert run["facts"]["command"].startswith("printf %s '{")
    assert run["facts"]["cpu"]
    assert run["measured_at"] == "2024-01-01T00:00:05+00:00"
    assert server.requests[0][2] == {"register": "true"}
    assert "stored 1, known 0" in capsys.readouterr().out


def test_of_any_other_command_times_and_memory_are_measured(labagent, server, capsys):
    # A process begins with the peak of the one that started it: here that of the tests.
    least = getrusage(RUSAGE_SELF).ru_maxrss // 1024 + 100
    hog = f"x = bytearray({least} << 20); print(sum(range(10**6)))"
    assert labagent("run", "--", PYTHON, "-c", f"print('begin')\n{hog}") == 0
    found = samples(sent(server)[0])
    assert set(found) == {"wall_time", "user_time", "system_time", "peak_memory"}
    assert found["peak_memory"][0] > least
    assert found["user_time"][0] + found["system_time"][0] > 0
    assert sent(server)[0]["mode"]["workload"] == Path(PYTHON).name
    assert "in no format that is known: its times count" in capsys.readouterr().err


def test_memory_that_the_agent_itself_hides_is_left_out(labagent, server, capsys):
    assert labagent("run", "--", "true") == 0
    assert "no format" not in capsys.readouterr().err  # it printed nothing
    assert set(samples(sent(server)[0])) == {"wall_time", "user_time", "system_time"}


def test_two_measurements_are_two_runs_whatever_they_print(labagent, server, world):
    moments = iter(range(1, 9))
    start = world.now()
    world.now = lambda: start.replace(second=next(moments))
    for _ in range(2):
        assert labagent("run", "--", "printf", "%s", IPERF3) == 0
    assert len(sent(server)) == 2


def test_the_options_win_over_what_the_machine_states(labagent, server):
    options = ("--tree", "mine", "--revision", "v1.2", "--position", "7", "--hardware", "rack/7")
    assert labagent("run", *options, "--mode", "loop@tcp+fast", "printf", "%s", IPERF3) == 0
    (run,) = sent(server)
    assert (run["tree"], run["revision"], run["position"]) == ("mine", "v1.2", 7)
    assert run["mode"] == {"workload": "loop", "traffic": "tcp", "options": ["fast"]}
    assert run["hardware"] == "rack/7"
    assert server.requests[0][2] == {}  # a name that was typed is not registered unasked


def test_results_may_be_in_a_file_or_on_standard_error(labagent, server, tmp_path):
    file = tmp_path / "out.json"
    shell = ("sh", "-c", f"printf '%s' '{IPERF3}' > {file}")
    assert labagent("run", "--read", file, "--", *shell) == 0
    assert labagent("run", "--", "sh", "-c", f"echo busy; printf '%s' '{IPERF3}' >&2") == 0
    assert [samples(run) for run in sent(server)] == [{"throughput": [8.5]}] * 2


def test_a_dry_run_prints_the_document_and_sends_nothing(labagent, server, environ, capsys):
    environ.pop("DRIFTLINE_SERVER")
    assert labagent("run", "--dry-run", "--", "printf", "%s", IPERF3) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"]["throughput"]["samples"] == [8.5]
    assert not server.requests


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        (("sh", "-c", "echo no disk >&2; exit 3"), 1, "ended with 3: no disk"),
        (("sh", "-c", "kill -9 $$"), 1, "was killed by signal 9"),
        (("no-such-program",), 3, "no-such-program cannot be started"),
        (("printf", "1\n2\n"), 1, "no metric with a direction"),
    ],
)
def test_a_command_that_fails_sends_nothing(labagent, server, capsys, command, code, text):
    assert labagent("run", "--", *command) == code
    assert text in capsys.readouterr().err
    assert not server.runs


def test_a_format_that_is_named_has_to_be_there(labagent, server, capsys):
    assert labagent("run", "--format", "iperf3", "--", "echo", "hello") == 1
    assert "standard output is no JSON" in capsys.readouterr().err
    assert labagent("run", "--format", "abacus", "--", "true") == 3
    assert not server.runs


def test_what_could_not_be_sent_waits_in_the_spool(labagent, server, environ):
    server.script = [error(503)] * 20
    assert labagent("run", "--", "printf", "%s", IPERF3) == 5
    server.script.clear()
    assert labagent("upload") == 0
    assert samples(sent(server)[0]) == {"throughput": [8.5]}


def test_a_freebsd_kernel_names_its_tree_and_revision():
    machine = machine_of("FreeBSD", "12.0-CURRENT", "", HEAD_12, {})
    assert (machine.tree, machine.revision, machine.position) == ("freebsd-head", "r317849", None)


def test_linux_releases_lie_in_the_order_of_their_numbers():
    names = ["6.12.0-rc1", "6.12.0-rc7", "6.12", "6.12.3-5-amd64", "6.12.10", "6.13.0-rc1", "7.0.0"]
    places = [linux_position(name) for name in names]
    assert places == sorted(set(places))
    assert linux_position("next-20261126") is None
    assert this_machine().name


def test_login_checks_the_token_and_keeps_it(labagent, environ, tmp_path, capsys):
    for name in ("DRIFTLINE_SERVER", "DRIFTLINE_TOKEN"):
        environ.pop(name)
    assert labagent("login", "https://driftline.test/", "--token", "wrong") == 4
    assert not (tmp_path / "config.toml").exists()
    assert labagent("login", "https://driftline.test/", "--token", TOKEN) == 0
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
    assert "agent agent-1 of lab lab" in capsys.readouterr().out
    assert labagent("run", "--", "printf", "%s", IPERF3) == 0


def test_a_person_is_asked_once_also_where_the_answer_is_to_leave_a_metric_out(tmp_path):
    """On a real terminal: perf states no directions; one of its events is answered, one skipped."""
    lines = "3,,page-faults,1,100.00,,\\n7,,context-switches,1,100.00,,\\n"
    command = ["run", "--format", "perf-stat", "--", "printf", lines]
    fake = FakeServer()
    with listening(fake) as address:
        environ = {
            **os.environ,
            "DRIFTLINE_SERVER": address,
            "DRIFTLINE_TOKEN": TOKEN,
            "DRIFTLINE_SPOOL": str(tmp_path / "spool"),
            "DRIFTLINE_CONFIG": str(tmp_path / "config.toml"),
        }
        first = on_a_terminal([PYTHON, "-m", "labagent", *command], environ, b"less\nskip\n")
        second = on_a_terminal([PYTHON, "-m", "labagent", *command], environ, b"")
        given = [*command[:1], "--better", "page-faults=less", *command[1:]]
        on_a_terminal([PYTHON, "-m", "labagent", *given], environ, b"")
    assert first.count("better? more, less, or skip") == 2
    assert "better? more, less, or skip" not in second
    assert [samples(run) for run in sent(fake)] == [
        {"context-switches": [7]},
        {"context-switches": [7]},
        {"context-switches": [7], "page-faults": [3]},
    ]


def on_a_terminal(command, environ, typed):
    """What a program prints whose standard input is a terminal."""
    ours, its = os.openpty()
    os.write(ours, typed)
    try:
        done = subprocess.run(
            command, env=environ, stdin=its, capture_output=True, text=True, check=True, timeout=60
        )
    finally:
        os.close(its)
        os.close(ours)
    return done.stdout + done.stderr
