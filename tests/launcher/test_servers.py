"""Finding the servers' programs, and naming what to install."""

from pathlib import Path

import pytest

from webapp.launcher import StackError, servers


def program(directory: Path, name: str, prints: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{prints}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without the wheels; its PATH and Debian's place are empty directories."""
    monkeypatch.setattr(servers, "_package", lambda _name: None)
    monkeypatch.setattr(servers, "SYSTEM_POSTGRES", (tmp_path / "debian", "*/bin"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def test_without_postgres_the_error_names_what_each_system_installs(bare: Path) -> None:
    with pytest.raises(StackError, match=r"FreeBSD .* pkg install postgresql18-server") as missing:
        servers.find_postgres()
    assert "apt install postgresql" in str(missing.value)
    assert "DATABASE_URL" in str(missing.value)


def test_without_redis_the_error_names_what_each_system_installs(bare: Path) -> None:
    with pytest.raises(StackError, match=r"FreeBSD .* pkg install valkey"):
        servers.find_redis()


def test_servers_on_path_are_found(bare: Path) -> None:
    program(bare / "bin", "initdb", "")
    program(bare / "bin", "postgres", "postgres (PostgreSQL) 17.2")
    redis = program(bare / "bin", "redis-server", "")
    assert servers.find_postgres() == servers.Postgres(bare / "bin", 17)
    assert servers.find_redis() == redis


def test_data_choose_the_version_that_wrote_them(bare: Path) -> None:
    for major in (15, 17):
        program(bare / "debian" / str(major) / "bin", "initdb", "")
        program(
            bare / "debian" / str(major) / "bin", "postgres", f"postgres (PostgreSQL) {major}.1"
        )
    assert servers.find_postgres().major == 17
    assert servers.find_postgres(major=15).major == 15
    with pytest.raises(StackError, match="written by PostgreSQL 16, and this machine has 15, 17"):
        servers.find_postgres(major=16)


def test_a_postgres_too_old_does_not_count(bare: Path) -> None:
    program(bare / "bin", "initdb", "")
    program(bare / "bin", "postgres", "postgres (PostgreSQL) 14.9")
    with pytest.raises(StackError, match="PostgreSQL 15 or later was not found"):
        servers.find_postgres()
