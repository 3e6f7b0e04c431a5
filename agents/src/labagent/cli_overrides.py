"""The options that several commands share: where to send, and what the directories do not say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from labagent.errors import SettingsError
from labagent.limits import EVIDENCE, MOST_POSITION, REVISION
from labagent.model import Mode, Overrides
from labagent.settings import SERVER_VARIABLE, TOKEN_VARIABLE


class ModeType(click.ParamType[Mode]):
    """`workload[@traffic][+option…]`"""

    name = "mode"

    def convert(self, value: object, _param: object, _ctx: object) -> Mode:
        """The mode that is spelt. Raises what ``Mode.parse`` raises."""
        return value if isinstance(value, Mode) else Mode.parse(str(value))


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
    click.option("--hardware", help="The hardware (HW/NIC), instead of what the path says."),
    click.option("--mode", type=ModeType(), help="The mode: workload[@traffic][+option…]."),
    click.option("--revision", help="The revision of all runs, instead of what is read."),
    click.option(
        "--position",
        type=click.IntRange(0, MOST_POSITION),
        help="With --revision: its place along the tree, where its name tells none.",
    ),
    click.option(
        "--trust",
        type=click.Choice(["kernel", "label"]),
        help="Whom to believe where kernel and label (or image) say two commits; else runs wait.",
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
    """What the options say. Raises SettingsError for those that do not go together."""
    if revision is None and position is not None:
        raise SettingsError("--position goes with --revision", "say whose place it is")
    if revision is not None and trust is not None:
        raise SettingsError(
            "--revision says which commit it is, --trust whom to ask", "leave one of them out"
        )
    if revision is not None and (fault := REVISION.fault(revision)):
        raise SettingsError(f"--revision {fault}", "write r303643, n302145, a hash or 11.0-RELEASE")
    if session is not None and (fault := EVIDENCE["session"].fault(session)):
        raise SettingsError(f"--session {fault}", "write a short name on one line")
    return Overrides(tree, hardware, mode, revision, position, trust or "", session or "")
