"""The commands `labagent work` and `labagent simulate`."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import platformdirs

from labagent.cli_setup import service_file
from labagent.cli_shared import FiniteRange, World
from labagent.errors import SettingsError
from labagent.job import Job
from labagent.model import Mode, safe_name
from labagent.settings import SERVER_VARIABLE, TOKEN_VARIABLE, Settings, load_settings
from labagent.simulate import FaultyApi, Silence, SimulatedLab, run_several
from labagent.simulate.truth import Truth, load_truth
from labagent.work.api import JobsApi
from labagent.work.command_lab import CommandLab, placeholders
from labagent.work.commands import shown
from labagent.work.config import LONGEST_POLL, TIMEOUTS, LabFile, Machine, load_lab
from labagent.work.state import StateDirectory
from labagent.work.worker import Worker, run_until_stopped

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


Option = Callable[[Any], Any]

config_path = click.Path(exists=True, dir_okay=False, path_type=Path)
server_option = click.option("--server", metavar="URL", help=f"The server; else {SERVER_VARIABLE}.")
token_option = click.option(
    "--token-file", type=config_path, help=f"Holds the agent's token; else {TOKEN_VARIABLE}."
)
state_option = click.option(
    "--state", type=click.Path(file_okay=False, path_type=Path), help="Where jobs wait on disk."
)


@click.command()
@click.option("--config", required=True, type=config_path, help="The lab's own file (TOML).")
@click.option("--check", is_flag=True, help="Say whether the file is good and what would run.")
@click.option("--service", is_flag=True, help="Print the file that starts this at each boot.")
@click.option("--drain", is_flag=True, help="Ask the worker that runs to end after its job.")
@click.option("--name", help="The worker's name, one for each; else that of the file.")
@server_option
@token_option
@state_option
@click.pass_obj
def work(
    world: World,
    *,
    config: Path,
    check: bool,
    service: bool,
    drain: bool,
    name: str | None,
    server: str | None,
    token_file: Path | None,
    state: Path | None,
) -> None:
    """Measure what the server asks for, by the lab's own commands.

    SIGTERM or Ctrl-C ends after the job in hand, a second one at once. Either way, and when killed,
    the next start goes on where this one stopped.
    """
    lab = load_lab(config)
    worker = name or lab.name
    directory = StateDirectory(state or lab.state or default_state(worker))
    if service:
        paths = {"--config": config, "--state": state, "--token-file": token_file}
        given = {"--name": name, "--server": server}
        given |= {option: str(path.absolute()) for option, path in paths.items() if path}
        options = [part for option, text in given.items() if text for part in (option, text)]
        text = service_file("labagent", ["work", *options], world.environ, is_kept=True)
        click.echo(text, nl=False)
        return
    if check:
        click.echo("\n".join(describe(lab, directory.path, world.environ)))
        refuse_problems(lab, world)
        return
    if drain:
        directory.ask_to_drain()
        click.echo(f"{worker} ends after its job")
        return
    address, secret = find_access(world, server, token_file, lab.server, lab.token_file)
    with world.connect(address, secret) as client:
        api = JobsApi(client, worker)
        commands = CommandLab(lab, directory.builds, world.environ)
        say(f"{worker} asks {address} for jobs; state in {directory.path}")
        run_until_stopped(
            Worker(api, commands, directory, say=say, wait=lab.wait, now=world.now), say
        )


@click.command()
@click.option("--truth", "--config", "path", required=True, type=config_path, help="What is true.")
@click.option("--check", is_flag=True, help="Say whether the file is good.")
@click.option("--speed", default=60.0, type=FiniteRange(min=1e-3), show_default=True)
@click.option("--seed", type=int, help="Of all noise and faults; else that of the file.")
@click.option("--name", default="sim-1", show_default=True, help="The worker's name.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), show_default=True)
@click.option("--wait", default=5.0, type=FiniteRange(0.0, LONGEST_POLL), show_default=True)
@click.option("--parent", type=int, hidden=True, help="Leave when this process is gone.")
@server_option
@token_option
@state_option
@click.pass_obj
def simulate(
    world: World,
    *,
    path: Path,
    check: bool,
    speed: float,
    seed: int | None,
    name: str,
    workers: int,
    wait: float,
    parent: int | None,
    server: str | None,
    token_file: Path | None,
    state: Path | None,
) -> None:
    """Work as a lab that does not exist, whose answers follow from a known truth.

    Durations are divided by --speed. Several --workers are a process each: NAME-1, NAME-2, …
    """
    truth = load_truth(path, seed)
    if check:
        click.echo(f"{path} is good: {', '.join(truth.machines)}; {len(truth.steps)} steps")
        return
    if workers > 1:
        run_several(sys.argv[1:], name, workers, state, say)
        return
    address, secret = find_access(world, server, token_file)
    with world.connect(address, secret) as client:
        directory = StateDirectory(state or default_state(name))
        silence = Silence()
        worker = Worker(
            FaultyApi(client, name, truth, silence),
            SimulatedLab(truth, name, speed, silence),
            directory,
            say=say,
            wait=wait,
            now=shifted(world, truth),
        )
        say(f"{name} simulates {len(truth.machines)} machines for {address}, {speed:g} x")
        run_until_stopped(worker, say, lambda: parent in (None, os.getppid()))


def refuse_problems(lab: LabFile, world: World) -> None:
    """Raises SettingsError where a command of the lab cannot be started."""
    found = [one.program_problems(world.environ) for one in lab.machines.values()]
    if count := sum(map(len, found)):
        what = "1 command" if count == 1 else f"{count} commands"
        raise SettingsError(f"{what} cannot be started on this machine", "see the lines above")


def say(text: str) -> None:
    """One line with its time, on standard error."""
    click.echo(f"{World().now().astimezone():%Y-%m-%d %H:%M:%S} {text}", err=True)


def shifted(world: World, truth: Truth) -> Callable[[], Any]:
    """The clock of an agent that may be off."""
    off = timedelta(seconds=truth.faults.clock_seconds)
    return lambda: world.now() + off


def default_state(worker: str) -> Path:
    """The directory in which a worker of this name keeps its state, where none was named."""
    return platformdirs.user_state_path("labagent") / "work" / safe_name(worker)


def find_access(
    world: World,
    server: str | None,
    token_file: Path | None,
    filed_server: str = "",
    filed_token: Path | None = None,
) -> tuple[str, str]:
    """Where to ask for jobs (address), and as whom (token). Options win over the environment, that
    over the lab's file, that over `config.toml`."""
    token = read_token(token_file) if token_file else None
    settings = lab_settings(world, server, token, filed_server, filed_token)
    return settings.need_server(), settings.need_token()


def lab_settings(
    world: World,
    server: str | None,
    token: str | None,
    filed_server: str,
    filed_token: Path | None,
    *,
    spool: Path | None = None,
) -> Settings:
    """The settings, in that order. Raises SettingsError for a file without a token."""
    environ = world.environ
    token = token or environ.get(TOKEN_VARIABLE)
    return load_settings(
        environ,
        server=server or environ.get(SERVER_VARIABLE) or filed_server,
        token=token or (read_token(filed_token) if filed_token else None),
        spool=spool,
    )


def read_token(path: Path) -> str:
    """The token in the file ``path``. Raises SettingsError where none can be read there."""
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"cannot read the token in {path}: {error}", "correct the path"
        ) from error
    if not token or not token.isascii() or not token.isprintable():
        raise SettingsError(
            f"{path} holds no token", "put the one line there that create_agent printed"
        )
    return token
