"""The agent alone, in an environment without anything of the server, as docs/agent.md states."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agents.tests.make import bench, label_dir
from agents.tests.server import TOKEN, FakeServer, listening

pytestmark = pytest.mark.long
AGENTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `labagent` of a virtual environment of its own. pip asks the package index."""
    base = tmp_path_factory.mktemp("install")
    sources = shutil.copytree(AGENTS, base / "agents", ignore=shutil.ignore_patterns("tests"))
    subprocess.run([sys.executable, "-m", "venv", base / "venv"], check=True)
    pip = [base / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, sources], check=True)
    return base / "venv" / "bin" / "labagent"


def test_it_reads_and_uploads_with_what_a_file_of_settings_states(installed, tmp_path):
    label = label_dir(tmp_path, "fbsd12-head.r317849")
    bench(label, "forwarding", cfg="forwarding")
    fake = FakeServer(hardware=[{"name": "Atom_C2558_4Cores/Intel_i350"}])
    with listening(fake) as address:
        config = tmp_path / "config.toml"
        config.write_text(f'server = "{address}"\ntoken = "{TOKEN}"\nspool = "{tmp_path}/spool"\n')
        environ = {"PATH": "/usr/bin:/bin", "DRIFTLINE_CONFIG": str(config)}

        def labagent(*arguments: str | Path) -> str:
            done = subprocess.run(
                [installed, *arguments], env=environ, check=False, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        labagent("--version")
        assert json.loads(labagent("parse", "--json", label))["revision"] == "r317849"
        labagent("upload", label)
    assert [run["revision"] for run in fake.runs.values()] == ["r317849"]
