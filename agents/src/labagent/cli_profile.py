"""The command `labagent profile`, and how `labagent upload` sends profiles after their runs."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import click

from labagent import errors
from labagent.cli_shared import FiniteRange, World, reason_lines, server_options, spool_option
from labagent.client import KEPT, Client
from labagent.files import UnreadFileError, read_file
from labagent.model import ProfileFile, Run, Skip
from labagent.readers.profiles import Profile, format_of, perl_folded, read_profile
from labagent.settings import load_settings
from labagent.spool import Spool, SpooledProfile
from labagent.upload import PATIENT_FAILURES, detail_text

_REFUSED = frozenset({404, 409, 413, 422})


@dataclass
class ProfileTally:
    """What became of the profiles; `waiting` stay in the spool, because of their run or because the
    server failed on them."""

    stored: int = 0
    known: int = 0
    waiting: int = 0
    rejected: list[Skip] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there was any profile."""
        return bool(self.stored or self.known or self.waiting or self.rejected)

    def __str__(self) -> str:
        waiting = f", waiting {self.waiting}" if self.waiting else ""
        counts = f"stored {self.stored}, known {self.known}, rejected {len(self.rejected)}"
        return f"profiles {counts}{waiting}"


def profile_of(file: ProfileFile) -> Profile:
    """The profile with what its directory states of it. Raises UnreadFileError."""
    profile = read_profile(file.path)
    profile.iteration, profile.pps = file.iteration, file.pps
    return profile


def spool_profiles(spool: Spool, runs: Iterable[Run], aside: Container[str]) -> list[Skip]:
    """Put the profiles of runs to disk, except of those set ``aside`` (by UUID); what is not
    read."""
    unread = []
    for run in runs:
        for file in run.profiles if str(run.uuid) not in aside else ():
            try:
                spool.add_profile(str(run.uuid), profile_of(file).document())
            except UnreadFileError as error:
                unread.append(unread_profile(error))
    return unread


def unread_profiles(runs: Iterable[Run]) -> list[Skip]:
    """The profiles that cannot be read, and why."""
    unread = []
    for file in (file for run in runs for file in run.profiles):
        try:
            profile_of(file)
        except UnreadFileError as error:
            unread.append(unread_profile(error))
    return unread


def unread_profile(error: UnreadFileError) -> Skip:
    """A profile that cannot be read, with the remedy."""
    remedy = f" ({error.remedy})" if error.remedy else ""
    return Skip(str(error.path), f"profile {error.reason}{remedy}", unread=True)


class ProfileSender:
    """Sends the profiles that the spool holds. Those of `absent` runs (by UUID) wait: the server
    does not have their run yet. Any error but a refusal of single profiles stops it; what was not
    answered for stays in the spool.
    """

    def __init__(self, client: Client, spool: Spool, absent: Container[str] = ()) -> None:
        self.client = client
        self.spool = spool
        self.absent = absent
        self.tally = ProfileTally()
        self._failures = 0

    def send_all(self) -> ProfileTally:
        """Send every profile, the oldest first; what became of them."""
        for path in self.spool.profiles():
            profile = self.spool.load_profile(path)
            if profile and profile.run in self.absent:
                self.tally.waiting += 1
            elif profile:
                self._send(profile)
        return self.tally

    def _send(self, profile: SpooledProfile) -> None:
        try:
            is_new = self.client.send_profile(profile.run, profile.document)
        except errors.RefusedError as error:
            self._refuse(profile, error)
            return
        except errors.UnavailableError as error:
            self._failures += 1
            if error.passing or self._failures >= PATIENT_FAILURES:
                raise
            self.tally.waiting += 1
            return
        self.tally.stored += is_new
        self.tally.known += not is_new
        self.spool.done_profile(profile)

    def _refuse(self, profile: SpooledProfile, error: errors.RefusedError) -> None:
        if error.status not in _REFUSED:
            raise error
        reason = detail_text(error.details) or str(error)
        self.spool.reject_profile(profile, reason)
        where = f"{profile.document.get('name')} of run {profile.run}"
        self.tally.rejected.append(Skip(where, reason))


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
    type=FiniteRange(min=0, min_open=True),
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
        raise errors.IncompleteError(f"{len(unread)} files are no profile that can be read")


def print_folded(files: Sequence[Path]) -> None:
    """The stacks of pmcstat graphs. Raises IncompleteError for another file, with none printed."""
    for path in files:
        form = format_of(path)
        if form is None or form.name != "pmcstat":
            raise errors.IncompleteError(f"{path} is no graph of pmcstat -G")
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
    except errors.AgentError:
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
        raise errors.RunsRejectedError(
            f"profiles refused {len(tally.rejected)}, kept in {spool.directory}/rejected",
            "remove the causes named above, then `labagent upload --rejected` sends them again",
        )
    if tally.waiting:
        raise errors.UnavailableError(f"{tally.waiting} profiles wait", KEPT, passing=False)


def count_profiles(runs: Sequence[Run]) -> str:
    """How many profiles the runs have, in words; empty: none."""
    count = sum(len(run.profiles) for run in runs)
    return f"{count} profiles of {sum(bool(run.profiles) for run in runs)} runs" if count else ""
