"""What was decided and what people did. Rows are only added."""

from typing import Any

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.bisects.models.bisects import Bisect
from webapp.results.models import Revision


class BisectDecision(models.Model):
    """One step: what the evidence up to ``boots`` and the acts up to ``acts`` led to.

    Together with ``pending`` (what is under measurement), ``agents``, ``hours`` (machine time
    used), ``failure`` (why the lab gave up) and ``at`` these are all that the decision depends on,
    so that it can be made again (see `webapp.bisects.deciding.replay`).
    """

    bisect = models.ForeignKey(Bisect, on_delete=models.CASCADE, related_name="decisions")
    number = models.IntegerField()
    at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=Bisect.State)
    action = models.CharField(max_length=40)
    text = models.TextField()
    figures: Any = models.JSONField(default=dict)
    boots = models.IntegerField()
    acts = models.IntegerField()
    pending: Any = models.JSONField(
        default=list, help_text="[index, purpose, rebuild] of each, with its subject behind it."
    )
    agents = models.IntegerField()
    hours = models.FloatField(default=0.0)
    failure = models.TextField(blank=True)
    together: Any = models.JSONField(
        default=dict,
        blank=True,
        help_text="Of several machines or modes: the free agents of each, and what failed.",
    )

    class Meta:
        ordering = ["bisect", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bisect", "number"], name="bisect_decision_numbered")
        ]

    def __str__(self) -> str:
        return f"bisect {self.bisect_id}: decision {self.number}"


class BisectAct(models.Model):
    """What somebody did to a bisect; ``actor`` is null for Driftline itself, which skips, pauses,
    and tells builds that are the same.

    ``after_boots`` is the number of the last boot that was known then.
    """

    class Kind(models.TextChoices):
        FORCE = "force", "the step is here"
        EXCLUDE = "exclude", "not this commit"
        ALLOW = "allow", "as likely as any other"
        PIN = "pin", "measure it next"
        SKIP = "skip", "cannot be measured"
        UNSKIP = "unskip", "can be measured again"
        DISCARD = "weak", "measured weakly"
        SAME = "same", "built as its parent"
        PAUSE = "pause", "paused"
        RESUME = "resume", "resumed"
        CANCEL = "cancel", "cancelled"

    OF_A_REVISION = (
        *(Kind.FORCE, Kind.EXCLUDE, Kind.ALLOW),
        *(Kind.PIN, Kind.SKIP, Kind.UNSKIP, Kind.DISCARD),
    )
    """What a person can do to one revision. Builds that are the same are found, not said."""

    bisect = models.ForeignKey(Bisect, on_delete=models.CASCADE, related_name="acts")
    number = models.IntegerField()
    at = models.DateTimeField()
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=7, choices=Kind)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, null=True, related_name="+")
    index = models.IntegerField(null=True)
    subject = models.IntegerField(null=True, help_text="What it is about; null: all of them.")
    after_boots = models.IntegerField(default=0)
    reason = models.TextField()

    class Meta:
        ordering = ["bisect", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bisect", "number"], name="bisect_act_numbered"),
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        *("force", "exclude", "allow", "pin", "skip", "unskip", "weak", "same")
                    ],
                    revision__isnull=False,
                    index__isnull=False,
                )
                | Q(kind__in=["pause", "resume", "cancel"], revision__isnull=True),
                name="bisect_act_on_a_revision",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="bisect_act_with_a_reason"),
        ]

    def __str__(self) -> str:
        return f"bisect {self.bisect_id}: {self.kind}"
