"""A worker's directory: what it needs to go on after a restart.

lock            held while the worker runs: two never share a directory
group           the process group of the command that runs, see `commands`
progress.json   the job in hand
builds.json     which build of each kernel was made last
outbox/         <job>.json: a result with its profiles, or a failure, until the server has it
refused/        <job>-….json: what the server did not take, and why
jobs/<id>/      the log of a job and what its commands left behind
drain           asks the worker to end after its job
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from labagent.errors import SettingsError
from labagent.files import try_lock, write_durably
from labagent.job import Lease, Leased
from labagent.work.commands import Measurement


class Builds:
    """The last build made by each filled-in build command, on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def last(self, argv: Sequence[str]) -> str | None:
        """The build that this command made last, None: it made none."""
        return self._read().get(_key(argv))

    def record(self, argv: Sequence[str], build: str) -> None:
        """Note which build a command made."""
        content = {**self._read(), _key(argv): build}
        write_durably(self.path, json.dumps(content).encode())

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads(self.path.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise SettingsError(f"cannot read {self.path}: {error}", "remove it") from error


def _key(argv: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(argv).encode()).hexdigest()[:32]


Kind = Literal["result", "fail", "profiles"]


@dataclass(frozen=True)
class Report:
    """One thing to report: `body` is the run, or stage, reason and log of the failure. `profiles`
    are documents of the run; of kind `profiles`, the run has arrived and they are to be sent."""

    kind: Kind
    job: int
    lease: str
    body: dict[str, Any]
    profiles: list[dict[str, Any]] = field(default_factory=list)


class Outbox:
    """The reports of one worker."""

    def __init__(self, state: Path) -> None:
        self.directory = state / "outbox"
        self._refused = state / "refused"

    def put(self, report: Report) -> None:
        """Keep a report; it takes the place of what is still to be reported about that job."""
        write_durably(self._path(report.job), json.dumps(asdict(report), allow_nan=False).encode())

    def pending(self) -> list[Report]:
        """The reports that did not arrive yet, by job."""
        if not self.directory.is_dir():
            return []
        return [_read(path) for path in sorted(self.directory.glob("*.json"))]

    def contains(self, job: int) -> bool:
        """Whether a report about the job waits."""
        return self._path(job).exists()

    def done(self, report: Report) -> None:
        """Forget a report that has arrived."""
        self._path(report.job).unlink(missing_ok=True)

    def refuse(self, report: Report, reason: str) -> Path:
        """Set a report aside, with the reason; where it lies then."""
        number = len(list(self._refused.glob(f"{report.job}-*.json"))) + 1
        path = self._refused / f"{report.job}-{number}.json"
        write_durably(path, json.dumps({"reason": reason, **asdict(report)}, indent=1).encode())
        self.done(report)
        return path

    def _path(self, job: int) -> Path:
        return self.directory / f"{job}.json"


def failure(stage: str, reason: str, log: str) -> Mapping[str, str]:
    """The body of a failure; the server takes one line of reason."""
    return {"stage": stage, "reason": " ".join(reason.split())[:500], "log": log}


def _read(path: Path) -> Report:
    try:
        return Report(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", "remove it") from error


SAMPLES, HISTOGRAMS = "samples", "histograms"


def kind_of(values: Mapping[str, Any]) -> str:
    """What a metric has in a boot."""
    return HISTOGRAMS if HISTOGRAMS in values else SAMPLES


@dataclass
class BootRecord:
    """One boot that was measured. `values` maps a metric's name to its unit, direction, samples or
    histograms, and where something was found `validity`: what the server is sent about samples."""

    ident: str
    values: dict[str, dict[str, Any]]
    warnings: list[str]
    seconds: dict[str, float]

    @classmethod
    def of(cls, ident: str, measured: Measurement, seconds: Mapping[str, float]) -> "BootRecord":
        """What is kept of a boot: its kernel, values, warnings and seconds of each stage."""
        values: dict[str, dict[str, Any]] = {
            metric.name: {"unit": metric.unit, "better": metric.better, "samples": list(samples)}
            for metric, samples in measured.values.items()
        }
        for metric, histograms in measured.histograms.items():
            documents = [one.document() for one in histograms]
            found = {"unit": metric.unit, "better": metric.better, HISTOGRAMS: documents}
            values[metric.name] = found
        for metric, findings in measured.findings.items():
            validity = [
                one.document(index) for index, found in enumerate(findings) for one in found
            ]
            if validity:
                values[metric.name]["validity"] = validity
        return cls(ident, values, list(measured.warnings), dict(seconds))

    def split(self) -> "list[BootRecord]":
        """One record for each sample, in order. The seconds are shared out equally."""
        count = max(len(found[kind_of(found)]) for found in self.values.values())
        seconds = {stage: whole / count for stage, whole in self.seconds.items()}
        return [
            BootRecord(self.ident, self._sample(index), self.warnings, seconds)
            for index in range(count)
        ]

    def _sample(self, index: int) -> dict[str, dict[str, Any]]:
        """The values of one sample; a metric that has fewer is left out of the last."""
        return {
            name: _only(found, index)
            for name, found in self.values.items()
            if index < len(found[kind_of(found)])
        }


def _only(found: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The values of a metric with one of its samples or histograms alone."""
    kind = kind_of(found)
    one = {**found, kind: found[kind][index : index + 1]}
    validity = [
        {**each, "sample": 0} for each in one.pop("validity", ()) if each["sample"] == index
    ]
    return one | {"validity": validity} if validity else one


@dataclass
class Progress:
    """The job in hand. `restarts` counts those of the worker since the last finished step.
    `profiles` are the files of the boots that were profiled, `unprofiled` is why others were not.
    """

    document: dict[str, Any]
    token: str
    lease_seconds: float
    started_at: str
    build_id: str | None = None
    build_seconds: float = 0.0
    digest: str = ""
    restarts: int = 0
    boots: list[BootRecord] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    unprofiled: str = ""

    @classmethod
    def begin(cls, leased: Leased, started_at: str) -> "Progress":
        """A job before its first boot."""
        lease = leased.lease
        return cls(dict(leased.document), lease.token, lease.seconds, started_at)

    @property
    def leased(self) -> Leased:
        """The job with its lease, as the server gave it."""
        return Leased(self.document, Lease(self.token, self.lease_seconds))

    def finish_boot(self, record: BootRecord) -> None:
        """Add a boot that was measured."""
        self.boots.append(record)
        self.restarts = 0

    def finish_profile(self, file: Path) -> None:
        """Add a boot that was profiled; its profile is in this file."""
        self.profiles.append(str(file))
        self.restarts = 0

    def renew(self, leased: Leased) -> None:
        """The same job, leased anew by a worker that was started again."""
        self.restarts += 1
        self.document = dict(leased.document)
        self.token, self.lease_seconds = leased.lease.token, leased.lease.seconds


class ProgressFile:
    """Where the progress lies. One job at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, progress: Progress) -> None:
        """Write it so that it outlives a crash."""
        write_durably(self.path, json.dumps(asdict(progress)).encode())

    def load(self) -> Progress | None:
        """What was written last, None: no job is under way."""
        try:
            content = json.loads(self.path.read_text("utf-8"))
            boots = [BootRecord(**boot) for boot in content.pop("boots")]
            return Progress(**content, boots=boots)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"cannot read {self.path}: {error}",
                "remove it; the job is then done from its start",
            ) from error

    def clear(self) -> None:
        """Forget it: the job is reported."""
        self.path.unlink(missing_ok=True)


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
            if not try_lock(lock):
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
            if try_lock(lock):
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
