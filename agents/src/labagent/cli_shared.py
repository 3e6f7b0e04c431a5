"""What commands share: the world outside, options, the lines they print, and how they send runs."""

import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import httpx2
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from labagent.client import KEPT, Client, Flags, Patience
from labagent.errors import (
    AgentError,
    IncompleteError,
    RunsRejectedError,
    SettingsError,
    UnavailableError,
)
from labagent.execution import this_boot
from labagent.limits import EVIDENCE, MOST_POSITION, REVISION
from labagent.model import Mode, Outcome, Overrides, Run, Samples, Skip, runs_of, skips_of
from labagent.settings import SERVER_VARIABLE, TOKEN_VARIABLE
from labagent.spool import Spool
from labagent.upload import Sender, Tally, out_of_limits


@dataclass
class World:
    """Environment, transport, patience, clock, and the name of the boot."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    transport: httpx2.BaseTransport | None = None
    patience: Patience = field(default_factory=Patience)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    boot: Callable[[], str] = this_boot

    def connect(self, server: str, token: str) -> Client:
        """A client of the server; nothing is sent yet."""
        return Client(server, token, transport=self.transport, patience=self.patience)


class ModeType(click.ParamType[Mode]):
    """`workload[@traffic][+option…]`"""

    name = "mode"

    def convert(self, value: object, _param: object, _ctx: object) -> Mode:
        """The mode that is spelt. Raises what ``Mode.parse`` raises."""
        return value if isinstance(value, Mode) else Mode.parse(str(value))


class FiniteRange(click.FloatRange):
    """A number within bounds: ``nan`` is below none of them, and ``inf`` ends nothing."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number. Raises click.BadParameter for what is none, or lies outside."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def combined(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options that several commands share, in the order given."""

    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


server_options = combined(
    click.option("--server", metavar="URL", help=f"The server; else {SERVER_VARIABLE}."),
    click.option("--token", help=f"The agent's token; else {TOKEN_VARIABLE}."),
)
spool_option = click.option(
    "--spool", type=click.Path(file_okay=False, path_type=Path), help="Where runs wait on disk."
)

override_options = combined(
    click.option("--tree", help="The tree of all runs, instead of what their kernels say."),
    click.option("--hardware", help="The hardware (HW/NIC), instead of what the path names."),
    click.option("--mode", type=ModeType(), help="The mode: workload[@traffic][+option…]."),
    click.option("--revision", help="The revision of all runs, instead of what is read."),
    click.option(
        "--position",
        type=click.IntRange(0, MOST_POSITION),
        help="With --revision: its place along the tree, where its name has none.",
    ),
    click.option(
        "--trust",
        type=click.Choice(["kernel", "label"]),
        help="Whom to believe where kernel and label (or image) name two commits; else runs wait.",
    ),
    click.option("--session", help="What was measured together; else each directory is."),
)


def overrides_of(
    *,
    tree: str | None,
    hardware: str | None,
    mode: Mode | None,
    revision: str | None,
    position: int | None,
    trust: str | None,
    session: str | None,
) -> Overrides:
    """What the options ask. Raises SettingsError for those that do not go together."""
    if revision is None and position is not None:
        raise SettingsError("--position goes with --revision", "say whose place it is")
    if revision is not None and trust is not None:
        raise SettingsError(
            "--revision names the commit, --trust whom to ask", "leave one of them out"
        )
    if revision is not None and (fault := REVISION.fault(revision)):
        raise SettingsError(f"--revision {fault}", "write r303643, n302145, a hash or 11.0-RELEASE")
    if session is not None and (fault := EVIDENCE["session"].fault(session)):
        raise SettingsError(f"--session {fault}", "write a short name on one line")
    return Overrides(tree, hardware, mode, revision, position, trust or "", session or "")


_NAMED = 3


def one_line(text: str) -> str:
    """`text` on one line of a terminal: what would move the cursor, or is no character, escaped."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def run_lines(runs: Sequence[Run]) -> Iterator[str]:
    """The runs as aligned lines: hardware, tree, revision, mode, metrics."""
    if not runs:
        return
    rows = [(run.hardware, run.tree, run.revision, str(run.mode)) for run in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for run, row in zip(runs, rows, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield one_line("  ".join([*cells, ", ".join(map(_metric, run.samples))]))


def _metric(samples: Samples) -> str:
    if samples.histograms:
        counted = sum(sum(one.counts) for one in samples.histograms)
        return f"{samples.metric.name} histogram of {counted} values"
    median = statistics.median(samples.values)
    return f"{samples.metric.name} {median:.8g} {samples.metric.unit} (n={len(samples.values)})"


def reason_lines(what: str, skips: Iterable[Skip], *, every: bool = False) -> Iterator[str]:
    """One line for each reason for which runs were `what` (skipped, rejected): how many, and the
    first three; with `every`, all of them, a line each."""
    for reason, names in _by_reason(skips).items():
        if every:
            yield one_line(f"{what} {len(names)}: {reason}")
            yield from (one_line(f"  {name}") for name in names)
            continue
        more = f", … {len(names) - _NAMED} more: -v" if len(names) > _NAMED else ""
        yield one_line(f"{what} {len(names)}: {reason} ({', '.join(names[:_NAMED])}{more})")


def skip_reasons(skips: Iterable[Skip]) -> str:
    """The reasons in one line: `2 no usable sample; 4 profiled, so not a measurement`."""
    reasons = (f"{len(names)} {reason}" for reason, names in _by_reason(skips).items())
    return one_line("; ".join(reasons))


def _by_reason(skips: Iterable[Skip]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for skip in skips:
        reasons.setdefault(skip.reason, []).append(skip.where)
    return reasons


def warning_lines(runs: Iterable[Run]) -> Iterator[str]:
    """One line for each warning of a label, with the number of its runs."""
    counted: dict[tuple[str, str], int] = {}
    for run in runs:
        for warning in run.warnings:
            key = (f"{run.hardware} {run.facts.get('label', '')}", warning)
            counted[key] = counted.get(key, 0) + 1
    for (where, warning), count in counted.items():
        yield one_line(f"warning: {where}: {warning}" + f" ({count} runs)" * (count > 1))


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
    """What waits and why, and the page that shows most about what came in."""
    if tally.waiting:
        yield (
            f"waiting {tally.waiting}: kernel and label (or image) name two commits; decide at "
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
    """Print how many runs of an earlier upload are sent as well; nothing where there are none."""
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
    left_out = f"{unread} left out, named above: could not be read"
    again = "what is there already is not doubled"
    if tally and tally.failed:
        raise UnavailableError(
            f"the server failed on {len(tally.failed)} runs: {', '.join(tally.failed.values())}",
            f"see the server's log; {KEPT}",
            passing=False,
        )
    if tally and spool and tally.rejected:
        refused = f"refused {len(tally.rejected)}, kept in {spool.directory}/rejected"
        raise RunsRejectedError(
            f"{refused}; {left_out}" if unread else refused,
            "remove the causes named above; then `labagent upload --rejected` sends them again as"
            f" they are, and an upload of their directories with other options: {again}",
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
