"""The commands `labagent login` and `labagent run`."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from labagent.cli_setup import service_file
from labagent.cli_shared import (
    World,
    admit,
    announce_leftovers,
    combined,
    complain,
    name_out_of_limits,
    one_line,
    override_options,
    run_lines,
    send,
    server_options,
    spool_option,
)
from labagent.client import Flags
from labagent.errors import NothingFoundError, SettingsError
from labagent.execution import CommandError, this_machine
from labagent.files import write_durably
from labagent.limits import UNIT
from labagent.model import Metric, Outcome, Run, Skip, Source, runs_of
from labagent.readers.formats import UnreadableError
from labagent.repetition import (
    REBOOT,
    RESUME,
    Asked,
    Reboots,
    Repetition,
    Series,
    measure,
    origin_of,
    plain,
)
from labagent.result_files import Origin, joined, runs_from
from labagent.settings import (
    FILE,
    NO_DIRECTION,
    SKIP,
    Directions,
    Settings,
    directions_given,
    load_settings,
    units_given,
)
from labagent.spool import Spool
from labagent.upload import spool_runs

MOST_REPEATS = 1000

file_options = combined(
    click.option("--format", "form", metavar="FORMAT", help="Read as this; else it is detected."),
    click.option(
        "--better",
        metavar="METRIC=more|less",
        multiple=True,
        help="Of a metric whose format does not state it; it is remembered.",
    ),
    click.option(
        "--unit",
        "units",
        metavar="METRIC=UNIT",
        multiple=True,
        help="The same of its unit.",
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
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--repeat", default=1, type=click.IntRange(1, MOST_REPEATS), metavar="N")
@click.option("--reboot", is_flag=True, help="Reboot this machine between repetitions.")
@click.option("--resume", is_flag=True, help="Go on with --reboot, after each boot.")
@click.option("--abandon", is_flag=True, help="Give up what --reboot began.")
@click.option("--service", is_flag=True, help="Print what calls --resume at each boot.")
@click.option(
    "--reboot-command",
    metavar="COMMAND",
    default=shlex.join(REBOOT),
    show_default=True,
    help="How this machine is rebooted.",
)
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
    reboot: bool,
    resume: bool,
    abandon: bool,
    service: bool,
    reboot_command: str,
    read_from: Path | None,
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
    reboots = Reboots(settings.spool)
    if service:
        arguments = ["run", "--resume", "--spool", str(settings.spool.absolute())]
        text = service_file("labagent-resume", arguments, world.environ, is_kept=False)
        click.echo(text, nl=False)
    elif abandon:
        reboots.forget()
    elif resume:
        _resume(world, settings, reboots)
    elif not command:
        raise click.UsageError("name the command to run, after --")
    else:
        asked = Asked(
            command=tuple(command),
            repeat=repeat,
            read_from=str(read_from.absolute()) if read_from else "",
            reboot=tuple(shlex.split(reboot_command)) if reboot else (),
            options={name: plain(value) for name, value in options.items()},
        )
        if reboot and dry_run:
            raise click.UsageError("--reboot sends; try the command with --dry-run alone")
        if reboot:
            _begin(world, settings, reboots, asked)
        else:
            _at_once(world, settings, asked, dry_run=dry_run)


def _at_once(world: World, settings: Settings, asked: Asked, *, dry_run: bool) -> None:
    if not dry_run:
        settings.need_server(), settings.need_token()
    origin = origin_of(this_machine(), asked.overrides, world.now().isoformat(), asked.command)
    directions = directions_of(settings, asked.options["better"], asked.options["units"])
    done: list[Repetition] = []
    while len(done) < asked.repeat:
        done.append(measure(asked, origin, done))
    runs, outcomes = _runs(asked, origin, done, [0] * asked.repeat, directions)
    for line in [json.dumps(one.document()) for one in runs] if dry_run else run_lines(runs):
        click.echo(line)
    complain(outcomes, every=True)
    if not dry_run:
        directions.save()
    if not runs:
        raise NothingFoundError("no metric with a direction was measured", NO_DIRECTION)
    if dry_run:
        name_out_of_limits(outcomes, every=True)
        return
    _Sending(world, settings, asked.flags).send(outcomes)


def _begin(world: World, settings: Settings, reboots: Reboots, asked: Asked) -> None:
    """The first repetition of a series, and a reboot."""
    server = settings.need_server()
    settings.need_token()
    with reboots.locked():
        if reboots.load():
            raise SettingsError(
                "a series with reboots is under way",
                "go on with it: labagent run --resume; or give it up: labagent run --abandon",
            )
        click.echo(RESUME, err=True)
        kernel, here = " ".join(os.uname()), str(Path.cwd())
        series = Series(
            asdict(asked), server, here, os.environ["PATH"], world.now().isoformat(), kernel
        )
        reboots.save(series)
        try:
            _advance(world, settings, reboots, series)
        except (CommandError, UnreadableError, SettingsError, NothingFoundError):
            begun = reboots.load()
            if begun and not begun.done:
                reboots.forget()
            raise


def _resume(world: World, settings: Settings, reboots: Reboots) -> None:
    """The next repetition of the series, or its end. Nothing where none is under way."""
    with reboots.locked():
        series = reboots.load()
        if series is None:
            click.echo("no series with reboots is under way", err=True)
        else:
            _advance(world, replace(settings, server=series.server), reboots, series)


def _advance(world: World, settings: Settings, reboots: Reboots, series: Series) -> None:
    """Measure in this boot unless that was done, then reboot or send. Raises SettingsError where
    another kernel runs than the first time."""
    asked = Asked.parse(series.arguments)
    if " ".join(os.uname()) != series.kernel:
        raise SettingsError(
            f"this is another kernel than that of the first repetition: {series.kernel}",
            "boot that one, or give the series up: labagent run --abandon",
        )
    origin = origin_of(this_machine(), asked.overrides, series.measured_at, asked.command)
    directions = directions_of(settings, asked.options["better"], asked.options["units"])
    boot, done = world.boot(), series.done
    if len(done) < asked.repeat and boot not in [one.boot for one in done]:
        found = measure(asked, origin, done, directory=series.directory, path=series.path)
        content, _ = directions.complete(found.content)
        directions.save()
        if not content.results:
            raise NothingFoundError("no metric with a direction was measured", NO_DIRECTION)
        done = (*done, replace(found, boot=boot))
        reboots.save(replace(series, done=done))
        click.echo(f"repetition {len(done)} of {asked.repeat} is done", err=True)
    if len(done) < asked.repeat:
        replace(reboots, command=asked.reboot).reboot()
        return
    runs, outcomes = _runs(asked, origin, done, range(asked.repeat), directions)
    for line in run_lines(runs):
        click.echo(line)
    complain(outcomes, every=True)
    _Sending(world, settings, asked.flags).send(outcomes, reboots.forget)


def _runs(
    asked: Asked,
    origin: Origin,
    done: Sequence[Repetition],
    boots: Sequence[int],
    directions: Directions,
) -> tuple[list[Run], list[Outcome]]:
    """The runs of the repetitions; the same with the metrics that have no direction."""
    content, left = directions.complete(joined([one.content for one in done], boots))
    sources = tuple(
        Source(f"run {number} of {asked.repeat}", one.digest) for number, one in enumerate(done, 1)
    )
    origin = replace(origin, sources=sources)
    runs = runs_from(content, done[-1].name, origin, asked.overrides.mode)
    return runs, [*runs, *(Skip(metric, NO_DIRECTION) for metric in left)]


@dataclass(frozen=True)
class _Sending:
    world: World
    settings: Settings
    flags: Flags

    def send(
        self, outcomes: Sequence[Outcome], is_spooled: Callable[[], None] = lambda: None
    ) -> None:
        """Spool the runs, call ``is_spooled``, and send what the spool holds."""
        kept = Spool(self.settings.server_spool)
        announce_leftovers(kept)
        aside = spool_runs(kept, (one.document() for one in runs_of(outcomes)), self.flags)
        is_spooled()
        access = (self.settings.need_server(), self.settings.need_token())
        with self.world.connect(*access) as client:
            tally = send(client, kept, outcomes, aside, self.flags, every=True)
        admit(outcomes, tally, kept)


def directions_of(settings: Settings, better: Sequence[str], units: Sequence[str]) -> Directions:
    """What --better and --unit state, what is remembered, and on a terminal what its user
    answers."""
    ask = _ask if sys.stdin.isatty() else (lambda _metric: None)
    return Directions(settings.spool / FILE, directions_given(better), ask, units_given(units))


def _ask(metric: Metric) -> str:
    if not metric.unit:
        answer = click.prompt(
            one_line(f"In which unit is {metric.name}? empty: skip"), default="", err=True
        )
        return SKIP if UNIT.fault(answer) else str(answer)
    question = f"Is more or less {metric.name} ({metric.unit}) better? more, less, or skip"
    answer = click.prompt(one_line(question), type=click.Choice(["more", "less", "skip"]), err=True)
    return SKIP if answer == "skip" else str(answer)
