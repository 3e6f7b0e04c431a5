"""Refuse to replace runs of another lab; keep, log and mail that an agent tried."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent, Lab
from webapp.outbox.services import NewMail, post_mails
from webapp.results.documents import Forbidden, Problem, RunDocument
from webapp.results.models import Run
from webapp.results.services.bulk import fetch_rows

KIND = "lab.refused"
KEEP = """
INSERT INTO results_refusedreplacement AS line (run_id, agent_id, first_at, last_at, tries)
SELECT run, %s, %s, %s, 1 FROM unnest(%s::bigint[]) AS run
    ON CONFLICT (run_id, agent_id) DO UPDATE SET last_at = EXCLUDED.last_at, tries = line.tries + 1
RETURNING tries
"""
log = structlog.get_logger()


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


@transaction.atomic
def note_refused_replacement(*, agent: Agent, runs: Sequence[int]) -> None:
    """``agent`` was refused to replace ``runs`` (ids). Call it when that was rolled back.

    A lab gets one mail a day about an agent, however often that tries: the mail is composed when
    it is sent, and counts. What was tried before is counted and not logged again: a loop must not
    push everything else out of the log.
    """
    now = timezone.now()
    tried = [tries for (tries,) in fetch_rows(KEEP, agent.pk, now, now, sorted(runs))]
    if new := tried.count(1):
        log.warning("replacing runs of another lab refused", agent=str(agent), runs=new)
    for lab in Lab.objects.filter(hardware__runs__in=runs).distinct():
        post_mails(_mails(lab, agent, now))


def _mails(lab: Lab, agent: Agent, now: datetime) -> list[NewMail]:
    due = now + timedelta(seconds=settings.MAIL_SETTLE_SECONDS)
    day = f"{now:%Y-%m-%d}"
    return [
        NewMail(
            recipient=person.pk,
            kind=KIND,
            about=f"lab:{lab.pk}:agent:{agent.pk}:{day}",
            due=person.after_quiet_hours(due),
            data={"lab": lab.pk, "agent": agent.pk, "day": day},
        )
        for person in lab.listeners()
    ]
