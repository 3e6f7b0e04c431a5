"""The agent's wheel and zipapp, as the instance serves them."""

import base64
import csv
import hashlib
import io
import subprocess
import sys
import zipfile
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.places import PROJECT
from webapp.labs.services import AgentMissing, agent_wheel, agent_wheel_name

pytestmark = pytest.mark.django_db


def fetched(name: str) -> bytes:
    answer = Client().get(f"/labagent/{name}")
    assert answer.status_code == 200
    return answer.content


def unpacked(wheel: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_sources_and_records_each_file() -> None:
    files = unpacked(fetched(agent_wheel_name()))
    sources = PROJECT / "agents" / "src"
    modules = [path for path in sources.rglob("*.py") if "__pycache__" not in path.parts]
    assert all(files[one.relative_to(sources).as_posix()] == one.read_bytes() for one in modules)
    record = next(content for name, content in files.items() if name.endswith("/RECORD"))
    rows = {name: digest for name, digest, _ in csv.reader(record.decode().splitlines())}
    assert rows.keys() == files.keys()
    for name, digest in rows.items():
        found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        assert digest in ("", f"sha256={found.decode()}")


def test_the_wheel_requires_what_the_project_does() -> None:
    files = unpacked(agent_wheel())
    text = next(content for name, content in files.items() if name.endswith("/METADATA"))
    fields = BytesParser().parsebytes(text)
    assert (fields["Name"], fields["Requires-Python"]) == ("driftline-agent", ">=3.11")
    assert "httpx2" in fields.get_all("Requires-Dist", [])


def test_the_zipapp_needs_nothing_installed(tmp_path: Path) -> None:
    file = tmp_path / "labagent.pyz"
    file.write_bytes(fetched("labagent.pyz"))
    alone = [sys.executable, "-I", "-S", file]
    done = subprocess.run([*alone, "--version"], check=True, capture_output=True, text=True)
    assert "0.1.0" in done.stdout
    command = [*alone, "run", "--dry-run", "--revision", "r1", "--tree", "t", "--", "true"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert '"wall_time"' in done.stdout


def test_pip_needs_no_account_of_a_private_instance(settings: Any) -> None:
    settings.PUBLIC = False
    assert fetched(agent_wheel_name()) == agent_wheel()


def test_no_other_file_is_served() -> None:
    assert Client().get("/labagent/pyproject.toml").status_code == 404


def test_without_the_folder_of_the_agent_there_is_no_file(settings: Any, tmp_path: Path) -> None:
    settings.BASE_DIR = tmp_path
    with pytest.raises(AgentMissing, match="install from a checkout"):
        agent_wheel_name()
    assert Client().get("/labagent/labagent.pyz").status_code in (200, 404)
    assert "pip install ./agents" in Client().get("/").content.decode()
