"""Items of the outbox: mails and events are put there in the transaction of what they report, and
claimed by whoever sends them: taking them, writing what became of them while they are still ours,
and ending waits that were reckoned by a wrong clock; how long to wait before the next try, and when
to give up.
"""

import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce, Least
from django.utils import timezone

from webapp.outbox.messages import NewMail, NewMessage
from webapp.outbox.models import Endpoint, HookDelivery, MailServer, OutboxItem, OutboxItemQuerySet
from webapp.queueing import Task, queue_on_commit
from webapp.readiness.services import heartbeats

DROPPED_BY = "dropped_by"
"""In a mail's data: the operator who dropped it. It stays so, whatever is posted."""

POST_MAILS = """
      WITH given AS (
    SELECT recipient, kind, about, thread, data, due
      FROM json_to_recordset(%s::json) AS mail (
           recipient bigint, kind text, about text, thread text, data jsonb, due timestamptz)
           ), dropped AS (
    SELECT mail.id, given.data, given.due
      FROM outbox_mail AS mail JOIN given USING (kind, about)
     WHERE mail.recipient_id = given.recipient AND mail.state = 'dropped'
       AND NOT jsonb_exists(mail.data, %s)
     ORDER BY mail.id FOR UPDATE OF mail SKIP LOCKED
           ), again AS (
    UPDATE outbox_mail AS mail
       SET state = 'waiting', data = dropped.data, due = dropped.due,
           attempts = 0, reason = '', ended_at = NULL, composed_at = NULL
      FROM dropped WHERE mail.id = dropped.id
 RETURNING mail.due
           ), new AS (
    INSERT INTO outbox_mail (recipient_id, kind, about, thread, data, due)
    SELECT recipient, kind, about, thread, data, due FROM given
        ON CONFLICT (recipient_id, kind, about) DO NOTHING
 RETURNING due)
    SELECT due FROM new UNION ALL SELECT due FROM again"""


def post_mails(mails: Sequence[NewMail]) -> int:
    """Post ``mails`` and return how many of them are to be sent because of that.

    One person gets one mail of a kind about a thing: what waits or was sent stays as it is. What
    was dropped because nothing was left to send, or nobody was there to read it, was no mail: there
    is something to send again. They are sent when this transaction is committed and they are due.
    """
    if not mails:
        return 0
    # In one order, so that two that post the same never wait for one another in a circle.
    rows = sorted((asdict(mail) for mail in mails), key=_identity)
    with connection.cursor() as cursor:
        given = json.dumps(rows, cls=DjangoJSONEncoder, allow_nan=False)
        cursor.execute(POST_MAILS, [given, DROPPED_BY])
        dues: list[datetime] = [row[0] for row in cursor.fetchall()]
    if dues and min(dues) <= timezone.now():
        queue_on_commit(Task.SEND_MAILS)
    return len(dues)


@transaction.atomic
def post_event(*, kind: str, about: str, payload: Mapping[str, Any]) -> int:
    """Post an event to every enabled webhook that listens to its kind; return to how many.

    A webhook hears of an event of a kind about a thing once; ``about`` names the occurrence
    (``alert:17:event:204``) where there can be several. ``payload`` is JSON.
    """
    now = timezone.now()
    deliveries = [
        HookDelivery(
            endpoint=endpoint, uid=uuid.uuid4(), kind=kind, about=about, payload=payload, due=now
        )
        for endpoint in Endpoint.objects.webhooks().listening_to(kind).order_by("pk")
    ]
    HookDelivery.objects.bulk_create(deliveries, ignore_conflicts=True)
    if deliveries:
        queue_on_commit(Task.SEND_DELIVERIES)
    return len(deliveries)


@transaction.atomic
def post_messages(messages: Sequence[NewMessage]) -> None:
    """Post ``messages`` to every enabled channel that listens to their kinds.

    As with mails, a channel gets one message of a kind about a thing, and what was dropped because
    nothing was left to send was none.
    """
    channels = list(Endpoint.objects.channels().filter(enabled=True).order_by("pk"))
    new = {
        (channel.pk, one.kind, one.about): HookDelivery(
            endpoint=channel,
            uid=uuid.uuid4(),
            kind=one.kind,
            about=one.about,
            payload=one.data,
            due=one.due,
        )
        for one in messages
        for channel in channels
        if not channel.kinds or one.kind in channel.kinds
    }
    if new:
        _post_again(new)
        HookDelivery.objects.bulk_create(new.values(), ignore_conflicts=True)
        if min(one.due for one in messages) <= timezone.now():
            queue_on_commit(Task.SEND_DELIVERIES)


def _post_again(new: Mapping[tuple[int, str, str], HookDelivery]) -> None:
    """Those of ``new`` that were dropped: as if for the first time."""
    _, kinds, abouts = zip(*new, strict=True)
    dropped = HookDelivery.objects.in_state(HookDelivery.State.DROPPED).select_for_update()
    again = []
    for row in dropped.filter(kind__in=kinds, about__in=abouts).order_by("pk"):
        found = new.get((row.endpoint_id, row.kind, row.about))
        if found:
            row.payload, row.due, row.state = found.payload, found.due, found.State.WAITING
            row.attempts, row.reason, row.ended_at = 0, "", None
            again.append(row)
    changed = ("payload", "due", "state", "attempts", "reason", "ended_at")
    HookDelivery.objects.bulk_update(again, changed)


def _identity(row: Mapping[str, Any]) -> tuple[int, str, str]:
    return row["recipient"], row["kind"], row["about"]


MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

PAUSES = (
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
    24 * HOUR,
    24 * HOUR,
    24 * HOUR,
)
"""After the first, second, … failed try of one item.

RFC 5321, 4.5.4.1: at least 30 minutes between tries, sooner for the first two or so, and give up
after 4 to 5 days at the earliest. The first pause is short because greylisting servers refuse a
first try for about a minute.
"""

SERVER_PAUSES = (
    timedelta(seconds=15),
    timedelta(seconds=30),
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
)
"""After the first, second, … time that the mail server could not be used; the last repeats. One
attempt to connect every ten minutes troubles nobody, and mails follow soon after its return."""

JITTER = 0.25
"""Share of a pause that is added at random, so that what failed together does not return together
(the receiver may have failed under just that load)."""

REASON_LENGTH = 1000
TRY = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
CLOCKS_DIFFER_BY = timedelta(minutes=1)
"""Those of two machines of one instance, without anything being wrong."""

LONGEST_LEASE = timedelta(minutes=3)
LONGEST_WAIT = max(PAUSES) * (1 + JITTER) + timedelta(hours=1)
"""Of an item; quiet hours end within a day."""

LONGEST_SERVER_PAUSE = max(SERVER_PAUSES) * (1 + JITTER)
log = structlog.get_logger()


def is_last(attempts: int) -> bool:
    """Whether ``attempts`` failed tries were all there are."""
    return attempts > len(PAUSES)


def pause_after(attempts: int, pauses: Sequence[timedelta] = PAUSES) -> timedelta:
    """How long to wait after ``attempts`` (1 or more) failed tries; the last pause repeats."""
    pause = pauses[min(attempts, len(pauses)) - 1]
    return pause * random.uniform(1, 1 + JITTER)  # noqa: S311 (spreads load, keeps no secret)


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
    """Let ``item`` wait until its time comes; this was no try."""
    return _write(
        item, state=OutboxItem.State.WAITING, claim=None, due=until, reason=_plain(reason)
    )


def record_sent(item: OutboxItem, **fields: Any) -> bool:
    """The item arrived. Like the functions below, False when the claim on it is not ours now."""
    return _end(item, OutboxItem.State.SENT, "", attempts=F("attempts") + 1, **fields)


def record_dropped(item: OutboxItem, reason: str) -> bool:
    """The item is not to be sent any more."""
    return _end(item, OutboxItem.State.DROPPED, reason)


def record_dead(item: OutboxItem, reason: str, **fields: Any) -> bool:
    """The receiver refused it for good."""
    return _end(item, OutboxItem.State.DEAD, reason, attempts=F("attempts") + 1, **fields)


def record_failed(item: OutboxItem, reason: str, **fields: Any) -> bool:
    """A try failed: there is another one after a pause, or it was the last."""
    failed = item.attempts + 1
    if is_last(failed):
        return record_dead(item, f"Given up after {failed} tries: {reason}", **fields)
    return _write(
        item,
        state=OutboxItem.State.WAITING,
        claim=None,
        due=timezone.now() + pause_after(failed),
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
    """PostgreSQL holds no NUL, and servers answer what they like."""
    return reason.replace("\0", "")[:REASON_LENGTH]


@contextmanager
def singleton_lock(what: str) -> Iterator[bool]:
    """Whether nobody else does ``what`` now; if so, nobody else will inside.

    The lock belongs to a transaction of its own, which ends with a process that is killed. The
    worker of the outbox has a process for mails and one for webhooks: were both to wait for slow
    endpoints, mails would wait too.
    """
    with heartbeats.connect(connection.settings_dict) as other, other.transaction():
        row = other.execute(TRY, [f"driftline-{what}"]).fetchone()
        yield row is not None and bool(row[0])


def correct_times(items: OutboxItemQuerySet, *, now: datetime | None = None) -> int:
    """Make due at once what waits for a time further ahead than any that is written here: the clock
    was set back since. How many.
    """
    at = now or timezone.now()
    ahead = at + CLOCKS_DIFFER_BY
    touched_ahead = Q(touched__gt=ahead)
    claimed_too_long = Q(state=OutboxItem.State.CLAIMED, due__gt=ahead + LONGEST_LEASE)
    too_far = Q(due__gt=ahead + LONGEST_WAIT)
    rows = items.unfinished().annotate(touched=Coalesce("tried_at", "created_at"))
    # What was tried keeps the time at which it was made: a delivery has it, the same every time.
    made = Case(When(tried_at=None, then=Least("created_at", at)), default=F("created_at"))
    wrong = rows.filter(touched_ahead | claimed_too_long | too_far, due__gt=at)
    corrected: int = wrong.update(
        due=at,
        created_at=made,
        tried_at=Case(When(tried_at=None, then=None), default=Least("tried_at", at)),
    )
    return corrected


def correct_pauses() -> int:
    """End pauses of the mail server and of endpoints that a wrong clock prolonged; how many."""
    at = timezone.now()
    far = at + CLOCKS_DIFFER_BY + LONGEST_SERVER_PAUSE
    began = Least("failing_since", at)
    return sum(
        model._default_manager.filter(next_try__gt=far).update(next_try=at, failing_since=began)  # noqa: SLF001
        for model in (Endpoint, MailServer)
    )
