"""The command line: `python -m webapp.config.stack up [--demo] [--port N] [--state DIR]`."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

from webapp.config.stack.errors import StackError, Stopped, UsageError
from webapp.config.stack.launcher import Options, say, up
from webapp.config.stack.programs import PROJECT

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run what the command line asks for; the exit status is 0, 1 (cannot run) or 2 (misuse)."""
    options = _options()
    _stop_on_signals()
    try:
        up(options)
    except Stopped:
        return 0
    except StackError as error:
        say(str(error))
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m webapp.config.stack")
    parser.add_argument("command", choices=["up"], help="start everything, until Ctrl-C")
    parser.add_argument("--demo", action="store_true", help="load the demonstration data")
    parser.add_argument("--port", type=_port, default=8000, help="port of the pages (8000)")
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--state", type=Path, default=PROJECT / ".run", help="directory of the data (.run)"
    )
    given = parser.parse_args()
    return Options(given.state.resolve(), given.port, given.bind, given.demo)


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
