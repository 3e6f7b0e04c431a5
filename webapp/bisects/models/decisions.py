"""The evidence of a bisect, which is boots and the jobs that were asked for them; what was decided,
and what people did. Rows of decisions and acts are only added.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from webapp.accounts.models import User
from webapp.bisects.models.bisects import Bisect
from webapp.jobs.models import Job
from webapp.results.models import Revision, Run


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
    and finds builds that are the same.

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
    """What a person can do to one revision. Builds that are the same are found, not declared."""

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


class BisectBoot(models.Model):
    """The values of one boot, in the metric's unit, in the order they became known (``number``).

    ``index`` is that of its revision along the bisect: 0 is the good one; measured neighbours
    before it count down from −1, those after the bad one up from the last. ``build`` separates
    boots of one build from those of another. ``purpose`` is the state that asked for it; "history"
    spends nothing: it was there before, or somebody else's job brought it; "beyond" lies on another
    level, beside an end, and shows only whether the step lies outside the range. Rows are only
    added. Where its run was withdrawn or replaced later, decisions from ``dropped_at`` (their
    number) on do without it.
    """

    class Source(models.TextChoices):
        HISTORY = "history", "measured before"
        RUN = "run", "measured for it or meanwhile"
        PASTED = "pasted", "entered by hand"

    BEYOND = "beyond"

    bisect = models.ForeignKey(Bisect, on_delete=models.CASCADE, related_name="boots")
    number = models.IntegerField()
    subject = models.IntegerField(default=0, help_text="The number of the machine and mode.")
    index = models.IntegerField()
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="+")
    build = models.CharField(max_length=340)
    values = ArrayField(models.FloatField())
    purpose = models.CharField(max_length=10)
    source = models.CharField(max_length=7, choices=Source)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, related_name="+")
    boot = models.IntegerField(default=0, help_text="The index of the boot in its run.")
    beside: Any = models.JSONField(
        default=list,
        blank=True,
        help_text="What it measured of the bisect's companions: number, median.",
    )
    entered_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    dropped_at = models.IntegerField(null=True)

    class Meta:
        ordering = ["bisect", "number"]
        constraints = [
            models.UniqueConstraint(fields=["bisect", "number"], name="bisect_boot_numbered"),
            models.UniqueConstraint(
                fields=["bisect", "run", "boot"],
                condition=Q(dropped_at__isnull=True),
                name="bisect_boot_once_from_a_run",
            ),
            models.CheckConstraint(
                condition=Q(source="pasted", run__isnull=True, entered_by__isnull=False)
                | ~Q(source="pasted") & Q(run__isnull=False, entered_by__isnull=True),
                name="bisect_boot_from_one_source",
            ),
            models.CheckConstraint(condition=Q(values__len__gte=1), name="bisect_boot_has_a_value"),
        ]

    def __str__(self) -> str:
        return f"bisect {self.bisect_id}: boot {self.number}"


class BisectJob(models.Model):
    """A job that a bisect asked for. ``settled``: its end, good or bad, was taken note of."""

    bisect = models.ForeignKey(Bisect, on_delete=models.CASCADE, related_name="asked")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="for_bisect")
    decision = models.ForeignKey(BisectDecision, on_delete=models.CASCADE, related_name="asked")
    subject = models.IntegerField(default=0, help_text="The number of the machine and mode.")
    index = models.IntegerField()
    purpose = models.CharField(max_length=10)
    settled = models.BooleanField(default=False)

    class Meta:
        ordering = ["bisect", "pk"]
        indexes = [
            models.Index(fields=["bisect"], name="bisect_jobs_open", condition=Q(settled=False))
        ]

    def __str__(self) -> str:
        return f"bisect {self.bisect_id}: job {self.job_id}"
