"""One process at a time.

The worker of what leaves has a process for mails and one for webhooks: were both to wait for slow
endpoints, mails would wait too.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from webapp.readiness.services import heartbeats

TRY = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"


@contextmanager
def alone(what: str) -> Iterator[bool]:
    """Whether nobody else does ``what`` now; if so, nobody else will inside.

    The lock belongs to a transaction of its own, which ends with a process that is killed.
    """
    with heartbeats.connect(connection.settings_dict) as other, other.transaction():
        row = other.execute(TRY, [f"driftline-{what}"]).fetchone()
        yield row is not None and bool(row[0])
