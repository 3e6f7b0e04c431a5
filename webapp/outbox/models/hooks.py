"""Webhooks and chat channels: who wants to hear of events, and what was sent there."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from webapp import encryption
from webapp.accounts.models import User
from webapp.encryption import EncryptedTextField, Unreadable
from webapp.outbox import channels
from webapp.outbox.models.items import OutboxItem, OutboxItemQuerySet

SECRET_BYTES = 32
LOST = f"{encryption.LOST}, or enter the URL again and renew the secret"

MESSAGE = "message"
"""In the payload for a channel: title and text, once composed. A further try sends the same."""


def new_secret() -> str:
    """A fresh secret of an endpoint."""
    return f"dlhook_{secrets.token_urlsafe(SECRET_BYTES)}"


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    """Works on endpoints."""

    def listening_to(self, kind: str) -> Self:
        """The enabled ones that want events of ``kind``. Without kinds, an endpoint wants all."""
        return self.filter(Q(kinds__contains=[kind]) | Q(kinds=[]), enabled=True)

    def webhooks(self) -> Self:
        """Endpoints that get signed JSON."""
        return self.filter(is_channel=False)

    def channels(self) -> Self:
        """Endpoints that get messages, in a chat service."""
        return self.filter(is_channel=True)

    def with_last_sent(self) -> Self:
        """Each with ``last_sent``: when something arrived there last, as far as that is kept."""
        sent = Q(deliveries__state=OutboxItem.State.SENT)
        return self.annotate(last_sent=models.Max("deliveries__ended_at", filter=sent))

    def in_reach(self, now: datetime) -> Self:
        """The enabled ones that are not in the pause after a failure."""
        return self.filter(enabled=True).exclude(next_try__gt=now)

    def with_due_deliveries(self, now: datetime) -> Self:
        """Endpoints to which something is to be sent, and nothing is on its way."""
        own = HookDelivery.objects.filter(endpoint=OuterRef("pk"))
        return self.filter(Exists(own.claimable(now)), ~Exists(own.under_way(now)))


class Endpoint(models.Model):
    """An address that hears of events: a webhook, or by its scheme a channel of a chat service.

    ``secret`` signs what is sent there, so it is kept, encrypted; pages show it once, when it is
    made. The URL of a channel is a secret itself, of which pages show ``shown_url``. ``kinds`` are
    the kinds of events it hears of, all when empty. After ``failures`` in a row, the first at
    ``failing_since``, all its deliveries wait for ``next_try``.
    """

    name = models.CharField(max_length=100, unique=True)
    url = EncryptedTextField()
    is_channel = models.BooleanField(default=False, editable=False)
    secret = EncryptedTextField(default=new_secret)
    kinds = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    enabled = models.BooleanField(default=True)
    allow_private = models.BooleanField(
        default=False,
        help_text="May lie in the private networks that DRIFTLINE_WEBHOOKS_ALLOW lists.",
    )
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    next_try = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.TextField(blank=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it, with what kind of endpoint it is: that cannot be looked for in the URL."""
        if not isinstance(self.url, Unreadable):
            self.is_channel = channels.is_channel(self.url)
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """The endpoint's page, with the log of its deliveries."""
        return reverse("webhook", args=[self.pk])

    @property
    def is_readable(self) -> bool:
        """Whether the keys of this instance decrypt it."""
        return not isinstance(self.url, Unreadable) and not isinstance(self.secret, Unreadable)

    @property
    def shown_url(self) -> str:
        """The endpoint's URL, of a channel without what opens it."""
        if isinstance(self.url, Unreadable):
            return f"The URL {LOST}."
        return channels.shown(self.url) if self.is_channel else self.url


class HookDeliveryQuerySet(OutboxItemQuerySet):
    """Works on deliveries."""

    def under_way(self, now: datetime) -> Self:
        """Those that a process sends just now."""
        return self.filter(state=OutboxItem.State.CLAIMED, due__gt=now)

    def first_due_of(self, endpoints: Sequence[Endpoint], now: datetime) -> Self:
        """The one due first to each of ``endpoints`` to which nothing is on its way."""
        due = self.filter(endpoint__in=endpoints).claimable(now)
        busy = self.filter(endpoint=OuterRef("endpoint")).under_way(now)
        return (
            due.filter(~Exists(busy)).order_by("endpoint_id", "due", "pk").distinct("endpoint_id")
        )


class HookDelivery(OutboxItem):
    """One event to one endpoint. ``uid`` is the same in every try: receivers know doubles by it.

    For a channel, ``payload`` is what the composer of the mail needs, and then ``MESSAGE`` too.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries")
    uid = models.UUIDField(unique=True)
    payload = models.JSONField()
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    response = models.TextField(blank=True, db_default="")
    milliseconds = models.PositiveIntegerField(null=True, blank=True)

    objects = HookDeliveryQuerySet.as_manager()

    class Meta(OutboxItem.Meta):
        constraints = [
            *OutboxItem.Meta.constraints,
            models.UniqueConstraint(
                fields=["endpoint", "kind", "about"], name="event_once_for_an_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.endpoint_id} about {self.about}"
