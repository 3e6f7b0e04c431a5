"""The command `labagent profile`, and what `labagent upload` does with profiles."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from uuid import UUID

import click

from labagent.cli_overrides import server_options, spool_option
from labagent.client import KEPT, Client
from labagent.errors import AgentError, IncompleteError, RunsRejectedError, UnavailableError
from labagent.model import ProfileFile, Run, Skip
from labagent.readers.profiles import format_of, perl_folded
from labagent.reading import UnreadFileError, read_file
from labagent.report import reason_lines
from labagent.settings import load_settings
from labagent.spool import Spool
from labagent.upload_profiles import (
    ProfileSender,
    ProfileTally,
    profile_of,
    unread_profile,
)
from labagent.world import World


@click.command()
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--run", "run", type=click.UUID, help="The UUID of the run.")
@click.option(
    "--folded",
    is_flag=True,
    help="Send nothing: print pmcstat graphs as stackcollapse-pmc.pl folds them.",
)
@click.option(
    "--pps",
    type=click.FloatRange(min=0, min_open=True),
    help="Packets/s while these profiles were taken.",
)
@server_options
@spool_option
@click.pass_obj
def profile(
    world: World,
    /,
    files: Sequence[Path],
    *,
    run: UUID | None,
    folded: bool,
    pps: float | None,
    server: str | None,
    token: str | None,
    spool: Path | None,
) -> None:
    """Send profiles to a run that the server has: pmcstat -G, folded stacks, perf script, bpftrace,
    btrace, pprof. Each file is a boot of its own."""
    if folded:
        print_folded(files)
        return
    if run is None:
        raise click.UsageError("Name the run with --run, or print the stacks with --folded.")
    settings = load_settings(world.environ, server=server, token=token, spool=spool)
    url, secret = settings.need_server(), settings.need_token()
    kept = Spool(settings.server_spool)
    unread = spool_files(kept, files, str(run), pps)
    name_unread(unread, every=True)
    with world.connect(url, secret) as client:
        tally = send_profiles(client, kept)
    admit_profiles(tally, kept)
    if unread:
        raise IncompleteError(f"{len(unread)} files are no profile that can be read")


def print_folded(files: Sequence[Path]) -> None:
    """The stacks of pmcstat graphs. Raises IncompleteError for another file, with none printed."""
    for path in files:
        form = format_of(path)
        if form is None or form.name != "pmcstat":
            raise IncompleteError(f"{path} is no graph of pmcstat -G")
    for path in files:
        click.echo(perl_folded(read_file(path)), nl=False)


def name_unread(profiles: Sequence[Skip], *, every: bool) -> Sequence[Skip]:
    """Profiles that cannot be read, on standard error; the same again."""
    for line in reason_lines("skipped", profiles, every=every):
        click.echo(line, err=True)
    return profiles


def spool_files(spool: Spool, files: Sequence[Path], run: str, pps: float | None) -> list[Skip]:
    """Put the profiles in ``files`` to disk; those that cannot be read."""
    unread = []
    for path in files:
        try:
            found = profile_of(ProfileFile(path, pps=pps))
        except UnreadFileError as error:
            unread.append(unread_profile(error))
        else:
            spool.add_profile(run, found.document())
    return unread


def send_profiles(client: Client, spool: Spool, absent: Container[str] = ()) -> ProfileTally:
    """Send the profiles that wait and print what became of them; nothing where there are none."""
    sender = ProfileSender(client, spool, absent)
    try:
        tally = sender.send_all()
    except AgentError:
        click.echo(f"stopped: {sender.tally}; the rest waits in {spool.directory}", err=True)
        raise
    if tally:
        click.echo(str(tally))
    for line in reason_lines("rejected", tally.rejected):
        click.echo(line, err=True)
    return tally


def admit_profiles(tally: ProfileTally, spool: Spool) -> None:
    """Raises RunsRejectedError or UnavailableError where not every profile has arrived."""
    if tally.rejected:
        raise RunsRejectedError(
            f"{len(tally.rejected)} profiles are refused, now in {spool.directory}/rejected",
            "mend what is said above, then send them again: what is there already is not doubled",
        )
    if tally.waiting:
        raise UnavailableError(f"{tally.waiting} profiles wait", KEPT, passing=False)


def count_profiles(runs: Sequence[Run]) -> str:
    """How many profiles the runs have, in words; empty: none."""
    count = sum(len(run.profiles) for run in runs)
    return f"{count} profiles of {sum(bool(run.profiles) for run in runs)} runs" if count else ""
