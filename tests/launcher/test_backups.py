"""Everything of an instance in one file, and back on an empty one."""

import contextlib
import errno
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from tests import make
from tests.alerts.steps import arrive, runs_of
from tests.conftest import environment_of_the_database
from tests.places import PROJECT, TEMPLATE
from tests.results.steps import an_agent, analyse
from tests.servers import LOCKS
from tests.system.running import wait_for
from webapp.analysis.services import store_runs
from webapp.api.schemas.runs import RunIn
from webapp.config import instance
from webapp.launcher import StackError, archive, restoring, servers, tasks
from webapp.launcher.archive import Backup, BackupError, Damaged
from webapp.launcher.management.commands.digest import digest
from webapp.launcher.postgres import ADMINISTRATOR
from webapp.launcher.tasks import back_up, make_due_backup
from webapp.readiness.models import Backup as Kept
from webapp.readiness.models import Heartbeat
from webapp.results.models import Measurement, Run
from webapp.results.services import forget_names

KEY = "k" * 67
PLACES = {("Atom/T540", "pf"): {15: 0.9}, ("Xeon/T580", "pf"): {}}
Loaded = Callable[[Mapping[str, Any]], bool]


def nothing(_: Backup) -> None:
    """No program runs on the test's database."""


@pytest.fixture
def transactional_db(transactional_db: None) -> None:
    forget_names()


@pytest.fixture
def empty() -> Iterator[Mapping[str, Any]]:
    """A database without anything in it, which goes with the test and what stands beside it."""
    name = f"{connection.settings_dict['NAME']}_empty"
    with administrator() as server:
        make_anew(server, name, like="template0")
        yield {**connection.settings_dict, "NAME": name}
        drop_all(server, name)


def make_anew(server: psycopg.Connection[Any], name: str, *, like: str) -> None:
    drop_all(server, name)
    server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'.encode())


def drop_all(server: psycopg.Connection[Any], name: str) -> None:
    for each in (name, *beside(name)):
        server.execute(f'DROP DATABASE IF EXISTS "{each}" WITH (FORCE)'.encode())


def beside(name: str) -> tuple[str, ...]:
    return f"{name}_restoring", f"{name}_replaced"


@contextmanager
def administrator() -> Iterator[psycopg.Connection[Any]]:
    with connected({**connection.settings_dict, "NAME": "postgres"}) as server:
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
def written(tmp_path: Path) -> Path:
    """A backup as any, but for its dump, which is of nothing."""
    return write(tmp_path / "driftline.backup")


def write(
    path: Path, *, postgres: int = 0, migrations: Mapping[str, list[str]] | None = None
) -> Path:
    major = postgres or servers.find_postgres().major
    with path.open("w+b") as file:
        writer = archive.Writer(file)
        writer.add(archive.DUMP, iter([b"PGDMP" * 1000]))
        writer.add(archive.KEY, iter([KEY.encode()]))
        writer.end(archive.Manifest("2026-01-01", "0.1.0", major, migrations or {}))
    return path


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    """Whether a database is the restored one, at the present schema. Restoring is as ever, but that
    a dump is of one table, and a migration makes another.
    """

    def load(database: Mapping[str, Any], *_: object) -> None:
        with connected(database) as session:
            session.execute("CREATE TABLE restored ()")

    def command(name: str, **_: object) -> None:
        assert name == "migrate"
        with connected(connection.settings_dict) as session:
            session.execute("CREATE TABLE migrated AS TABLE restored")

    def is_loaded(database: Mapping[str, Any]) -> bool:
        with connected(database) as session:
            return session.execute("SELECT to_regclass('migrated')").fetchone() != (None,)

    monkeypatch.setattr(restoring, "_load", load)
    monkeypatch.setattr(restoring, "call_command", command)
    return is_loaded


def connected(database: Mapping[str, Any]) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=database["HOST"], user=database["USER"], dbname=database["NAME"], autocommit=True
    )


@pytest.fixture
def quick_dumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pg_dump writes is a line."""
    monkeypatch.setattr(tasks, "DUMPING", ("--version",))


@pytest.mark.django_db(transaction=True)
def test_an_empty_instance_becomes_the_one_that_was_saved(
    tmp_path: Path, empty: Mapping[str, Any]
) -> None:
    arrive(runs_of(PLACES))
    Heartbeat.objects.create(part="worker", host="bench-1", at=timezone.now())
    saved = tmp_path / "driftline.backup"
    tasks.save(connection.settings_dict, KEY, saved)
    taken: list[Backup] = []
    restoring.restore(empty, saved, taken.append)
    assert taken[0].secret_key == KEY
    before = stated()
    assert len(before) > 20
    with inside(empty):
        assert stated() == before
        assert not Heartbeat.objects.exists(), "the host of the backup would count as silent"
    assert not names_of_databases() & set(beside(empty["NAME"]))


def test_only_its_owner_may_read_a_backup_and_any_tar_lists_it(
    tmp_path: Path, quick_dumps: None
) -> None:
    saved = tmp_path / "driftline.backup"
    tasks.save(connection.settings_dict, KEY, saved)
    assert saved.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [saved]
    with tarfile.open(saved) as file:
        assert file.getnames() == ["database.dump", "secret_key", "manifest.json"]
        manifest = json.load(file.extractfile("manifest.json"))  # type: ignore[arg-type]
    assert manifest["postgres"] == servers.find_postgres().major
    assert "0001_trees_runs_points" in manifest["migrations"]["results"]


@pytest.mark.django_db(transaction=True)
def test_a_backup_is_one_moment_while_runs_come_in(
    tmp_path: Path, empty: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = runs_of(PLACES)
    runs = [RunIn.model_validate(document).document() for document in documents]
    agent, rest = an_agent(), tasks._chunks

    def chunks(dumping: "subprocess.Popen[bytes]") -> Iterator[bytes]:
        assert dumping.stdout is not None
        # The list of tables, written before their rows
        yield dumping.stdout.read(1)
        store_runs(agent=agent, runs=runs[20:40], register=True)
        yield from rest(dumping)

    monkeypatch.setattr(tasks, "_chunks", chunks)
    path = tmp_path / "driftline.backup"
    store_runs(agent=agent, runs=runs[:20], register=True)
    tasks.save(connection.settings_dict, KEY, path)
    restoring.restore(empty, path, nothing)
    with inside(empty):
        assert {run.uuid for run in Run.objects.all()} == {run.uuid for run in runs[:20]}
        assert Measurement.objects.count() == 20
        store_runs(agent=an_agent(), runs=runs, register=True)
        analyse()
        restored = stated()
    store_runs(agent=agent, runs=runs, register=True)
    analyse()
    assert restored == stated()


@pytest.mark.django_db(transaction=True)
def test_an_instance_that_is_not_empty_is_left_as_it_is(written: Path) -> None:
    make.agent()
    before = stated()
    with pytest.raises(BackupError, match="not empty: it has rows in labs_agent") as refused:
        restoring.restore(connection.settings_dict, written, nothing)
    assert "make up PORT=8001 STATE=.run2" in str(refused.value)
    assert stated() == before


def test_a_new_instance_counts_as_empty_also_when_it_is_migrated(
    written: Path, empty: Mapping[str, Any], loaded: Loaded
) -> None:
    with administrator() as server:
        make_anew(server, empty["NAME"], like=TEMPLATE)
    restoring.restore(empty, written, nothing)
    assert loaded(empty)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_an_older_backup_is_brought_to_the_present_schema(
    empty: Mapping[str, Any], tmp_path: Path
) -> None:
    arrive(runs_of(PLACES))
    before = stated()
    present, older = tmp_path / "present.backup", tmp_path / "older.backup"
    tasks.save(connection.settings_dict, KEY, present)
    restoring.restore(empty, present, nothing)
    with inside(empty):
        call_command("migrate", "alerts", "0003", verbosity=0)
        tasks.save(connection.settings_dict, KEY, older)
    with administrator() as server:
        make_anew(server, empty["NAME"], like="template0")
    restoring.restore(empty, older, nothing)
    with inside(empty):
        assert stated() == before


def test_what_a_migration_encrypts_is_encrypted_with_the_key_of_the_backup(
    written: Path,
    empty: Mapping[str, Any],
    loaded: Loaded,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    used: list[str] = []
    monkeypatch.setattr(
        restoring, "call_command", lambda *_, **__: used.append(settings.SECRET_KEY)
    )
    own = settings.SECRET_KEY
    for is_given in (False, True):
        settings.SECRET_KEY_GIVEN = is_given
        with administrator() as server:
            make_anew(server, empty["NAME"], like="template0")
        restoring.restore(empty, written, nothing)
    assert used == [KEY, own]
    assert own == settings.SECRET_KEY


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"migrations": {"results": ["0999_later"]}}, r"later version .*results\.0999_later"),
        ({"postgres": 99}, "is of PostgreSQL 99, and this server is PostgreSQL"),
    ],
)
def test_a_backup_of_a_later_version_is_refused(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "later.backup", **changed)
    with pytest.raises(BackupError, match=message):
        restoring.restore(connection.settings_dict, path, nothing)


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "driftline.backup"
    path.write_text("precious")
    with pytest.raises(BackupError, match="is there already"):
        tasks.save(connection.settings_dict, KEY, path)
    assert path.read_text() == "precious"


def test_a_file_that_appears_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_dumps: None
) -> None:
    path = tmp_path / "driftline.backup"
    end = archive.Writer.end

    def meanwhile(self: archive.Writer, manifest: archive.Manifest) -> None:
        end(self, manifest)
        path.write_text("precious")

    monkeypatch.setattr(archive.Writer, "end", meanwhile)
    with pytest.raises(BackupError, match="is there already"):
        tasks.save(connection.settings_dict, KEY, path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_nothing_and_is_reported(tmp_path: Path, quick_dumps: None) -> None:
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
            tasks.save(connection.settings_dict, KEY, path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_backup_left_is_written_over(tmp_path: Path, quick_dumps: None) -> None:
    path = tmp_path / "driftline.backup"
    left = tmp_path / "driftline.backup.part"
    left.write_bytes(b"x" * 10_000_000)
    left.chmod(0o644)
    tasks.save(connection.settings_dict, KEY, path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("rb") as file:
        Backup.verified(file)


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "driftline.backup.part").symlink_to(other)
    with pytest.raises(BackupError, match="cannot be written"):
        tasks.save(connection.settings_dict, KEY, tmp_path / "driftline.backup")
    assert other.read_text() == "precious"


def test_without_the_programs_of_the_servers_version_the_error_names_what_to_install(
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
        tasks.save(connection.settings_dict, KEY, tmp_path / "driftline.backup")
    assert "of version: 15" in str(refused.value)
    assert servers.find_clients(15) == directory


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_what_is_interrupted_can_be_repeated(
    written: Path, empty: Mapping[str, Any], loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in ("_load", "_migrate", "_swap"):
        with monkeypatch.context() as patch:
            patch.setattr(restoring, at, interrupted)
            with pytest.raises(KeyboardInterrupt):
                restoring.restore(empty, written, nothing)
        assert f"{empty['NAME']}_restoring" not in names_of_databases()
        assert not loaded(empty)
    restoring.restore(empty, written, nothing)
    assert loaded(empty)


def test_what_a_killed_restoring_left_is_no_obstacle(
    written: Path, empty: Mapping[str, Any], loaded: Loaded
) -> None:
    with administrator() as server:
        for name in beside(empty["NAME"]):
            server.execute(f'CREATE DATABASE "{name}"'.encode())
    restoring.restore(empty, written, nothing)
    assert loaded(empty)


def test_an_instance_in_use_loses_its_connections_and_finds_the_data(
    written: Path, empty: Mapping[str, Any], loaded: Loaded
) -> None:
    with connected(empty) as open_all_the_time:
        restoring.restore(empty, written, nothing)
        with pytest.raises(psycopg.OperationalError):
            open_all_the_time.execute("SELECT 1")
    assert loaded(empty)


def in_use(rename: Callable[..., None], *, times: int) -> Callable[..., None]:
    """Renaming fails so many times as in PostgreSQL, which waits five seconds before."""
    left = iter(range(times))

    def renamed(*arguments: Any) -> None:
        if next(left, None) is not None:
            raise psycopg.errors.ObjectInUse("is being accessed by other users")
        rename(*arguments)

    return renamed


def test_the_sessions_of_others_are_waited_for(
    written: Path, empty: Mapping[str, Any], loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "_rename", in_use(restoring._rename, times=2))
    restoring.restore(empty, written, nothing)
    assert loaded(empty)


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.long)])
def test_sessions_of_others_that_do_not_end_are_named(
    real: bool,
    written: Path,
    empty: Mapping[str, Any],
    loaded: Loaded,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server's own vacuum is such a session: nobody but an administrator may end it."""
    monkeypatch.setattr(restoring, "ALONE_SECONDS", 0)
    with monkeypatch.context() as patch, contextlib.ExitStack() as stack:
        if real:
            stack.enter_context(connected({**empty, "USER": ADMINISTRATOR}))
        else:
            patch.setattr(restoring, "_rename", in_use(restoring._rename, times=9))
        with pytest.raises(BackupError, match=r"too busy .* being accessed by other users"):
            restoring.restore(empty, written, nothing)
    assert not loaded(empty)
    restoring.restore(empty, written, nothing)
    assert loaded(empty)


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
    how: str, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.write_bytes(HOSTILE[how](written.read_bytes()))
    # Refused before the database is looked at.
    monkeypatch.setattr(restoring, "connect", interrupted)
    with pytest.raises(Damaged, match="no whole backup"):
        restoring.restore(connection.settings_dict, written, nothing)


def test_a_dump_that_postgres_refuses_leaves_the_instance_empty(
    written: Path, empty: Mapping[str, Any]
) -> None:
    with pytest.raises(BackupError, match="pg_restore failed"):
        restoring.restore(empty, written, nothing)
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
        tasks.save(database, KEY, tmp_path / "driftline.backup")


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    """By SIGTERM, as the system stops a service: pg_dump waits for a table meanwhile."""
    path = tmp_path / "driftline.backup"
    with connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE results_run IN ACCESS EXCLUSIVE MODE")
        process = subprocess.Popen(
            [sys.executable, "manage.py", "backup", str(path)],
            cwd=PROJECT,
            env=environment_of_the_database() | {"SECRET_KEY": KEY},
        )

        def waits() -> bool:
            cursor.execute(f"{LOCKS} WHERE NOT granted")
            return cursor.fetchone() is not None or process.poll() is not None

        wait_for(waits, seconds=60)
        process.terminate()
        assert process.wait() == 128 + 15
        cursor.execute("ROLLBACK")
    assert list(tmp_path.iterdir()) == []


def test_the_key_of_a_backup_is_stored_for_its_owner_alone(tmp_path: Path) -> None:
    instance.ensure_secret_key(tmp_path)
    instance.write_secret_key(tmp_path, KEY)
    assert instance.read_secret_key(tmp_path) == KEY
    assert (tmp_path / instance.KEY_NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.django_db(transaction=True)
def test_a_backup_a_day_is_written_rehearsed_and_removed_when_it_is_old(
    tmp_path: Path, settings: Any
) -> None:
    arrive(runs_of(PLACES))
    before, now = names_of_databases(), timezone.now()
    (tmp_path / "driftline-2026-01-01T000000Z.backup.part").write_bytes(b"of a killed worker")
    settings.BACKUPS = str(tmp_path)
    back_up()
    back_up()  # the message came twice
    (first,) = Kept.objects.all()
    assert first.failure == ""
    assert first.rehearsed_at is not None
    assert first.bytes == (tmp_path / first.file).stat().st_size > 0
    assert names_of_databases() == before
    make_due_backup(tmp_path, now + timedelta(hours=22))
    assert Kept.objects.count() == 1
    make_due_backup(tmp_path, now + timedelta(days=1))
    newest = Kept.objects.latest("at")
    assert newest.rehearsed_at is None  # once in 30 days
    make_due_backup(tmp_path, now + timedelta(days=14, hours=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        Kept.objects.values_list("file", flat=True)
    )
    assert not (tmp_path / first.file).exists()
    assert (tmp_path / newest.file).exists()


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_fails_is_on_record_and_removes_nothing(
    tmp_path: Path, settings: Any, quick_dumps: None
) -> None:
    now = timezone.now()
    old = Kept.objects.create(at=now - timedelta(days=40), file="driftline-old.backup")
    (tmp_path / old.file).write_bytes(b"x")
    make_due_backup(tmp_path / "missing", now)
    assert "cannot be written" in Kept.objects.latest("at").failure
    assert (tmp_path / old.file).exists()
    make_due_backup(tmp_path, now + timedelta(hours=1))  # of a line, which no restore takes
    assert "restoring it was rehearsed" in Kept.objects.latest("at").failure


@pytest.mark.django_db(transaction=True)
def test_restoring_can_be_rehearsed_by_hand(tmp_path: Path) -> None:
    arrive(runs_of(PLACES))
    saved, out = tmp_path / "driftline.backup", io.StringIO()
    tasks.save(connection.settings_dict, KEY, saved)
    call_command("restore", str(saved), rehearse=True, stdout=out)
    assert f"holds {Run.objects.count():,} runs" in out.getvalue()
