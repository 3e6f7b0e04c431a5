"""The command line: `python -m … up|service KIND [--demo] [--port N] [--bind IP] [--state DIR]`."""

import argparse
import errno
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType

from webapp.launcher import StackError, Stopped, UsageError
from webapp.launcher.launcher import Options, say, up
from webapp.launcher.programs import PROJECT
from webapp.launcher.service import KINDS, service_file

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
