"""Note heartbeats."""

import threading
import time

from django.db import connection

from webapp.readiness.heartbeats import EVERY_SECONDS, NOTE

_noted: dict[str, float] = {}
_lock = threading.Lock()


def note(*parts: str) -> None:
    """Write that ``parts`` work."""
    with connection.cursor() as cursor:
        cursor.executemany(NOTE, [[part] for part in sorted(parts)])


def still_works(part: str) -> None:
    """The same from within a long task, at most once in EVERY_SECONDS: the heartbeat itself has to
    wait for the task's end.
    """
    with _lock:
        if time.monotonic() - _noted.get(part, float("-inf")) < EVERY_SECONDS:
            return
        _noted[part] = time.monotonic()
    note(part)
