"""Which alert contains a finding, and what people decided about that."""

from django.db import models

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
