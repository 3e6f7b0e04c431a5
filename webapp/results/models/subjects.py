"""What runs are about: hardware with what is known of machines and since when, modes and
metrics.
"""

from typing import Any, NamedTuple, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.urls import reverse

from webapp.accounts.models import User
from webapp.labs.models import Lab
from webapp.results.bounds import SHORT_FACT
from webapp.results.spellings import NAME_MAX, PART_MAX, ModeName

FACT_VALUE_MAX = 500
METRIC_MAX = 300
"""A metric of an upload has up to 100 characters, the cost of an option is named after both."""

FACT_NAME_MAX = 200


class HardwareQuerySet(models.QuerySet["Hardware"]):
    """Machines by their names, present or former."""

    def matching(self, text: str) -> Self:
        """Those whose name, present or former, or display name holds ``text``."""
        named = Q(name__icontains=text) | Q(display_name__icontains=text)
        return self.filter(named | Q(aliases__name__icontains=text)).distinct()


class MachineName(NamedTuple):
    """What people call a machine: its display name, or its CPU and its NIC."""

    first: str
    second: str

    def __str__(self) -> str:
        return " ".join(f"{self.first} {self.second}".split())


class Hardware(models.Model):
    """The machine under test together with its NIC.

    Its ``name``, ``machine/nic``, is what agents, addresses, commands and the API call it by; as a
    string it is what people call it.

    ``agreed_cpu`` and ``agreed_nic`` are what its runs state, as far as pages may call it so; kept
    by `webapp.results.services.facts`.
    """

    name = models.CharField(max_length=200, unique=True)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="hardware")
    display_name = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        help_text="What pages call it. Without it: CPU and NIC.",
    )
    cpu = models.CharField(
        "CPU",
        max_length=200,
        blank=True,
        db_default="",
        help_text="Without it: what most runs state, else the part of the name before the slash.",
    )
    nic = models.CharField(
        "NIC",
        max_length=200,
        blank=True,
        db_default="",
        help_text="Without it: what most runs state, else the part of the name after the slash.",
    )
    agreed_cpu = models.CharField(
        max_length=FACT_VALUE_MAX, blank=True, default="", db_default="", editable=False
    )
    agreed_nic = models.CharField(
        max_length=FACT_VALUE_MAX, blank=True, default="", db_default="", editable=False
    )
    description = models.TextField(blank=True)
    facts: Any = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = HardwareQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "hardware"

    def __str__(self) -> str:
        return str(self.called)

    def get_absolute_url(self) -> str:
        """The path of the machine's page."""
        return reverse("hardware", args=[self.name])

    @property
    def shown_cpu(self) -> str:
        """The machine's CPU: as typed in the admin, else by its facts, its name."""
        return self.cpu or self.agreed_cpu or _as_text(self.name.partition("/")[0])

    @property
    def shown_nic(self) -> str:
        """The machine's NIC, likewise; empty where nothing states it."""
        return self.nic or self.agreed_nic or _as_text(self.name.partition("/")[2])

    @property
    def called(self) -> MachineName:
        """What people call it: as typed in the admin, else CPU and NIC. A fact that is a sentence
        gives way to what the machine's own name has.
        """
        if self.display_name:
            return MachineName(self.display_name, "")
        cpu, nic = (_as_text(part) for part in self.name.partition("/")[::2])
        return MachineName(
            self.cpu or _if_short(self.agreed_cpu) or cpu,
            self.nic or _if_short(self.agreed_nic) or nic,
        )


def _if_short(fact: str) -> str:
    return fact if len(fact) <= SHORT_FACT else ""


def _as_text(part: str) -> str:
    """A part of a name as people write it: ``Chelsio T540-CR`` of ``Chelsio_T540-CR``."""
    return part.replace("_", " ").strip()


class HardwareAlias(models.Model):
    """A former name of hardware that was renamed or merged: uploads under it still arrive."""

    name = models.CharField(max_length=200, unique=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "hardware aliases"

    def __str__(self) -> str:
        return self.name


class ModeQuerySet(models.QuerySet["Mode"]):
    """Modes by their names, present or former."""

    def matching(self, text: str) -> Self:
        """Those whose name, present or former, holds ``text``."""
        return self.filter(Q(name__icontains=text) | Q(aliases__name__icontains=text)).distinct()


class Mode(models.Model):
    """What the kernel was asked to do and how it was built or configured."""

    name = models.CharField(max_length=NAME_MAX, unique=True, editable=False)
    workload = models.CharField(max_length=PART_MAX)
    traffic = models.CharField(max_length=PART_MAX, blank=True)
    options = ArrayField(models.CharField(max_length=PART_MAX), default=list, blank=True)

    objects = ModeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_name(cls, name: ModeName) -> "Mode":
        """An unsaved mode."""
        return cls(
            name=str(name),
            workload=name.workload,
            traffic=name.traffic or "",
            options=list(name.options),
        )

    @property
    def parts(self) -> ModeName:
        """The mode's name, part by part."""
        return ModeName.of(self.workload, self.traffic, self.options)


class ModeAlias(models.Model):
    """The name of a mode that an operator merged into another: uploads under it still arrive."""

    name = models.CharField(max_length=NAME_MAX, unique=True)
    mode = models.ForeignKey(Mode, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "mode aliases"

    def __str__(self) -> str:
        return self.name


class Metric(models.Model):
    """What is measured, with a unit and a direction; or what an option costs in another metric.

    The latter has ``of`` and ``option``. Its values are those with the option in percent of those
    without (`webapp.stats.option_cost`), so that a change in percent is one of the speed, and its
    direction is that of the other metric. Nobody uploads it: its name has spaces, and those of
    uploads have none.
    """

    class Better(models.TextChoices):
        MORE = "more", "more is better"
        LESS = "less", "less is better"

    name = models.CharField(max_length=METRIC_MAX, unique=True)
    unit = models.CharField(max_length=50)
    better = models.CharField(max_length=4, choices=Better)
    of = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="+"
    )
    option = models.CharField(max_length=PART_MAX, blank=True, db_default="", editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(better__in=["more", "less"]), name="metric_better_is_more_or_less"
            ),
            models.CheckConstraint(
                condition=Q(of__isnull=True, option="") | (Q(of__isnull=False) & ~Q(option="")),
                name="metric_of_another_with_option",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_cost(self) -> bool:
        """Whether it is what an option costs, and so follows from two other series."""
        return self.of_id is not None


class DismissedTwins(models.Model):
    """Two modes that are two things, whatever their names look like: they are not suggested again.

    By their names, ``one`` before ``other``: a mode that goes and comes back is the same.
    """

    one = models.CharField(max_length=NAME_MAX)
    other = models.CharField(max_length=NAME_MAX)
    dismissed_by = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    dismissed_at = models.DateTimeField()

    class Meta:
        ordering = ["one", "other"]
        verbose_name_plural = "dismissed twins"
        constraints = [
            models.UniqueConstraint(fields=["one", "other"], name="twins_dismissed_once")
        ]

    def __str__(self) -> str:
        return f"{self.one} and {self.other}"


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
    """One value of a fact about a machine, from the first run to the last that states it without
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
