"""The Makefile under each make that is installed here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.places import PROJECT

MAKES = [name for name in ("make", "gmake", "bmake") if shutil.which(name)]
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def dry_run(make: str, *arguments: str, **variables: str) -> str:
    return subprocess.run(
        [make, "-n", *arguments],
        cwd=PROJECT,
        env=ENVIRONMENT | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("make", MAKES)
def test_port_and_state_have_defaults(make: str) -> None:
    assert '--port "8000" --bind "127.0.0.1" --state ".run" --demo' in dry_run(make, "demo")


@pytest.mark.parametrize("make", MAKES)
def test_port_and_state_may_come_from_arguments_or_environment(make: str) -> None:
    wanted = '--port "8001" --bind "127.0.0.1" --state "/tmp/x"'
    assert wanted in dry_run(make, "up", "PORT=8001", "STATE=/tmp/x")
    assert wanted in dry_run(make, "up", PORT="8001", STATE="/tmp/x")


@pytest.mark.parametrize("make", MAKES)
def test_a_python_too_old_is_refused_by_name(make: str, tmp_path: Path) -> None:
    (tmp_path / "Makefile").symlink_to(PROJECT / "Makefile")
    locked = (f"locked/{name}.txt" for name in ("build", "run", "setup"))
    for name in ("pyproject.toml", "agents/pyproject.toml", *locked):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    old = tmp_path / "python3.9"
    # What such a Python does with the Makefile's question
    old.write_text("#!/bin/sh\necho 'Driftline needs Python 3.11 or later' >&2\nexit 1\n")
    old.chmod(0o755)
    refused = subprocess.run(
        [make, "setup", f"PYTHON={old}"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode
    assert "needs Python 3.11 or later" in refused.stderr
    assert not (tmp_path / ".venv").exists()
