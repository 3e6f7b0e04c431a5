"""Everything of an instance in one file, and back on an empty one."""

import errno
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.alerts.steps import arrive, runs_of
from tests.conftest import environment_of_the_database
from tests.places import PROJECT
from tests.results.steps import an_agent, analyse
from tests.servers import LOCKS
from webapp.analysis.services import store_runs
from webapp.api.schemas.runs import RunIn
from webapp.config import instance
from webapp.config.digest import digest
from webapp.launcher import servers
from webapp.launcher.backups import archive, restoring, saving
from webapp.launcher.backups.archive import Backup, BackupError, Damaged
from webapp.launcher.errors import StackError
from webapp.launcher.postgres import ADMINISTRATOR
from webapp.results.models import Measurement, Run
from webapp.results.services import forget_names

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "k" * 67
PLACES = {("Atom/T540", "pf"): {15: 0.9}, ("Xeon/T580", "pf"): {}}
Content = Mapping[str, str]


def nothing(_: Backup) -> None:
    """No program runs on the test's database."""


@pytest.fixture(autouse=True)
def names_forgotten() -> None:
    forget_names()


@pytest.fixture
def empty() -> Iterator[Mapping[str, Any]]:
    """A database without anything in it, which goes with the test and what stands beside it."""
    name = f"{connection.settings_dict['NAME']}_empty"
    made = {**connection.settings_dict, "NAME": name}
    with administrator() as server:
        for each in beside(name):
            server.execute(f'DROP DATABASE IF EXISTS "{each}" WITH (FORCE)'.encode())
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE template0'.encode())
        yield made
        for each in beside(name):
            server.execute(f'DROP DATABASE IF EXISTS "{each}" WITH (FORCE)'.encode())


def beside(name: str) -> tuple[str, ...]:
    return name, f"{name}_restoring", f"{name}_replaced"


@contextmanager
def administrator() -> Iterator[psycopg.Connection[Any]]:
    database = connection.settings_dict
    with psycopg.connect(
        host=database["HOST"], user=database["USER"], dbname="postgres", autocommit=True
    ) as server:
        yield server


def names_of_databases() -> set[str]:
    with administrator() as server:
        return {name for (name,) in server.execute("SELECT datname FROM pg_database")}


@contextmanager
def inside(database: Mapping[str, Any]) -> Iterator[None]:
    """Django works on another database."""
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database["NAME"]
    forget_names()
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own
        forget_names()


def stated() -> list[str]:
    return [str(line) for line in digest()]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A backup of an instance with a found loss."""
    arrive(runs_of(PLACES))
    path = tmp_path / "driftline.backup"
    saving.save(connection.settings_dict, KEY, path)
    return path


def test_an_empty_instance_becomes_the_one_that_was_saved(
    saved: Path, empty: Mapping[str, Any]
) -> None:
    taken: list[Backup] = []
    restoring.restore(empty, saved, taken.append)
    assert taken[0].secret_key == KEY
    before = stated()
    assert len(before) > 20
    with inside(empty):
        assert stated() == before
    assert not names_of_databases() & set(beside(empty["NAME"])[1:])


def test_only_its_owner_may_read_a_backup_and_any_tar_lists_it(saved: Path) -> None:
    assert saved.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in saved.parent.iterdir()] == [saved.name]
    with tarfile.open(saved) as file:
        assert file.getnames() == ["database.dump", "secret_key", "manifest.json"]
        manifest = json.load(file.extractfile("manifest.json"))  # type: ignore[arg-type]
    assert manifest["postgres"] == servers.find_postgres().major
    assert "0001_trees_runs_points" in manifest["migrations"]["results"]


def test_a_backup_is_one_moment_while_runs_come_in(
    tmp_path: Path, empty: Mapping[str, Any]
) -> None:
    documents = runs_of({("Atom/T540", "pf"): {60: 0.9}, ("Xeon/T580", "pf"): {}}, count=120)
    runs = [RunIn.model_validate(document).document() for document in documents]
    agent = an_agent()
    some_came, stop = threading.Event(), threading.Event()

    def upload() -> None:
        try:
            for at, run in enumerate(runs):
                store_runs(agent=agent, runs=[run], register=True)
                if at == 20:
                    some_came.set()
                if stop.is_set():
                    break
        finally:
            some_came.set()
            connection.close()

    sending = threading.Thread(target=upload)
    sending.start()
    some_came.wait()
    path = tmp_path / "driftline.backup"
    saving.save(connection.settings_dict, KEY, path)
    stop.set()
    sending.join()
    restoring.restore(empty, path, nothing)
    with inside(empty):
        stored = Run.objects.count()
        assert 20 <= stored <= len(runs)
        assert Measurement.objects.count() == stored
        assert {run.uuid for run in Run.objects.all()} == {run.uuid for run in runs[:stored]}
        store_runs(agent=an_agent(), runs=runs, register=True)
        analyse()
        restored = stated()
    store_runs(agent=agent, runs=runs, register=True)
    analyse()
    assert restored == stated()


def test_an_instance_that_is_not_empty_is_left_as_it_is(saved: Path) -> None:
    before = stated()
    with pytest.raises(BackupError, match="not empty: it has rows in alerts_") as refused:
        restoring.restore(connection.settings_dict, saved, nothing)
    assert "make up PORT=8001 STATE=.run2" in str(refused.value)
    assert stated() == before


def test_a_new_instance_counts_as_empty_also_when_it_is_migrated(
    saved: Path, empty: Mapping[str, Any]
) -> None:
    with inside(empty):
        call_command("migrate", verbosity=0)
    restoring.restore(empty, saved, nothing)
    with inside(empty):
        assert Run.objects.exists()


def test_an_older_backup_is_brought_to_the_present_schema(
    saved: Path, empty: Mapping[str, Any], tmp_path: Path
) -> None:
    restoring.restore(empty, saved, nothing)
    with inside(empty):
        call_command("migrate", "alerts", "0003", verbosity=0)
        older = tmp_path / "older.backup"
        saving.save(connection.settings_dict, KEY, older)
    with administrator() as server:
        server.execute(f'DROP DATABASE "{empty["NAME"]}" WITH (FORCE)'.encode())
        server.execute(f'CREATE DATABASE "{empty["NAME"]}" TEMPLATE template0'.encode())
    restoring.restore(empty, older, nothing)
    before = stated()
    with inside(empty):
        assert stated() == before


@contextmanager
def stated_as(**changed: Any) -> Iterator[None]:
    """Backups are written with another manifest."""
    end = archive.Writer.end

    def other(self: archive.Writer, manifest: archive.Manifest) -> None:
        end(self, archive.Manifest(**{**vars(manifest), **changed}))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive.Writer, "end", other)
        yield


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"migrations": {"results": ["0999_later"]}}, r"later version .*results\.0999_later"),
        ({"postgres": 99}, "is of PostgreSQL 99, and this server is PostgreSQL"),
    ],
)
def test_a_backup_of_a_later_version_is_refused(
    changed: dict[str, Any], says: str, tmp_path: Path, empty: Mapping[str, Any]
) -> None:
    path = tmp_path / "later.backup"
    with stated_as(**changed):
        saving.save(connection.settings_dict, KEY, path)
    with pytest.raises(BackupError, match=says):
        restoring.restore(empty, path, nothing)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "driftline.backup"
    path.write_text("precious")
    with pytest.raises(BackupError, match="is there already"):
        saving.save(connection.settings_dict, KEY, path)
    assert path.read_text() == "precious"


def test_a_file_that_appears_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "driftline.backup"
    end = archive.Writer.end

    def meanwhile(self: archive.Writer, manifest: archive.Manifest) -> None:
        end(self, manifest)
        path.write_text("precious")

    monkeypatch.setattr(archive.Writer, "end", meanwhile)
    with pytest.raises(BackupError, match="is there already"):
        saving.save(connection.settings_dict, KEY, path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_nothing_and_is_said(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    path = tmp_path / "driftline.backup"

    def no_room(self: archive.Writer, name: str, chunks: Iterator[bytes]) -> None:
        with full.open("wb", buffering=0) as device:
            device.write(next(chunks))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive.Writer, "add", no_room)
        with pytest.raises(BackupError, match=os.strerror(errno.ENOSPC)):
            saving.save(connection.settings_dict, KEY, path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_backup_left_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "driftline.backup"
    left = tmp_path / "driftline.backup.part"
    left.write_bytes(b"x" * 10_000_000)
    left.chmod(0o644)
    saving.save(connection.settings_dict, KEY, path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("rb") as file:
        Backup.verified(file)


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "driftline.backup.part").symlink_to(other)
    with pytest.raises(BackupError, match="cannot be written"):
        saving.save(connection.settings_dict, KEY, tmp_path / "driftline.backup")
    assert other.read_text() == "precious"


def test_without_the_programs_of_the_servers_version_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    major = servers.find_postgres().major
    monkeypatch.setattr(servers, "_package", lambda _name: None)
    monkeypatch.setattr(servers, "SYSTEM_POSTGRES", (tmp_path / "debian", "*/bin"))
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in servers.CLIENTS:
        (directory / name).write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 15.9'\n")
        (directory / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/bin:/usr/bin")
    with pytest.raises(StackError, match=f"apt install postgresql-client-{major}") as refused:
        saving.save(connection.settings_dict, KEY, tmp_path / "driftline.backup")
    assert "of version: 15" in str(refused.value)
    assert servers.find_clients(15) == directory


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["_load", "_migrate", "_swap"])
def test_what_is_interrupted_can_be_repeated(
    at: str, saved: Path, empty: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(restoring, at, interrupted)
        with pytest.raises(KeyboardInterrupt):
            restoring.restore(empty, saved, nothing)
    assert f"{empty['NAME']}_restoring" not in names_of_databases()
    restoring.restore(empty, saved, nothing)
    with inside(empty):
        assert Run.objects.exists()


def test_what_a_killed_restoring_left_is_no_obstacle(saved: Path, empty: Mapping[str, Any]) -> None:
    with administrator() as server:
        for name in beside(empty["NAME"])[1:]:
            server.execute(f'CREATE DATABASE "{name}"'.encode())
    restoring.restore(empty, saved, nothing)
    with inside(empty):
        assert Run.objects.exists()


def test_an_instance_in_use_loses_its_connections_and_finds_the_data(
    saved: Path, empty: Mapping[str, Any]
) -> None:
    with psycopg.connect(
        host=empty["HOST"], user=empty["USER"], dbname=empty["NAME"], autocommit=True
    ) as open_all_the_time:
        restoring.restore(empty, saved, nothing)
        with pytest.raises(psycopg.OperationalError):
            open_all_the_time.execute("SELECT 1")
    with inside(empty):
        assert Run.objects.exists()


def test_the_sessions_of_others_are_waited_for_and_named(
    saved: Path, empty: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's own vacuum is such a session: nobody but an administrator may end it."""
    monkeypatch.setattr(restoring, "ALONE_SECONDS", 0)
    with (
        psycopg.connect(host=empty["HOST"], user=ADMINISTRATOR, dbname=empty["NAME"]),
        pytest.raises(BackupError, match=r"too busy .* being accessed by other users"),
    ):
        restoring.restore(empty, saved, nothing)
    restoring.restore(empty, saved, nothing)
    with inside(empty):
        assert Run.objects.exists()


def member(name: str, content: bytes, *, kind: bytes = tarfile.REGTYPE, size: int = -1) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = len(content) if size < 0 else size, kind
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def manifest_of(whole: bytes, **changed: object) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(whole)) as file:
        found = json.load(file.extractfile("manifest.json"))  # type: ignore[arg-type]
    return json.dumps(found | changed).encode()


DUMP = member("database.dump", b"x")
SECRET = member("secret_key", b"k" * 67)
END = bytes(1024)
HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "no tar": lambda _: b"PGDMP" * 1000,
    "cut off": lambda whole: whole[: len(whole) // 2],
    "cut off before its end": lambda whole: whole[:-1024],
    "followed by more": lambda whole: whole + b"x",
    "one bit of the dump": lambda whole: whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:],
    "a path upwards": lambda _: member("../../etc/passwd", b"x") + SECRET + END,
    "an absolute path": lambda _: member("/etc/passwd", b"x") + SECRET + END,
    "a link": lambda _: member("database.dump", b"", kind=tarfile.SYMTYPE) + SECRET + END,
    "a giant dump": lambda _: member("database.dump", b"x", size=2**60) + SECRET + END,
    "a negative length": lambda _: member("database.dump", b"x", size=1).replace(
        b"00000000001\0", b"\xff" * 12, 1
    ),
    "a giant key": lambda _: DUMP + member("secret_key", b"k" * 10_000) + END,
    "a giant manifest": lambda _: DUMP + SECRET + member("manifest.json", b" " * 2_000_000) + END,
    "a giant extension": lambda _: member("x", b"x" * 100_000, kind=tarfile.GNUTYPE_LONGNAME),
    "no manifest": lambda _: DUMP + SECRET + END,
    "a manifest of nothing": lambda _: DUMP + SECRET + member("manifest.json", b"{}") + END,
    "a manifest that is a list": lambda _: DUMP + SECRET + member("manifest.json", b"[1]") + END,
    "a deep manifest": lambda _: DUMP + SECRET + member("manifest.json", b"[" * 500_000) + END,
    "the manifest of another": lambda whole: (
        DUMP + SECRET + member("manifest.json", manifest_of(whole)) + END
    ),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_file_that_is_no_whole_backup_changes_nothing(
    how: str, tmp_path: Path, empty: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "driftline.backup"
    saving.save(connection.settings_dict, KEY, path)
    path.write_bytes(HOSTILE[how](path.read_bytes()))
    # Refused before the database is looked at.
    monkeypatch.setattr(restoring, "connect", interrupted)
    with pytest.raises(Damaged, match="no whole backup"):
        restoring.restore(empty, path, nothing)


def test_a_dump_that_postgres_refuses_leaves_the_instance_empty(
    tmp_path: Path, empty: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "driftline.backup"
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_chunks", lambda _: iter([b"PGDMP and then nothing" * 100_000]))
        patch.setattr(saving, "DUMPING", ("--version",))
        saving.save(connection.settings_dict, KEY, path)
    with pytest.raises(BackupError, match="pg_restore failed"):
        restoring.restore(empty, path, nothing)
    assert f"{empty['NAME']}_restoring" not in names_of_databases()


def test_the_commands_report_errors_in_a_sentence(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.touch()
    with pytest.raises(CommandError, match="is there already"):
        call_command("backup", str(there))
    with pytest.raises(CommandError, match="no whole backup"):
        call_command("restore", str(there))
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("restore", str(tmp_path / "none"))


def test_an_instance_that_does_not_run_is_named(tmp_path: Path) -> None:
    database = connection.settings_dict | {"HOST": str(tmp_path)}
    with pytest.raises(BackupError, match=r"Is the instance running\? `make up`"):
        saving.save(database, KEY, tmp_path / "driftline.backup")


def test_a_backup_that_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    """By SIGTERM, as the system stops a service: pg_dump waits for a table meanwhile."""
    path = tmp_path / "driftline.backup"
    with connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE results_run IN ACCESS EXCLUSIVE MODE")
        process = subprocess.Popen(
            [sys.executable, "manage.py", "backup", str(path)],
            cwd=PROJECT,
            env=environment_of_the_database() | {"SECRET_KEY": KEY},
        )
        while process.poll() is None:
            cursor.execute(f"{LOCKS} WHERE NOT granted")
            if cursor.fetchone():
                break
        process.terminate()
        assert process.wait() == 128 + 15
        cursor.execute("ROLLBACK")
    assert list(tmp_path.iterdir()) == []


def test_the_key_of_a_backup_is_stored_for_its_owner_alone(tmp_path: Path) -> None:
    instance.ensure_secret_key(tmp_path)
    instance.write_secret_key(tmp_path, KEY)
    assert instance.read_secret_key(tmp_path) == KEY
    assert (tmp_path / instance.KEY_NAME).stat().st_mode & 0o777 == 0o600
