"""What mails and deliveries to webhooks have in common: waiting, being sent, arrived, given up."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.utils import timezone


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
    """One thing to one receiver, written in the transaction of what it tells.

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
