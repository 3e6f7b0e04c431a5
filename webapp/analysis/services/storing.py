"""Store what an agent sends, and queue its analysis."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import IntegrityError, transaction

from webapp.events.services import record_changes
from webapp.jobs import services as jobs
from webapp.jobs.services import ResultRefused
from webapp.labs.models import Agent
from webapp.queueing import Task, queue_on_commit
from webapp.results import services as results
from webapp.results.services import Forbidden, Recorded, RunDocument

TRIES = 3
"""A remembered row that is gone, and then the same run from somebody else, are two mishaps."""


def store_runs(
    *,
    agent: Agent,
    runs: Sequence[RunDocument],
    register: bool = False,
    history: bool = False,
    replace: bool = False,
    asked_for: bool = False,
) -> Recorded:
    """Store the runs and queue the analysis of what they changed; see ``record_runs``.

    An attempt to replace runs of another lab is put on record, in a transaction of its own.
    """
    try:
        return _store_runs(
            agent=agent,
            runs=runs,
            register=register,
            history=history,
            replace=replace,
            asked_for=asked_for,
        )
    except Forbidden as refusal:
        if refusal.attempted:
            results.note_refused_replacement(agent=agent, runs=refusal.attempted)
        raise


def store_job_result(
    *, number: int, agent: Agent, lease: str, runs: Sequence[RunDocument]
) -> Recorded:
    """Store what a job asked for and end the job, in one transaction; a refusal counts as a failed
    attempt of the job, noted in another one.

    Raises:
        NoSuchJob, ForeignJob: there is no such job of the agent's lab.
        ResultRefused, WrongKernel: something else was measured. Nothing is stored.
        ResultsError: the runs cannot be stored; see ``record_runs``.
    """
    try:
        with transaction.atomic():
            job = jobs.begin_result(number=number, agent=agent)
            checked = jobs.check_result(job, runs)
            # The job names the commit it is, and its kernel was just checked against that.
            recorded = store_runs(
                agent=agent, runs=[replace(run, evidence=None) for run in checked], asked_for=True
            )
            jobs.complete(job=job, lease=lease, runs=checked)
    except ResultRefused as refusal:
        jobs.refuse_result(number=number, agent=agent, lease=lease, refusal=refusal)
        raise
    return recorded


def _store_runs(*, agent: Agent, runs: Sequence[RunDocument], **flags: bool) -> Recorded:
    def once() -> Recorded:
        with transaction.atomic():
            recorded = results.record_runs(agent=agent, runs=runs, **flags)
            if recorded.stored or recorded.replaced or recorded.refiled:
                queue_on_commit(Task.ANALYSE)
            record_changes(recorded.changed_facts)
        return recorded

    for _ in range(TRIES - 1):
        try:
            return once()
        except IntegrityError:
            # The same run or revision came twice at the same moment, or a row that we remembered
            # by its name is gone; now we see what is there.
            results.forget_names()
    return once()
