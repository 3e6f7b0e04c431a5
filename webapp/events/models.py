"""What surrounds measurements: events of labs, releases of trees, canaries of machines."""

import re
from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.jobs.models import Job
from webapp.labs.models import Agent, Lab
from webapp.results.models import Hardware, Metric, Mode, Revision, Tree

MOST_DAYS = 365
MOST_CANARY_BOOTS = 20

TEXT_MAX = 2000
LABEL_MAX = 28

RELEASE_NAME_MAX = 100
RELEASE_ID = re.compile(r"\d{1,3}(\.\d{1,3}){1,2}(-[A-Z]+\d{0,2})?(-p\d{1,3})?")


class CanaryQuerySet(models.QuerySet["Canary"]):
    """Canaries of machines."""

    def active(self) -> Self:
        """Those that are measured on their schedule."""
        return self.filter(is_active=True)

    def named(self) -> Self:
        """With everything a row of a table names."""
        return self.select_related(
            "hardware__lab", "mode", "metric", "revision__tree", "created_by"
        ).order_by("hardware__name", "pk")


class Canary(models.Model):
    """The same kernel on the same machine, measured every ``interval_days`` days.

    What is measured arrives as any run does. A run is the canary's if it is of its hardware, mode
    and revision, whoever asked for it.
    """

    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="canaries")
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="canaries")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="canaries")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="canaries")
    interval_days = models.PositiveSmallIntegerField("days between two measurements", default=1)
    boots = models.PositiveSmallIntegerField("boots each time", default=2)
    is_active = models.BooleanField("active", default=True)
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CanaryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "canaries"
        constraints = [
            models.UniqueConstraint(
                fields=["hardware", "mode", "metric", "revision"],
                condition=Q(is_active=True),
                name="canary_active_once",
            ),
            models.CheckConstraint(
                condition=Q(interval_days__range=(1, MOST_DAYS)), name="canary_interval_1_to_365"
            ),
            models.CheckConstraint(
                condition=Q(boots__range=(1, MOST_CANARY_BOOTS)), name="canary_boots_1_to_20"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision} in {self.mode} on {self.hardware}"

    def get_absolute_url(self) -> str:
        """The path of its page."""
        return reverse("canary", args=[self.pk])

    @property
    def interval(self) -> timedelta:
        """From one measurement to the next."""
        return timedelta(days=self.interval_days)

    def is_due(self, *, last: datetime | None, now: datetime) -> bool:
        """Whether it is to be measured, if a job was asked for ``last`` (None: never). A ``last``
        far in the future is of a clock that was wrong, and delays nothing.
        """
        return last is None or abs(now - last) >= self.interval


class CanaryJob(models.Model):
    """A job that a canary asked for."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="asked")
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="canary")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"job {self.job_id} of canary {self.canary_id}"


class LabEventQuerySet(models.QuerySet["LabEvent"]):
    """Events, and what they are about."""

    def in_force(self) -> Self:
        """Events that nobody withdrew."""
        return self.filter(withdrawn_at__isnull=True)

    def named(self) -> Self:
        """With everything a row of a table names."""
        return self.select_related(
            "hardware__lab",
            "lab",
            "tree",
            "first__tree",
            "last__tree",
            "created_by",
            "edited_by",
            "withdrawn_by",
            "agent__lab",
        )

    def on_hardware(self, hardware: Hardware) -> Self:
        """Events of a machine, and those of its whole lab."""
        return self.filter(Q(hardware=hardware) | Q(lab=hardware.lab_id))

    def about(self, *, tree: str = "", hardware: str = "") -> Self:
        """What concerns a tree and a machine, by name, where given: an event of a lab concerns its
        machines, one without a tree every tree, and one of a tree alone all that is measured there.
        """
        found = self
        if hardware:
            whole_tree = Q(hardware__isnull=True, lab__isnull=True)
            its_lab = Q(lab__hardware__name=hardware)
            found = found.filter(whole_tree | its_lab | Q(hardware__name=hardware)).distinct()
        if tree:
            found = found.filter(Q(tree__isnull=True) | Q(tree__name=tree))
        return found

    def around(self, revision: Revision) -> Self:
        """Events whose range of revisions holds a commit."""
        return self.filter(
            tree=revision.tree_id,
            first__position__lte=revision.position,
            last__position__gte=revision.position,
        )


class LabEvent(models.Model):
    """Something that happened to a machine, in a whole lab, or to everything measured of a tree.

    Either ``happened_at`` is when, or ``first`` and ``last`` are the revisions of ``tree`` from
    which and up to which it shows (both included). Without hardware and lab it concerns the tree.
    Never deleted: what was a mistake is withdrawn.
    """

    class Kind(models.TextChoices):
        HARDWARE = "hardware", "hardware change"
        FIRMWARE = "firmware", "BIOS or firmware"
        NETWORK = "network", "network or generator"
        SOFTWARE = "software", "software of the lab"
        POWER = "power", "power or cooling"
        OTHER = "other", "other"
        NOTE = "note", "note"

    class Source(models.TextChoices):
        PERSON = "person", "a person"
        API = "api", "the API"
        FACT = "fact", "a changed fact"

    kind = models.CharField(max_length=8, choices=Kind)
    text = models.CharField(max_length=TEXT_MAX)
    hardware = models.ForeignKey(
        Hardware, on_delete=models.PROTECT, null=True, blank=True, related_name="lab_events"
    )
    lab = models.ForeignKey(
        Lab, on_delete=models.PROTECT, null=True, blank=True, related_name="lab_events"
    )
    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, null=True, blank=True, related_name="lab_events"
    )
    happened_at = models.DateTimeField(null=True, blank=True)
    first = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    last = models.ForeignKey(
        Revision, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    begins_epoch = models.BooleanField(
        default=False,
        help_text="What was measured before it is not compared with what comes after.",
    )
    source = models.CharField(max_length=6, choices=Source)
    external_id = models.CharField(max_length=100, blank=True)
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()
    edited_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    edited_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)

    objects = LabEventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(happened_at__isnull=False, first__isnull=True, last__isnull=True)
                | Q(
                    happened_at__isnull=True,
                    first__isnull=False,
                    last__isnull=False,
                    tree__isnull=False,
                ),
                name="lab_event_at_a_time_or_at_revisions",
            ),
            models.CheckConstraint(
                condition=(Q(hardware__isnull=True) | Q(lab__isnull=True))
                & (Q(hardware__isnull=False) | Q(lab__isnull=False) | Q(tree__isnull=False)),
                name="lab_event_of_one_thing",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="lab_event_says_something"),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_reason="")
                | (Q(withdrawn_at__isnull=False) & ~Q(withdrawn_reason="")),
                name="lab_event_withdrawn_with_a_reason",
            ),
            models.UniqueConstraint(
                fields=["source", "agent", "external_id"],
                condition=~Q(external_id=""),
                nulls_distinct=False,
                name="lab_event_once_of_an_external_id",
            ),
        ]
        indexes = [
            models.Index(
                fields=["hardware", "happened_at"],
                name="epochs_of_hardware",
                condition=Q(begins_epoch=True, withdrawn_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.label}"

    def get_absolute_url(self) -> str:
        """The path of its page."""
        return reverse("event", args=[self.pk])

    @property
    def label(self) -> str:
        """The beginning of its text, short enough for a chart."""
        line = self.text.split("\n", 1)[0].strip()
        return line if len(line) <= LABEL_MAX else f"{line[: LABEL_MAX - 1].rstrip()}…"

    @property
    def is_withdrawn(self) -> bool:
        """Whether it counts no more."""
        return self.withdrawn_at is not None

    @property
    def subject(self) -> str:
        """What it is about: ``Atom/T540``, ``all hardware of orange-lab``, ``all of freebsd-head``.
        Needs them loaded.
        """
        if self.hardware is not None:
            return str(self.hardware)
        return f"all hardware of {self.lab}" if self.lab else f"all of {self.tree}"

    @property
    def author(self) -> str:
        """Who wrote it: a person, an agent, or what found it."""
        if self.created_by is not None:
            return self.created_by.get_username()
        return str(self.agent) if self.agent is not None else self.get_source_display()


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Releases along their tree."""

    def of_tree(self, tree: Tree | int) -> Self:
        """Those of one tree with their revisions, the newest first."""
        found = self.filter(tree=tree).select_related("revision__tree")
        return found.order_by("-revision__position", "name")


class Release(models.Model):
    """A release of a tree, or the point at which a branch leaves it."""

    class Kind(models.TextChoices):
        RELEASE = "release", "release"
        BRANCH_POINT = "branch point", "branch point"

    tree = models.ForeignKey(
        Tree, on_delete=models.PROTECT, related_name="releases", db_index=False
    )  # release_name_once_in_a_tree begins with it
    name = models.CharField(max_length=RELEASE_NAME_MAX, help_text="11.0, or stable/11")
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.RELEASE)
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="releases")
    released_on = models.DateField("date", null=True, blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["tree", "name"]
        constraints = [
            models.UniqueConstraint(fields=["tree", "name"], name="release_name_once_in_a_tree"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["release", "branch point"]), name="release_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The path of the commit. Needs the revision and its tree loaded."""
        return self.revision.get_absolute_url()

    @property
    def ids(self) -> list[str]:
        """What kernels and labs call its revision where they have no number: ``11.0`` and
        ``11.0-RELEASE``. Of a branch point, or one that has another kind of name: nothing."""
        if self.kind != self.Kind.RELEASE or not RELEASE_ID.fullmatch(self.name):
            return []
        return [self.name] if "-" in self.name else [self.name, f"{self.name}-RELEASE"]

    @property
    def title(self) -> str:
        """``release 11.0``, ``branch point stable/11``."""
        return f"{self.get_kind_display()} {self.name}"
