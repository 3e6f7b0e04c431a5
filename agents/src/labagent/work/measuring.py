"""The stages of a job: build, then for each boot: boot, identify, run, identify.

Where the job asks for profiles, further boots are profiled: what is measured is never slowed down.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from labagent.disk import write_durably
from labagent.readers.results import Measurement
from labagent.work.identity import check_kernel
from labagent.work.lab import Lab, Task
from labagent.work.progress import BootRecord, Progress, ProgressFile
from labagent.work.stops import StageFailed

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
