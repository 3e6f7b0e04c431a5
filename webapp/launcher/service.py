"""Files that let systemd or FreeBSD's rc.d start an instance, and start it again when it ended.

`python -m … service systemd` (or `rc.d`) prints one for this checkout.
"""

import getpass
import sys
from collections.abc import Mapping
from pathlib import Path

SYSTEMD = """\
# Driftline under systemd. Install:
#   {command} service systemd {arguments} > /etc/systemd/system/driftline.service
#   systemctl daemon-reload && systemctl enable --now driftline
[Unit]
Description=Driftline: performance regressions across kernel revisions
After=network.target local-fs.target

[Service]
User={user}
WorkingDirectory={project}
ExecStart={command} up {arguments}
# The launcher alone is asked to stop: it ends the others in their order.
KillMode=mixed
TimeoutStopSec=180
# Whatever ended it: a kill, a disk that was full, a program that cannot be kept running
Restart=always
RestartSec=10
NoNewPrivileges={no_new_privileges}
PrivateTmp=false

[Install]
WantedBy=multi-user.target
"""
RC_D = """\
#!/bin/sh
# Driftline under FreeBSD's rc.d. Install:
#   {command} service rc.d {arguments} > /usr/local/etc/rc.d/driftline
#   chmod 555 /usr/local/etc/rc.d/driftline && sysrc driftline_enable=YES && service driftline start
#
# PROVIDE: driftline
# REQUIRE: LOGIN NETWORKING
# KEYWORD: shutdown

. /etc/rc.subr

name=driftline
rcvar=driftline_enable
load_rc_config $name
: ${{driftline_enable:=NO}}
: ${{driftline_runas:={user}}}

pidfile=/var/run/$name.pid
driftline_chdir={project}
command=/usr/sbin/daemon
# daemon(8) starts it again ten seconds after whatever ended it (-R), and passes a stop on.
command_args="-P $pidfile -R 10 -S -T $name -u $driftline_runas {command} up {arguments}"

run_rc_command "$1"
"""
KINDS: Mapping[str, str] = {"systemd": SYSTEMD, "rc.d": RC_D}


def service_file(kind: str, *, project: Path, package: str, arguments: list[str]) -> str:
    """The text for one kind, which runs the launcher `package` of `project` as the present user."""
    user = getpass.getuser()
    return KINDS[kind].format(
        project=project,
        command=f"{sys.executable} -m {package}",
        arguments=" ".join(arguments),
        user=user,
        # As root, the launcher gives PostgreSQL another user, by setpriv.
        no_new_privileges="false" if user == "root" else "true",
    )
