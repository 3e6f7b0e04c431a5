"""`labagent work --check`: what would run, with an example job filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from labagent.job import Job
from labagent.model import Mode
from labagent.work.command_lab import placeholders
from labagent.work.commands import shown
from labagent.work.config import TIMEOUTS, LabFile, Machine

EXAMPLE_REVISION = "r303643"


def describe(lab: LabFile, state: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """The configuration in lines for people, and what keeps its commands from being started by an
    agent with this environment."""
    yield f"{lab.path} is good; worker {lab.name}, state in {state}"
    for machine in lab.machines.values():
        yield from _machine(machine, state, machine.program_problems(environ))


def _machine(machine: Machine, state: Path, problems: Mapping[str, str]) -> Iterator[str]:
    modes = ", ".join(machine.modes) if machine.modes is not None else "any mode"
    trees = ", ".join(machine.trees) if machine.trees is not None else "any tree"
    yield f"{machine.name}: {modes}; {trees}; results as {machine.reader.name}"
    job = _example(machine)
    directory = state / "jobs" / "1" / f"{job.revision}.boot0"
    values = placeholders(job, directory, least_boots=machine.least_boots)
    for name in TIMEOUTS:
        if command := machine.commands.get(name):
            yield f"  {name} ({command.timeout:g} s): {shown(command.filled(values))}"
            if name in problems:
                yield f"    {problems[name]}"
    if machine.least_boots:
        yield f"  one run boots the machine before each of its {values['boots']} iterations or more"
    elif "boot" not in machine.commands:
        yield "  no boot: the run boots the machine; the kernel is checked after it"


def _example(machine: Machine) -> Job:
    mode = Mode.parse(machine.modes[0] if machine.modes else "forwarding@inet4")
    tree = machine.trees[0] if machine.trees else "freebsd-head"
    return Job(1, tree, EXAMPLE_REVISION, machine.name, mode)
