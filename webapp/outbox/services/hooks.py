"""One delivery to its endpoint: what is sent, and whether it arrived."""

import json
import time
from functools import partial

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from webapp.outbox import addresses, channels, http_post, signing
from webapp.outbox.deadlines import Deadline
from webapp.outbox.encryption import LOST
from webapp.outbox.models import HookDelivery
from webapp.outbox.models.hooks import MESSAGE
from webapp.outbox.services import endpoints


class DeliveryError(Exception):
    """A delivery did not arrive; the message says why."""

    def __init__(self, reason: str, answer: http_post.Answer | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


def body_of(delivery: HookDelivery) -> bytes:
    """What is sent: the same bytes in every try."""
    content = {
        "id": str(delivery.uid),
        "kind": delivery.kind,
        "about": delivery.about,
        "created_at": delivery.created_at,
        "data": delivery.payload,
    }
    return json.dumps(content, cls=DjangoJSONEncoder, sort_keys=True).encode()


def post_delivery(delivery: HookDelivery, deadline: Deadline) -> http_post.Answer:
    """Post it. Raises DeliveryError unless the endpoint says 2xx. Touches no database."""
    if not delivery.endpoint.is_readable:
        raise DeliveryError(f"What opens the endpoint {LOST}.")
    if delivery.endpoint.is_channel:
        return _write(delivery, deadline)
    body = body_of(delivery)
    endpoint = delivery.endpoint
    try:
        target = endpoints.target_of(endpoint)
        answer = http_post.post(target, body, _headers(delivery, body), deadline=deadline)
    except (addresses.AddressError, http_post.PostError) as error:
        raise DeliveryError(str(error)) from error
    if reason := http_post.refusal(answer):
        raise DeliveryError(reason, answer)
    return answer


def _write(delivery: HookDelivery, deadline: Deadline) -> http_post.Answer:
    """Write the composed message to its channel. Raises DeliveryError."""
    endpoint, message = delivery.endpoint, delivery.payload[MESSAGE]
    check = partial(endpoints.checked, allow_private=endpoint.allow_private)
    try:
        return channels.send(endpoint.url, **message, check=check, deadline=deadline)
    except channels.NotTaken as error:
        raise DeliveryError(str(error), error.answer) from error


def _headers(delivery: HookDelivery, body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Driftline (+{settings.PUBLIC_URL})",
        "X-Driftline-Event": delivery.kind,
        "X-Driftline-Delivery": str(delivery.uid),
        signing.HEADER: signing.signature(delivery.endpoint.secret, body, at=int(time.time())),
    }


def answer_fields(answer: http_post.Answer | None) -> dict[str, object]:
    """What is kept of an answer."""
    if answer is None:
        return {"status": None, "response": "", "milliseconds": None}
    return {
        "status": answer.status,
        "response": answer.excerpt[: http_post.EXCERPT_BYTES],
        "milliseconds": answer.milliseconds,
    }
