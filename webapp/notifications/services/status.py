"""Mail operators when a check of `/status/` turns wrong, and when it is right again."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.notifications.models import Problem
from webapp.notifications.status import Check, checks
from webapp.outbox.services import NewMail, post_mails

KIND = "status.changed"

PATIENCE = timedelta(minutes=4)
"""What is wrong for one look alone is a restart: beat looks every five minutes."""


@transaction.atomic
def note_status() -> int:
    """Keep what is wrong, and post a mail about what changed; how many mails."""
    now = timezone.now()
    wrong = {each.name: each for each in checks() if each.is_wrong}
    Problem.objects.bulk_create(
        [Problem(name=name, since=one.since or now) for name, one in wrong.items()],
        ignore_conflicts=True,
    )
    stored = list(Problem.objects.select_for_update().order_by("name"))
    ended = [each for each in stored if each.name not in wrong]
    over = [each.name for each in ended if each.mailed_at is not None]
    Problem.objects.filter(name__in=[each.name for each in ended]).delete()
    turned = [each for each in stored if each.name in wrong and _is_due(each, now)]
    Problem.objects.filter(name__in=[each.name for each in turned]).update(mailed_at=now)
    if not turned and not over:
        return 0
    return post_mails(_mails(now, [wrong[each.name] for each in turned], over))


def _is_due(problem: Problem, now: datetime) -> bool:
    return problem.mailed_at is None and problem.since <= now - PATIENCE


def _mails(now: datetime, wrong: Iterable[Check], over: list[str]) -> list[NewMail]:
    data: dict[str, Any] = {
        "wrong": [[each.name, each.text, each.remedy] for each in wrong],
        "right": over,
    }
    return [
        NewMail(
            recipient=person.pk,
            kind=KIND,
            about=f"status:{now.isoformat()}",
            due=person.after_quiet_hours(now),
            data=data,
        )
        for person in User.objects.operators()
    ]
