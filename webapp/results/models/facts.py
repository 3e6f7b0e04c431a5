"""What is known of machines, and since when."""

from typing import Self

from django.db import models
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber

from webapp.results.models.subjects import FACT_VALUE_MAX, Hardware

FACT_NAME_MAX = 200


class HardwareFactQuerySet(models.QuerySet["HardwareFact"]):
    """Facts, and which of them hold now."""

    def newest(self) -> Self:
        """The newest of each machine, name and source, by name: one measured before one typed."""
        latest = self.order_by("hardware_id", "name", "source", "-first_seen", "-value").distinct(
            "hardware", "name", "source"
        )
        return self.filter(pk__in=latest.values("pk")).order_by("hardware_id", "name", "source")

    def former(self, most: int) -> Self:
        """Those that hold no more, the newest first: at most so many of each name and source."""
        number = Window(
            RowNumber(),
            partition_by=["hardware_id", "name", "source"],
            order_by=["-first_seen", "-value"],
        )
        rows = self.annotate(number=number).filter(number__gt=1, number__lte=most + 1)
        return rows.order_by("name", "source", "-first_seen", "-value")


class HardwareFact(models.Model):
    """One value of a fact about a machine, from the first run to the last that tells it without
    another value between them.

    Kept by `webapp.results.services.facts` from the facts of runs; never written by hand.
    """

    class Source(models.TextChoices):
        MEASURED = "measured", "measured"
        TYPED = "typed", "typed"

    hardware = models.ForeignKey(
        Hardware, on_delete=models.CASCADE, related_name="known_facts", db_index=False
    )  # hardware_fact_once_from_a_time begins with it
    name = models.CharField(max_length=FACT_NAME_MAX)
    value = models.CharField(max_length=FACT_VALUE_MAX, db_collation="C")
    source = models.CharField(max_length=8, choices=Source)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    objects = HardwareFactQuerySet.as_manager()

    class Meta:
        ordering = ["hardware", "name", "source", "first_seen", "value"]
        constraints = [
            models.UniqueConstraint(
                fields=["hardware", "name", "source", "first_seen", "value"],
                name="hardware_fact_once_from_a_time",
            ),
            models.CheckConstraint(
                condition=Q(last_seen__gte=F("first_seen")), name="hardware_fact_from_before_to"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["measured", "typed"]), name="hardware_fact_source_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"
