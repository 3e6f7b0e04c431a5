"""The commands `labagent login` and `labagent run`."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from labagent.cli_overrides import (
    combined,
    override_options,
    overrides_of,
    server_options,
    spool_option,
)
from labagent.cli_sending import admit, announce_leftovers, complain, name_out_of_limits, send
from labagent.client import Flags
from labagent.directions import FILE, NO_DIRECTION, Directions, directions_given
from labagent.disk import write_durably
from labagent.errors import NothingFoundError, SettingsError
from labagent.execution import Execution, execute
from labagent.machine import Machine, this_machine
from labagent.measured import Origin, joined, runs_from
from labagent.model import Evidence, Metric, Outcome, Overrides, Skip, Source, runs_of
from labagent.readers.formats import Content, Format, Printed, detect, format_named, read_results
from labagent.report import one_line, run_lines
from labagent.result_files import read_result_file
from labagent.settings import Settings, load_settings
from labagent.spool import Spool
from labagent.upload import spool_runs
from labagent.world import World

MOST_REPEATS = 1000
MOST_LABEL = 300

file_options = combined(
    click.option("--format", "form", metavar="FORMAT", help="Read as this; else it is detected."),
    click.option(
        "--better",
        metavar="METRIC=more|less",
        multiple=True,
        help="Of a metric whose format does not state it; it is remembered.",
    ),
)


@click.command()
@click.argument("server", metavar="URL")
@click.option("--token", help="The agent's token; else it is asked for.")
@click.pass_obj
def login(world: World, *, server: str, token: str | None) -> None:
    """Check a server and a token, and keep both in this user's configuration."""
    settings = load_settings(world.environ, server=server)
    secret = token or click.prompt("token (`manage.py create_agent` prints one)", hide_input=True)
    with world.connect(settings.need_server(), secret) as client:
        who = client.whoami()
    kept = {"server": settings.need_server(), "token": secret, **_kept_spool(settings)}
    lines = [f"{name} = {json.dumps(text, ensure_ascii=False)}\n" for name, text in kept.items()]
    write_durably(settings.config, "".join(lines).encode())
    click.echo(f"agent {who.get('agent')} of lab {who.get('lab')}; kept in {settings.config}")


def _kept_spool(settings: Settings) -> dict[str, str]:
    """The line about the spool that the file has already."""
    kept = settings.filed.get("spool")
    return {"spool": kept} if kept else {}


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--repeat", default=1, type=click.IntRange(1, MOST_REPEATS), metavar="N")
@click.option(
    "--read",
    "read_from",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The command writes its results to this file.",
)
@file_options
@override_options
@click.option("--register", is_flag=True, help="Add the hardware named by --hardware.")
@click.option("--history", is_flag=True, help="These runs are old: nobody is to be mailed.")
@click.option("--dry-run", is_flag=True, help="Run it, and print what would be sent.")
@server_options
@spool_option
@click.pass_obj
def run(
    world: World,
    /,
    command: Sequence[str],
    *,
    repeat: int,
    read_from: Path | None,
    form: str | None,
    better: Sequence[str],
    register: bool,
    history: bool,
    dry_run: bool,
    server: str | None,
    token: str | None,
    spool: Path | None,
    **options: Any,
) -> None:
    """Run COMMAND, read what it prints, and send it as a measurement of the running kernel.

    In a format that is known its results are read; of any other command the wall time, the times
    of its processes and their peak memory. A first run adds this machine to the server.
    """
    settings = load_settings(world.environ, server=server, token=token, spool=spool)
    overrides = overrides_of(**options)
    url, secret = ("", "") if dry_run else (settings.need_server(), settings.need_token())
    machine, directions = this_machine(), directions_of(settings, better)
    origin = origin_of(machine, overrides, world.now(), command)
    wanted = format_named(form) if form else None
    name, content, digests = measure(command, repeat, wanted, read_from)
    content, left = directions.complete(content)
    sources = tuple(
        Source(f"run {number} of {repeat}", _digest(origin, number, text))
        for number, text in enumerate(digests, 1)
    )
    runs = runs_from(content, name, replace(origin, sources=sources), overrides.mode, 0)
    outcomes: list[Outcome] = [*runs, *(Skip(metric, NO_DIRECTION) for metric in left)]
    for line in [json.dumps(one.document()) for one in runs] if dry_run else run_lines(runs):
        click.echo(line)
    complain(outcomes, every=True)
    if not runs:
        raise NothingFoundError("no metric with a direction was measured", NO_DIRECTION)
    if dry_run:
        name_out_of_limits(outcomes, every=True)
        return
    directions.save()
    flags = Flags(register or overrides.hardware is None, history)
    _send(world, (url, secret), Spool(settings.server_spool), outcomes, flags)


def _send(
    world: World, access: tuple[str, str], kept: Spool, outcomes: list[Outcome], flags: Flags
) -> None:
    announce_leftovers(kept)
    aside = spool_runs(kept, runs_of(outcomes), flags)
    with world.connect(*access) as client:
        tally = send(client, kept, outcomes, aside, flags, every=True)
    admit(outcomes, tally, kept)


def directions_of(settings: Settings, better: Sequence[str]) -> Directions:
    """What --better says, what is remembered, and on a terminal what its user answers."""
    ask = _ask if sys.stdin.isatty() else (lambda _metric: "")
    return Directions(settings.spool / FILE, directions_given(better), ask)


def _ask(metric: Metric) -> str:
    question = f"Is more or less {metric.name} ({metric.unit}) better? more, less, or skip"
    answer: str = click.prompt(
        one_line(question), type=click.Choice(["more", "less", "skip"]), err=True
    )
    return "" if answer == "skip" else answer


def origin_of(
    machine: Machine, overrides: Overrides, now: datetime, command: Sequence[str]
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
        measured_at=now.isoformat(),
        facts={**machine.facts, "command": shlex.join(command), "label": _label(command)},
        evidence=Evidence(session=overrides.session) if overrides.session else None,
    )


def _label(command: Sequence[str]) -> str:
    return shlex.join([Path(command[0]).name, *command[1:]])[:MOST_LABEL]


def measure(
    command: Sequence[str], repeat: int, wanted: Format | None, read_from: Path | None
) -> tuple[str, Content, list[str]]:
    """The workload's name, the results of all repetitions, and the text of each.

    Raises AgentError where the command fails, or a repetition cannot be read as the first was.
    """
    contents, texts, form = [], [], wanted
    name = Path(command[0]).name
    for number in range(1, repeat + 1):
        if read_from:
            read_from.unlink(missing_ok=True)
        done = execute(command)
        found, content = _content(done, form, read_from, is_first=number == 1)
        form, name = found, found.name if found and not found.needs_metric else name
        contents.append(content)
        texts.append(json.dumps([done.stdout, done.stderr, done.wall]))
        if repeat > 1:
            click.echo(f"{number} of {repeat}: {done.wall:.3g} s", err=True)
    return name, joined(contents), texts


def _content(
    done: Execution, form: Format | None, read_from: Path | None, *, is_first: bool
) -> tuple[Format | None, Content]:
    """Of the file, else of what was printed where that is in a format, else of times."""
    if read_from:
        found, content = read_result_file(read_from, form)
        return found, content
    printed = [Printed(done.stdout, "standard output"), Printed(done.stderr, "standard error")]
    if is_first and form is None:
        form = next(filter(None, map(detect, printed)), None)
    if form is None:
        return None, done.content()
    claimed = next((one for one in printed if form.claims(one)), printed[0])
    return form, read_results(claimed, form)


def _digest(origin: Origin, number: int, text: str) -> str:
    """Of a repetition: no two measurements are one, whatever they print."""
    identity = [origin.measured_at, number, text]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()
