"""Agreeing candidates: commits at which several series moved together, none of them proven yet."""

from typing import Self

from django.db import models
from django.db.models import F, OuterRef, Q

from webapp.alerts.models.alerts import Alert
from webapp.results.models import Revision, Tree


class AgreementQuerySet(models.QuerySet["Agreement"]):
    """Agreements by what is shown of them."""

    def shown(self) -> Self:
        """Those of which no alert suspects a commit: it says more, and takes their place."""
        alerts = Alert.objects.of_levels().filter(
            tree=OuterRef("tree"),
            is_active=True,
            after__position__lt=OuterRef("last__position"),
            revision__position__gt=OuterRef("after__position"),
        )
        return self.filter(~models.Exists(alerts))

    def losses_lately(self, limit: int) -> list[int]:
        """Ids of the likeliest revisions of the last ``limit`` losses: by commit time, or place."""
        newest = F("likeliest__committed_at").desc(nulls_last=True)
        found = self.shown().filter(verdict="worse")
        ordered = found.order_by(newest, "-likeliest__position", "likeliest_id")
        return list(ordered.values_list("likeliest_id", flat=True)[:limit])


class Agreement(models.Model):
    """Several series that moved together at one commit, as their newest revisions show it.

    No fact, no alert, and nobody is mailed: a row is only shown. It follows from the points alone
    and goes when they say otherwise. The commits in question are those later than ``after`` up to
    and including ``last`` (95 %); ``likeliest`` is the first one measured that most likely shows
    it, with the chance ``here``. ``series`` of ``received`` agree, on ``machines`` of
    ``received_machines``. See ``webapp.stats.agreeing``.
    """

    tree = models.ForeignKey(Tree, on_delete=models.CASCADE, related_name="agreements")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    likeliest = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="agreements")
    last = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    here = models.FloatField()
    verdict = models.CharField(max_length=6, choices=[("better", "better"), ("worse", "worse")])
    series = models.IntegerField()
    received = models.IntegerField()
    machines = models.IntegerField()
    received_machines = models.IntegerField()
    score = models.FloatField(help_text="Of all series together, in standard deviations.")
    false_share = models.FloatField(help_text="Of commits without a change that show as much.")
    change_pct = models.FloatField(help_text="Median of those that agree; negative is worse.")

    objects = AgreementQuerySet.as_manager()

    class Meta:
        ordering = ["tree", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["likeliest"], name="agreement_once_at_a_revision"),
            models.CheckConstraint(
                condition=Q(verdict__in=["better", "worse"]), name="agreement_better_or_worse"
            ),
            models.CheckConstraint(
                condition=Q(here__range=(0, 1), false_share__range=(0, 1)),
                name="agreement_probabilities",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.series} of {self.received} series {self.verdict} up to {self.last_id}"
