"""Settings as a process reads them at its start."""

import gc
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.config.conftest import Read
from tests.places import PROJECT


def test_without_any_variable_the_defaults_are_safe(read: Read) -> None:
    settings = read()
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost", "127.0.0.1", "[::1]"]
    assert len(settings["SECRET_KEY"]) >= 50
    assert settings["PUBLIC_URL"] == "http://127.0.0.1:8000/"


def test_who_may_read_is_left_to_the_database_unless_it_is_set(read: Read) -> None:
    values = ("", "true", "no")
    assert [read(DRIFTLINE_PUBLIC=one)["PUBLIC"] for one in values] == [None, True, False]


def test_a_database_without_a_key_is_refused_with_the_remedy(read: Read) -> None:
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is needed beside DATABASE_URL"):
        read(DATABASE_URL="postgresql://h/d")


def test_a_public_https_address_secures_cookies_and_names_the_host(read: Read) -> None:
    settings = read(DRIFTLINE_PUBLIC_URL="https://perf.example.org/", DRIFTLINE_TRUSTED_PROXIES="1")
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_HSTS_SECONDS"] > 0
    assert "perf.example.org" in settings["ALLOWED_HOSTS"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://perf.example.org"]


def test_two_ports_of_one_host_do_not_share_cookies(read: Read) -> None:
    names = {
        read(DRIFTLINE_PUBLIC_URL=f"http://127.0.0.1:{port}/")["SESSION_COOKIE_NAME"]
        for port in (8000, 8001)
    }
    assert len(names) == 2


def test_commands_name_the_state_where_they_would_find_another_instance(
    read: Read, read_here: Read, tmp_path: Path
) -> None:
    spaced = tmp_path / "a b"
    assert read(STATE=str(spaced))["WHICH"] == f"STATE='{spaced}' "
    assert read(STATE=str(PROJECT / ".run"))["WHICH"] == read_here()["WHICH"] == ""


def test_a_damaged_state_is_refused_by_name(read: Read, tmp_path: Path) -> None:
    (tmp_path / "instance.json").write_text("{")
    with pytest.raises(ImproperlyConfigured, match=f"{tmp_path}/instance.json is damaged"):
        read()


@pytest.mark.parametrize(
    ("url", "host", "tls"),
    [("smtp+tls://me:pw@mx.example.org:587", "mx.example.org", True), ("smtp://mx:25", "mx", None)],
)
def test_mail_is_configured_by_one_url(read: Read, url: str, host: str, tls: bool | None) -> None:
    settings = read(DRIFTLINE_EMAIL_URL=url)
    assert settings["EMAIL_HOST"] == host
    assert settings.get("EMAIL_USE_TLS") == tls


def test_a_machine_may_run_some_parts_only(read: Read) -> None:
    every = read()
    assert every["ROLES"] == ("web", "worker", "deliveries", "beat")
    assert every["HAS_ALL_ROLES"]
    some = read(DRIFTLINE_ROLES="beat, Web")
    assert some["ROLES"] == ("web", "beat")
    assert not some["HAS_ALL_ROLES"]


def test_a_replica_has_the_limits_and_a_pool_as_the_primary_has(read: Read) -> None:
    assert "replica" not in read()["DATABASES"]
    settings = read(DATABASE_REPLICA_URL="postgresql://other/d", DRIFTLINE_DATABASE_POOL="3")
    settings["limit_statements"](seconds=9, idle_seconds=0)
    options = settings["DATABASES"]["replica"]["OPTIONS"]
    assert settings["DATABASES"]["replica"]["HOST"] == "other"
    assert options["pool"]["max_size"] == 3
    assert options["options"].endswith("-c statement_timeout=9s")


def test_a_part_that_there_is_not_is_refused_with_those_there_are(read: Read) -> None:
    with pytest.raises(ImproperlyConfigured, match="one or more of web,worker,deliveries,beat"):
        read(DRIFTLINE_ROLES="web,scheduler")


def test_manage_prints_in_one_line_that_no_database_answers(tmp_path: Path) -> None:
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
