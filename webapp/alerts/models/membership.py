"""Which alert contains a finding, what people decided about that, and what bisects hold."""

from django.db import models
from django.db.models import F, Q

from webapp.alerts.models.alerts import Alert, AlertEvent
from webapp.analysis.models import Finding
from webapp.results.models import Revision, Series


class AlertFinding(models.Model):
    """That ``alert`` holds ``finding``; a finding belongs to one alert at most."""

    finding = models.OneToOneField(Finding, on_delete=models.CASCADE, related_name="membership")
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        ordering = ["alert", "pk"]

    def __str__(self) -> str:
        return f"finding {self.finding_id} of alert {self.alert_id}"


class Assignment(models.Model):
    """A person's word that findings belong to ``alert``; the last that fits counts.

    With a ``series`` it is about that series' finding that suspects a commit later than ``after``
    up to ``last``; without, about every group of findings whose last suspect lies there. It holds
    whatever is uploaded or analysed later, until the act that made it (``event``) is undone.
    """

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="assignments")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, null=True, related_name="+")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    last = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    event = models.ForeignKey(
        AlertEvent, on_delete=models.CASCADE, null=True, related_name="assignments"
    )

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"to alert {self.alert_id}"


class AlertHold(models.Model):
    """That a bisect searches, or reproduced, the step of ``alert`` in ``series``: it is made by one
    of the commits later than ``after`` up to ``last``, and the level fell there (``is_loss``).

    While the hold lasts, the detector alone neither opens that step twice nor closes its alert. An
    ended one has its ``reason``. One that the alert's resolution ended lasts again when the alert
    is reopened or the resolution undone; what the bisect itself ended does not come back.
    """

    class Reason(models.TextChoices):
        RESOLVED = "resolved", "the alert was resolved"
        OUTCOME = "outcome", "the bisect did not reproduce the step"
        CANCELLED = "cancelled", "the bisect was cancelled"
        JOINED = "joined", "the alert was joined to one with a bisect of its own"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="holds")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    last = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    is_loss = models.BooleanField()
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=9, choices=Reason, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(after=F("last")), name="alert_hold_between_two"),
            models.CheckConstraint(
                condition=Q(reason="", ended_at__isnull=True)
                | Q(
                    reason__in=["resolved", "outcome", "cancelled", "joined"],
                    ended_at__isnull=False,
                ),
                name="alert_hold_ended_for_a_reason",
            ),
        ]
        indexes = [
            models.Index(
                fields=["alert"], name="alert_holds_that_last", condition=Q(ended_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"hold of alert {self.alert_id}"
