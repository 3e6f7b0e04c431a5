"""What an option costs, run by run."""

from typing import Any

from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import GreaterThan

from webapp.results.models.history import Revision
from webapp.results.models.runs import Run, SamplesQuerySet
from webapp.results.models.series import Series
from webapp.results.packed import BootsField, SamplesField
from webapp.results.validity import Mark


class CostSamplesQuerySet(SamplesQuerySet["CostSamples"]):
    """Ratios. Those that counted at a time are costs of today whose runs with the option did: what
    else they would have been paired with is not kept.
    """


class CostSamples(models.Model):
    """What an option costs in one run: its samples in percent of those of the runs without it.

    A function of measurements (`webapp.results.services.costs`), written by the analysis alone. A
    run that was paired together with others stands for them. ``revision`` is where the ratio is
    pooled, so that it leaves no point behind where its run is filed elsewhere.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="costs", db_index=False
    )  # cost_once_in_a_run begins with it
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="costs")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    samples: Any = SamplesField()
    boots: Any = BootsField(null=True, blank=True)

    left_out: list[int] | None = None
    """All count: what does not count was left out before the ratio was taken."""

    objects = CostSamplesQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "samples of costs"
        constraints = [
            models.UniqueConstraint(fields=["run", "series"], name="cost_once_in_a_run"),
            models.CheckConstraint(
                condition=GreaterThan(Length("samples"), 0), name="cost_has_a_sample"
            ),
        ]

    def __str__(self) -> str:
        return f"{len(self.samples)} ratios of run {self.run_id}"

    @property
    def marks(self) -> list[Mark]:
        """None: samples that may be wrong are marked where they were measured."""
        return []

    @property
    def counted(self) -> tuple[list[float], list[int] | None]:
        """The ratios and their boots."""
        return self.samples, self.boots


def cost_name(option: str, metric: str) -> str:
    """What the metric of the cost of ``option`` in ``metric`` is called."""
    return f"cost of {option} ({metric})"
