"""Files by which systemd or FreeBSD's rc.d call the agent."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from labagent.settings import CONFIG_VARIABLE

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
