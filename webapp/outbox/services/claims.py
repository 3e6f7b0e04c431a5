"""Claims on items: taking them, and writing what became of them while they are still ours."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from webapp.outbox import backoff
from webapp.outbox.models.items import OutboxItem, OutboxItemQuerySet

REASON_LENGTH = 1000
log = structlog.get_logger()


def claim(items: OutboxItemQuerySet, *, limit: int, lease: timedelta) -> uuid.UUID | None:
    """Claim up to ``limit`` items that are due, for the time of ``lease``; None without any.

    Two workers never claim the same one: each skips the rows that the other holds, and sees
    afterwards that they are not due any more.
    """
    now = timezone.now()
    with transaction.atomic():
        due = items.claimable(now).select_for_update(skip_locked=True, of=("self",))
        return claim_these(due[:limit], lease=lease)


def claim_these(items: OutboxItemQuerySet, *, lease: timedelta) -> uuid.UUID | None:
    """Claim ``items``, which are due and which nobody else claims now; None without any."""
    token = uuid.uuid4()
    chosen = list(items.values_list("pk", flat=True))
    free = items.model._default_manager.filter(pk__in=chosen, state__in=OutboxItem.UNFINISHED)  # noqa: SLF001
    free.update(state=OutboxItem.State.CLAIMED, claim=token, due=timezone.now() + lease)
    return token if chosen else None


def keep(item: OutboxItem, *, lease: timedelta, **fields: Any) -> bool:
    """Begin the claim on ``item`` anew and write ``fields``; False when it is not ours now."""
    now = timezone.now()
    return _write(item, due=now + lease, tried_at=now, **fields)


def release(items: OutboxItemQuerySet, token: uuid.UUID) -> None:
    """Give back what of a claim was not tried; it is due at once."""
    items.filter(claim=token).update(state=OutboxItem.State.WAITING, claim=None, due=timezone.now())


def put_off(item: OutboxItem, reason: str, *, until: datetime) -> bool:
    """Its time has not come yet; this was no try."""
    return _write(
        item, state=OutboxItem.State.WAITING, claim=None, due=until, reason=_plain(reason)
    )


def record_sent(item: OutboxItem, **fields: Any) -> bool:
    """It arrived. Like those below, False when the claim on it is not ours now."""
    return _end(item, OutboxItem.State.SENT, "", attempts=F("attempts") + 1, **fields)


def record_dropped(item: OutboxItem, reason: str) -> bool:
    """It is not to be sent any more."""
    return _end(item, OutboxItem.State.DROPPED, reason)


def record_dead(item: OutboxItem, reason: str, **fields: Any) -> bool:
    """The receiver refused it for good."""
    return _end(item, OutboxItem.State.DEAD, reason, attempts=F("attempts") + 1, **fields)


def record_failed(item: OutboxItem, reason: str, **fields: Any) -> bool:
    """A try failed: there is another one after a pause, or it was the last."""
    failed = item.attempts + 1
    if backoff.is_last(failed):
        return record_dead(item, f"Given up after {failed} tries: {reason}", **fields)
    return _write(
        item,
        state=OutboxItem.State.WAITING,
        claim=None,
        due=timezone.now() + backoff.pause_after(failed),
        attempts=failed,
        reason=_plain(reason),
        **fields,
    )


def _end(item: OutboxItem, state: OutboxItem.State, reason: str, **fields: Any) -> bool:
    now: datetime = timezone.now()
    return _write(item, state=state, claim=None, reason=_plain(reason), ended_at=now, **fields)


def _write(item: OutboxItem, **fields: Any) -> bool:
    """Compare and set: only who still holds the claim writes."""
    rows = type(item)._default_manager.filter(pk=item.pk, claim=item.claim)  # noqa: SLF001
    written = bool(rows.update(**fields))
    if not written:
        log.warning("a claim ran out before its result was written", item=str(item))
    return written


def _plain(reason: str) -> str:
    """PostgreSQL holds no NUL, and servers say what they like."""
    return reason.replace("\0", "")[:REASON_LENGTH]
