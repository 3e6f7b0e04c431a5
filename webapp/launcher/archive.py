"""The file of a backup, and PostgreSQL's own programs that fill and read it.

The file is a tar of three members, in this order: `database.dump` is what pg_dump wrote (custom
format), `secret_key` signs sessions and links in mails, `manifest.json` has the versions and, of
the others, sizes and SHA-256. It comes last, so a file that was cut off has none. Nothing is ever
unpacked to a path: members are read by their place.
"""

import hashlib
import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from subprocess import DEVNULL
from typing import IO, Any, BinaryIO

import psycopg

from webapp.launcher import StackError
from webapp.launcher.servers import find_clients
from webapp.readiness.services import heartbeats

DUMP, KEY, MANIFEST = "database.dump", "secret_key", "manifest.json"
FORMAT = 1
CHUNK = 2**20
KEY_MOST, MANIFEST_MOST = 2**12, 2**20
BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)


class BackupError(StackError):
    """No backup can be made, or none be restored."""


class Damaged(BackupError):
    """A file that is no backup, or not as it was written."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This is no whole backup of Driftline: {reason}. Nothing was changed; take another "
            "copy of the file, or an earlier backup."
        )


@dataclass(frozen=True)
class Content:
    """How long a member is, and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What wrote the backup: the version of Driftline, the major version of PostgreSQL, and by app
    the migrations of its schema.
    """

    made_at: str
    driftline: str
    postgres: int
    migrations: Mapping[str, list[str]]


class Writer:
    """Writes a backup to a file that can be sought in."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._contents: dict[str, Content] = {}

    def add(self, name: str, chunks: Iterator[bytes]) -> None:
        """Write a member of any length; its header once the length is known."""
        start = self._file.tell()
        self._file.write(bytes(BLOCK))
        sha256, size = hashlib.sha256(), 0
        for chunk in chunks:
            self._file.write(chunk)
            sha256.update(chunk)
            size += len(chunk)
        self._file.write(bytes(-size % BLOCK))
        end = self._file.tell()
        self._file.seek(start)
        self._file.write(_header(name, size))
        self._file.seek(end)
        self._contents[name] = Content(size, sha256.hexdigest())

    def end(self, manifest: Manifest) -> None:
        """Write the manifest, and have all of it on the disk."""
        contents = {name: asdict(content) for name, content in self._contents.items()}
        document = {"format": FORMAT, **asdict(manifest), "contents": contents}
        self.add(MANIFEST, iter([json.dumps(document, indent=2).encode() + b"\n"]))
        self._file.write(END)
        self._file.flush()
        os.fsync(self._file.fileno())


@dataclass(frozen=True)
class Backup:
    """A file that was read to its end and is as it was written."""

    file: BinaryIO
    manifest: Manifest
    secret_key: str
    dump: Content

    @classmethod
    def verified(cls, file: BinaryIO) -> "Backup":
        """The backup in `file`. Raises `Damaged`."""
        whole = os.fstat(file.fileno()).st_size
        contents: dict[str, Content] = {}
        dump_at = BLOCK
        contents[DUMP] = _content(_member(file, DUMP, whole, most=whole))
        key = b"".join(_member(file, KEY, whole, most=KEY_MOST))
        contents[KEY] = _content(iter([key]))
        text = b"".join(_member(file, MANIFEST, whole, most=MANIFEST_MOST))
        if file.read(len(END) + 1) != END:
            raise Damaged("something follows its last member, or its end is missing")
        manifest = _manifest(text, contents)
        try:
            secret_key = key.decode("ascii")
        except UnicodeDecodeError:
            raise Damaged(f"{KEY} is no text") from None
        file.seek(dump_at)
        return cls(file, manifest, secret_key, contents[DUMP])

    def chunks(self) -> Iterator[bytes]:
        """The dump, once more. Raises `Damaged` where it is another by now."""
        self.file.seek(BLOCK)
        sha256 = hashlib.sha256()
        for chunk in _read(self.file, self.dump.size):
            sha256.update(chunk)
            yield chunk
        if sha256.hexdigest() != self.dump.sha256:
            raise Damaged("it was changed while it was read")


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)


def _member(file: BinaryIO, name: str, whole: int, *, most: int) -> Iterator[bytes]:
    """The content of the next member, which has to be the one of this `name`.

    Its header is read alone: tarfile itself would follow extensions of any size.
    """
    try:
        info = tarfile.TarInfo.frombuf(file.read(BLOCK), "ascii", "strict")
    except (tarfile.HeaderError, UnicodeDecodeError):
        raise Damaged(f"{name} is missing") from None
    if info.name != name or info.type != tarfile.REGTYPE:
        raise Damaged(f"{name} is missing, another member is in its place")
    if not 0 <= info.size <= most or file.tell() + info.size > whole:
        raise Damaged(f"{name} cannot be {info.size:,} bytes long")
    yield from _read(file, info.size)
    if any(file.read(-info.size % BLOCK)):
        raise Damaged(f"{name} is longer than it states")


def _read(file: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            raise Damaged("it was cut off")
        left -= len(chunk)
        yield chunk


def _content(chunks: Iterator[bytes]) -> Content:
    sha256, size = hashlib.sha256(), 0
    for chunk in chunks:
        sha256.update(chunk)
        size += len(chunk)
    return Content(size, sha256.hexdigest())


def _manifest(text: bytes, contents: Mapping[str, Content]) -> Manifest:
    try:
        document = json.loads(text)
        version = document["format"]
        if version == FORMAT:
            stated = {name: Content(**one) for name, one in document["contents"].items()}
            manifest = Manifest(
                made_at=str(document["made_at"]),
                driftline=str(document["driftline"]),
                postgres=int(document["postgres"]),
                migrations={
                    str(app): [str(name) for name in names]
                    for app, names in document["migrations"].items()
                },
            )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Damaged(f"{MANIFEST} is not what a backup writes") from None
    if version != FORMAT:
        raise BackupError(
            f"This backup has the format {version!r}, and this version of Driftline reads "
            f"{FORMAT}. Restore it with the version that wrote it, or a later one."
        )
    for name, content in contents.items():
        if stated.get(name) != content:
            raise Damaged(f"{name} is not as it was written (its SHA-256 differs)")
    return manifest


Database = Mapping[str, Any]
"""Django's settings of one database."""


def connect(database: Database) -> heartbeats.Connection:
    """A connection of our own, without a limit on its statements. Raises `BackupError`."""
    try:
        return heartbeats.connect(database)
    except psycopg.OperationalError as error:
        raise BackupError(
            f"PostgreSQL does not answer: {str(error).strip()}\nIs the instance running? `make up` "
            "starts it; for an instance elsewhere set STATE, or DATABASE_URL."
        ) from error


def major_of(connection: heartbeats.Connection) -> int:
    """The major version of the server."""
    return connection.info.server_version // 10_000


@contextmanager
def client(
    name: str,
    database: Database,
    major: int,
    *options: str,
    stdin: int = DEVNULL,
    stdout: int = DEVNULL,
) -> Iterator["subprocess.Popen[bytes]"]:
    """A program of PostgreSQL at work on `database`; it has succeeded when the block ends.

    Raises `BackupError` with what it printed. A block that fails ends the program.
    """
    command = [str(find_clients(major) / name), *options]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            env=os.environ | _variables(database),
            stdin=stdin,
            stdout=stdout,
            stderr=errors,
        )
        try:
            yield process
        except BrokenPipeError:
            process.wait()  # it ended early, and printed why
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait():
            raise BackupError(f"{name} failed:\n{_printed(errors)}")


def _printed(errors: IO[bytes]) -> str:
    errors.seek(0)
    return "\n".join(errors.read(64_000).decode(errors="replace").strip().splitlines()[-20:])


def _variables(database: Database) -> dict[str, str]:
    """By the environment, because everybody may read command lines."""
    given = {
        "PGHOST": database["HOST"],
        "PGPORT": database["PORT"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGDATABASE": database["NAME"],
        "PGCLIENTENCODING": "UTF8",
    }
    options = database.get("OPTIONS", {})
    tls = {f"PG{name.upper()}": value for name, value in options.items() if name.startswith("ssl")}
    return {name: str(value) for name, value in (given | tls).items() if value}
