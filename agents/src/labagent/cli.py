"""The command `labagent`. `run` is the one place that turns errors into exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from labagent.cli_check import check
from labagent.cli_hardware import hardware
from labagent.cli_overrides import (
    override_options,
    overrides_of,
    server_options,
    spool_option,
)
from labagent.cli_profile import (
    admit_profiles,
    count_profiles,
    name_unread,
    profile,
    send_profiles,
)
from labagent.cli_work import config_path, default_state, lab_settings, simulate, work
from labagent.client import KEPT, Client, Flags
from labagent.doctor import Check, check_lab, examine
from labagent.errors import (
    AgentError,
    IncompleteError,
    NothingFoundError,
    RunsRejectedError,
    SettingsError,
    UnavailableError,
)
from labagent.experiments import Made, directories_of, send_experiments
from labagent.model import Outcome, Overrides, Run, Skip, runs_of, skips_of
from labagent.progress_bar import progress_bar
from labagent.readers.benchlab import read_directories
from labagent.report import reason_lines, run_lines, skip_reasons, warning_lines
from labagent.settings import Settings, load_settings
from labagent.spool import Spool
from labagent.upload import Sender, Tally, out_of_limits, spool_runs
from labagent.upload_profiles import spool_profiles, unread_profiles
from labagent.work.stops import Abandoned
from labagent.world import World

INTERRUPTED = 130
EXPERIMENTS_SHOWN = 5
FORMATS = (
    "what is read are directories of bench-lab (bench.*.receiver, bench.*.sender, bench.*.info,"
    " *.pps, *.equilibrium); results in JSON, CSV or text go to the server's API (POST"
    " /api/v1/runs, described at /api/docs), and `labagent work` reads them from a command of the"
    " lab"
)


class Directory(click.Path):
    """An existing directory. Of a file it is said where its like goes."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The path. Raises click.BadParameter."""
        if Path(value).is_file():
            self.fail(f"{value} is a file; {FORMATS}", param, ctx)
        return super().convert(value, param, ctx)


def directories_argument(*, required: bool) -> Callable[[Any], Any]:
    """The argument DIR..., each an existing directory; ``required``: at least one."""
    kind = Directory(exists=True, path_type=Path)
    metavar = "DIR..." if required else "[DIR...]"
    return click.argument("directories", metavar=metavar, nargs=-1, required=required, type=kind)


every_option = click.option(
    "-v", "--verbose", "every", is_flag=True, help="Name all that was skipped, not three of a kind."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labagent")
def cli() -> None:
    """Read a lab's benchmark results and upload them to Driftline, or measure what it asks for."""


@cli.command()
@directories_argument(required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document a run, one a line.")
@every_option
@override_options
def parse(
    directories: Sequence[Path],
    *,
    as_json: bool,
    every: bool,
    **options: Any,
) -> None:
    """Read bench directories, at any level of an archive, and print their runs."""
    outcomes = read(directories, overrides_of(**options))
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
@override_options
@click.option("--register", is_flag=True, help="Add hardware that the server does not know.")
@click.option("--history", is_flag=True, help="These runs are old: nobody is to be mailed.")
@click.option("--replace", is_flag=True, help="Let other content take a stored run's place.")
@click.option(
    "--experiment", metavar="NAME", default="", help="Make one experiment of all that is sent."
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
    replace: bool,
    dry_run: bool,
    every: bool,
    experiment: str,
    **options: Any,
) -> None:
    """Send the runs of bench directories; without any, what an earlier call could not send.

    Runs are spooled before they are sent, so an interrupted upload goes on where it stopped, and
    sending twice stores once. A directory with two sides (kernels, sets of options, workloads)
    becomes an experiment with the text of its README, also where some of its runs are refused.
    Profiles beside the runs are sent after them.
    """
    settings = load_settings(world.environ, server=server, token=token, spool=spool)
    overrides = overrides_of(**options)
    if dry_run:
        rehearse(settings, directories, overrides, every=every)
        return
    url, secret = settings.need_server(), settings.need_token()
    outcomes = read(directories, overrides) if directories else []
    complain(outcomes, every=every)
    kept = Spool(settings.server_spool)
    announce_leftovers(kept)
    flags = Flags(register, history, replace)
    aside = spool_runs(kept, runs_of(outcomes), flags)
    outcomes += name_unread(spool_profiles(kept, runs_of(outcomes), aside), every=every)
    with world.connect(url, secret) as client:
        tally = send(client, kept, outcomes, aside, flags, every=every)
        profiles = send_profiles(client, kept, tally.failed)
        missing = tally.rejected.keys() | tally.failed.keys()
        make_experiments(client, runs_of(outcomes), experiment, missing, every=every)
    admit(outcomes, tally, kept)
    admit_profiles(profiles, kept)


def read(directories: Sequence[Path], overrides: Overrides) -> list[Outcome]:
    """All outcomes; `NothingFoundError` where there is not even something to skip."""
    outcomes = list(read_directories(directories, overrides))
    if not outcomes:
        raise NothingFoundError(
            f"no benchmark results below {', '.join(map(str, directories))}",
            f"name an archive, a `results` directory or one below it; {FORMATS}",
        )
    return outcomes


def complain(outcomes: Sequence[Outcome], *, every: bool) -> None:
    """Warnings and what was skipped, on standard error."""
    skipped = reason_lines("skipped", skips_of(outcomes), every=every)
    for line in (*warning_lines(runs_of(outcomes)), *skipped):
        click.echo(line, err=True)


def name_out_of_limits(outcomes: Sequence[Outcome], *, every: bool) -> None:
    """What an upload would set aside because no server takes it, on standard error."""
    for line in reason_lines("out of limits", out_of_limits(runs_of(outcomes)), every=every):
        click.echo(line, err=True)


def admit(
    outcomes: Sequence[Outcome], tally: Tally | None = None, spool: Spool | None = None
) -> None:
    """End with an error where something was refused, failed or could not be read; all else is done
    by now."""
    unread = sum(skip.unread for skip in skips_of(outcomes))
    left_out = f"{unread} left out, as said above: could not be read"
    again = "what is there already is not doubled"
    if tally and tally.failed:
        raise UnavailableError(
            f"the server failed on {len(tally.failed)} runs: {', '.join(tally.failed.values())}",
            f"see the server's log; {KEPT}",
            passing=False,
        )
    if tally and spool and tally.rejected:
        refused = f"{len(tally.rejected)} runs are refused, now in {spool.directory}/rejected"
        raise RunsRejectedError(
            f"{refused}; {left_out}" if unread else refused,
            f"mend what is said above, then upload their directories again: {again}",
        )
    if unread:
        raise IncompleteError(left_out, f"mend them, then call it again: {again}")


def rehearse(
    settings: Settings, directories: Sequence[Path], overrides: Overrides, *, every: bool
) -> None:
    """Say what an upload would send."""
    outcomes = read(directories, overrides) if directories else []
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


def announce_leftovers(spool: Spool) -> None:
    """Say how many runs of an earlier upload are sent as well; nothing where there are none."""
    if left := spool.count(spool.pending()):
        click.echo(f"sending {left} runs that wait from an earlier upload as well", err=True)
    if left := len(spool.profiles()):
        click.echo(f"sending {left} profiles that wait from an earlier upload as well", err=True)


def send(
    client: Client,
    spool: Spool,
    outcomes: Sequence[Outcome],
    aside: Mapping[str, Skip],
    flags: Flags,
    *,
    every: bool,
) -> Tally:
    """Send what the spool holds and close with one line of figures, `aside` among the rejected, and
    on standard error what is worth a look.
    """
    with progress_bar(spool.count(spool.pending())) as advance:
        sender = Sender(client, spool, advance)
        sender.tally.rejected.update(aside)
        try:
            tally = sender.send_all()
        except AgentError:
            click.echo(f"stopped: {sender.tally}; the rest waits in {spool.directory}", err=True)
            raise
    skips = skips_of(outcomes)
    reasons = f" ({skip_reasons(skips)})" if skips else ""
    click.echo(f"{tally}, skipped {len(skips)}{reasons}")
    for line in (
        *reason_lines("warned of", tally.warned, every=every),
        *reason_lines("rejected", tally.rejected.values(), every=every),
        *where_to_look(tally, client.server, flags),
    ):
        click.echo(line, err=True)
    return tally


def make_experiments(
    client: Client, runs: Sequence[Run], name: str, missing: Collection[str], *, every: bool
) -> None:
    """Have the server make experiments of the directories; on standard error where they are, how
    many, and why there is none of the others, also where that ends with an error."""
    directories = directories_of(runs, name)
    if not directories:
        return
    made = Made(len(directories))
    try:
        send_experiments(client, directories, missing, made)
    finally:
        for address in made.addresses[:EXPERIMENTS_SHOWN]:
            click.echo(f"experiment {address}", err=True)
        for line in reason_lines("no experiment of", made.others, every=every):
            click.echo(line, err=True)
        of = "directory" if made.directories == 1 else "directories"
        count = f"experiments {len(made.addresses)} of {made.directories} {of}"
        click.echo(f"{count}: {client.server}/experiments/", err=True)


def where_to_look(tally: Tally, server: str, flags: Flags) -> Iterator[str]:
    """What waits and why, and the page that says most about what came in."""
    if tally.waiting:
        yield (
            f"waiting {tally.waiting}: kernel and label (or image) say two commits; decide at "
            f"{server}/runs/waiting/, or send again with --trust kernel or --trust label"
        )
    if not tally.hardware:
        return
    if flags.history:
        yield f"see {server}/alerts/?state=history"
    elif len(tally.hardware) == 1:
        yield f"see {server}/hardware/{quote(*tally.hardware)}/"
    else:
        yield f"see {server}/"


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
    """Say whether an upload can work: server, token, clock, spool; and whether jobs can: the lab's
    file and its commands."""
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


cli.add_command(check)
cli.add_command(hardware)
cli.add_command(profile)
cli.add_command(work)
cli.add_command(simulate)


def announce_retry(details: RetryDetails) -> None:
    """Say that a request is tried again, and when."""
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
