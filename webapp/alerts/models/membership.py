"""Which alert holds a finding."""

from django.db import models

from webapp.alerts.models.alerts import Alert
from webapp.analysis.models import Finding


class AlertFinding(models.Model):
    """That ``alert`` holds ``finding``; a finding belongs to one alert at most."""

    finding = models.OneToOneField(Finding, on_delete=models.CASCADE, related_name="membership")
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        ordering = ["alert", "pk"]

    def __str__(self) -> str:
        return f"finding {self.finding_id} of alert {self.alert_id}"
