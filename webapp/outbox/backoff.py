"""How long to wait before the next try, and when to give up."""

import random
from collections.abc import Sequence
from datetime import timedelta

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

PAUSES = (
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
    24 * HOUR,
    24 * HOUR,
    24 * HOUR,
)
"""After the first, second, … failed try of one item.

RFC 5321, 4.5.4.1: at least 30 minutes between tries, sooner for the first two or so, and give up
after 4 to 5 days at the earliest. The first pause is short because greylisting servers refuse a
first try for about a minute.
"""

SERVER_PAUSES = (
    timedelta(seconds=15),
    timedelta(seconds=30),
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
)
"""After the first, second, … time that the mail server could not be used; the last repeats. One
attempt to connect every ten minutes troubles nobody, and mails follow soon after its return."""

JITTER = 0.25
"""Share of a pause that is added at random, so that what failed together does not return together
(the receiver may have failed under just that load)."""


def is_last(attempts: int) -> bool:
    """Whether ``attempts`` failed tries were all there are."""
    return attempts > len(PAUSES)


def pause_after(attempts: int, pauses: Sequence[timedelta] = PAUSES) -> timedelta:
    """How long to wait after ``attempts`` (1 or more) failed tries; the last pause repeats."""
    pause = pauses[min(attempts, len(pauses)) - 1]
    return pause * random.uniform(1, 1 + JITTER)  # noqa: S311 (spreads load, keeps no secret)
