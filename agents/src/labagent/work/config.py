"""The lab's own file: which machines it has and which commands build, boot and measure.

Keys of the top level that a `[[hardware]]` also knows are the default of all machines.
"""

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labagent.errors import SettingsError
from labagent.files import Table, read_toml
from labagent.job import MOST_BOOTS
from labagent.model import Metric, Mode
from labagent.work.commands import ALWAYS, READERS, Command, Reader, program_problem

LONGEST_POLL = 60.0
PASSED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SSH_AUTH_SOCK")
"""What commands see of the agent's environment; never its token."""

TIMEOUTS = MappingProxyType(
    {
        "has_build": 60,
        "build": 7200,
        "digest": 600,
        "boot": 1200,
        "identify": 60,
        "run": 7200,
        "profile": 7200,
        "clean": 600,
    }
)
"""Seconds a command may take where the file has none."""

_NUMBERED = re.compile(r"r([0-9]+)")

_WITHIN_A_BOOT = MappingProxyType(
    {
        "boot": ALWAYS | {"boot"},
        "identify": ALWAYS | {"boot"},
        "run": ALWAYS | {"boot", "iteration"},
        "profile": ALWAYS | {"boot", "output"},
    }
)
_MACHINE_KEYS = frozenset(
    {*TIMEOUTS, "modes", "trees", "rebuilds", "least_boots"}
    | {"result", "metric", "environment", "pass"}
)


@dataclass(frozen=True)
class Machine:
    """One hardware that the lab serves. `modes` are whole modes as the server names them, None any;
    so are `trees`. Without `boot` the run boots the machine by itself. With `least_boots` above 0
    one run boots it before each of its iterations, and has at least so many."""

    name: str
    commands: Mapping[str, Command]
    reader: Reader
    metric: Metric | None = None
    modes: tuple[str, ...] | None = None
    trees: tuple[str, ...] | None = None
    rebuilds: bool = False
    least_boots: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = PASSED

    def serves(self) -> dict[str, Any]:
        """What a poll states of this machine."""
        return {
            "hardware": self.name,
            "modes": None if self.modes is None else list(self.modes),
            "trees": None if self.trees is None else list(self.trees),
            "rebuilds": self.rebuilds,
        }

    def environment_of(self, agent: Mapping[str, str]) -> dict[str, str]:
        """All that the commands see of an agent with this environment."""
        passed = {name: agent[name] for name in self.passed if name in agent}
        return {**passed, **self.environment}

    def program_problems(self, agent: Mapping[str, str]) -> dict[str, str]:
        """Why commands cannot be started, by their names."""
        path = self.environment_of(agent).get("PATH")
        programs = {
            name: "/bin/sh" if command.shell else command.arguments[0]
            for name, command in self.commands.items()
        }
        found = {name: program_problem(program, path) for name, program in programs.items()}
        return {name: problem for name, problem in found.items() if problem}

    def problem(self, revision: str) -> str | None:
        """Why the commands cannot be filled in for this revision, in words."""
        users = [one.key for one in self.commands.values() if one.uses("number")]
        if not users or number_of(revision):
            return None
        return (
            f"{users[0]} uses {{number}}, and revision {revision!r} has none: only an r and digits"
            " has, as r303643; write {revision} there"
        )


def number_of(revision: str) -> str:
    """The digits of `r303643`, as bench-lab's images carry them; empty for any other revision."""
    match = _NUMBERED.fullmatch(revision)
    return match[1] if match else ""


@dataclass(frozen=True)
class LabFile:
    """The whole configuration."""

    path: Path
    name: str
    machines: Mapping[str, Machine]
    server: str = ""
    token_file: Path | None = None
    state: Path | None = None
    wait: float = 30.0


def load_lab(path: Path) -> LabFile:
    """The configuration in `path`; `SettingsError` names the key and what to write."""
    table = read_toml(path)
    shared = {key: table.get(key) for key in _MACHINE_KEYS if table.get(key) is not None}
    lab = LabFile(
        path=path,
        name=check_name(table, table.text("name", platform.node() or "agent")),
        server=table.text("server"),
        token_file=_path(table, "token_file"),
        state=_path(table, "state"),
        wait=table.number("wait", 30.0, 0.0, LONGEST_POLL),
        machines=_machines(table, shared),
    )
    table.finish()
    return lab


def check_name(table: Table, name: str) -> str:
    """``name`` as it is. Raises SettingsError beyond 100 characters or where some do not print."""
    if len(name) > 100 or not name.isprintable():
        raise table.error("name", f"is {name!r}", "write at most 100 printable characters")
    return name


def _path(table: Table, key: str) -> Path | None:
    """A path; a relative one is meant from the file's directory."""
    text = table.text(key)
    return table.path.parent / Path(text).expanduser() if text else None


def _machines(table: Table, shared: Mapping[str, Any]) -> dict[str, Machine]:
    machines: dict[str, Machine] = {}
    for number, one in enumerate(table.tables("hardware"), 1):
        name = one.need_word("name", 'write the name the server knows: "HW/NIC"')
        if name in machines:
            raise one.error("name", f"{name!r} is there twice", "one table for each hardware")
        own = {**shared, **table.get("hardware")[number - 1]}
        machines[name] = _machine(name, Table(own, table.path, f"hardware[{number}]"))
    if not machines:
        raise table.error("hardware", "is missing", 'write [[hardware]] with name = "HW/NIC"')
    return machines


def _machine(name: str, table: Table) -> Machine:
    table.text("name")
    reader, metric = _reader(table), _metric(table)
    if reader.needs_metric and metric is None:
        raise table.error(
            "metric", "is missing", 'write { name = "…", unit = "…", better = "more" }'
        )
    commands = _commands(table)
    machine = Machine(
        name,
        commands,
        reader,
        metric,
        modes=_modes(table),
        trees=table.texts("trees"),
        rebuilds=table.flag("rebuilds"),
        least_boots=_least_boots(table, commands),
        environment=_environment(table),
        passed=(*PASSED, *(table.texts("pass") or ())),
    )
    table.finish()
    return machine


def _least_boots(table: Table, commands: Mapping[str, Command]) -> int:
    least = table.number("least_boots", 0, 0, MOST_BOOTS)
    if least != int(least):
        raise table.error("least_boots", f"is {least:g}", "write a whole number")
    if least and "boot" in commands:
        raise table.error(
            "least_boots", "is there beside boot", "keep one: either boot or run boots the machine"
        )
    if least and not commands["run"].uses("boots"):
        raise table.error("run", "does not use {boots}", "pass it: least_boots asks for one run")
    if least and commands["run"].uses("iteration"):
        raise table.error("run", "uses {iteration}", "with least_boots it is called only once")
    return int(least)


def _modes(table: Table) -> tuple[str, ...] | None:
    modes = table.texts("modes")
    try:
        return None if modes is None else tuple(str(Mode.parse(mode)) for mode in modes)
    except SettingsError as error:
        raise table.error("modes", f"has a wrong one: {error.message}", error.remedy) from error


def _reader(table: Table) -> Reader:
    kind = table.text("result", "bench-lab")
    if kind not in READERS:
        raise table.error("result", f"is {kind!r}", f"write one of {', '.join(READERS)}")
    return READERS[kind]


def _metric(table: Table) -> Metric | None:
    inner = table.table("metric")
    if inner is None:
        return None
    metric = Metric(
        inner.need_text("name", 'such as "pps"'),
        inner.need_text("unit", 'such as "packets/s"'),
        inner.need_text("better", '"more" or "less"'),
    )
    if metric.better not in ("more", "less"):
        raise inner.error("better", f"is {metric.better!r}", 'write "more" or "less"')
    inner.finish()
    return metric


def _environment(table: Table) -> dict[str, str]:
    found = table.mapping("environment")
    for name, value in found.items():
        if not isinstance(value, str) or "\0" in value or "=" in name:
            raise table.error(f"environment.{name}", f"is {value!r}", 'write NAME = "text"')
    return found


def _commands(table: Table) -> dict[str, Command]:
    commands = {name: one for name in TIMEOUTS if (one := _command(table, name)) is not None}
    for needed in ("identify", "run"):
        if needed not in commands:
            raise table.error(needed, "is missing", 'write a command: ["program", "argument"]')
    if "profile" in commands and not commands["profile"].uses("output"):
        raise table.error("profile", "does not use {output}", "pass it: the profile is read there")
    if "has_build" in commands and "build" not in commands:
        raise table.error("build", "is missing", "has_build is whether build is needed")
    return commands


def _command(table: Table, name: str) -> Command | None:
    value = table.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        value = {"command": value}
    if not isinstance(value, dict):
        raise table.error(name, f"is {value!r}", 'write a command: ["program", "argument"]')
    inner = Table(value, table.path, table.key(name))
    shell = inner.flag("shell")
    arguments = (inner.need_text("command", '"…"'),) if shell else _arguments(inner)
    timeout = inner.number("timeout", float(TIMEOUTS[name]), 1.0, 1e7)
    inner.finish()
    command = Command(arguments, timeout, shell, table.key(name))
    known = _WITHIN_A_BOOT.get(name, ALWAYS)
    if problem := command.problem(known):
        listed = ", ".join(f"{{{word}}}" for word in sorted(known))
        raise table.error(name, problem, f"it may use {listed}; a brace itself is {{{{ or }}}}")
    return command


def _arguments(inner: Table) -> tuple[str, ...]:
    if isinstance(inner.get("command"), str):
        raise inner.error(
            "command", "is one text", 'write ["program", "argument"], or shell = true'
        )
    arguments = inner.texts("command")
    if not arguments or not arguments[0] or any("\0" in word for word in arguments):
        raise inner.error("command", "is empty", 'write ["program", "argument"]')
    return arguments
