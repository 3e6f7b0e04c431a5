"""Send the deliveries that are due: to many endpoints at once, to each one at a time.

Threads do nothing but talk: the thread that sends claims, and writes what became of each. So one
that hangs in a resolver, which nobody can interrupt, is left behind and changes nothing later.
"""

import hashlib
import hmac
import json
import queue
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from webapp.outbox import channels, http_post
from webapp.outbox.deadlines import Deadline
from webapp.outbox.messages import CHANNEL
from webapp.outbox.models import LOST, MESSAGE, Endpoint, HookDelivery, Mail
from webapp.outbox.services import endpoints, items, mailing
from webapp.readiness.services import heartbeats, still_works

SIGNATURE_HEADER = "X-Driftline-Signature"


def signature(secret: str, body: bytes, *, at: int) -> str:
    """The header's value for ``body`` sent ``at`` (seconds since 1970), by which a receiver with
    the secret knows who sent it, and when.

    ``t=1790000000,v1=5257a8…``: v1 is the HMAC-SHA256 in hexadecimal of ``t``, a full stop and the
    body. The time is signed too, so that a recorded delivery grows old.
    """
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"


class DeliveryError(Exception):
    """A delivery did not arrive; the message states why."""

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
    """Post it. Raises DeliveryError unless the endpoint answers 2xx. Touches no database."""
    if not delivery.endpoint.is_readable:
        raise DeliveryError(f"What opens the endpoint {LOST}.")
    if delivery.endpoint.is_channel:
        return _write(delivery, deadline)
    body = body_of(delivery)
    endpoint = delivery.endpoint
    try:
        target = endpoints.target_of(endpoint)
        answer = http_post.post(target, body, _headers(delivery, body), deadline=deadline)
    except (http_post.AddressError, http_post.PostError) as error:
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
        SIGNATURE_HEADER: signature(delivery.endpoint.secret, body, at=int(time.time())),
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


MOST_AT_ONCE = 32
"""Slow endpoints that one process waits for; a thread that was left behind counts until it ends."""

LOOK_SECONDS = 1.0
"""How often what became due meanwhile is looked for."""

GRACE_SECONDS = 1.0
"""For a thread to notice its deadline."""

LEASE = timedelta(minutes=1)
"""Of one delivery, whose deadline is http_post.TOTAL_SECONDS."""

log = structlog.get_logger()
Outcome = http_post.Answer | DeliveryError


@dataclass(frozen=True, eq=False)
class Attempt:
    """One delivery under way."""

    delivery: HookDelivery
    deadline: Deadline

    @property
    def is_left_behind(self) -> bool:
        """Whether its deadline has been over for so long that nobody waits for it."""
        return self.deadline.is_over_since(GRACE_SECONDS)


class Sending:
    """Takes up what is due for ``seconds``, then waits for what is under way."""

    _threads: set[threading.Thread] = set()

    def __init__(self, *, seconds: float, each_seconds: float) -> None:
        self._begins_until = Deadline(seconds)
        self._each_seconds = each_seconds
        self._ended: queue.SimpleQueue[tuple[Attempt, Outcome]] = queue.SimpleQueue()
        self._under_way: set[Attempt] = set()
        self.tried = 0

    def run(self) -> None:
        """Until nothing is due any more, or the time is over."""
        self._begin_due()
        while self._under_way:
            self._write_ended()
            self._leave_behind()
            self._begin_due()
            still_works(heartbeats.DELIVERIES)

    def _begin_due(self) -> None:
        Sending._threads = {thread for thread in self._threads if thread.is_alive()}
        room = MOST_AT_ONCE - len(self._threads)
        if room > 0 and not self._begins_until.is_over:
            for delivery in filter(_is_composed, _claim(room)):
                self._begin(Attempt(delivery, Deadline(self._each_seconds)))

    def _begin(self, attempt: Attempt) -> None:
        thread = threading.Thread(target=self._try, args=[attempt], daemon=True, name="delivery")
        self._threads.add(thread)
        self._under_way.add(attempt)
        self.tried += 1
        thread.start()

    def _try(self, attempt: Attempt) -> None:
        outcome: Outcome
        try:
            outcome = post_delivery(attempt.delivery, attempt.deadline)
        except DeliveryError as error:
            outcome = error
        except Exception as error:
            log.exception("a delivery could not be sent", delivery=attempt.delivery.pk)
            outcome = DeliveryError(f"It could not be sent: {type(error).__name__}: {error}")
        self._ended.put((attempt, outcome))

    def _write_ended(self) -> None:
        """Of those that ended; wait a moment for the first."""
        try:
            attempt, outcome = self._ended.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return
        self._write(attempt, outcome)

    def _leave_behind(self) -> None:
        for attempt in [each for each in self._under_way if each.is_left_behind]:
            late = f"No whole answer within {attempt.deadline.seconds:g} s."
            self._write(attempt, DeliveryError(late))

    def _write(self, attempt: Attempt, outcome: Outcome) -> None:
        if attempt not in self._under_way:
            return  # it was left behind, and that is written
        self._under_way.remove(attempt)
        delivery = attempt.delivery
        if isinstance(outcome, DeliveryError):
            # First the delivery: when the endpoint is disabled for this, all that wait are dropped.
            items.record_failed(delivery, str(outcome), **answer_fields(outcome.answer))
            endpoints.note_failure(endpoint=delivery.endpoint, reason=str(outcome))
        else:
            items.record_sent(delivery, **answer_fields(outcome))
            endpoints.note_success(endpoint=delivery.endpoint)


def send_due_deliveries(
    *, seconds: float = 60.0, each_seconds: float = http_post.TOTAL_SECONDS
) -> int:
    """Send what is due or becomes due meanwhile; how many were tried.

    Nothing is taken up after ``seconds``, and nothing takes longer than ``each_seconds``.
    """
    sending = Sending(seconds=seconds, each_seconds=each_seconds)
    sending.run()
    return sending.tried


def are_deliveries_due() -> bool:
    """Whether one could be sent now."""
    now = timezone.now()
    return Endpoint.objects.in_reach(now).with_due_deliveries(now).exists()


def _is_composed(delivery: HookDelivery) -> bool:
    """Whether there is something to send: JSON always; the message of a channel from before, or
    composed now, as a mail is to nobody in particular.
    """
    if not delivery.endpoint.is_channel or MESSAGE in delivery.payload:
        return True
    data = {**delivery.payload, CHANNEL: delivery.endpoint_id}
    mail = Mail(kind=delivery.kind, about=delivery.about, data=data)
    message = mailing.composed(delivery, mail)
    if message is None:
        return False
    delivery.payload[MESSAGE] = {"title": message.subject, "text": message.text}
    delivery.payload["composed_at"] = timezone.now().isoformat()
    return items.keep(delivery, lease=LEASE, payload=delivery.payload)


@transaction.atomic
def _claim(limit: int) -> list[HookDelivery]:
    """Claim the delivery due first of each of up to ``limit`` endpoints to which none is under way;
    those that answered lately come before those that failed.
    """
    now = timezone.now()
    ready = Endpoint.objects.in_reach(now).with_due_deliveries(now).order_by("failures", "pk")
    locked = list(ready.select_for_update(skip_locked=True, no_key=True)[:limit])
    # Looked at again under the locks: another process may have claimed since the first look.
    firsts = HookDelivery.objects.first_due_of(locked, now)
    token = items.claim_these(firsts, lease=LEASE)
    if token is None:
        return []
    return list(HookDelivery.objects.select_related("endpoint").filter(claim=token))
