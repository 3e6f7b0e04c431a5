"""The command line: `python -m … up|service KIND [--demo] [--port N] [--bind IP] [--state DIR]`."""

import argparse
import errno
import getpass
import shlex
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from webapp.launcher import StackError, Stopped, UsageError
from webapp.launcher.launcher import Options, say, up
from webapp.launcher.programs import PROJECT

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


HOME = PROJECT if (PROJECT / "pyproject.toml").exists() else Path.cwd()
"""Where data lie by default: in the checkout; of an installed wheel in the current folder."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run what the command line asks for; the exit status is 0, 1 (cannot run) or 2 (misuse)."""
    given = _given()
    options = Options(given.state.resolve(), given.port, given.bind, given.demo)
    if given.command == "service":
        print(_service_file(given.kind, options), end="")  # noqa: T201
        return 0
    _stop_on_signals()
    try:
        up(options)
    except Stopped:
        return 0
    except StackError as error:
        say(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except OSError as error:
        say(_sentence(error, options))
        return 1
    return 0


def _sentence(error: OSError, options: Options) -> str:
    """What the system refused, and what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk of STATE={options.state} is full ({error}). Make room and start again: "
            "nothing that was stored is lost."
        )
    return f"The system refused what this instance needs: {error}"


def _given() -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--demo", action="store_true", help="load the demonstration data")
    common.add_argument("--port", type=_port, default=8000, help="port of the pages (8000)")
    common.add_argument("--bind", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    common.add_argument(
        "--state", type=Path, default=HOME / ".run", help="directory of the data (.run)"
    )
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", parents=[common], help="start everything, until Ctrl-C")
    service = commands.add_parser(
        "service", parents=[common], help="print the file that lets the system start it"
    )
    service.add_argument("kind", choices=[*KINDS])
    return parser.parse_args()


def _service_file(kind: str, options: Options) -> str:
    demo = ["--demo"] if options.demo else []
    address = ["--port", str(options.port), "--bind", options.address]
    arguments = [*demo, *address, "--state", shlex.quote(str(options.state))]
    return service_file(kind, project=PROJECT, package=str(__package__), arguments=arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"PORT={text}: a number from 1 to 65535 is needed")
    return int(text)


def _stop_on_signals() -> None:
    """The first signal stops everything; those after it must not interrupt that."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise Stopped

    for number in STOP_SIGNALS:
        # nohup ignores SIGHUP on purpose.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


if __name__ == "__main__":
    sys.exit(main())
