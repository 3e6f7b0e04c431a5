"""A command that is asked to end cleans up first."""

import signal
import sys
from types import FrameType


def stop_as_if_interrupted() -> None:
    """Have SIGTERM and SIGHUP end this process as Ctrl-C does, through every `finally`."""

    def end(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
