"""The STATE directory: who may use it, its lock, and where its sockets are."""

import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.config import instance
from webapp.launcher import StackError, UsageError

DIRECTORIES = ("logs", "pids")
LIFE = "launcher.lock"
# The longest path of a Unix socket is 104 bytes on FreeBSD; PostgreSQL adds `/.s.PGSQL.5432`.
SOCKET_DIRECTORY_BYTES = 80
PLAIN_PATH = re.compile(r"[A-Za-z0-9._/+@=,-]+")
# supervisord.conf cannot hold these: they begin a comment there, or end the line.
FORBIDDEN_IN_PATH = re.compile(r"[\n\r\"']|\s[#;]")
SHORT_PLACE = Path("/tmp")  # noqa: S108 - short is the point; the directory is private


def prepare(state: Path) -> None:
    """Make the directories of `state`; raise `StackError` when it cannot be ours."""
    if FORBIDDEN_IN_PATH.search(str(state)):
        raise UsageError(f"STATE={state}: choose a path without quotes, line ends, ` #` and ` ;`.")
    try:
        # Under root, PostgreSQL runs as another user, who must be able to pass.
        state.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        if state.stat().st_uid != os.geteuid():
            raise StackError(f"{state} belongs to another user; use that user, or another STATE.")
        for name in DIRECTORIES:
            (state / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StackError(f"STATE={state} cannot be used: {error}") from error


@contextmanager
def locked(state: Path, url: str) -> Iterator[None]:
    """Hold `state` for this process; raise `StackError` while another launcher holds it.

    The system drops the lock with the process, however that ends.
    """
    with (state / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise StackError(
                f"{state} is in use: {lock.read().strip() or 'another launcher is starting'}. "
                "Stop that one, or start a second instance with another PORT=… and STATE=…"
            ) from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()} serves {url}\n")
        lock.flush()
        # A lock of its own, so that those who wait for it keep no launcher from `lock`
        with (state / LIFE).open("w") as life:
            fcntl.flock(life, fcntl.LOCK_EX)
            yield
        lock.truncate(0)


def wait_for_launcher_to_end(state: Path) -> None:
    """Return once no launcher holds `state`."""
    with (state / LIFE).open() as life:
        fcntl.flock(life, fcntl.LOCK_SH)


def sockets_directory(state: Path, recorded: Path) -> Path:
    """A private directory for the sockets: inside `state`, or a short one when that is too long.

    `recorded` is the one used before; it is used again while it is still ours.
    """
    inside = state / "sockets"
    if len(os.fsencode(inside)) <= SOCKET_DIRECTORY_BYTES and PLAIN_PATH.fullmatch(str(inside)):
        inside.mkdir(mode=0o700, exist_ok=True)
        return inside
    if recorded.parent == SHORT_PLACE and _is_private(recorded):
        return recorded
    return Path(tempfile.mkdtemp(prefix="driftline-", dir=SHORT_PLACE))


def recorded_instance(state: Path) -> instance.Instance:
    """What `state` records of its instance; raise `StackError` when another version wrote it."""
    try:
        return instance.read(state)
    except instance.BadState as error:
        raise StackError(str(error)) from error


def _is_private(directory: Path) -> bool:
    """True for a directory that only we may enter. PostgreSQL's user owns it when we are root."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return False
    ours = os.geteuid() in (0, status.st_uid)
    return ours and stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
