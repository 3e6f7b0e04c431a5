"""`time.sleep` as it must be under libfaketime up to 0.9.10; Python reads this file at its start.

Since 3.11 CPython sleeps until a moment of the monotonic clock. That libfaketime takes the offset
of the other clock from it even when asked to leave the monotonic clock alone, and the system
refuses what comes out with EINVAL (wolfcw/libfaketime#426, mended in 0.9.11). A wait of `select`
is a duration, which passes unchanged.
"""

import select
import time


def sleep(seconds: float, /) -> None:
    """Wait that long."""
    select.select([], [], [], seconds)


time.sleep = sleep
