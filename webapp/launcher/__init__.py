"""The whole system on one machine, without Docker: `python -m webapp.launcher up`.

The launcher keeps one instance in one STATE directory: it finds or starts PostgreSQL and Redis,
prepares the database, and runs the web server, the worker and its scheduler under supervisord.
Why an instance cannot start or go on stands here; every message carries its remedy.
"""

import signal
import sys
from types import FrameType


class StackError(Exception):
    """The instance cannot run. Shown as it is; the exit status is 1."""


class UsageError(StackError):
    """What was asked for makes no sense. The exit status is 2."""


class SupervisorLost(StackError):
    """supervisord is gone. What it ran may be running still; a new start takes it up."""


class Stopped(BaseException):
    """Somebody asked the launcher to stop. Not an error: the exit status is 0."""


def stop_as_if_interrupted() -> None:
    """Have SIGTERM and SIGHUP end this process as Ctrl-C does, through every `finally`."""

    def end(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
