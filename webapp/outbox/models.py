"""What is to leave, and what became of it."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Exists, F, Func, Min, OuterRef, Q, Value
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from webapp import encryption
from webapp.accounts.models import User
from webapp.encryption import EncryptedTextField, Unreadable
from webapp.outbox import channels

SECRET_BYTES = 32
LOST = f"{encryption.LOST}, or enter the URL again and renew the secret"

MESSAGE = "message"
"""In the payload for a channel: title and text, once composed. A further try sends the same."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is still to be sent: how much, for how long the oldest has waited since it was written,
    and the first since it was due. ``dead`` were given up."""

    waiting: int
    dead: int
    oldest_seconds: float
    overdue_seconds: float


class OutboxItemQuerySet(models.QuerySet[Any]):
    """Works on the queue of one kind of item."""

    def unfinished(self) -> Self:
        """Items that still wait or are being sent."""
        return self.filter(state__in=OutboxItem.UNFINISHED)

    def claimable(self, now: datetime) -> Self:
        """Items whose time has come, the longest due first, and those whose claim has run out."""
        return self.unfinished().filter(due__lte=now).order_by("due", "pk")

    def in_state(self, state: str) -> Self:
        """Items in ``state``; all of them when it is empty."""
        return self.filter(state=state) if state else self

    def backlog(self) -> "Backlog":
        """What is still to be sent, and what was given up, in one query of what is indexed."""
        unfinished = Q(state__in=OutboxItem.UNFINISHED)
        found = self.filter(state__in=[*OutboxItem.UNFINISHED, OutboxItem.State.DEAD]).aggregate(
            waiting=Count("pk", filter=unfinished),
            dead=Count("pk", filter=~unfinished),
            oldest=Min("created_at", filter=unfinished),
            due=Min("due", filter=unfinished),
        )
        now = timezone.now()
        ages = (
            max(0.0, (now - since).total_seconds()) if since else 0.0
            for since in (found["oldest"], found["due"])
        )
        return Backlog(found["waiting"], found["dead"], *ages)

    def numbers(self) -> dict[str, int]:
        """How many there are in each state, in one query."""
        counted = self.order_by().values_list("state").annotate(number=Count("pk"))
        found = dict(counted)
        return {state: found.get(state, 0) for state in OutboxItem.State.values}


class OutboxItem(models.Model):
    """One thing to one receiver, written in the transaction of what it reports.

    ``due`` is when it is next to be taken up: not before that time while it waits, and when its
    claim runs out while it is being sent. Who sends it holds ``claim``; writing the result
    needs the same claim still to be there. ``attempts`` counts the tries, and a mail server that
    is away costs none.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "being sent"
        SENT = "sent", "sent"
        DROPPED = "dropped", "dropped"
        DEAD = "dead", "given up"

    UNFINISHED = (State.WAITING, State.CLAIMED)

    kind = models.CharField(max_length=40)
    about = models.CharField(max_length=80)
    state = models.CharField(max_length=8, choices=State, db_default=State.WAITING)
    due = models.DateTimeField()
    claim = models.UUIDField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    reason = models.TextField(blank=True, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    tried_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="claimed", claim__isnull=False)
                | Q(~Q(state="claimed"), claim__isnull=True),
                name="%(class)s_is_claimed_by_somebody",
            )
        ]
        indexes = [
            models.Index(
                fields=["due", "id"],
                condition=Q(state__in=["waiting", "claimed"]),
                name="%(class)s_claimable",
            ),
            models.Index(fields=["state", "-id"], name="%(class)s_in_state"),
        ]

    @property
    def is_waiting(self) -> bool:
        """Whether it will be tried by itself."""
        return self.state in self.UNFINISHED


class MailQuerySet(OutboxItemQuerySet):
    """Works on mails."""

    def to(self, text: str) -> Self:
        """Those to people whose name or address holds ``text``, or that went to such an address."""
        if not text:
            return self
        return self.filter(
            Q(recipient__username__icontains=text)
            | Q(recipient__email__icontains=text)
            | Q(address__icontains=text)
        )

    def with_recipients(self) -> Self:
        """With the people they go to, in the same query; without the bodies, which lists leave."""
        return self.select_related("recipient").defer("text", "html", "data")


def data_with(column: str = "data", /, **more: Any) -> Func:
    """The data of mails with ``more`` in it, for an update; or those in another ``column``."""
    mark = Value(more, models.JSONField())
    return Func(F(column), mark, arg_joiner=" || ", template="%(expressions)s")


def data_without(name: str) -> Func:
    """The data of mails without ``name`` in it, for an update."""
    return Func(F("data"), Value(name), arg_joiner=" - ", template="%(expressions)s")


class Mail(OutboxItem):
    """One mail to one person.

    What it states is composed and kept when it is first sent (``composed_at``); every further try
    sends the same under the same ``message_id``.
    """

    recipient = models.ForeignKey(User, on_delete=models.CASCADE, related_name="mails")
    thread = models.CharField(max_length=80, blank=True, db_default="")
    data = models.JSONField(default=dict, blank=True)
    address = models.CharField(max_length=254, blank=True, db_default="")
    subject = models.TextField(blank=True, db_default="")
    text = models.TextField(blank=True, db_default="")
    html = models.TextField(blank=True, db_default="")
    unsubscribe_url = models.TextField(blank=True, db_default="")
    message_id = models.CharField(max_length=320, blank=True, db_default="")
    in_reply_to = models.CharField(max_length=320, blank=True, db_default="")
    composed_at = models.DateTimeField(null=True, blank=True)

    objects = MailQuerySet.as_manager()

    class Meta(OutboxItem.Meta):
        constraints = [
            *OutboxItem.Meta.constraints,
            models.UniqueConstraint(
                fields=["recipient", "kind", "about"], name="mail_once_for_a_person_kind_and_thing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.recipient_id} about {self.about}"


class MailServer(models.Model):
    """How the server that takes our mails does: one row, made by the first failure.

    While it is away all mails wait for ``next_try`` together, and none of them uses up a try.
    """

    ROW = 1

    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    next_try = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="mail_server_is_one_row")]

    def __str__(self) -> str:
        return self.reason or "takes mails"


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
