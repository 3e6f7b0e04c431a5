"""A repetition of a command: what it is called, how it is run and read, also across reboots.

    <spool>/reboots.json     the series: what to run, where from, and each repetition that is done
    <spool>/reboots.lock     held by the process that goes on with it

A repetition is on disk before the machine is rebooted, with the boot that it was measured in. So
whatever kills the agent, a finished repetition is kept and not repeated, and none shares its boot.
"""

import fcntl
import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from labagent.cli_shared import overrides_of
from labagent.client import Flags
from labagent.errors import AgentError, SettingsError
from labagent.execution import Execution, Machine, execute
from labagent.files import write_durably
from labagent.model import Evidence, Histogram, Metric, Mode, Overrides
from labagent.readers import formats
from labagent.result_files import Origin, read_result_file

MOST_LABEL = 300
UNKNOWN = "what it prints is in no format that is known: its times count; --format names a format"
OVERRIDES = ("tree", "hardware", "mode", "revision", "position", "trust", "session")


@dataclass(frozen=True)
class Asked:
    """What is measured; `options` are those of the command line that name what a run is called and
    how it is sent. All of it can be written as JSON."""

    command: tuple[str, ...]
    repeat: int
    read_from: str
    reboot: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def parse(cls, arguments: Mapping[str, Any]) -> "Asked":
        """The same from a series on disk."""
        found = {**arguments, "command": tuple(arguments["command"])}
        return cls(**{**found, "reboot": tuple(arguments["reboot"])})

    @property
    def overrides(self) -> Overrides:
        """Raises SettingsError."""
        mode = self.options["mode"]
        given = {name: self.options[name] for name in OVERRIDES}
        return overrides_of(**{**given, "mode": Mode.parse(mode) if mode else None})

    @property
    def flags(self) -> Flags:
        """How the server is to take the runs."""
        register = self.options["register"] or self.options["hardware"] is None
        return Flags(register, self.options["history"])

    @property
    def form(self) -> formats.Format | None:
        """The format that was named. Raises SettingsError."""
        return formats.format_named(self.options["form"]) if self.options["form"] else None


@dataclass(frozen=True)
class Repetition:
    """What one repetition gave: the workload's name, the format's (empty: times), the results, the
    digest of what was printed, and the boot that it was measured in."""

    name: str
    form: str
    content: formats.Content
    digest: str
    boot: str = ""

    def document(self) -> dict[str, Any]:
        """As it lies on disk."""
        return asdict(self)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Repetition":
        """The same from disk."""
        content = document["content"]
        results = [
            formats.Result(
                Metric(**one["metric"]),
                tuple(one["values"]),
                one["case"],
                tuple(
                    Histogram(tuple(each["values"]), tuple(each["counts"]))
                    for each in one["histograms"]
                ),
            )
            for one in content["results"]
        ]
        read = formats.Content(results, tuple(content["warnings"]), content["facts"])
        return cls(**{**document, "content": read})


def plain(value: Any) -> Any:
    """The value of an option as JSON has it."""
    return str(value) if isinstance(value, Mode) else value


def origin_of(
    machine: Machine, overrides: Overrides, measured_at: str, command: Sequence[str]
) -> Origin:
    """Where a measurement of this machine comes from. Raises SettingsError for what is neither
    known nor named."""
    tree, revision = overrides.tree or machine.tree, overrides.revision or machine.revision
    for name, value in (("tree", tree), ("revision", revision)):
        if not value:
            raise SettingsError(f"the running kernel names no {name}", f"pass --{name}")
    named = overrides.revision is not None
    return Origin(
        tree=tree,
        revision=revision,
        hardware=overrides.hardware or machine.name,
        build_id=f"{revision} on {machine.build_id}"[:300] if named else machine.build_id,
        kernel_ident=machine.kernel_ident,
        position=overrides.position if named else machine.position,
        measured_at=measured_at,
        facts={**machine.facts, "command": shlex.join(command), "label": _label(command)},
        evidence=Evidence(session=overrides.session) if overrides.session else None,
    )


def _label(command: Sequence[str]) -> str:
    return shlex.join([Path(command[0]).name, *command[1:]])[:MOST_LABEL]


def measure(
    asked: Asked,
    origin: Origin,
    done: Sequence[Repetition],
    *,
    directory: str | None = None,
    path: str | None = None,
) -> Repetition:
    """The next repetition, read as the first of those ``done`` was. Raises AgentError where the
    command fails or cannot be read so."""
    read_from = Path(asked.read_from) if asked.read_from else None
    if read_from:
        read_from.unlink(missing_ok=True)
    ended = execute(asked.command, directory, path)
    form = formats.format_named(done[0].form) if done and done[0].form else asked.form
    found, content = _content(ended, form, read_from, is_first=not done)
    if asked.repeat > 1:
        click.echo(f"{len(done) + 1} of {asked.repeat}: {ended.wall:.3g} s", err=True)
    named = found.name if found and not found.needs_metric else Path(asked.command[0]).name
    text = json.dumps([ended.stdout, ended.stderr, ended.wall])
    return Repetition(
        named, found.name if found else "", content, _digest(origin, len(done) + 1, text)
    )


def _content(
    done: Execution, form: formats.Format | None, read_from: Path | None, *, is_first: bool
) -> tuple[formats.Format | None, formats.Content]:
    """Of the file, else of what was printed where that is in a format, else of times."""
    if read_from:
        found, content = read_result_file(read_from, form)
        return found, content
    printed = [
        formats.Printed(done.stdout, "standard output"),
        formats.Printed(done.stderr, "standard error"),
    ]
    if is_first and form is None:
        form = next(filter(None, map(formats.detect, printed)), None)
    if form is None:
        if is_first and (done.stdout.strip() or done.stderr.strip()):
            click.echo(UNKNOWN, err=True)
        return None, done.content()
    claimed = next((one for one in printed if form.claims(one)), printed[0])
    return form, formats.read_results(claimed, form)


def _digest(origin: Origin, number: int, text: str) -> str:
    """Of a repetition: no two measurements are one, whatever they print."""
    identity = [origin.measured_at, number, text]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


REBOOT = ("shutdown", "-r", "now")
RESUME = "after the boot: labagent run --resume (`labagent run --service` prints what calls it)"


@dataclass(frozen=True)
class Series:
    """What is repeated: the arguments of `labagent run`, its server, where it was called, what the
    runs have in common, and the kernel; `done` grows by a repetition a boot."""

    arguments: Mapping[str, Any]
    server: str
    directory: str
    path: str
    measured_at: str
    kernel: str
    done: tuple[Repetition, ...] = ()


@dataclass
class Reboots:
    """The series of this machine, one at a time, in the directory of the spool."""

    spool: Path
    command: Sequence[str] = field(default=REBOOT)

    @property
    def file(self) -> Path:
        """Where the series lies."""
        return self.spool / "reboots.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the series. Raises SettingsError where another process does."""
        self.spool.mkdir(parents=True, exist_ok=True)
        with (self.spool / "reboots.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise SettingsError(
                    "another process goes on with this series", "let it end"
                ) from error
            yield

    def load(self) -> Series | None:
        """The series that is under way. Raises SettingsError where it cannot be read."""
        try:
            found = json.loads(self.file.read_text("utf-8"))
            done = tuple(Repetition.parse(one) for one in found.pop("done"))
            return Series(**found, done=done)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"cannot read {self.file}: {error}", "give it up: labagent run --abandon"
            ) from error

    def save(self, series: Series) -> None:
        """Put the series to disk; it is there once this returns."""
        write_durably(self.file, json.dumps(asdict(series)).encode())

    def forget(self) -> None:
        """Forget the series: its runs are in the spool, or it was given up."""
        self.file.unlink(missing_ok=True)

    def reboot(self) -> None:
        """Reboot the machine. Raises AgentError where that is refused."""
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, check=False)
            reason = done.stderr.strip() or f"ended with {done.returncode}"
            failed = done.returncode != 0
        except OSError as error:
            failed, reason = True, error.strerror or str(error)
        if failed:
            raise AgentError(
                f"{' '.join(self.command)}: {reason}",
                f"reboot the machine; nothing is lost; {RESUME}",
            )
