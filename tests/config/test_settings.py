"""Settings as a fresh process reads them."""

import gc
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import PROJECT

PRINT = (
    "import json; from webapp.config import settings as s;"
    "print(json.dumps({n: getattr(s, n) for n in dir(s) if n.isupper()}, default=str))"
)


def read(state: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", PRINT],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin", "STATE": str(state)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_any_variable_the_defaults_are_safe(tmp_path: Path) -> None:
    settings = json.loads(read(tmp_path).stdout)
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost", "127.0.0.1", "[::1]"]
    assert len(settings["SECRET_KEY"]) >= 50
    assert settings["PUBLIC_URL"] == "http://127.0.0.1:8000/"


def test_a_database_without_a_key_is_refused_with_the_remedy(tmp_path: Path) -> None:
    refused = read(tmp_path, DATABASE_URL="postgresql://h/d")
    assert refused.returncode
    assert "SECRET_KEY is needed beside DATABASE_URL" in refused.stderr


def test_a_public_https_address_secures_cookies_and_names_the_host(tmp_path: Path) -> None:
    settings = json.loads(
        read(
            tmp_path,
            DRIFTLINE_PUBLIC_URL="https://perf.example.org/",
            DRIFTLINE_TRUSTED_PROXIES="1",
        ).stdout
    )
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_HSTS_SECONDS"] > 0
    assert "perf.example.org" in settings["ALLOWED_HOSTS"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://perf.example.org"]


def test_two_ports_of_one_host_do_not_share_cookies(tmp_path: Path) -> None:
    names = {
        json.loads(read(tmp_path, DRIFTLINE_PUBLIC_URL=f"http://127.0.0.1:{port}/").stdout)[
            "SESSION_COOKIE_NAME"
        ]
        for port in (8000, 8001)
    }
    assert len(names) == 2


def test_a_damaged_state_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "instance.json").write_text("{")
    refused = read(tmp_path)
    assert f"{tmp_path}/instance.json is damaged" in refused.stderr


@pytest.mark.parametrize(
    ("url", "host", "tls"),
    [("smtp+tls://me:pw@mx.example.org:587", "mx.example.org", True), ("smtp://mx:25", "mx", None)],
)
def test_mail_is_configured_by_one_url(
    tmp_path: Path, url: str, host: str, tls: bool | None
) -> None:
    settings = json.loads(read(tmp_path, DRIFTLINE_EMAIL_URL=url).stdout)
    assert settings["EMAIL_HOST"] == host
    assert settings.get("EMAIL_USE_TLS") == tls


def test_manage_says_in_one_line_that_no_database_answers(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "manage.py", "create_agent", "bee", "--lab", "hive"],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin", "STATE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "Start it with `make up`" in run.stderr
    assert "Traceback" not in run.stderr


def test_garbage_is_collected_again_once_the_applications_are_ready() -> None:
    assert gc.get_freeze_count() > 0
    runpy.run_path(
        str(PROJECT / "webapp/config/settings.py")
    )  # as something may that reads them again
    assert gc.isenabled()
