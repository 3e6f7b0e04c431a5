"""Setting an agent up: `labagent hardware`, the checks of `labagent doctor`, files of services."""

import getpass
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path

import click

from labagent.cli_shared import World, server_options
from labagent.client import Client
from labagent.errors import AgentError, RefusedError, SettingsError
from labagent.settings import CONFIG_VARIABLE, Settings, load_settings
from labagent.spool import Spool
from labagent.work.config import LabFile, load_lab

SYSTEMD = """\
# /etc/systemd/system/{name}.service; then systemctl enable {name}
[Unit]
After=network-online.target
Wants=network-online.target
[Service]
User={user}
ExecStart={command}
{service}
[Install]
WantedBy=multi-user.target
"""
RC_D = """\
#!/bin/sh
# /usr/local/etc/rc.d/{variable} (mode 555); then sysrc {variable}_enable=YES
# PROVIDE: {variable}
# REQUIRE: NETWORKING LOGIN
# KEYWORD: shutdown
. /etc/rc.subr
name={variable}
rcvar={variable}_enable
pidfile=/var/run/$name.pid
command=/usr/sbin/daemon
command_args="{restart}-u {user} -P $pidfile -o /var/log/$name.log {command}"
load_rc_config $name
: ${{{variable}_enable:=NO}}
run_rc_command "$1"
"""
ONCE = "Type=oneshot"
ALWAYS = """\
Restart=on-failure
RestartSec=30
# SIGTERM goes to the worker alone, so that its commands can finish.
KillMode=mixed
TimeoutStopSec=90"""


def service_file(
    name: str, arguments: Sequence[str], environ: Mapping[str, str], *, is_kept: bool
) -> str:
    """What starts `labagent` with the arguments at each boot, and again when it ended with
    ``is_kept``; with the file of settings that ``environ`` names."""
    config = environ.get(CONFIG_VARIABLE)
    named = ["/usr/bin/env", f"{CONFIG_VARIABLE}={Path(config).absolute()}"] if config else []
    command = shlex.join([*named, *_program(), *arguments])
    if "bsd" in sys.platform:
        restart = "-r -R 30 " if is_kept else ""
        variable = name.replace("-", "_")
        return RC_D.format(
            variable=variable, user=getpass.getuser(), command=command, restart=restart
        )
    service = ALWAYS if is_kept else ONCE
    return SYSTEMD.format(name=name, user=getpass.getuser(), command=command, service=service)


def _program() -> list[str]:
    """The command by which this process was started."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return [sys.executable, "-m", "labagent"]
    path = Path(shutil.which(sys.argv[0]) or started).absolute()
    return [str(path)] if os.access(path, os.X_OK) else [sys.executable, str(path)]


CLOCK_TOLERANCE = timedelta(seconds=60)
"""How far the clocks may be apart: runs carry times, and people compare them with the server's."""


@dataclass(frozen=True)
class Check:
    """One thing looked at; `remedy` is what to do where it is not `good`."""

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
        if isinstance(error, RefusedError) and error.status == HTTPStatus.UNAUTHORIZED:
            return Check("token", good=False, text=error.message, remedy=error.remedy)
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
    if rejected:
        remedy = "`labagent upload --rejected` sends all of them, once their causes are removed"
    return Check("spool", good=True, text=text, remedy=remedy)


@click.group()
def hardware() -> None:
    """The machines a server knows."""


@hardware.command("list")
@server_options
@click.pass_obj
def list_hardware(world: World, *, server: str | None, token: str | None) -> None:
    """Print the hardware that the server knows, one a line."""
    settings = load_settings(world.environ, server=server, token=token)
    with world.connect(settings.need_server(), settings.token or "") as client:
        for one in client.hardware():
            click.echo("  ".join(filter(None, (one.get("name"), one.get("description")))))


@hardware.command("add")
@click.argument("name", metavar="HW/NIC")
@click.option("--description", default="", help="What a person should know about it.")
@click.option("--fact", "facts", metavar="NAME=VALUE", multiple=True, help="Such as cores=8.")
@server_options
@click.pass_obj
def add_hardware(
    world: World,
    name: str,
    *,
    description: str,
    facts: Sequence[str],
    server: str | None,
    token: str | None,
) -> None:
    """Make a machine known to the server."""
    settings = load_settings(world.environ, server=server, token=token)
    with world.connect(settings.need_server(), settings.need_token()) as client:
        client.add_hardware(name, description, dict(map(split_fact, facts)))
    click.echo(f"added {name}")


def split_fact(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``. Raises SettingsError without either."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise SettingsError(f"{text!r} is not a fact", "write NAME=VALUE, such as cores=8")
    return name, value
