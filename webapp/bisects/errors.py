"""What can go wrong with a bisect, in words for people."""


class BisectError(Exception):
    """It makes no sense now; the message says why and what to do instead."""


class BisectChanged(BisectError):
    """Somebody else, or the system, changed the bisect since it was looked at."""
