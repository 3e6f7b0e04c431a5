"""Keep, log and mail that an agent tried to replace runs of another lab."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from webapp.labs.models import Agent, Lab
from webapp.outbox.services import NewMail, post_mails
from webapp.results.services.bulk import fetch_rows

KIND = "lab.refused"
KEEP = """
INSERT INTO results_refusedreplacement AS line (run_id, agent_id, first_at, last_at, tries)
SELECT run, %s, %s, %s, 1 FROM unnest(%s::bigint[]) AS run
    ON CONFLICT (run_id, agent_id) DO UPDATE SET last_at = EXCLUDED.last_at, tries = line.tries + 1
RETURNING tries
"""
log = structlog.get_logger()


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
