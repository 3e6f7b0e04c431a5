"""A pytest plugin: a real PostgreSQL and a real Redis for one test run.

Loaded by `-p tests.servers` before Django's settings, which read the variables set here. With
pytest-xdist, the process that distributes the tests starts the servers and its workers share them:
pytest-django gives each worker a database of its own, and each gets a Redis database of its own.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psycopg
import pytest

from tests.places import MIGRATED, MIGRATED_DATA, PROJECT, STATIC, TEMPLATE
from webapp.config import instance
from webapp.launcher import processes
from webapp.launcher.postgres import ADMINISTRATOR, DATABASE, OWNER, Cluster
from webapp.launcher.servers import Redis

LOCKS = """
SELECT pid FROM pg_locks JOIN pg_database AS here
    ON here.oid = pg_locks.database AND here.datname = current_database()
"""
"""Who locks what in the database of a test: the other processes of a run use the same server, with
tables of the same numbers.
"""

PREFIX = "driftline-tests-"
REDIS_DATABASES = 64
# Speed instead of durability: these data live as long as the run. A vacuum between two tests would
# note that the tables are empty, and the next test's thousands of rows were planned for as none.
THROW_AWAY = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"),
    "max_connections=200",
    # Most of the work was to plan: a plan is made once (`tests.conftest.KeptPlans`), and a few rows
    # are joined in the order in which a statement names their tables.
    *("plan_cache_mode=force_generic_plan", "join_collapse_limit=4", "from_collapse_limit=4"),
)


class Servers:
    """The servers of one run, and the directory that goes with them."""

    def __init__(self) -> None:
        self.state = Path(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp"))
        # Root's PostgreSQL is another user, who must pass.
        self.state.chmod(0o711 if os.geteuid() == 0 else 0o700)
        self.lock = _lock(self.state)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.pids = self.state / "pids"
        self.pids.mkdir()
        self.sockets = self.state / "sockets"
        self.sockets.mkdir(mode=0o700)
        instance.write(self.state, instance.Instance.at(self.sockets))

    def start(self) -> None:
        """Start both and wait until they answer."""
        self._start_postgres()
        redis = Redis.choose(self.state, self.sockets)
        redis.create(pidfile=self.pids / "redis.pid", databases=REDIS_DATABASES)
        self._start("redis", redis.command(), None)
        self._wait("redis", redis.answers)

    def _start_postgres(self) -> None:
        """Start PostgreSQL with a migrated database, which outlives the run that migrated it."""
        cluster = Cluster.choose(self.state, self.sockets)
        cluster.identity.own(self.sockets)
        kept = MIGRATED / _schema_key(cluster)
        with _lock(MIGRATED):
            if kept.exists():
                _copy(kept, cluster.data)
            else:
                cluster.create()
                self._serve(cluster)
                cluster.prepare()
                with psycopg.connect(host=str(self.sockets), user=ADMINISTRATOR) as connection:
                    # For `tests.conftest.quick_flushes`
                    connection.execute(
                        f"GRANT SET ON PARAMETER session_replication_role TO {OWNER}".encode()
                    )
                _migrate(self.sockets)
                self._end("postgres", signal.SIGINT)
                for outdated in MIGRATED.glob("*-*"):
                    shutil.rmtree(outdated)
                _copy(cluster.data, kept)
        os.environ[MIGRATED_DATA] = str(kept)
        self._serve(cluster)

    def _serve(self, cluster: Cluster) -> None:
        user = cluster.identity.user if not cluster.identity.prefix else None
        self._start("postgres", cluster.command(*THROW_AWAY), user)
        self._wait("postgres", cluster.answers)

    def _end(self, name: str, how: signal.Signals) -> None:
        process = self.processes.pop(name)
        process.send_signal(how)
        process.wait()

    def stop(self) -> None:
        """End both at once and remove their data."""
        for name in list(self.processes):
            self._end(name, processes.HARD.get(name, signal.SIGKILL))
        shutil.rmtree(self.state, ignore_errors=True)

    def _start(self, name: str, command: list[str], user: str | None) -> None:
        with (self.state / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=user,
                # Out of reach of Ctrl-C, which pytest answers by stopping tests first
                start_new_session=True,
            )
        (self.pids / f"{name}.pid").write_text(str(self.processes[name].pid))

    def _wait(self, name: str, answers: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not answers():
            if self.processes[name].poll() is not None or time.monotonic() > end:
                log = (self.state / f"{name}.log").read_text(errors="replace")
                raise pytest.UsageError(f"The tests' {name} did not start:\n{log}")
            time.sleep(0.05)


def _lock(directory: Path) -> IO[str]:
    """Hold `directory` until the result is closed: no other run changes or removes it meanwhile."""
    directory.mkdir(parents=True, exist_ok=True)
    lock = (directory / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _schema_key(cluster: Cluster) -> str:
    """The name of a data directory: all that decides what a migrated database holds."""
    sources = [
        Path(__file__),
        PROJECT / "constraints.txt",
        PROJECT / "webapp" / "config" / "audited.py",
        PROJECT / "webapp" / "launcher" / "postgres.py",
        *sorted((PROJECT / "migrations").rglob("*.py")),
    ]
    content = hashlib.sha256(str(cluster.postgres).encode())
    for source in sources:
        content.update(f"{source.relative_to(PROJECT)}\0".encode() + source.read_bytes())
    return f"postgres-{content.hexdigest()[:16]}"


def _migrate(sockets: Path) -> None:
    """Migrate the database of an instance, and copy it for the tests' own to be cloned from."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=PROJECT, check=True)
    with psycopg.connect(
        host=str(sockets), user=OWNER, dbname="postgres", autocommit=True
    ) as connection:
        connection.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE {DATABASE}".encode())


def _copy(source: Path, target: Path) -> None:
    """Copy a data directory with its owner, whole or not at all."""
    draft = target.with_name(f"new-{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    subprocess.run(["cp", "-Rp", source, draft], check=True)
    draft.rename(target)


def _clear_left_behind() -> None:
    """End the servers of runs that were killed, and remove their data."""
    for state in Path("/tmp").glob(f"{PREFIX}*"):
        if _is_ours(state) and _is_abandoned(state):
            found = processes.left_behind(state, processes.recorded_ids(state / "pids"))
            for name, left in found.items():
                processes.end(name, left, seconds=5)
            shutil.rmtree(state, ignore_errors=True)


def _is_ours(state: Path) -> bool:
    try:
        return state.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        # Another run ended, and cleared its own away.
        return False


def _is_abandoned(state: Path) -> bool:
    try:
        with (state / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        # Without a lock file it is being made right now.
        return False
    return True


@contextmanager
def _static_files_collected() -> Iterator[None]:
    """Collect the static files beside what happens inside."""
    STATIC.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
    with (STATIC.parent / "static.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen(command, cwd=PROJECT) as process:
            yield
        if process.returncode:
            raise pytest.UsageError("The tests' static files could not be collected")


def _set_variables(state: Path, redis_database: int) -> None:
    for name in [name for name in os.environ if name.startswith("DRIFTLINE_")]:
        del os.environ[name]
    os.environ["STATE"] = str(state)
    os.environ["DRIFTLINE_STATIC_ROOT"] = str(STATIC)
    os.environ["DRIFTLINE_PUBLIC"] = "true"
    os.environ["SECRET_KEY"] = "the tests' key, long enough to sign with and known to everybody"
    os.environ["DATABASE_URL"] = instance.read(state).database_url
    os.environ["REDIS_URL"] = instance.read(state).redis_url.replace(
        "?db=0", f"?db={redis_database}"
    )


def pytest_load_initial_conftests(args: list[str]) -> None:
    """Take the name of a room (`alerts`, `webapp/alerts`) for its tests."""
    for index, argument in enumerate(args):
        room = argument.removeprefix("webapp/").rstrip("/")
        if room and (room != argument or not Path(argument).exists()):
            tests = PROJECT / "tests" / room
            if tests.is_dir():
                args[index] = str(tests)


def pytest_configure(config: pytest.Config) -> None:
    """Print where the servers are, for those who look into a failing run."""
    config.stash[STATE] = Path(os.environ["STATE"])


STATE = pytest.StashKey[Path]()
_worker = os.environ.get("PYTEST_XDIST_WORKER")
if _worker:
    _set_variables(Path(os.environ["STATE"]), 1 + int(_worker.removeprefix("gw")))
else:
    _clear_left_behind()
    _servers = Servers()
    atexit.register(_servers.stop)
    _set_variables(_servers.state, 0)
    with _static_files_collected():
        _servers.start()
