"""What people and bisects decided about alerts: which findings an alert holds, what a bisect holds
of it, and the smallest effect worth one.
"""

from typing import Self

from django.db import models
from django.db.models import F, Q

from webapp.accounts.models import User
from webapp.alerts.models.alerts import Alert, AlertEvent
from webapp.analysis.models import Finding
from webapp.results.models import Hardware, Mode, Revision, Series, Tree


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


MOST_PERCENT = 1000.0


def _as_text(percent: float | None) -> str:
    return "not set" if percent is None else f"{percent:g} %"


class MinEffect(models.Model):
    """The smallest change worth an alert, in percent, of one tree, one hardware or one mode.

    A hardware's replaces its tree's, a mode's replaces both, and a series' own setting
    (``SeriesSettings.min_effect_pct``) replaces them all.
    """

    tree = models.OneToOneField(
        Tree, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    hardware = models.OneToOneField(
        Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    mode = models.OneToOneField(
        Mode, on_delete=models.CASCADE, null=True, blank=True, related_name="min_effect"
    )
    percent = models.FloatField()

    class Meta:
        ordering = ["pk"]
        verbose_name = "smallest effect"
        constraints = [
            models.CheckConstraint(
                condition=Q(tree__isnull=False, hardware__isnull=True, mode__isnull=True)
                | Q(tree__isnull=True, hardware__isnull=False, mode__isnull=True)
                | Q(tree__isnull=True, hardware__isnull=True, mode__isnull=False),
                name="min_effect_of_one_thing",
                violation_error_message="Choose one tree, one hardware or one mode.",
            ),
            models.CheckConstraint(
                condition=Q(percent__range=(0, 1000)), name="min_effect_0_to_1000"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.percent:g} % for {self.of}"

    @property
    def of(self) -> Tree | Hardware | Mode:
        """What it is set for."""
        found = self.tree or self.hardware or self.mode
        if found is None:
            raise ValueError("a smallest effect is of one thing")
        return found


class MinEffectChangeQuerySet(models.QuerySet["MinEffectChange"]):
    """The log of thresholds."""

    def named(self) -> Self:
        """With everything that a line of the log names."""
        parts = ("tree", "hardware", "mode", "metric")
        return self.select_related(
            "actor", "tree", "hardware", "mode", *(f"series__{part}" for part in parts)
        )


class MinEffectChange(models.Model):
    """That a person set the smallest effect of a tree, a hardware, a mode or a series.

    Rows are only added. ``before`` and ``after`` are in percent; null: none was set there, so that
    the wider one held.
    """

    at = models.DateTimeField()
    actor = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    tree = models.ForeignKey(Tree, on_delete=models.CASCADE, null=True, related_name="+")
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, related_name="+")
    mode = models.ForeignKey(Mode, on_delete=models.CASCADE, null=True, related_name="+")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, null=True, related_name="+")
    before = models.FloatField(null=True)
    after = models.FloatField(null=True)
    reason = models.TextField(blank=True)

    objects = MinEffectChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(tree__isnull=False, hardware=None, mode=None, series=None)
                | Q(tree=None, hardware__isnull=False, mode=None, series=None)
                | Q(tree=None, hardware=None, mode__isnull=False, series=None)
                | Q(tree=None, hardware=None, mode=None, series__isnull=False),
                name="min_effect_change_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"smallest effect of {self.of}: {_as_text(self.before)}, now {_as_text(self.after)}"

    @property
    def of(self) -> Tree | Hardware | Mode | Series:
        """What it was set for."""
        found = self.tree or self.hardware or self.mode or self.series
        if found is None:
            raise ValueError("a change is of one thing")
        return found
