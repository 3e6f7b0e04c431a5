"""The lab's commands: templates whose placeholders are filled in, the processes that run them, and
what `run` leaves behind, by the word `result` in the configuration.

A value never makes two arguments of one and never meets a shell, unless the file has `shell =
true`; then it is quoted.

The commands of a worker that was killed live on and would meet those of its successor. So each
holds a lock, passed on to its children, on the file that names its group; who comes next sees by
the lock whether something is still there, and ends it.

A result of the kind `bench-lab` is a directory, which the run fills as bench-lab's scripts do; any
other kind is a format in `labagent.readers.formats`, of the standard output of each iteration.
"""

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from labagent.errors import SettingsError
from labagent.files import MAX_LOG_BYTES, UnreadFileError, read_text, try_lock
from labagent.job import Job, JobLog, StageFailed, Watch
from labagent.model import (
    Finding,
    Histogram,
    Metric,
    Overrides,
    Run,
    derived_names,
    runs_of,
    safe_name,
    skips_of,
)
from labagent.readers.benchlab import read_directories
from labagent.readers.benchlab.drafts import parse_info
from labagent.readers.formats import (
    FORMATS,
    Content,
    Format,
    Printed,
    Result,
    UnreadableError,
    read_results,
)

ALWAYS = frozenset(
    [
        *("revision", "number", "tree", "hardware"),
        *("mode", "workload", "traffic", "options", "metric"),
        *("job", "build", "boots", "iterations", "directory"),
    ]
)
"""Placeholders that any command may use; `boot`, `iteration` and `output` only those within one."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BRACES = {"{{": "{", "}}": "}"}


@dataclass(frozen=True)
class Command:
    """One command of the configuration. `arguments`: the program first, or one line for the shell;
    `timeout` is in seconds, `key` its place in the file."""

    arguments: tuple[str, ...]
    timeout: float
    shell: bool = False
    key: str = ""

    def problem(self, known: frozenset[str]) -> str | None:
        """What is wrong with the placeholders, in words."""
        for word in self.arguments:
            for match in _PLACEHOLDER.finditer(word):
                if match[0] not in _BRACES and (match[1] or "") not in known:
                    return f"does not know {match[0]!r} in {word!r}"
        return None

    def uses(self, name: str) -> bool:
        """Whether the placeholder of this name stands in it."""
        found = (match for word in self.arguments for match in _PLACEHOLDER.finditer(word))
        return any(match[1] == name for match in found)

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """The arguments to execute."""
        if self.shell:
            quoted = {name: shlex.quote(value) for name, value in values.items()}
            return ["/bin/sh", "-c", _fill(self.arguments[0], quoted)]
        return [_fill(word, values) for word in self.arguments]


def _fill(template: str, values: Mapping[str, str]) -> str:
    """`template` with the placeholders replaced in one pass: what a value holds is not looked at
    again."""
    return _PLACEHOLDER.sub(lambda match: _BRACES.get(match[0]) or values[match[1]], template)


def shown(argv: list[str]) -> str:
    """A command as one would type it."""
    return shlex.join(argv)


def program_problem(program: str, path: str | None) -> str:
    """Why `program` cannot be started by whoever has this `PATH`, and the remedy; empty: it can."""
    if shutil.which(program, path=path):
        return ""
    where = [""] if os.sep in program else (path or os.defpath).split(os.pathsep)
    found = next((file for one in where if (file := Path(one) / program).exists()), None)
    if found is None and os.sep in program:
        return f"{program} does not exist on this machine"
    if found is None:
        return f"no program {program!r} on the PATH of the lab's commands, {path or os.defpath}"
    if found.is_dir():
        return f"{found} is a directory"
    return f"{found} is not executable: chmod +x {found}"


GRACE_SECONDS = 10.0
"""How long a group has between TERM and KILL."""

_LOOK_SECONDS = 0.1
_RESULTS_SECONDS = 1.0
_SAY_WHO_THEN_EXEC = 'echo $$ >"$0" && exec "$@"'
"""A shell that writes its own number, then becomes the command: from its first moment on the file
names whom to end. The command is passed as arguments, so the shell reads none of it."""


class TimedOut(Exception):
    """The command did not end in time."""


class Runner:
    """Runs commands for one job. `group_file` is the worker's; `environment` all that they see."""

    def __init__(
        self,
        log: JobLog,
        watch: Watch,
        group_file: Path,
        environment: Mapping[str, str],
        grace: float = GRACE_SECONDS,
    ) -> None:
        self.log = log
        self.watch = watch
        self.group_file = group_file
        self.environment = environment
        self.grace = grace

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        directory: Path,
        stdout: Path | None = None,
        look: Callable[[], None] | None = None,
    ) -> int:
        """The exit status (negative: a signal). Standard output goes to `stdout`, or to the log as
        standard error does. Raises `TimedOut`, why the watch stopped it, or what `look`, which is
        called every second meanwhile, raises: then it is ended."""
        self.watch.check()
        self._find(argv[0])
        self.log.note(f"$ {shown(list(argv))}")
        with contextlib.ExitStack() as files:
            errors = files.enter_context(self.log.path.open("ab"))
            output = files.enter_context(stdout.open("wb")) if stdout else errors
            process = self._start(argv, directory, output, errors)
        try:
            return self._wait(process, timeout, look)
        except BaseException:
            end_group(process.pid, self.grace)
            process.wait()
            raise

    def _find(self, program: str) -> None:
        if problem := program_problem(program, self.environment.get("PATH")):
            raise StageFailed("lab", problem)

    def _start(
        self, argv: Sequence[str], directory: Path, output: IO[bytes], errors: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        self.group_file.unlink(missing_ok=True)  # a daemon left by the last command keeps its own
        with self.group_file.open("wb") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return subprocess.Popen(
                ["/bin/sh", "-c", _SAY_WHO_THEN_EXEC, str(self.group_file), *argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=directory,
                env=dict(self.environment),
                pass_fds=[guard.fileno()],
                start_new_session=True,
            )

    def _wait(
        self, process: subprocess.Popen[bytes], timeout: float, look: Callable[[], None] | None
    ) -> int:
        now = time.monotonic()
        end, next_look = now + timeout, now
        while now < end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_SECONDS)
            self.watch.check()
            now = time.monotonic()
            if look and now >= next_look:
                look()
                next_look = now + _RESULTS_SECONDS
        raise TimedOut


def end_group(group: int, grace: float) -> None:
    """TERM a process group, and KILL what is left of it after `grace` seconds."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        end = time.monotonic() + grace
        while time.monotonic() < end:
            _reap(group)
            os.killpg(group, 0)
            time.sleep(0.02)
        os.killpg(group, signal.SIGKILL)


def _reap(group: int) -> None:
    """Collect the leader where it is our child: a zombie would keep its group alive."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)


def end_leftovers(group_file: Path, grace: float = GRACE_SECONDS) -> bool:
    """End what a killed worker left running; whether there was anything."""
    try:
        with group_file.open("rb") as guard:
            if try_lock(guard):
                return False
            group = int(guard.read() or 0)
    except (FileNotFoundError, ValueError):
        return False
    if group <= 1:
        return False
    end_group(group, grace)
    return True


__all__ = ["READERS", "Measurement", "Output", "Reader", "UnreadableError"]


@dataclass(frozen=True)
class Output:
    """What one boot left behind: its directory, and the standard output of each iteration."""

    directory: Path
    printed: Sequence[Path]


@dataclass(frozen=True)
class Measurement:
    """The samples or histograms of one boot by metric. `ident` is the kernel's where the files name
    it; `findings`, where the reader judges what it reads, has those of each sample."""

    values: Mapping[Metric, Sequence[float]]
    ident: str = ""
    warnings: Sequence[str] = field(default=())
    findings: Mapping[Metric, Sequence[Sequence[Finding]]] = field(default_factory=dict)
    histograms: Mapping[Metric, Sequence[Histogram]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The metrics, as the server has them."""
        derived = (derived_names(metric.name) for metric in self.histograms)
        return [*(metric.name for metric in self.values), *sorted(set().union(*derived))]


@dataclass(frozen=True)
class Reader:
    """How results of one kind are read; `needs_metric` where they do not name what they measure.

    `kernels` are what the files in a boot's directory show of the kernel while the run goes on.
    `ends_itself` where results show by themselves that they are complete, whatever the command that
    left them did afterwards.
    """

    name: str
    read: Callable[[Output, Job, Metric | None], Measurement]
    needs_metric: bool = False
    kernels: Callable[[Path], Iterable[str]] = lambda _directory: ()
    ends_itself: bool = False


def _read_benchlab(output: Output, job: Job, _metric: Metric | None) -> Measurement:
    """The one run of the directory. Its mode, tree and hardware are the job's."""
    overrides = Overrides(job.tree, job.hardware, job.mode)
    try:
        outcomes = list(read_directories([output.directory], overrides))
    except SettingsError as error:
        raise UnreadableError(
            f"{output.directory} holds the logs of more than one mode",
            "let the run measure one configuration with one traffic",
        ) from error
    runs = runs_of(outcomes)
    if len(runs) != 1:
        reasons = "; ".join(f"{skip.where}: {skip.reason}" for skip in skips_of(outcomes))
        found = f"{len(runs)} runs" if runs else "no run"
        raise UnreadableError(
            f"{output.directory} holds {found}" + (f" ({reasons})" * bool(reasons))
        )
    return _measurement(runs[0])


def _measurement(run: Run) -> Measurement:
    values = {samples.metric: samples.values for samples in run.samples}
    findings = {one.metric: one.findings for one in run.samples if one.findings is not None}
    return Measurement(values, run.kernel_ident, run.warnings, findings)


def _kernels(directory: Path) -> Iterator[str]:
    """What each whole `.info` names of the kernel: the script writes it before the first iteration.
    One that is being written is passed over."""
    for path in sorted(directory.rglob("bench*.info")):
        with suppress(UnreadFileError):
            info = parse_info(read_text(path))
            if info.uname and not info.old and not info.doubts:
                yield info.uname


def _reader_of(form: Format) -> Reader:
    """The reader of what `run` prints in this format."""
    read = partial(_read, form)
    return Reader(form.name, read, needs_metric=form.needs_metric, ends_itself=form.ends_itself)


def _read(form: Format, output: Output, job: Job, metric: Metric | None) -> Measurement:
    """The samples of all iterations. Raises UnreadableError."""
    if form.needs_metric and metric is None:
        raise UnreadableError("no metric is configured for these values")
    values: dict[Metric, list[float]] = {}
    histograms: dict[Metric, list[Histogram]] = {}
    warnings: dict[str, None] = {}
    for path in output.printed:
        content = read_results(Printed(_text(path), path.name, metric), form)
        warnings |= dict.fromkeys(content.warnings)
        for one in _of_the_job(content, job, path):
            if one.histograms:
                histograms.setdefault(one.metric, []).extend(one.histograms)
            else:
                values.setdefault(one.metric, []).extend(one.values)
    return Measurement(values, warnings=tuple(warnings), histograms=histograms)


def _text(path: Path) -> str:
    try:
        return read_text(path, MAX_LOG_BYTES)
    except UnreadFileError as error:
        raise UnreadableError(str(error)) from error


def _of_the_job(content: Content, job: Job, path: Path) -> Sequence[Result]:
    """The results of the one case, or of that which the job's workload is named after; only those
    whose direction is known."""
    cases = {one.case for one in content.results}
    wanted = job.mode.workload
    named = {case for case in cases if wanted.endswith(f".{safe_name(case)}")}
    if len(cases) > 1 and len(named) != 1:
        some = ", ".join(sorted(cases)[:5])
        raise UnreadableError(
            f"{path.name} holds {len(cases)} cases ({some})",
            f"name the workload after one of them, as {wanted}.{safe_name(min(cases))}",
        )
    of_one = [one for one in content.results if one.case in (named or cases)]
    known = [one for one in of_one if one.metric.better]
    if not known:
        raise UnreadableError(f"{path.name}: {of_one[0].metric.name} has no direction")
    return known


READERS: dict[str, Reader] = {
    one.name: one
    for one in (
        Reader("bench-lab", _read_benchlab, kernels=_kernels, ends_itself=True),
        *map(_reader_of, FORMATS.values()),
    )
}
