"""The lab's file: what is wrong is named with its key and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from labagent.errors import SettingsError
from labagent.work.config import load_lab

EXAMPLES = Path(__file__).parents[2] / "examples"

GOOD = """
[[hardware]]
name = "A/B"
identify = ["uname", "-a"]
run = ["bench", "{directory}"]
"""

BOOTING = GOOD.replace("{directory}", "{boots}") + "least_boots = 3\n"


def load(tmp_path, text):
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return load_lab(path)


def test_a_small_file_is_enough(tmp_path):
    machine = load(tmp_path, GOOD).machines["A/B"]
    assert machine.serves() == {
        "hardware": "A/B",
        "modes": None,
        "trees": None,
        "rebuilds": False,
    }
    assert machine.reader.name == "bench-lab"


def test_what_all_machines_share_is_written_once(tmp_path):
    shared = 'trees = ["t"]\nbuild = ["make"]\n'
    machine = load(tmp_path, shared + GOOD + 'trees = ["own"]\n').machines["A/B"]
    assert machine.trees == ("own",)
    assert machine.commands["build"].arguments == ("make",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = x", r"line 1"),
        ('name = "x"', r"hardware is missing"),
        (GOOD + 'biuld = ["make"]', r"hardware\[1\]\.biuld is not known.*build\?"),
        ("sever = 1\n" + GOOD, r"sever is not known.*server\?"),
        (GOOD + 'build = "make"', r"hardware\[1\]\.build is 'make'.*\[\"program\""),
        (GOOD + 'build = { command = "make" }', r"build\.command is one text.*shell = true"),
        (
            GOOD + 'build = { command = ["make"], timeout = "2h" }',
            r"build\.timeout is '2h'.*number",
        ),
        (GOOD + 'build = ["make", "{rev}"]', r"build does not know '\{rev\}'.*\{revision\}"),
        (GOOD + 'build = ["make", "{boot}"]', r"build does not know '\{boot\}'"),
        (GOOD + 'build = ["make", "{revision.x}"]', r"does not know"),
        (GOOD + 'build = ["make", "{"]', r"does not know '\{'"),
        (GOOD + 'has_build = ["test"]', r"build is missing"),
        (GOOD + 'result = "values"', r"metric is missing"),
        (GOOD + 'result = "csv"', r"result is 'csv'.*bench-lab, .*iperf3"),
        (GOOD + GOOD, r"hardware\[2\]\.name 'A/B' is there twice"),
        (GOOD.replace('"A/B"', '"-A"'), r"hardware\[1\]\.name .*must not reach a command"),
        (GOOD + "environment = { A = 1 }", r"environment\.A is 1"),
        (GOOD + 'metric = { name = "x", unit = "y", better = "up" }', r"metric\.better is 'up'"),
        ('[[hardware]]\nname = "A"\nidentify = ["x"]', r"hardware\[1\]\.run is missing"),
        (GOOD + 'modes = ["p f"]', r"modes has a wrong one: 'p f'.*workload"),
        ("wait = 100\n" + GOOD, r"wait is 100.*0 to 60"),
        (GOOD + "least_boots = 3", r"hardware\[1\]\.run does not use \{boots\}.*least_boots"),
        (GOOD + "least_boots = 2.5", r"least_boots is 2\.5.*whole number"),
        (GOOD + "least_boots = -1", r"least_boots is -1.*0 to 1000"),
        (BOOTING + 'boot = ["x"]', r"least_boots is there beside boot.*keep one"),
        (BOOTING.replace("boots}", "boots}{iteration}"), r"run uses \{iteration\}.*only once"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, named):
    with pytest.raises(SettingsError, match=named):
        load(tmp_path, text)


@pytest.mark.parametrize("revision", ["n277567", "303643", "0123456789ab", "release-1"])
def test_a_revision_without_a_number_is_a_problem_of_commands_that_use_it(tmp_path, revision):
    machine = load(tmp_path, GOOD + 'build = ["make", "BSDRP-{number}"]').machines["A/B"]
    assert machine.problem("r303643") is None
    assert machine.problem(revision) == (
        f"hardware[1].build uses {{number}}, and revision {revision!r} has none: only an r and"
        " digits has, as r303643; write {revision} there"
    )
    assert load(tmp_path, GOOD).machines["A/B"].problem(revision) is None


@pytest.mark.parametrize("name", ["benchlab.toml", "ssh-iperf3.toml"])
def test_the_examples_are_good_and_their_programs_not_on_this_machine(labagent, capsys, name):
    assert labagent("work", "--config", EXAMPLES / name, "--check") == 3
    out, err = capsys.readouterr()
    assert "is good" in out
    assert "does not exist on this machine" in out
    assert "cannot be started on this machine" in err
    assert "r303643" in out


def test_the_simulated_example_is_good(labagent, capsys):
    assert labagent("simulate", "--truth", EXAMPLES / "simulated.toml", "--check") == 0
    assert "2 steps" in capsys.readouterr().out


def test_the_check_shows_what_would_run_for_bench_lab(labagent, capsys):
    labagent("work", "--config", EXAMPLES / "benchlab.toml", "--check")
    out = capsys.readouterr().out
    assert "bench-lab.sh -y -f" in out
    assert "-n 3 -i /home/bench/images/r303643/" in out
    assert "BSDRP-303643-upgrade" in out
    assert "one run boots the machine before each of its 3 iterations or more" in out


@pytest.fixture
def lab(tmp_path, environ):
    """A lab whose commands can be started, by the `PATH` that they see."""
    (tmp_path / "bin").mkdir()
    bench = tmp_path / "bin" / "bench"
    bench.write_text("#!/bin/sh\n")
    bench.chmod(0o755)
    environ["PATH"] = f"/usr/bin:/bin:{bench.parent}"
    path = tmp_path / "lab.toml"
    path.write_text(f'state = "{tmp_path}/state"\n{GOOD}')
    return path


def test_a_lab_that_can_work_passes_the_check_and_the_doctor(labagent, lab, capsys):
    assert labagent("work", "--config", lab, "--check") == 0
    assert labagent("doctor", "--config", lab) == 0
    assert f"ok    lab: {lab} is good; " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lab, bench: bench.chmod(0o644), "bin/bench is not executable: chmod +x "),
        (lambda lab, bench: bench.unlink(), "no program 'bench' on the PATH"),
        (
            lambda lab, bench: lab.write_text(GOOD.replace('"bench"', '"/no/bench"')),
            "/no/bench does not exist on this machine",
        ),
    ],
)
def test_a_program_that_cannot_be_started_fails_the_check_and_the_doctor(
    labagent, lab, capsys, change, message
):
    change(lab, lab.parent / "bin" / "bench")
    assert labagent("work", "--config", lab, "--check") == 3
    assert message in capsys.readouterr().out
    assert labagent("doctor", "--config", lab) == 1
    assert "FAIL  lab: A/B: run: " in (out := capsys.readouterr().out)
    assert message in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sever = 1\n" + GOOD, "sever is not known"),
        ('token_file = "none"\n' + GOOD, "cannot read the token in"),
        ('state = "/dev/null/state"\n' + GOOD, "cannot keep jobs in /dev/null/state"),
    ],
)
def test_the_doctor_names_what_is_wrong_with_the_labs_file(
    labagent, lab, environ, capsys, text, message
):
    del environ["DRIFTLINE_TOKEN"]
    lab.write_text(text)
    assert labagent("doctor", "--config", lab) == 1
    out = capsys.readouterr().out
    assert "FAIL  lab: " in out
    assert message in out
    assert "server: https://driftline.test answers" in out
