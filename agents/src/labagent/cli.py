"""The command `labagent`. `run` is the one place that turns errors into exit codes."""

import json
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from labagent.cli_check import check
from labagent.cli_profile import (
    admit_profiles,
    count_profiles,
    name_unread,
    profile,
    send_profiles,
    spool_profiles,
    unread_profiles,
)
from labagent.cli_run import directions_of, file_options, login
from labagent.cli_run import run as run_command
from labagent.cli_setup import Check, check_lab, examine, hardware
from labagent.cli_shared import (
    World,
    admit,
    announce_leftovers,
    combined,
    complain,
    name_out_of_limits,
    override_options,
    overrides_of,
    reason_lines,
    run_lines,
    send,
    server_options,
    spool_option,
)
from labagent.cli_work import config_path, default_state, lab_settings, simulate, work
from labagent.client import Client, Flags, agent_version
from labagent.errors import AgentError, NothingFoundError, SettingsError
from labagent.job import Abandoned
from labagent.model import Outcome, Overrides, runs_of
from labagent.readers.benchlab import read_directories
from labagent.readers.formats import FORMATS, format_named
from labagent.result_files import Naming, runs_of_file
from labagent.settings import Directions, Settings, load_settings
from labagent.spool import Spool
from labagent.upload import Directory, Made, directories_of, send_experiments, spool_runs

INTERRUPTED = 130
BENCH_LAB = (
    "of directories, those of bench-lab are read (bench.*.receiver, bench.*.sender, bench.*.info,"
    " *.pps, *.equilibrium); name files of results one by one, in any of the formats"
    f" {', '.join(FORMATS)}"
)
REPORTS_SHOWN = 5


def directories_argument(*, required: bool) -> Callable[[Any], Any]:
    """The argument PATH..., each a directory or file; ``required``: at least one."""
    kind = click.Path(exists=True, path_type=Path)
    metavar = "PATH..." if required else "[PATH...]"
    return click.argument("directories", metavar=metavar, nargs=-1, required=required, type=kind)


@dataclass(frozen=True)
class Files:
    """How files of results are read: the format that was named, directions, and what a tracker's
    names are called here."""

    form: str | None
    directions: Directions
    naming: Naming


naming_options = combined(
    click.option(
        "--map",
        "mapped",
        metavar="KIND:NAME=NEW",
        multiple=True,
        help="What a tracker's branch (tree:NAME=TREE) or machine (hardware:NAME=HW) is called.",
    ),
    click.option(
        "--order",
        type=click.Choice(["date"]),
        help="Place a tracker's revisions by the dates of their commits.",
    ),
)
every_option = click.option(
    "-v", "--verbose", "every", is_flag=True, help="Name all that was skipped, not three of a kind."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(agent_version())
def cli() -> None:
    """Read a lab's benchmark results and upload them to Driftline, or measure what it asks for."""


@cli.command()
@directories_argument(required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document a run, one a line.")
@every_option
@file_options
@naming_options
@override_options
@click.pass_obj
def parse(
    world: World,
    /,
    directories: Sequence[Path],
    *,
    as_json: bool,
    every: bool,
    form: str | None,
    better: Sequence[str],
    units: Sequence[str],
    mapped: Sequence[str],
    order: str | None,
    **options: Any,
) -> None:
    """Read bench directories, at any level of an archive, or files of results, and print their
    runs."""
    directions = directions_of(load_settings(world.environ), better, units)
    given = Files(form, directions, Naming.of(mapped, by_date=order == "date"))
    outcomes = read(directories, overrides_of(**options), given)
    runs = runs_of(outcomes)
    lines = (json.dumps(run.document()) for run in runs) if as_json else run_lines(runs)
    for line in lines:
        click.echo(line)
    complain(outcomes, every=every)
    name_out_of_limits(outcomes, every=every)
    if found := count_profiles(runs):
        click.echo(found, err=True)
    admit(outcomes)


@cli.command()
@directories_argument(required=False)
@server_options
@file_options
@naming_options
@override_options
@click.option("--register", is_flag=True, help="Add hardware that the server does not know.")
@click.option("--history", is_flag=True, help="These runs are old: nobody is to be mailed.")
@click.option("--rejected", is_flag=True, help="Send again what the server refused before.")
@click.option("--replace", is_flag=True, help="Let other content take a stored run's place.")
@click.option(
    "--report",
    "--experiment",
    "experiment",
    metavar="NAME",
    default="",
    help="Make one report of all that is sent.",
)
@click.option(
    "--baseline",
    metavar="SIDE",
    default="",
    help="What the others are compared with in a report: a revision, an option, a workload.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be sent; send and spool nothing.")
@every_option
@spool_option
@click.pass_obj
def upload(
    world: World,
    /,
    directories: Sequence[Path],
    *,
    server: str | None,
    token: str | None,
    spool: Path | None,
    register: bool,
    history: bool,
    rejected: bool,
    replace: bool,
    dry_run: bool,
    every: bool,
    experiment: str,
    baseline: str,
    form: str | None,
    better: Sequence[str],
    units: Sequence[str],
    mapped: Sequence[str],
    order: str | None,
    **options: Any,
) -> None:
    """Send the runs of bench directories and files of results; without any, what an earlier call
    could not send.

    Runs are spooled before they are sent, so an interrupted upload goes on where it stopped, and
    sending twice stores once. A directory with two sides (kernels, sets of options, workloads)
    becomes a report with the text of its README, also where some of its runs are refused.
    Profiles beside the runs are sent after them.
    """
    settings = load_settings(world.environ, server=server, token=token, spool=spool)
    overrides, directions = overrides_of(**options), directions_of(settings, better, units)
    given = Files(form, directions, Naming.of(mapped, by_date=order == "date"))
    if dry_run:
        if rejected:
            raise click.UsageError("--dry-run reads directories and files; --rejected sends")
        rehearse(settings, directories, overrides, given, every=every)
        return
    url, secret = settings.need_server(), settings.need_token()
    outcomes = read(directories, overrides, given) if directories else []
    given.directions.save()
    complain(outcomes, every=every)
    kept = Spool(settings.server_spool)
    announce_leftovers(kept)
    flags = Flags(register, history, replace)
    documents = [run.document() for run in runs_of(outcomes)]
    if rejected:
        kept.take_back_profiles()
        read_again = {document["uuid"] for document in documents}
        documents += [run for run in kept.rejected_runs() if run["uuid"] not in read_again]
    aside = spool_runs(kept, documents, flags)
    outcomes += name_unread(spool_profiles(kept, runs_of(outcomes), aside), every=every)
    with world.connect(url, secret) as client:
        tally = send(client, kept, outcomes, aside, flags, every=every)
        profiles = send_profiles(client, kept, tally.failed)
        missing = tally.rejected.keys() | tally.failed.keys()
        reported = directories_of(runs_of(outcomes), experiment, baseline)
        make_reports(client, reported, missing, every=every)
    admit(outcomes, tally, kept)
    admit_profiles(profiles, kept)


def read(paths: Sequence[Path], overrides: Overrides, given: Files) -> list[Outcome]:
    """All outcomes; `NothingFoundError` where there is not even something to skip."""
    form = format_named(given.form) if given.form else None
    directories = [path for path in paths if path.is_dir()]
    outcomes = list(read_directories(directories, overrides)) if directories else []
    for path in paths:
        if path not in directories:
            outcomes += runs_of_file(path, form, overrides, given.directions, given.naming)
    if not outcomes:
        raise NothingFoundError(
            f"no benchmark results below {', '.join(map(str, directories))}",
            f"name an archive, a `results` directory or one below it; {BENCH_LAB}",
        )
    return outcomes


def rehearse(
    settings: Settings,
    paths: Sequence[Path],
    overrides: Overrides,
    given: Files,
    *,
    every: bool,
) -> None:
    """Print what an upload would send."""
    outcomes = read(paths, overrides, given) if paths else []
    runs = runs_of(outcomes)
    for line in run_lines(runs):
        click.echo(line)
    complain(outcomes, every=every)
    name_out_of_limits(outcomes, every=every)
    outcomes += name_unread(unread_profiles(runs), every=every)
    where = f"to {settings.server}" if settings.server else "(no server given yet)"
    if found := count_profiles(runs):
        click.echo(f"would send {found} as well")
    click.echo(f"would send {len(runs)} runs {where}; skipped {len(outcomes) - len(runs)}")
    admit(outcomes)


def make_reports(
    client: Client, directories: Sequence[Directory], missing: Collection[str], *, every: bool
) -> None:
    """Have the server make reports of the directories; on standard error where they are, why there
    is none of the others, and how many, also where that ends with an error."""
    if not directories:
        return
    made = Made(len(directories))
    try:
        send_experiments(client, directories, missing, made)
    finally:
        for address in made.addresses[:REPORTS_SHOWN]:
            click.echo(f"report {address}", err=True)
        for line in reason_lines("no report of", made.others, every=every):
            click.echo(line, err=True)
        of = "directory" if made.directories == 1 else "directories"
        reports = "report" if len(made.addresses) == 1 else "reports"
        count = f"{len(made.addresses)} {reports} of {made.directories} {of} made"
        click.echo(f"{count}: {client.server}/experiments/", err=True)
        for line in offer_lines(made.offers):
            click.echo(line, err=True)


def offer_lines(offers: Sequence[tuple[str, str, str]]) -> list[str]:
    """Which two directories may be one report, and where that is asked for; each two once."""
    pairs = {frozenset(names): (address, *names) for address, *names in offers}
    lines = [
        f"one report of {one} and {other} is offered: {address}"
        for address, one, other in pairs.values()
    ]
    more = len(lines) - REPORTS_SHOWN
    return lines[:REPORTS_SHOWN] + ([f"and {more} more such pairs"] if more > 0 else [])


@cli.command()
@click.option("--config", type=config_path, help="The lab's own file (TOML), as for `work`.")
@server_options
@spool_option
@click.pass_obj
def doctor(
    world: World,
    *,
    config: Path | None,
    server: str | None,
    token: str | None,
    spool: Path | None,
) -> None:
    """Print whether an upload can work: server, token, clock, spool; and whether jobs can: the
    lab's file and its commands."""
    checks, lab = [], None
    if config:
        lab, found = check_lab(config, world.environ, default_state)
        checks += found
    filed_server, filed_token = (lab.server, lab.token_file) if lab else ("", None)
    try:
        settings = lab_settings(world, server, token, filed_server, filed_token, spool=spool)
    except SettingsError as error:
        checks.append(Check("lab", good=False, text=error.message, remedy=error.remedy))
        settings = lab_settings(world, server, token, filed_server, None, spool=spool)
    click.echo(f"      configuration: {settings.config}")
    click.echo("\n".join(map(str, checks)), nl=bool(checks))
    for one in examine(settings, world.connect, world.now):
        click.echo(str(one))
        checks.append(one)
    if not all(one.good for one in checks):
        raise click.exceptions.Exit(1)


@cli.command()
def formats() -> None:
    """The formats that are read, and where the units and directions of each are known from."""
    for one in FORMATS.values():
        click.echo(f"{one.name:17} {one.source}")


cli.add_command(check)
cli.add_command(hardware)
cli.add_command(login)
cli.add_command(profile)
cli.add_command(run_command)
cli.add_command(work)
cli.add_command(simulate)


def announce_retry(details: RetryDetails) -> None:
    """Print that a request is tried again, and when."""
    reason = getattr(details.caused_by, "message", details.caused_by)
    click.echo(f"{reason}; trying again in {details.wait_for:.0f} s", err=True)


def run(arguments: Sequence[str] | None = None, world: World | None = None) -> int:
    """Run the command and return its exit code (docs/agent.md lists them)."""
    set_on_retry_hooks([announce_retry])  # the library's own would write to standard output
    try:
        code = cli.main(
            args=arguments, prog_name="labagent", standalone_mode=False, obj=world or World()
        )
    except AgentError as error:
        click.echo(f"labagent: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        click.echo(f"labagent: cannot read {error.filename}: {error.strerror}", err=True)
        return AgentError.exit_code
    except Abandoned as error:
        click.echo(f"labagent: {error}", err=True)
        return INTERRUPTED
    except (click.Abort, KeyboardInterrupt):
        click.echo("labagent: interrupted; run it again to go on", err=True)
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    sys.exit(run())
