"""Mails, and the server that takes them."""

from typing import Any, Self

from django.db import models
from django.db.models import F, Func, Q, Value

from webapp.accounts.models import User
from webapp.outbox.models.items import OutboxItem, OutboxItemQuerySet


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

    What it says is composed and kept when it is first sent (``composed_at``); every further try
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
