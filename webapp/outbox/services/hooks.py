"""Send the deliveries that are due, one at a time: endpoints are slow, and do not slow others."""

import json
import time
from datetime import timedelta

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from webapp.outbox import addresses, http_post, signing
from webapp.outbox.models import HookDelivery
from webapp.outbox.services import claiming, endpoints

LEASE = timedelta(minutes=2)
"""Of one delivery: TOTAL_SECONDS of the request, and the time that a resolver may take."""


class DeliveryError(Exception):
    """A delivery did not arrive; the message says why."""

    def __init__(self, reason: str, answer: http_post.Answer | None = None) -> None:
        super().__init__(reason)
        self.answer = answer


def send_due_delivery() -> bool:
    """Send one delivery that is due; False when there is none."""
    reachable = HookDelivery.objects.to_endpoints_in_reach(timezone.now())
    token = claiming.claim(reachable, limit=1, lease=LEASE)
    if token is None:
        return False
    delivery = HookDelivery.objects.select_related("endpoint").get(claim=token)
    claiming.keep(delivery, lease=LEASE)
    try:
        answer = _post(delivery)
    except DeliveryError as error:
        # First the delivery: when the endpoint is disabled for this, all that wait are dropped.
        claiming.record_failed(delivery, str(error), **_answer_fields(error.answer))
        endpoints.note_failure(endpoint=delivery.endpoint, reason=str(error))
    else:
        claiming.record_sent(delivery, **_answer_fields(answer))
        endpoints.note_success(endpoint=delivery.endpoint)
    return True


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


def _post(delivery: HookDelivery) -> http_post.Answer:
    """Post it. Raises DeliveryError unless the endpoint says 2xx."""
    body = body_of(delivery)
    endpoint = delivery.endpoint
    try:
        target = addresses.check(endpoint.url, allowed=endpoints.allowed_networks(endpoint))
        answer = http_post.post(target, body, _headers(delivery, body))
    except (addresses.AddressError, http_post.PostError) as error:
        raise DeliveryError(str(error)) from error
    if 300 <= answer.status < 400:
        reason = f"It redirects to {answer.location or 'nowhere'}. Redirects are not followed: "
        raise DeliveryError(f"{reason}enter the final address.", answer)
    if not 200 <= answer.status < 300:
        raise DeliveryError(f"It answered {answer.status}.", answer)
    return answer


def _headers(delivery: HookDelivery, body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Driftline (+{settings.PUBLIC_URL})",
        "X-Driftline-Event": delivery.kind,
        "X-Driftline-Delivery": str(delivery.uid),
        signing.HEADER: signing.signature(delivery.endpoint.secret, body, at=int(time.time())),
    }


def _answer_fields(answer: http_post.Answer | None) -> dict[str, object]:
    if answer is None:
        return {"status": None, "response": "", "milliseconds": None}
    return {
        "status": answer.status,
        "response": answer.excerpt,
        "milliseconds": answer.milliseconds,
    }
