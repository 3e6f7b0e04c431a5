"""Let other content take the place of a stored run. The former one stays, withdrawn.

A UUID names one current run. Whoever replaces does so one at a time (the lock is PostgreSQL's own
for applications): each sees the run that the one before left, so that of many at once every one
supersedes another, and none is refused. It is taken before any row, after the reshaping lock.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import ManyToManyRel

from webapp.labs.models import Lab
from webapp.results.documents import RunDocument
from webapp.results.errors import Forbidden, Problem
from webapp.results.models import Run
from webapp.results.services.bulk import fetch_rows

LOCK = int.from_bytes(b"replace")
REASON = "Other content was uploaded under its UUID."
# A new run is current from its insert on, and a UUID has one current run: the former one has to
# name its successor first. Foreign keys are checked at the end of the transaction.
NEW_IDS = """
SELECT nextval(pg_get_serial_sequence('results_run', 'id')) FROM generate_series(1, %s)
"""
SUPERSEDE = """
UPDATE results_run AS run
   SET superseded_by_id = successor.id,
       withdrawn_at = COALESCE(run.withdrawn_at, %s),
       withdrawn_reason = COALESCE(NULLIF(run.withdrawn_reason, ''), %s)
  FROM unnest(%s::bigint[], %s::bigint[]) AS successor (former, id)
 WHERE run.id = successor.former
"""


def begin_replacing() -> None:
    """Nobody else replaces a run until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def lock_current(uuids: Iterable[UUID]) -> dict[UUID, Run]:
    """The current runs of ``uuids``, which nobody withdraws until this transaction ends."""
    rows = Run.objects.current().filter(uuid__in=list(uuids)).order_by("pk")
    named = rows.select_related("hardware", "mode", "aliased__hardware", "aliased__mode")
    locked = named.select_for_update(of=["self"], no_key=True)
    return {run.uuid: run for run in locked}


def refuse_foreign_runs(
    runs: Sequence[RunDocument], stored: Mapping[UUID, Run], lab: Lab, *, replace: bool
) -> None:
    """Raise Forbidden where a run is stored for hardware of another lab than ``lab``.

    Whose run it is follows from the stored one, whatever hardware the sent one names.
    """
    foreign = {uuid: run for uuid, run in stored.items() if run.hardware.lab_id != lab.pk}
    if not foreign:
        return
    problems = [
        Problem(
            f"runs[{i}].uuid",
            f"run {run.uuid} was measured on {foreign[run.uuid].hardware}, which belongs to "
            "another lab than this token",
        )
        for i, run in enumerate(runs)
        if run.uuid in foreign
    ]
    raise Forbidden(problems, attempted=[run.pk for run in foreign.values()] if replace else [])


def supersede(runs: Sequence[Run], now: datetime) -> dict[UUID, int]:
    """Withdraw the locked ``runs`` in favour of successors, which the caller is to insert; the ids
    of these by UUID. What a person withdrew keeps that person's reason.
    """
    if not runs:
        return {}
    ids = [pk for (pk,) in fetch_rows(NEW_IDS, len(runs))]
    with connection.cursor() as cursor:
        cursor.execute(SUPERSEDE, [now, REASON, [run.pk for run in runs], ids])
    return {run.uuid: pk for run, pk in zip(runs, ids, strict=True)}


def share_lists(runs: Sequence[Run], successors: Mapping[UUID, int]) -> None:
    """Let the stored successors of ``runs`` be in every list that these are in, such as the results
    of a job. The former ones stay there: they were what the list says.
    """
    if not runs:
        return
    successor = {run.pk: successors[run.uuid] for run in runs}
    for relation in Run._meta.get_fields(include_hidden=True):  # noqa: SLF001 (documented)
        if not isinstance(relation, ManyToManyRel):
            continue
        through: Any = relation.through
        to_run, to_list = relation.field.m2m_reverse_name(), relation.field.m2m_column_name()
        members = through.objects.filter(**{f"{to_run}__in": successor})
        through.objects.bulk_create(
            through(**{to_list: of_list, to_run: successor[former]})
            for of_list, former in members.values_list(to_list, to_run)
        )
