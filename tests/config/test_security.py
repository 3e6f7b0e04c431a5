"""Headers that every page carries, and checks of what is unwise in public."""

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from django.core import checks
from django.test import Client

from tests.places import PROJECT


def test_scripts_come_from_here_only_and_nobody_frames_us() -> None:
    policy = Client().get("/healthz")["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == directives["script-src"] == "'self'"
    assert directives["style-src"] == "'self'"
    assert directives["frame-ancestors"] == directives["object-src"] == "'none'"
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("url", "proxies", "expected"),
    [
        ("http://127.0.0.1:8000/", 0, set()),
        ("http://perf.example.org/", 0, {"driftline.W001"}),
        ("https://perf.example.org/", 0, {"driftline.W002"}),
        ("https://perf.example.org/", 1, set()),
    ],
)
def test_deploy_checks_know_an_unwise_address(
    settings: pytest.FixtureRequest, url: str, proxies: int, expected: set[str]
) -> None:
    settings.PUBLIC_URL, settings.TRUSTED_PROXIES = url, proxies  # type: ignore[attr-defined]
    found = checks.run_checks(include_deployment_checks=True)
    assert {message.id for message in found if str(message.id).startswith("driftline")} == expected


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_compose_as_documented_passes_every_deployment_check(tmp_path: Path) -> None:
    """With the variables of docs/running.md, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=PROJECT,
        env={
            "PATH": "/usr/bin:/bin",
            "STATE": str(tmp_path),
            "SECRET_KEY": base64.b64encode(bytes(range(48))).decode(),
            "DATABASE_URL": "postgresql://driftline:secret@postgres/driftline",
            "REDIS_URL": "redis://redis:6379/0",
            "DRIFTLINE_HOST": "perf.example.org",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "no issues" in run.stdout + run.stderr
