"""`labagent work --check`: what would run, with an example job filled in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from labagent.job import Job
from labagent.model import Mode
from labagent.work.command_lab import placeholders
from labagent.work.commands import Command, shown
from labagent.work.config import TIMEOUTS, LabFile, Machine

EXAMPLE_REVISION = "r303643"


def describe(lab: LabFile, state: Path) -> Iterator[str]:
    """The configuration in lines for people."""
    yield f"{lab.path} is good; worker {lab.name}, state in {state}"
    for machine in lab.machines.values():
        yield from _machine(machine, state)


def _machine(machine: Machine, state: Path) -> Iterator[str]:
    modes = ", ".join(machine.modes) if machine.modes is not None else "any mode"
    trees = ", ".join(machine.trees) if machine.trees is not None else "any tree"
    yield f"{machine.name}: {modes}; {trees}; results as {machine.reader.name}"
    job = _example(machine)
    directory = state / "jobs" / "1" / f"{job.revision}.boot0"
    values = placeholders(job, directory, least_boots=machine.least_boots)
    for name in TIMEOUTS:
        if command := machine.commands.get(name):
            yield f"  {name} ({command.timeout:g} s): {shown(command.filled(values))}"
            yield from _missing(command)
    if machine.least_boots:
        yield f"  one run boots the machine before each of its {values['boots']} iterations or more"
    elif "boot" not in machine.commands:
        yield "  no boot: the run boots the machine; the kernel is checked after it"


def _missing(command: Command) -> Iterator[str]:
    program = "/bin/sh" if command.shell else command.arguments[0]
    if shutil.which(program) is None:
        yield f"    {program} is not on this machine's PATH"


def _example(machine: Machine) -> Job:
    mode = Mode.parse(machine.modes[0] if machine.modes else "forwarding@inet4")
    tree = machine.trees[0] if machine.trees else "freebsd-head"
    return Job(1, tree, EXAMPLE_REVISION, machine.name, mode)
