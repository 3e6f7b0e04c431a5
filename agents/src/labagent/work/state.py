"""A worker's directory: what it needs to go on after a restart.

lock            held while the worker runs: two never share a directory
group           the process group of the command that runs, see `processes`
progress.json   the job in hand
builds.json     which build of each kernel was made last
outbox/         what the server is still to be told
refused/        what it did not take
jobs/<id>/      the log of a job and what its commands left behind
drain           asks the worker to end after its job
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labagent.errors import SettingsError
from labagent.work.builds import Builds
from labagent.work.outbox import Outbox
from labagent.work.progress import ProgressFile

KEPT_JOBS = 50
"""Jobs whose logs and files stay on disk."""


class StateDirectory:
    """The directory of one worker."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.progress = ProgressFile(self.path / "progress.json")
        self.builds = Builds(self.path / "builds.json")
        self.outbox = Outbox(self.path)
        self.group_file = self.path / "group"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory; `SettingsError` where another worker does."""
        with self._open_lock() as lock:
            if not _try_lock(lock):
                holder = lock.read().strip() or "unknown"
                raise SettingsError(
                    f"another worker (process {holder}) uses {self.path}",
                    "give this one its own directory with --state, and its own --name",
                )
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def _open_lock(self) -> IO[str]:
        path = self.path / "lock"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            path.touch()
            return path.open("r+")
        except OSError as error:
            raise SettingsError(
                f"cannot write to the state directory {self.path}: {error.strerror}",
                "choose another place with --state",
            ) from error

    def ask_to_drain(self) -> None:
        """Ask the worker that runs here to end; `SettingsError` where none does."""
        with self._open_lock() as lock:
            if _try_lock(lock):
                raise SettingsError(
                    f"no worker runs with the state directory {self.path}",
                    "name the one that is to end with --config, --name or --state",
                )
        self._drain.touch()

    @property
    def asked_to_drain(self) -> bool:
        """Whether the worker is to end after its job."""
        return self._drain.exists()

    def forget_drain(self) -> None:
        """Take more jobs again."""
        self._drain.unlink(missing_ok=True)

    @property
    def _drain(self) -> Path:
        return self.path / "drain"

    def job_directory(self, job: int) -> Path:
        """Where the files of a job lie."""
        return self.path / "jobs" / str(job)

    def prune_jobs(self) -> None:
        """Remove all but the newest jobs' directories."""
        jobs = sorted((self.path / "jobs").glob("*"), key=lambda path: path.stat().st_mtime_ns)
        for path in jobs[:-KEPT_JOBS]:
            shutil.rmtree(path)


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
