"""What a lab can do for a job. Each step either does it or raises `StageFailed`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from labagent.job import Job
from labagent.readers.results import Measurement
from labagent.work.logs import JobLog
from labagent.work.stops import StageFailed, Watch


@dataclass(frozen=True)
class Task:
    """A job in hand: `directory` is its own, `group_file` the worker's (see `processes`)."""

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
        """What the running kernel says it is."""
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
