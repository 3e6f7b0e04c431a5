"""Who is notified of which alerts."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple, Self

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.results.models import Hardware, Metric, Mode, Tree
from webapp.results.queries import rows_of


class Match(NamedTuple):
    """A subscription that an alert fits, both by id, and whether it asks for the author."""

    subscription: int
    alert: int
    asks_author: bool


class SubscriptionQuerySet(models.QuerySet["Subscription"]):
    """Subscriptions by cadence, and by whether anybody hears them."""

    def heard(self) -> Self:
        """Subscriptions that are on, of people who can be written to."""
        return self.filter(enabled=True, user__is_active=True).exclude(user__email="")

    def immediate(self) -> Self:
        """Subscriptions that are sent at once, not by digests."""
        return self.filter(cadence=Subscription.Cadence.IMMEDIATE)

    def to_all_of(self, machine: Hardware) -> Self:
        """Subscriptions that ask for every change on ``machine``, whatever they are called."""
        anything = dict.fromkeys(("tree", "mode", "metric"))
        unset = {
            "severity": 0,
            "direction": Subscription.Direction.ANY,
            "author": "",
            "mine": False,
        }
        return self.filter(hardware=machine, **anything, **unset)

    def with_parts(self) -> Self:
        """With everything that its description names."""
        return self.select_related("tree", "hardware", "mode", "metric")

    def matching(self, alerts: Iterable[int], *, ever: bool = False) -> list[Match]:
        """Which of these subscriptions fit which ``alerts`` (ids), in one statement.

        An alert fits when any of its findings does, and its author is that of its likeliest commit.
        With ``ever`` also those that it held once: a retracted alert has none left.
        """
        chosen, parameters = self.order_by().values("pk").query.sql_with_params()
        rows = rows_of(MATCHING.format(chosen=chosen), [list(alerts), *parameters, ever])
        return [Match(*row) for row in rows]


MATCHING = """
    SELECT subscription.id, alert.id, subscription.mine OR subscription.author <> ''
      FROM notifications_subscription AS subscription
      JOIN accounts_user AS person ON person.id = subscription.user_id
      JOIN alerts_alert AS alert ON alert.id = ANY(%s)
      JOIN results_revision AS commit ON commit.id = alert.likeliest_id
     WHERE subscription.id IN ({chosen})
       AND (subscription.tree_id IS NULL OR subscription.tree_id = alert.tree_id)
       AND (subscription.author = '' OR lower(subscription.author)
            IN (lower(commit.author_name), lower(commit.author_email)))
       AND (NOT subscription.mine OR EXISTS (
            SELECT FROM unnest(person.aliases || person.email::varchar) AS own (name)
             WHERE own.name <> ''
               AND lower(own.name) IN (lower(commit.author_name), lower(commit.author_email))))
       AND EXISTS (
            SELECT FROM analysis_finding AS finding
              JOIN results_series AS series ON series.id = finding.series_id
             WHERE (finding.id IN (SELECT member.finding_id FROM alerts_alertfinding AS member
                                    WHERE member.alert_id = alert.id) OR %s AND finding.id IN (
                    SELECT unnest(event.findings) FROM alerts_alertevent AS event
                     WHERE event.alert_id = alert.id AND event.kind = 'joined'))
               AND (subscription.hardware_id IS NULL
                    OR subscription.hardware_id = series.hardware_id)
               AND (subscription.mode_id IS NULL OR subscription.mode_id = series.mode_id)
               AND (subscription.metric_id IS NULL OR subscription.metric_id = series.metric_id)
               AND (subscription.direction = 'any' OR finding.verdict = 'worse')
               AND (finding.change_pct IS NULL
                    OR abs(finding.change_pct) >= subscription.severity))
     ORDER BY subscription.id, alert.id
"""
"""A change without a percentage lies beyond the double range: it is larger than any severity."""


def new_feed_token() -> str:
    """A secret for the address of a feed: 192 random bits."""
    return secrets.token_urlsafe(24)


class Subscription(models.Model):
    """Alerts that one person wants to hear of; what is left empty means any.

    An alert fits when one of its findings has the hardware, the mode, the metric, the direction and
    at least the ``severity``, and its likeliest commit the author. ``mine`` asks for an author who
    is the person: by the address of the account or one of its aliases. ``feed_token`` opens the
    subscription's feed to who knows it.
    """

    class Direction(models.TextChoices):
        ANY = "any", "any change"
        REGRESSIONS = "regressions", "regressions only"

    class Cadence(models.TextChoices):
        IMMEDIATE = "immediate", "at once"
        DAILY = "daily", "once a day"
        WEEKLY = "weekly", "once a week"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="subscriptions")
    name = models.CharField(max_length=100)
    tree = models.ForeignKey(
        Tree, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    hardware = models.ForeignKey(
        Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    mode = models.ForeignKey(
        Mode, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    metric = models.ForeignKey(
        Metric, on_delete=models.CASCADE, null=True, blank=True, related_name="subscriptions"
    )
    severity = models.FloatField(default=0.0, help_text="Smallest size of a change, in percent.")
    direction = models.CharField(max_length=11, choices=Direction, default=Direction.ANY)
    author = models.CharField(
        max_length=254, blank=True, help_text="Name or address of the commit's author."
    )
    mine = models.BooleanField(default=False, help_text="Commits of mine only.")
    cadence = models.CharField(max_length=9, choices=Cadence, default=Cadence.IMMEDIATE)
    enabled = models.BooleanField(default=True)
    feed_token = models.CharField(max_length=32, unique=True, default=new_feed_token)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(help_text="A digest tells nothing that is older.")

    objects = SubscriptionQuerySet.as_manager()

    class Meta:
        ordering = ["user", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="subscription_name_once"),
            models.CheckConstraint(
                condition=Q(severity__range=(0, 1000)), name="subscription_severity_0_to_1000"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def describe(self) -> str:
        """What it asks for: ``pf on Atom/T540, at least 5 %, regressions only``."""
        where = " on ".join(str(part) for part in (self.mode, self.hardware) if part)
        parts = [
            where,
            f"in {self.tree}" if self.tree else "",
            f"{self.metric}" if self.metric else "",
            f"at least {self.severity:g} %" if self.severity else "",
            "regressions only" if self.direction == self.Direction.REGRESSIONS else "",
            f"by {self.author}" if self.author else "",
            "commits of mine" if self.mine else "",
        ]
        return ", ".join(filter(None, parts)) or "any change"


class Problem(models.Model):
    """A check of `/status/` that is wrong: since when, and when operators were mailed about it."""

    name = models.CharField(max_length=40, primary_key=True)
    since = models.DateTimeField()
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["since", "name"]

    def __str__(self) -> str:
        return self.name
