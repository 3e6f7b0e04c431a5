"""Webhooks and channels: added, switched on and off, and left alone while they fail."""

import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.outbox import channels, http_post
from webapp.outbox.models import MESSAGE, Endpoint, HookDelivery, OutboxItem, new_secret
from webapp.outbox.services import items
from webapp.queueing import Task, queue_on_commit

DISABLED_AFTER = timedelta(days=5)
"""Of failures without one success between them: as long as one delivery is tried."""
LEAST_FAILURES = len(items.PAUSES) + 1
"""Of those, as many as one delivery is tried."""

KIND = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
PING = "ping"


class EndpointError(Exception):
    """An endpoint that cannot be; ``field`` names what is wrong, the message why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def add_endpoint(
    *, name: str, url: str, kinds: Sequence[str] = (), allow_private: bool = False, by: User
) -> Endpoint:
    """Add an endpoint; its secret is in the answer. Raises EndpointError."""
    url = channels.canonical(url.strip())
    endpoint = Endpoint(name=name.strip(), url=url, kinds=list(kinds), allow_private=allow_private)
    endpoint.created_by = by
    return _stored(endpoint)


def change_endpoint(
    *, endpoint: Endpoint, name: str, url: str, kinds: Sequence[str], allow_private: bool
) -> Endpoint:
    """Change what was typed; what waits goes to the new URL, at once. Raises EndpointError.

    The URL of a channel, which is not shown, stays where none is given. Neither becomes the other.
    """
    was_channel = endpoint.is_channel
    endpoint.name = name.strip()
    endpoint.url = channels.canonical(url.strip()) or (endpoint.url if was_channel else "")
    if channels.is_channel(endpoint.url) is not was_channel:
        other = "webhook" if was_channel else "channel"
        raise EndpointError("url", f"This is the URL of a {other}: add that as another endpoint.")
    endpoint.kinds, endpoint.allow_private = list(kinds), allow_private
    endpoint.failures, endpoint.failing_since, endpoint.next_try = 0, None, None
    changed = ("name", "url", "kinds", "allow_private", "failures", "failing_since", "next_try")
    queue_on_commit(Task.SEND_DELIVERIES)
    return _stored(endpoint, only=changed)


def delete_endpoint(*, endpoint: Endpoint) -> None:
    """Delete it with its log.

    Raises EndpointError while it is enabled: what waits for it would be lost.
    """
    if not Endpoint.objects.filter(pk=endpoint.pk, enabled=False).delete()[0]:
        raise EndpointError("endpoint", f"{endpoint} is enabled; disable it first.")
    endpoint.pk = None  # as Model.delete does


def _stored(endpoint: Endpoint, only: Sequence[str] | None = None) -> Endpoint:
    _require_good(endpoint)
    try:
        with transaction.atomic():
            endpoint.save(update_fields=only)
    except IntegrityError as error:
        raise EndpointError("name", f"There is an endpoint {endpoint} already.") from error
    return endpoint


def enable_endpoint(*, endpoint: Endpoint) -> None:
    """Let it hear of events again, from now on."""
    Endpoint.objects.filter(pk=endpoint.pk).update(
        enabled=True, disabled_reason="", failures=0, failing_since=None, next_try=None
    )


@transaction.atomic
def disable_endpoint(*, endpoint: Endpoint, reason: str) -> None:
    """Let it hear of nothing more; what waits for it is dropped."""
    Endpoint.objects.filter(pk=endpoint.pk).update(enabled=False, disabled_reason=reason)
    _drop_waiting(endpoint)


def renew_secret(*, endpoint: Endpoint) -> str:
    """Sign with a new secret from now on, and give it back."""
    endpoint.secret = new_secret()
    endpoint.save(update_fields=["secret"])
    return endpoint.secret


@transaction.atomic
def reencrypt_secrets() -> int:
    """Encrypt all secrets with the present key; of how many endpoints. Those that no key decrypts
    stay as they are."""
    rows = [one for one in Endpoint.objects.select_for_update() if one.is_readable]
    for endpoint in rows:
        endpoint.save(update_fields=["url", "secret"])
    return len(rows)


@transaction.atomic
def ping_endpoint(*, endpoint: Endpoint, by: User) -> HookDelivery:
    """Post a test delivery to it alone, whatever it listens to; not held up by failures before.

    Raises EndpointError while it is disabled.
    """
    now = timezone.now()
    _reach_now(endpoint)
    uid = uuid.uuid4()
    payload: dict[str, Any] = {"from": settings.PUBLIC_URL, "by": by.get_username()}
    if endpoint.is_channel:
        text = f"A test by {by} of {settings.PUBLIC_URL}"
        payload = {MESSAGE: {"title": "Driftline", "text": text}}
    queue_on_commit(Task.SEND_DELIVERIES)
    return HookDelivery.objects.create(
        endpoint=endpoint, uid=uid, kind=PING, about=f"ping:{uid}", payload=payload, due=now
    )


@transaction.atomic
def retry_deliveries(*, endpoint: Endpoint, numbers: Sequence[int]) -> int:
    """Send deliveries again that were given up or wait for a pause; return how many.

    Raises EndpointError while it is disabled.
    """
    _reach_now(endpoint)
    again = endpoint.deliveries.filter(
        pk__in=numbers, state__in=[OutboxItem.State.DEAD, OutboxItem.State.WAITING]
    )
    queue_on_commit(Task.SEND_DELIVERIES)
    return again.update(
        state=OutboxItem.State.WAITING, due=timezone.now(), attempts=0, ended_at=None
    )


def target_of(endpoint: Endpoint) -> http_post.Target:
    """Where its URL leads just now. Raises AddressError where no webhook may go there."""
    return checked(endpoint.url, allow_private=endpoint.allow_private)


def checked(url: str, *, allow_private: bool) -> http_post.Target:
    """Where ``url`` leads just now, by the settings. Raises AddressError."""
    return http_post.check(
        url,
        allowed=settings.WEBHOOKS_ALLOW if allow_private else [],
        more_ports=settings.WEBHOOKS_PORTS,
    )


@transaction.atomic
def note_failure(*, endpoint: Endpoint, reason: str) -> None:
    """Leave it alone for a while, and for good when it failed for long."""
    now = timezone.now()
    row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    row.failures += 1
    row.failing_since = row.failing_since or now
    row.next_try = now + items.pause_after(row.failures, items.SERVER_PAUSES)
    row.save(update_fields=["failures", "failing_since", "next_try"])
    # The number too: a clock that is set forward makes days of a minute.
    if row.enabled and row.failures >= LEAST_FAILURES and now - row.failing_since > DISABLED_AFTER:
        days = DISABLED_AFTER.days
        disable_endpoint(
            endpoint=row, reason=f"Every delivery failed for {days} days, the last so: {reason}"
        )
    elif not row.enabled:
        # Somebody disabled it while this one was under way.
        _drop_waiting(row)


def note_success(*, endpoint: Endpoint) -> None:
    """The endpoint answers again."""
    Endpoint.objects.filter(pk=endpoint.pk, failures__gt=0).update(
        failures=0, failing_since=None, next_try=None
    )


def _reach_now(endpoint: Endpoint) -> None:
    """Do not wait for the end of its pause. Raises EndpointError while it is disabled."""
    if not Endpoint.objects.filter(pk=endpoint.pk, enabled=True).update(next_try=None):
        raise EndpointError("endpoint", f"{endpoint} is disabled; enable it first.")


def _drop_waiting(endpoint: Endpoint) -> None:
    waiting = HookDelivery.objects.filter(endpoint=endpoint, state=OutboxItem.State.WAITING)
    waiting.update(
        state=OutboxItem.State.DROPPED, ended_at=timezone.now(), reason="The endpoint was disabled."
    )


def _require_good(endpoint: Endpoint) -> None:
    if not endpoint.name or len(endpoint.name) > 100 or "\0" in endpoint.name:
        raise EndpointError("name", "A name of 1 to 100 characters is needed.")
    for kind in endpoint.kinds:
        if not KIND.fullmatch(kind):
            raise EndpointError("kinds", f"“{kind}” is no kind of event, such as alert.opened.")
    if len(endpoint.url) > 500:
        raise EndpointError("url", "A URL of at most 500 characters is needed.")
    check = partial(checked, allow_private=endpoint.allow_private)
    try:
        if channels.scheme_of(endpoint.url) in http_post.PORTS or "://" not in endpoint.url:
            target_of(endpoint)
        else:
            channels.require_good(endpoint.url, check)
    except (http_post.AddressError, channels.ChannelError) as error:
        raise EndpointError("url", str(error)) from error
