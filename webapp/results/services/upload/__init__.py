"""The way of an upload: receive → identify → file → write → pool, one transaction.

Each step takes the frozen value of the one before. A batch is stored whole or not at all, each run
once, in a number of statements that does not grow with the batch.
"""

from collections.abc import Sequence

from django.db import transaction

from webapp.labs.models import Agent
from webapp.results.documents import Recorded, RunDocument
from webapp.results.services.upload.filing import file_runs
from webapp.results.services.upload.identifying import identify, receive
from webapp.results.services.upload.writing import pool, write


@transaction.atomic(savepoint=False)
def record_runs(
    *,
    agent: Agent,
    runs: Sequence[RunDocument],
    register: bool = False,
    history: bool = False,
    replace: bool = False,
    asked_for: bool = False,
) -> Recorded:
    """Store the runs that are new, in one transaction, and mark their series dirty.

    Args:
        agent: who sends them; hardware and runs of another lab than the agent's are refused.
        runs: at least one. A run whose UUID is stored with the same content is left alone.
        register: add hardware that is not known to the agent's lab.
        history: note that nobody is to be mailed about these runs.
        replace: let other content take the place of the stored run, which stays, withdrawn.
        asked_for: the server asked for them by a job, so they count against no quota.

    Raises:
        Unprocessable, Forbidden, Conflict: with every problem found; nothing is stored then.
        QuotaExceeded: the lab may store no more of something.
        IntegrityError: another upload stored one of these UUIDs or revisions between our look and
            our insert. That one is committed now, so a second call sees it.
    """
    # No revision, hardware, mode or series moves from here on. Labels become modes and variants.
    received = receive(
        agent=agent,
        runs=runs,
        register=register,
        history=history,
        replace=replace,
        asked_for=asked_for,
    )
    # The commit of each run by its evidence, and which runs are new, changed or known.
    identified = identify(received)
    # The rows that the runs belong to, made where they are new; changed runs conflict or replace.
    filed = file_runs(identified)
    # Runs and measurements are inserted in their series, which are locked; replaced ones withdrawn.
    written = write(filed)
    # Points and facts follow the samples; known runs take what this upload adds to them.
    return pool(written)
