"""Put mails and events into the outbox, in the transaction of what they tell."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.utils import timezone

from webapp.outbox.messages import NewMail, NewMessage
from webapp.outbox.models import Endpoint, HookDelivery
from webapp.queueing import Task, queue_on_commit

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
    """Post ``mails`` and say how many of them are to be sent because of that.

    One person gets one mail of a kind about a thing: what waits or was sent stays as it is. What
    was dropped because nothing was left to say, or nobody was there to read it, was no mail: there
    is something to say again. They are sent when this transaction is committed and they are due.
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
    """Post an event to every enabled webhook that listens to its kind; say to how many.

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
    nothing was left to say was none.
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
