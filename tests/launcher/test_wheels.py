"""Wheels of the server and of the agent hold all that they need to start."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.launcher.running import Launch, variables
from tests.places import PROJECT

pytestmark = [pytest.mark.long, pytest.mark.stack]
PARTS = ("agents", "manage.py", "migrations", "pyproject.toml", "README.md", "LICENSE", "static")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what both wheels install, and nothing else."""
    checkout, wheels, target = (tmp_path_factory.mktemp(name) for name in ("c", "w", "t"))
    for part in (*PARTS, "webapp"):
        copy = shutil.copytree if (PROJECT / part).is_dir() else shutil.copy
        copy(PROJECT / part, checkout / part)
    for project in (checkout, checkout / "agents"):
        build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", wheels)
        subprocess.run([*build, project], check=True, capture_output=True)
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target)
    subprocess.run([*install, *wheels.iterdir()], check=True, capture_output=True)
    return target


@contextmanager
def instance_of(installed: Path, folder: Path) -> Iterator[Launch]:
    """An instance that runs from ``installed``, begun in the empty ``folder``."""
    state = folder / "state"
    launch = Launch(state).with_data()
    environ = variables(state) | {
        "PYTHONPATH": str(installed),
        "DRIFTLINE_STATIC_ROOT": str(folder / "static"),
    }
    where = ("--port", str(launch.port), "--state", str(state))
    launch.process = subprocess.Popen(
        [installed / "bin" / "driftline", "up", *where],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield launch
    finally:
        launch.discard()


def test_the_server_starts_from_an_empty_folder_and_serves_pages_styles_and_agent(
    installed: Path, tmp_path: Path
) -> None:
    with instance_of(installed, tmp_path) as launch:
        assert launch.process
        assert launch.process.stdout
        assert launch.process.stderr
        line = launch.process.stdout.readline()
        assert line == f"ready {launch.url}\n", line + launch.process.stderr.read()
        with urlopen(launch.url, timeout=30) as answer:
            page = answer.read().decode()
        style = page.split('rel="stylesheet" href="/', 1)[1].split('"', 1)[0]
        assert launch.status(style) == 200
        assert launch.status("labagent/labagent.pyz") == 200
        assert [one.name for one in (tmp_path / "static").iterdir()]


def test_the_agent_runs_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    command = [installed / "bin" / "labagent", "--version"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, check=True, capture_output=True, text=True
    )
    assert "0.1.0" in done.stdout
