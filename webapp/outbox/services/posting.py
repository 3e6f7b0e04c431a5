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

from webapp.outbox import queue
from webapp.outbox.letters import NewMail
from webapp.outbox.models import Endpoint, HookDelivery

POST_MAILS = """
    INSERT INTO outbox_mail (recipient_id, kind, about, thread, data, due)
    SELECT recipient, kind, about, thread, data, due
      FROM json_to_recordset(%s::json) AS mail (
           recipient bigint, kind text, about text, thread text, data jsonb, due timestamptz)
        ON CONFLICT (recipient_id, kind, about) DO NOTHING
    RETURNING due"""


def post_mails(mails: Sequence[NewMail]) -> int:
    """Post ``mails`` and say how many of them are new.

    One person gets one mail of a kind about a thing: what was posted before stays as it is. They
    are sent when this transaction is committed and they are due.
    """
    if not mails:
        return 0
    # In one order, so that two that post the same never wait for one another in a circle.
    rows = sorted((asdict(mail) for mail in mails), key=_identity)
    with connection.cursor() as cursor:
        cursor.execute(POST_MAILS, [json.dumps(rows, cls=DjangoJSONEncoder, allow_nan=False)])
        dues: list[datetime] = [row[0] for row in cursor.fetchall()]
    if dues and min(dues) <= timezone.now():
        queue.mails_on_commit()
    return len(dues)


@transaction.atomic
def post_event(*, kind: str, about: str, payload: Mapping[str, Any]) -> int:
    """Post an event to every enabled endpoint that listens to its kind; say to how many.

    An endpoint hears of an event of a kind about a thing once; ``about`` names the occurrence
    (``alert:17:event:204``) where there can be several. ``payload`` is JSON.
    """
    now = timezone.now()
    deliveries = [
        HookDelivery(
            endpoint=endpoint, uid=uuid.uuid4(), kind=kind, about=about, payload=payload, due=now
        )
        for endpoint in Endpoint.objects.listening_to(kind).order_by("pk")
    ]
    HookDelivery.objects.bulk_create(deliveries, ignore_conflicts=True)
    if deliveries:
        queue.deliveries_on_commit()
    return len(deliveries)


def _identity(row: Mapping[str, Any]) -> tuple[int, str, str]:
    return row["recipient"], row["kind"], row["about"]
