"""What a lab can do for a job, and the stages of a job that ask it.

A job is built, then for each boot: booted, identified, run, identified. A machine that boots its
old kernel because the new one could not be loaded is the classic way to measure nothing at all and
to believe the result. Where the job asks for profiles, further boots are profiled: what is measured
is never slowed down.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from labagent.files import write_durably
from labagent.job import Job, JobLog, StageFailed, Watch
from labagent.work.commands import Measurement
from labagent.work.state import BootRecord, Progress, ProgressFile


@dataclass(frozen=True)
class Task:
    """A job in hand: `directory` is its own, `group_file` the worker's (see `commands`)."""

    job: Job
    directory: Path
    group_file: Path
    log: JobLog
    watch: Watch

    def boot_directory(self, boot: int) -> Path:
        """Where a boot leaves its results; the revision in the name helps readers of results."""
        return self.directory / f"{self.job.revision}.boot{boot}"

    def empty_boot_directory(self, boot: int) -> None:
        """Without what an interrupted boot, or an earlier attempt, has left there."""
        directory = self.boot_directory(boot)
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)


class Lab(Protocol):
    """The seam between the loop and the machines."""

    def serves(self) -> list[dict[str, Any]]:
        """The machines, as a poll lists them."""
        ...

    def accept(self, job: Job) -> None:
        """Refuse (`StageFailed` of stage `lab`) what this lab does not serve."""
        ...

    def build(self, task: Task) -> str:
        """Have a kernel of the revision; the name of that build."""
        ...

    def digest(self, task: Task) -> str:
        """The SHA-256 of the kernel that was built, in hexadecimal; empty: this lab takes none."""
        ...

    def boots_first(self, job: Job) -> bool:
        """Whether `boot` is a step of its own; else the run does it."""
        ...

    def boots_within(self, job: Job) -> int:
        """How many boots one `run` measures, each by one value; 0: only the one it is called in."""
        ...

    def boot(self, task: Task, boot: int) -> None:
        """Boot the kernel that was built. Raises `StageFailed` of stage `boot`."""
        ...

    def identify(self, task: Task, boot: int) -> str:
        """What the running kernel is by its own account."""
        ...

    def run(self, task: Task, boot: int) -> Measurement:
        """Measure all iterations of this boot; or, where `boots_within`, all boots of the job."""
        ...

    def profiled_boots(self, job: Job) -> int:
        """How many boots are profiled after those that are measured."""
        ...

    def profile(self, task: Task, boot: int) -> dict[str, Any]:
        """Profile this boot; the document of the profile. Raises `StageFailed` of stage `run`."""
        ...

    def clean(self, task: Task) -> None:
        """Whatever is to be tidied when the job has ended."""
        ...


def is_served(serves: Mapping[str, Any], job: Job) -> bool:
    """Whether one line of `Lab.serves` covers the job."""
    modes, trees = serves["modes"], serves["trees"]
    return (
        serves["hardware"] == job.hardware
        and (modes is None or str(job.mode) in modes)
        and (trees is None or job.tree in trees)
    )


def accept_served(serves: list[dict[str, Any]], job: Job) -> None:
    """`StageFailed` where no line covers the job."""
    if not any(is_served(one, job) for one in serves):
        where = f"{job.tree} on {job.hardware} {job.mode}"
        raise StageFailed("lab", f"this agent does not serve {where}")


SHORTEST_HASH = 7

_NUMBERED = re.compile(r"[rnc]\d+")
_HASH = re.compile(r"[0-9a-f]{7,40}")
_HASH_WITHIN = re.compile(r"(?<![0-9A-Za-z])g?([0-9a-f]{7,40})(?![0-9A-Za-z])")


def check_kernel(job: Job, ident: str, when: str) -> None:
    """Raises StageFailed for a kernel that does not name the job's revision."""
    if not names_revision(ident, job.names):
        sentence = f"{ident[:300]!r} {when} does not name {' or '.join(job.names)}"
        raise StageFailed("boot", f"wrong kernel: {sentence}")


def names_revision(ident: str, names: Iterable[str]) -> bool:
    """Whether `ident` (a `uname -a`, or whatever `identify` prints) names one of `names`.

    `r303643` is also written `r303643M` (a changed checkout); a hash may be longer or shorter there
    than here, from seven digits on, and `git describe` puts a `g` before it.
    """
    return any(_names(ident, name) for name in names)


def _names(ident: str, name: str) -> bool:
    if _NUMBERED.fullmatch(name):
        return bool(re.search(rf"(?<![0-9A-Za-z]){name}[A-Z]*(?![0-9A-Za-z])", ident))
    if _HASH.fullmatch(name):
        found = _HASH_WITHIN.findall(ident)
        return any(one.startswith(name) or name.startswith(one) for one in found)
    return bool(re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", ident))


Report = Callable[[str, str], None]
"""Takes the stage and the progress in words."""


class Measuring:
    """One job on its way. Every finished step is on disk before the next begins.

    A boot that was interrupted is done again from its start: what a benchmark that was cut off left
    running on the machine would otherwise be measured along.
    """

    def __init__(
        self, task: Task, lab: Lab, progress: Progress, file: ProgressFile, report: Report
    ) -> None:
        self.task = task
        self.lab = lab
        self.progress = progress
        self.file = file
        self.report = report
        self._seconds: dict[str, float] = {}

    def measure_all(self) -> None:
        """Do what is left; `StageFailed` or `Stopped` where it does not get that far."""
        if self.progress.build_id is None:
            self._build()
        if within := self.lab.boots_within(self.task.job):
            self._measure_within(within)
        else:
            for boot in range(len(self.progress.boots), self.task.job.boots):
                self._finish([self._measure(boot, f"boot {boot + 1} of {self.task.job.boots}")])
        self._profile_all()

    def _measure_within(self, boots: int) -> None:
        """One run that boots the machine by itself: each of its values is a boot of its own."""
        if not self.progress.boots:
            self._finish(self._measure(0, f"{boots} boots").split())

    def _finish(self, records: Sequence[BootRecord]) -> None:
        for record in records:
            self.progress.finish_boot(record)
        self.file.save(self.progress)

    def _profile_all(self) -> None:
        """Profile what is left; where that fails, try no more. What was measured counts anyway."""
        wanted = self.lab.profiled_boots(self.task.job)
        if self.task.job.profile and not wanted:
            self._leave_unprofiled("the job asks for profiles, and this lab has no profile command")
        while len(self.progress.profiles) < wanted and not self.progress.unprofiled:
            number = len(self.progress.profiles)
            try:
                self._profile(len(self.progress.boots) + number, f"boot {number + 1} of {wanted}")
            except StageFailed as failure:
                reason = f"profile {number + 1} of {wanted} failed at {failure.stage}"
                self._leave_unprofiled(f"{reason}: {failure.reason}")

    def _profile(self, boot: int, of: str) -> None:
        self.task.empty_boot_directory(boot)
        if self.lab.boots_first(self.task.job):
            self._boot(boot, f"{of} for a profile")
        self._stage("run", f"profile in {of}")
        document = self.lab.profile(self.task, boot)
        self._identify(boot, "after the profile")
        path = self.task.directory / f"profile.boot{boot}.json"
        write_durably(path, json.dumps(document, allow_nan=False).encode())
        self.progress.finish_profile(path)
        self.file.save(self.progress)

    def _leave_unprofiled(self, reason: str) -> None:
        self.task.log.say(f"job {self.task.job.id}: {reason}")
        self.progress.unprofiled = reason
        self.file.save(self.progress)

    def _build(self) -> None:
        self._stage("build", f"build of {self.task.job.revision}")
        with self._timed("build"):
            build = self.lab.build(self.task)
            self.progress.digest = self.lab.digest(self.task)
        self.progress.build_id = build
        self.progress.build_seconds = self._seconds["build"]
        self.file.save(self.progress)

    def _measure(self, boot: int, of: str) -> BootRecord:
        self._seconds = {}
        self.task.empty_boot_directory(boot)
        if self.lab.boots_first(self.task.job):
            self._boot(boot, of)
        self._stage("run", f"run in {of}")
        with self._timed("run"):
            measured = self.lab.run(self.task, boot)
        ident = self._identify(boot, "after the run")
        self._check(measured)
        return BootRecord.of(measured.ident or ident, measured, self._seconds)

    def _boot(self, boot: int, of: str) -> None:
        self._stage("boot", of)
        with self._timed("boot"):
            self.lab.boot(self.task, boot)
        self._identify(boot, "after the boot")

    def _identify(self, boot: int, when: str) -> str:
        ident = self.lab.identify(self.task, boot)
        self.task.log.note(f"kernel {when}: {ident}")
        check_kernel(self.task.job, ident, when)
        return ident

    def _check(self, measured: Measurement) -> None:
        if measured.ident:
            check_kernel(self.task.job, measured.ident, "in the results")
        if not any(measured.values.values()) and not measured.histograms:
            raise StageFailed("run", "the run left no value")
        wanted = self.task.job.metric
        if wanted and wanted not in measured.names:
            found = ", ".join(measured.names)
            raise StageFailed("run", f"the job asks for {wanted}, the run gave {found}")

    def _stage(self, stage: str, text: str) -> None:
        self.task.watch.check()
        self.task.log.say(f"job {self.task.job.id}: {text}")
        self.report(stage, text)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self._seconds[stage] = time.monotonic() - start
