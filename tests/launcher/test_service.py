"""The files for systemd and rc.d."""

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launcher.running import PROJECT
from webapp import launcher as stack


def printed(kind: str, state: Path) -> str:
    command = [sys.executable, "-m", stack.__name__, "service", kind, "--state", str(state)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout


def test_systemd_starts_the_launcher_of_this_checkout_and_starts_it_again(tmp_path: Path) -> None:
    unit = configparser.RawConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(printed("systemd", tmp_path))
    service = unit["Service"]
    assert service["ExecStart"].startswith(f"{sys.executable} -m {stack.__name__} up ")
    assert service["ExecStart"].endswith(f" --state {tmp_path}")
    assert service["WorkingDirectory"] == str(PROJECT)
    assert (service["Restart"], service["KillMode"]) == ("always", "mixed")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_its_file(tmp_path: Path) -> None:
    unit = tmp_path / "driftline.service"
    unit.write_text(printed("systemd", tmp_path / "state"))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "driftline.service" not in done.stderr, done.stderr


def test_the_script_of_rc_d_is_one_that_a_shell_can_read(tmp_path: Path) -> None:
    script = tmp_path / "driftline"
    script.write_text(printed("rc.d", tmp_path / "state"))
    subprocess.run(["sh", "-n", str(script)], check=True)
    assert f"up --port 8000 --bind 127.0.0.1 --state {tmp_path}/state" in script.read_text()
