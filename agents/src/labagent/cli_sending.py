"""What commands that send runs have in common: the summary, and what is said beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from labagent.client import KEPT, Client, Flags
from labagent.errors import (
    AgentError,
    IncompleteError,
    RunsRejectedError,
    UnavailableError,
)
from labagent.model import Outcome, Skip, runs_of, skips_of
from labagent.report import reason_lines, skip_reasons, warning_lines
from labagent.spool import Spool
from labagent.upload import Sender, Tally, out_of_limits


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


def announce_leftovers(spool: Spool) -> None:
    """Say how many runs of an earlier upload are sent as well; nothing where there are none."""
    if left := spool.count(spool.pending()):
        click.echo(f"sending {left} runs that wait from an earlier upload as well", err=True)
    if left := len(spool.profiles()):
        click.echo(f"sending {left} profiles that wait from an earlier upload as well", err=True)


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


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing elsewhere; yields what advances it."""
    console = Console()
    if not console.is_terminal or not total:
        yield lambda _runs: None
        return
    columns = (TextColumn("sending"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("runs", total=total)
        yield lambda runs: progress.advance(task, runs)
