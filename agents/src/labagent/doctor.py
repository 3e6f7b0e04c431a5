"""`labagent doctor`: one line for each thing that has to be right before an upload can be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from labagent.client import Client
from labagent.errors import AgentError
from labagent.settings import Settings
from labagent.spool import Spool
from labagent.work.config import LabFile, load_lab

CLOCK_TOLERANCE = timedelta(seconds=60)
"""How far the clocks may be apart: runs carry times, and people compare them with the server's."""


@dataclass(frozen=True)
class Check:
    """One thing looked at; `remedy` says what to do where it is not `good`."""

    name: str
    good: bool
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        mark = "ok  " if self.good else "FAIL"
        return f"{mark}  {self.name}: {self.text}" + (f" ({self.remedy})" if self.remedy else "")


def check_lab(
    path: Path, environ: Mapping[str, str], state_of: Callable[[str], Path]
) -> tuple[LabFile | None, list[Check]]:
    """The lab's file, and whether it can be read, its commands started and its state kept."""
    try:
        lab = load_lab(path)
    except AgentError as error:
        return None, [Check("lab", good=False, text=error.message, remedy=error.remedy)]
    problems = [
        Check("lab", good=False, text=f"{machine.name}: {name}: {problem}")
        for machine in lab.machines.values()
        for name, problem in machine.program_problems(environ).items()
    ]
    state = lab.state or state_of(lab.name)
    there = next(one for one in (state, *state.absolute().parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK) or not there.is_dir():
        remedy = "let this user write there, or set `state`"
        problems.append(
            Check("lab", good=False, text=f"cannot keep jobs in {state}", remedy=remedy)
        )
    text = f"{path} is good; {lab.name} measures on {', '.join(lab.machines)}"
    return lab, problems or [Check("lab", good=True, text=text)]


def examine(
    settings: Settings, connect: Callable[[str, str], Client], now: Callable[[], datetime]
) -> Iterator[Check]:
    """Look at settings, server, token, clock and spool, in this order, as far as one can get."""
    try:
        server = settings.need_server()
    except AgentError as error:
        yield Check("server", good=False, text=error.message, remedy=error.remedy)
        return
    with connect(server, settings.token or "") as client:
        reached = _reach(client)
        yield reached
        if reached.good:
            yield from _check_token(settings, client, now)
    yield _check_spool(settings)


def _reach(client: Client) -> Check:
    try:
        client.health()
    except AgentError as error:
        return Check("server", good=False, text=error.message, remedy="is it up, is this its URL?")
    return Check("server", good=True, text=f"{client.server} answers")


def _check_token(
    settings: Settings, client: Client, now: Callable[[], datetime]
) -> Iterator[Check]:
    try:
        settings.need_token()
        before = now()
        who = client.whoami()
        after = now()
    except AgentError as error:
        yield Check("token", good=False, text=error.message, remedy=error.remedy)
        return
    yield Check("token", good=True, text=f"agent {who.get('agent')} of lab {who.get('lab')}")
    yield check_clock(str(who.get("time")), before + (after - before) / 2)


def check_clock(server_time: str, here: datetime) -> Check:
    """Compare the server's time with ours, taken in the middle of the request."""
    try:
        apart = here - datetime.fromisoformat(server_time)
    except (ValueError, TypeError):
        return Check("clock", good=False, text=f"the server's time is {server_time!r}")
    seconds = apart.total_seconds()
    text = f"{abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} the server"
    if abs(apart) <= CLOCK_TOLERANCE:
        return Check("clock", good=True, text=text)
    return Check("clock", good=False, text=text, remedy="set it: ntpd or chronyd keeps it right")


def _check_spool(settings: Settings) -> Check:
    spool = Spool(settings.server_spool)
    try:
        waiting = spool.count(spool.pending())
    except AgentError as error:
        return Check("spool", good=False, text=error.message, remedy=error.remedy)
    rejected = spool.rejected()
    text = f"{waiting} runs wait, {len(rejected)} rejected, in {spool.directory}"
    remedy = "`labagent upload` sends them" if waiting else ""
    return Check("spool", good=True, text=text, remedy=remedy)
