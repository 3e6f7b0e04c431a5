"""A lab whose steps are the commands of its configuration."""

import os
import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from labagent.errors import AgentError
from labagent.files import UnreadFileError, read_head, read_tail
from labagent.job import Job, StageFailed, printable
from labagent.model import clean
from labagent.readers.benchlab.kernel import bounded
from labagent.readers.profiles import read_profile
from labagent.work.commands import Command, Measurement, Output, Runner, TimedOut
from labagent.work.config import LabFile, Machine, number_of
from labagent.work.lab import Task, accept_served, check_kernel
from labagent.work.state import Builds

LONGEST_IDENT = 2000
"""Characters of an identity, as the server takes them."""

LONGEST_PRINTED = 64 * 1024
"""Bytes of a command's output that are read for an identity or a digest."""

LONGEST_QUOTED = 2000
"""Bytes at the end of a command's output in which its last line is looked for."""

_LAB_AT_FAULT = frozenset({75, 255})
"""Exit statuses that blame the lab: EX_TEMPFAIL of sysexits(3), and an ssh that did not connect."""

_NOT_CACHED = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")


class CommandFailed(StageFailed):
    """A command that ended by itself, with a status other than 0."""


class CommandLab:
    """Runs the commands of a `LabFile`."""

    def __init__(self, lab: LabFile, builds: Builds, environ: Mapping[str, str] = os.environ):
        self.lab = lab
        self.builds = builds
        self.environ = environ

    def serves(self) -> list[dict[str, Any]]:
        """What each machine can measure, as the poll states it."""
        return [machine.serves() for machine in self.lab.machines.values()]

    def accept(self, job: Job) -> None:
        """Raises StageFailed for a job that no machine serves, or whose revision lacks what the
        commands use."""
        accept_served(self.serves(), job)
        if problem := self._machine(job).problem(job.revision):
            raise StageFailed("lab", problem)

    def build(self, task: Task) -> str:
        """Build by the lab's command, unless it is built; its name. Raises StageFailed."""
        build = self._command(task, "build")
        if build is None:
            return self._plain_build(task.job)
        # The job's number and directory do not make another kernel.
        identity = build.filled({**placeholders(task.job, Path()), "job": ""})
        if not task.job.rebuild and self._has_build(task):
            task.log.say(f"{task.job.revision} is built already")
            return self.builds.last(identity) or self._plain_build(task.job)
        self._must(task, "build", "build", task.directory)
        name = bounded(f"{self._plain_build(task.job)} job {task.job.id}")
        self.builds.record(identity, name)
        return name

    def digest(self, task: Task) -> str:
        """SHA-256 of the kernel in hexadecimal, as the lab's command prints it; empty without one.

        Raises StageFailed.
        """
        if self._command(task, "digest") is None:
            return ""
        stdout = task.directory / "digest.out"
        self._must(task, "digest", "lab", task.directory, stdout=stdout)
        first = next(iter(_printed(stdout).split()), "").lower()
        if not _SHA256.fullmatch(first):
            sentence = printable(clean(first))[:80]
            raise StageFailed(
                "lab", f"digest printed {sentence!r} first, not the 64 digits of a SHA-256"
            )
        return first

    def boots_first(self, job: Job) -> bool:
        """Whether the machine is booted by a command of the lab."""
        return "boot" in self._machine(job).commands

    def boots_within(self, job: Job) -> int:
        """How many boots one run measures: 0, the one it is called in."""
        least = self._machine(job).least_boots
        return max(least, job.boots) if least else 0

    def boot(self, task: Task, boot: int) -> None:
        """Boot by the lab's command. Raises StageFailed."""
        self._must(task, "boot", "boot", task.boot_directory(boot), boot=boot)

    def identify(self, task: Task, boot: int) -> str:
        """What the lab's command prints of the kernel that runs. Raises StageFailed."""
        directory = task.boot_directory(boot)
        stdout = task.directory / "identify.out"
        self._must(task, "identify", "boot", directory, stdout=stdout, boot=boot)
        return printable(clean(" ".join(_printed(stdout).split())))[:LONGEST_IDENT]

    def run(self, task: Task, boot: int) -> Measurement:
        """Measure each iteration by the lab's command. Raises StageFailed.

        A command that fails when its results are there (a script whose last line mails them) costs
        none of them, where the reader can see that they are complete.
        """
        directory = task.boot_directory(boot)
        within = self.boots_within(task.job)
        times = 1 if within else task.job.iterations
        printed: list[Path] = []
        warnings = []
        for iteration in range(1, times + 1):
            stdout = task.directory / f"run.boot{boot}.{iteration}.out"
            printed.append(stdout)
            try:
                self._must(
                    task, "run", "run", directory, stdout=stdout, boot=boot, iteration=iteration
                )
            except CommandFailed as failure:
                if not self._is_complete(task, Output(directory, printed), within or iteration):
                    raise
                warnings.append(f"{failure.reason}; its results are complete, and were kept")
        measured = self._read(task, Output(directory, printed))
        if times != task.job.iterations:
            asked = f"{task.job.iterations} iterations a boot were asked for"
            warnings.append(f"{asked}; this lab measures 1")
        return replace(measured, warnings=(*measured.warnings, *warnings))

    def _read(self, task: Task, output: Output) -> Measurement:
        machine = self._machine(task.job)
        try:
            return machine.reader.read(output, task.job, machine.metric)
        except (AgentError, OSError) as error:
            raise StageFailed("run", f"no result: {error}") from error

    def _is_complete(self, task: Task, output: Output, wanted: int) -> bool:
        """Whether there is a value for each of `wanted` iterations, by a reader that can count."""
        if not self._machine(task.job).reader.ends_itself:
            return False
        try:
            measured = self._read(task, output)
        except StageFailed:
            return False
        found = (*measured.values.values(), *measured.histograms.values())
        return set(map(len, found)) == {wanted}

    def profiled_boots(self, job: Job) -> int:
        """As many as are measured, where the job asks and the lab has a command."""
        return job.boots if job.profile and "profile" in self._machine(job).commands else 0

    def profile(self, task: Task, boot: int) -> dict[str, Any]:
        """The profile that the lab's command leaves, with the rate that its output has.

        Raises StageFailed.
        """
        directory = task.boot_directory(boot)
        output = Path(placeholders(task.job, directory, boot=boot)["output"])
        stdout = task.directory / f"profile.boot{boot}.out"
        self._must(task, "profile", "run", directory, stdout=stdout, boot=boot)
        try:
            profile = read_profile(output)
        except UnreadFileError as error:
            raise StageFailed("run", f"no profile: {error}") from error
        profile.pps = self._rate(task, Output(directory, [stdout]))
        return profile.document()

    def _rate(self, task: Task, output: Output) -> float | None:
        """The packets/s while a profile was taken; None where the command printed none."""
        try:
            values = self._read(task, output).values
        except StageFailed as failure:
            task.log.note(f"the rate of the profiled boot is not known: {failure.reason}")
            return None
        found = [
            one for metric, samples in values.items() if metric.name == "pps" for one in samples
        ]
        return statistics.median(found) if found else None

    def clean(self, task: Task) -> None:
        """Tidy up by the lab's command, if it has one. Raises StageFailed."""
        if self._command(task, "clean"):
            self._must(task, "clean", "lab", task.directory)

    def _machine(self, job: Job) -> Machine:
        return self.lab.machines[job.hardware]

    def _command(self, task: Task, name: str) -> Command | None:
        return self._machine(task.job).commands.get(name)

    def _plain_build(self, job: Job) -> str:
        return bounded(f"{self.lab.name} {job.revision}")

    def _has_build(self, task: Task) -> bool:
        if self._command(task, "has_build") is None:
            return False
        status = self._status(task, "has_build", "lab", task.directory)
        if status not in (0, _NOT_CACHED):
            raise StageFailed("lab", f"has_build ended with {status}, neither 0 nor 1")
        return status == 0

    def _must(self, task: Task, name: str, stage: str, directory: Path, **more: Any) -> None:
        """Run a command that has to end with 0."""
        status = self._status(task, name, stage, directory, **more)
        if status:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
            blamed = "lab" if status < 0 or status in _LAB_AT_FAULT else stage
            error = StageFailed if status < 0 else CommandFailed
            raise error(blamed, f"{name} {how}{_last_output(task, more.get('stdout'))}")

    def _status(
        self,
        task: Task,
        name: str,
        stage: str,
        directory: Path,
        *,
        stdout: Path | None = None,
        **more: Any,
    ) -> int:
        machine = self._machine(task.job)
        command = machine.commands[name]
        values = placeholders(task.job, directory, least_boots=machine.least_boots, **more)
        argv = command.filled(values)
        environment = machine.environment_of(self.environ)
        runner = Runner(task.log, task.watch, task.group_file, environment)
        try:
            return runner.run(
                argv,
                timeout=command.timeout,
                directory=directory,
                stdout=stdout,
                look=partial(self._check_results, task, directory) if name == "run" else None,
            )
        except TimedOut as error:
            late = f"{name} did not end in {command.timeout:g} s"
            raise StageFailed(stage, late + _last_output(task, stdout)) from error
        except OSError as error:
            raise StageFailed("lab", f"{name} cannot be started: {error}") from error

    def _check_results(self, task: Task, directory: Path) -> None:
        """Raises StageFailed as soon as the results name another kernel: to measure it to the end
        would be for nothing."""
        for ident in self._machine(task.job).reader.kernels(directory):
            check_kernel(task.job, ident, "in the results")


def placeholders(
    job: Job,
    directory: Path,
    *,
    least_boots: int = 0,
    boot: int = 0,
    iteration: int = 1,
) -> dict[str, str]:
    """What stands for each placeholder. Boots count from 0, iterations from 1."""
    return {
        "revision": job.revision,
        "number": number_of(job.revision),
        "tree": job.tree,
        "hardware": job.hardware,
        "mode": str(job.mode),
        "workload": job.mode.workload,
        "traffic": job.mode.traffic or "",
        "options": ",".join(job.mode.options),
        "metric": job.metric,
        "job": str(job.id),
        "build": job.build_key or (f"job{job.id}" if job.rebuild else ""),
        "boots": str(max(job.boots, least_boots)),
        "iterations": str(job.iterations),
        "directory": str(directory),
        "boot": str(boot),
        "iteration": str(iteration),
        "output": str(directory / f"profile.boot{boot}"),
    }


def _printed(stdout: Path) -> str:
    """What a command printed; of a flood, the start."""
    return read_head(stdout, LONGEST_PRINTED).decode("utf-8", "replace")


def _last_output(task: Task, stdout: Path | None) -> str:
    """What the command printed last, on standard error or else on its own output, in one line."""
    lines = [line.strip() for line in task.log.tail(LONGEST_QUOTED).splitlines() if line.strip()]
    if stdout and lines and _is_own(lines[-1]):
        lines = [line.strip() for line in _end(stdout).splitlines() if line.strip()]
    return f": {printable(lines[-1])[:200]}" if lines and not _is_own(lines[-1]) else ""


def _end(path: Path) -> str:
    """The end of what a command printed; nothing where it never began."""
    try:
        return read_tail(path, LONGEST_QUOTED).decode("utf-8", "replace")
    except UnreadFileError:
        return ""


def _is_own(line: str) -> bool:
    """Whether the log's last line is the agent's own note of the command."""
    return line[20:22] == "$ "
