"""What nobody needs any more goes; what still decides something stays."""

import io
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

from tests import make
from tests.jobs.steps import fail, request, take, taken
from webapp.accounts.models import AuditEntry
from webapp.config import tasks
from webapp.jobs.models import Job, JobEvent, Worker
from webapp.labs.models import LabQuota
from webapp.outbox.models import Endpoint, HookDelivery, Mail
from webapp.outbox.services import NewMail, post_mails
from webapp.results.models import RefusedReplacement

pytestmark = pytest.mark.django_db
YEARS = timedelta(days=2000)


def mail(about: str, **fields: Any) -> Mail:
    now = timezone.now()
    return Mail.objects.create(
        recipient=make.user("ada"),
        kind="alert.opened",
        about=about,
        due=now,
        composed_at=now,
        text="a text",
        html="<p>",
        subject="s",
        **fields,
    )


@pytest.fixture
def old(db: None) -> None:
    """One of everything that is old, and its like that must stay."""
    now = timezone.now()
    past = now - YEARS
    Session.objects.create(session_key="old", session_data="", expire_date=now - timedelta(1))
    Session.objects.create(session_key="new", session_data="", expire_date=now + timedelta(1))
    mail("alert:1", state="sent", ended_at=past)
    endpoint = Endpoint.objects.create(name="ci", url="https://ci.example/")
    for about, state in (
        ("alert:1:event:1", "sent"),
        ("alert:1:event:2", "waiting"),
        ("bisect:1", "sent"),
    ):
        HookDelivery.objects.create(
            endpoint=endpoint,
            uid=uuid4(),
            kind="k",
            about=about,
            payload={},
            due=past,
            state=state,
            ended_at=None if state == "waiting" else past,
        )
    job = request("r1", at=past, max_attempts=1)
    fail(taken("rig-1", at=past), "build", at=past, reason="make", log="ld: error")
    Job.objects.filter(pk=job.pk).update(log="ld: error")
    take("rig-2", at=past)
    take("rig-3", at=now)
    run = make.run(make.revision("r5"))
    for agent, at in ((make.agent(), past), (make.agent("b"), now)):
        RefusedReplacement.objects.create(run=run, agent=agent, first_at=at, last_at=at)
        AuditEntry.objects.create(at=at, kind="command", operation="event", subject="labs_lab")


def printed(*options: str) -> dict[str, int]:
    output = io.StringIO()
    call_command("prune", *options, stdout=output)
    lines = (line.split(" ", 1) for line in output.getvalue().splitlines())
    return {name: int(number) for number, name in lines}


@pytest.mark.usefixtures("old")
def test_what_is_old_goes_and_what_decides_something_stays() -> None:
    expected = {
        "sessions that ended": 1,
        "texts of mails": 1,
        "webhook deliveries": 1,
        "logs of jobs": 1,
        "logs of tries of jobs": 1,
        "refused replacements": 1,
        "audit log": 1,
        "silent workers without a job": 1,
    }
    assert printed("--dry-run") == printed("--dry-run") == expected
    events = list(JobEvent.objects.values_list("kind", "reason"))
    assert printed() == expected
    assert set(printed().values()) == {0}
    assert list(Session.objects.values_list("session_key", flat=True)) == ["new"]
    assert set(HookDelivery.objects.values_list("about", flat=True)) == {
        "alert:1:event:2",
        "bisect:1",
    }
    assert (Job.objects.get().log, Job.objects.get().failure_reason) == ("", "make")
    assert list(JobEvent.objects.values_list("kind", "reason")) == events
    assert set(Worker.objects.values_list("name", flat=True)) == {"rig-1", "rig-3"}
    assert RefusedReplacement.objects.count() == AuditEntry.objects.count() == 1
    sent = Mail.objects.get()
    assert (sent.text, sent.html, sent.subject) == ("", "", "s")
    # Who was notified is not notified again.
    again = NewMail(sent.recipient_id, sent.kind, sent.about, timezone.now(), "", {})
    assert post_mails([again]) == 0


@pytest.mark.usefixtures("old")
def test_what_is_kept_for_ever_stays(settings: Any) -> None:
    for name in ("MAIL_TEXT", "DELIVERIES", "JOB_LOGS", "REFUSALS", "AUDIT", "WORKERS"):
        setattr(settings, f"KEEP_{name}_DAYS", 0)
    assert printed("--dry-run") == printed() == {"sessions that ended": 1}


def test_a_mail_without_its_text_states_it(client: Any) -> None:
    old = mail("alert:1", state="sent", ended_at=timezone.now() - YEARS)
    printed()
    client.force_login(make.user("op", is_staff=True))
    assert b"Its text was removed" in client.get(f"/outbox/{old.pk}/").content


def test_batches_are_bounded_and_time_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BATCH", 2)
    now = timezone.now()
    Session.objects.bulk_create(
        Session(session_key=str(number), session_data="", expire_date=now - YEARS)
        for number in range(5)
    )
    assert dict(tasks.remove_old(now, seconds=0))["sessions that ended"] == 0
    assert tasks.kinds()[0].prune(now) == 2
    tasks.prune()
    assert not Session.objects.exists()


def test_beat_has_it_done_and_quotas_are_counted_anew(settings: Any) -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["prune"]
    assert entry["schedule"].run_every == timedelta(days=1)
    make.series()
    LabQuota.objects.all().delete()
    tasks.prune()
    assert LabQuota.objects.get().series == 1
