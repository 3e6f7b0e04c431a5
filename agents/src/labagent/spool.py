"""Where runs and their profiles wait on disk until a server has them.

    <spool>/<server>/pending/<digest>.jsonl      a batch: a header line, then one run a line
    <spool>/<server>/rejected/<uuid>.json        a run that was refused, and why
    <spool>/<server>/profiles/<digest>.json      a profile, and the run that it is of
    <spool>/<server>/rejected/<digest>.profile   a profile that was refused, and why

A batch is written beside, synced and renamed into place, and removed only after the server has
answered for it. So a process killed anywhere leaves each run in a batch, in the server, or in both;
the run's UUID makes the last harmless. A batch is named by its content: written twice it is one.
How a batch is to be taken (`--history`, …) travels with it, so resuming mails nobody by surprise.
"""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labagent.client import Flags
from labagent.errors import SettingsError
from labagent.files import TEMPORARY, write_durably

_ABANDONED_SECONDS = 24 * 3600
_UNREADABLE = (OSError, ValueError, TypeError, KeyError)


@dataclass(frozen=True)
class Batch:
    """Runs that are sent together, as they lie in `path`."""

    path: Path
    flags: Flags
    runs: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class SpooledProfile:
    """A profile of the run with the UUID `run`, as it lies in `path`."""

    path: Path
    run: str
    document: dict[str, Any]


class Spool:
    """The spool of one server."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._pending = directory / "pending"
        self._rejected = directory / "rejected"
        self._profiles = directory / "profiles"

    def add(self, runs: Sequence[Mapping[str, Any]], flags: Flags) -> Path:
        """Put a batch to disk; it is there, whatever happens, once this returns."""
        lines = [asdict(flags), *runs]
        content = "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines).encode()
        path = self._pending / f"{hashlib.sha256(content).hexdigest()[:32]}.jsonl"
        if not path.exists():
            _write(path, content)
        return path

    def pending(self) -> list[Path]:
        """The batches that wait, oldest first."""
        return _oldest_first(self._pending, "*.jsonl")

    def load(self, path: Path) -> Batch | None:
        """A batch; None where another process has sent it meanwhile."""
        try:
            header, *runs = map(json.loads, path.read_text("utf-8").splitlines())
            return Batch(path, Flags(**header), tuple(runs))
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            raise _unreadable(path, error) from error

    def done(self, batch: Batch) -> None:
        """Forget a batch the server has answered for, and what it refused of these runs before."""
        if self._rejected.is_dir():
            for run in batch.runs:
                (self._rejected / f"{run['uuid']}.json").unlink(missing_ok=True)
        self.drop(batch)

    def drop(self, batch: Batch) -> None:
        """Forget a batch that has arrived."""
        batch.path.unlink(missing_ok=True)

    def reject(self, run: Mapping[str, Any], reason: str) -> None:
        """Set a refused run aside, with the reason."""
        content = json.dumps({"reason": reason, "run": run}, indent=1).encode()
        _write(self._rejected / f"{run['uuid']}.json", content)

    def rejected(self) -> list[Path]:
        """The files of the runs that were refused."""
        return sorted(self._rejected.glob("*.json")) if self._rejected.is_dir() else []

    def rejected_runs(self) -> Iterator[dict[str, Any]]:
        """The runs that were refused. Their files stay until the server has answered for them."""
        for path in self.rejected():
            yield _refused(path)["run"]

    def take_back_profiles(self) -> None:
        """Have the profiles that were refused wait again."""
        for path in self._rejected.glob("*.profile"):
            content = _refused(path)
            self.add_profile(content["run"], content["profile"])

    def add_profile(self, run: str, document: Mapping[str, Any]) -> Path:
        """Put a profile to disk; written twice it is one."""
        content = json.dumps({"run": run, "profile": document}, allow_nan=False).encode()
        path = self._profiles / f"{hashlib.sha256(content).hexdigest()[:32]}.json"
        if not path.exists():
            _write(path, content)
        return path

    def profiles(self) -> list[Path]:
        """The profiles that wait, oldest first."""
        return _oldest_first(self._profiles, "*.json")

    def load_profile(self, path: Path) -> SpooledProfile | None:
        """A profile; None where another process has sent it meanwhile."""
        try:
            content = json.loads(path.read_text("utf-8"))
            return SpooledProfile(path, str(content["run"]), dict(content["profile"]))
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            raise _unreadable(path, error) from error

    def done_profile(self, profile: SpooledProfile) -> None:
        """Forget a profile that the server has, and that it refused it before."""
        self._refusal_of(profile).unlink(missing_ok=True)
        profile.path.unlink(missing_ok=True)

    def reject_profile(self, profile: SpooledProfile, reason: str) -> None:
        """Set a refused profile aside, with the reason."""
        content = {"reason": reason, "run": profile.run, "profile": profile.document}
        _write(self._refusal_of(profile), json.dumps(content).encode())
        profile.path.unlink(missing_ok=True)

    def _refusal_of(self, profile: SpooledProfile) -> Path:
        return self._rejected / f"{profile.path.stem}.profile"

    def count(self, paths: Iterable[Path]) -> int:
        """How many runs wait in these batches."""
        batches = (self.load(path) for path in paths)
        return sum(len(batch.runs) for batch in batches if batch)


def _refused(path: Path) -> dict[str, Any]:
    """What `Spool.reject` or `Spool.reject_profile` wrote."""
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except _UNREADABLE as error:
        raise _unreadable(path, error) from error
    return content


def _unreadable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(
        f"cannot read {path}: {error}", "remove it and upload its directories again"
    )


def _oldest_first(directory: Path, pattern: str) -> list[Path]:
    if not directory.is_dir():
        return []
    _sweep(directory)
    return sorted(directory.glob(pattern), key=lambda path: (_age_key(path), path.name))


def _write(path: Path, content: bytes) -> None:
    try:
        write_durably(path, content)
    except OSError as error:
        raise SettingsError(
            f"cannot write to the spool {path.parent}: {error.strerror}",
            "free the disk, or choose another place with --spool",
        ) from error


def _age_key(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _sweep(directory: Path) -> None:
    """Remove what a killed process left half written, long after any could still be writing it."""
    limit = time.time() - _ABANDONED_SECONDS
    for path in directory.glob(f"{TEMPORARY}*"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                path.unlink()
