"""What agents are asked to measure, who measures it, and what happened."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import models
from django.db.models import Count, Q
from django.urls import reverse

from webapp.accounts.models import User
from webapp.jobs.capability import Capability
from webapp.labs.models import Agent
from webapp.results.models import Hardware, Metric, Mode, Revision, Run, Tree

SILENT_AFTER = timedelta(minutes=5)
"""A worker polls at least every minute, and sends heartbeats while it measures."""

MOST_BOOTS = 200
MOST_ITERATIONS = 1000
LEAST_PRIORITY, MOST_PRIORITY = 0, 100
ATTEMPTS = 5


class WorkerQuerySet(models.QuerySet["Worker"]):
    """Workers by when they reported last."""

    def heard_since(self, moment: datetime) -> Self:
        """Workers that reported at ``moment`` or later."""
        return self.filter(last_seen_at__gte=moment)

    def alive(self, now: datetime) -> Self:
        """Workers that reported lately and take new jobs."""
        return self.heard_since(now - SILENT_AFTER).filter(draining=False)

    def with_agents(self) -> Self:
        """With their agents and labs."""
        return self.select_related("agent__lab")


class Worker(models.Model):
    """One instance of an agent, under the name that it gives itself: ``host:pid``, ``rig-2``.

    ``serves`` is what it sent at its last poll, as `webapp.jobs.capability` writes it.
    ``last_revision`` is what it measured last, whose build it may still have.
    """

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="workers", db_index=False
    )  # worker_once_of_an_agent begins with it
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=50, blank=True)
    serves: Any = models.JSONField(default=list, blank=True)
    draining = models.BooleanField(default=False, help_text="Takes no new job.")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    last_revision = models.ForeignKey(
        Revision, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["agent", "name"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "name"], name="worker_once_of_an_agent")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def capabilities(self) -> Sequence[Capability]:
        """What it can measure, as it stated at its last poll."""
        return [Capability.of(each) for each in self.serves]

    def is_silent(self, now: datetime) -> bool:
        """Whether it has not spoken for ``SILENT_AFTER``."""
        return self.last_seen_at < now - SILENT_AFTER


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs by state, by what they are about, and as a queue."""

    def queued(self) -> Self:
        """Jobs that wait for a worker, in the order in which they are handed out."""
        return self.filter(state=Job.State.QUEUED).order_by("-priority", "created_at", "pk")

    def leased(self) -> Self:
        """Jobs that a worker has now."""
        return self.filter(state=Job.State.LEASED).order_by("pk")

    def ended(self) -> Self:
        """Done, failed or cancelled, the last first."""
        return self.filter(state__in=Job.ENDED).order_by("-ended_at", "-pk")

    def due(self, now: datetime) -> Self:
        """Queued ones that may be handed out now."""
        in_time = Q(deadline__isnull=True) | Q(deadline__gt=now)
        return self.queued().filter(in_time, not_before__lte=now)

    def numbers(self) -> dict[str, int]:
        """How many there are in each state, in one query."""
        counted = dict(self.order_by().values_list("state").annotate(number=Count("pk")))
        return {state: counted.get(state, 0) for state in Job.State.values}

    def asked_for(self, revisions: Iterable[Revision | int]) -> Self:
        """What waits or is measured of any of ``revisions``, a bisect's own jobs left out."""
        waits = Q(state__in=[Job.State.QUEUED, Job.State.LEASED])
        return self.filter(waits, revision__in=list(revisions)).exclude(purpose=Job.Purpose.BISECT)

    def expired(self, now: datetime) -> Self:
        """Leased ones whose worker fell silent."""
        return self.filter(state=Job.State.LEASED, lease_until__lte=now)

    def about(self, *, tree: str = "", hardware: str = "", mode: str = "") -> Self:
        """Jobs of a tree, of hardware and in a mode, by name, where given."""
        parts = {"tree__name": tree, "hardware__name": hardware, "mode__name": mode}
        return self.filter(**{field: name for field, name in parts.items() if name})

    def named(self) -> Self:
        """With everything a row of a table shows of a job."""
        return self.select_related(
            "tree",
            "revision__tree",
            "hardware__lab",
            "mode",
            "metric",
            "worker__agent__lab",
            "requested_by",
        )


class Job(models.Model):
    """One request, and where it stands.

    ``boots`` boots of one build, ``iterations`` samples in each. A worker holds a job by its
    ``lease``, which stays readable after the job left it: a late report is no wrong one.
    All times are the server's.
    """

    class Purpose(models.TextChoices):
        BISECT = "bisect", "bisect"
        CONFIRM = "confirm", "confirm this candidate"
        MORE_RUNS = "more runs", "more runs of this point"
        FILL_GAP = "fill gap", "fill this gap"
        CANARY = "canary", "canary of this machine"
        PROFILE = "profile", "profile of this kernel"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        LEASED = "leased", "leased"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    ENDED = (State.DONE, State.FAILED, State.CANCELLED)

    class Stage(models.TextChoices):
        BUILD = "build", "build"
        BOOT = "boot", "boot"
        RUN = "run", "run"
        UPLOAD = "upload", "upload"
        LAB = "lab", "lab"

    purpose = models.CharField(max_length=9, choices=Purpose)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it is measured, in words")
    tree = models.ForeignKey(Tree, on_delete=models.PROTECT, related_name="jobs")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="jobs")
    hardware = models.ForeignKey(
        Hardware, on_delete=models.PROTECT, related_name="jobs", db_index=False
    )  # jobs_ended_lately begins with it
    mode = models.ForeignKey(Mode, on_delete=models.PROTECT, related_name="jobs")
    metric = models.ForeignKey(
        Metric, on_delete=models.PROTECT, null=True, blank=True, related_name="jobs"
    )
    boots = models.PositiveSmallIntegerField(default=1)
    iterations = models.PositiveSmallIntegerField(default=1)
    rebuild = models.BooleanField(
        default=False, help_text="Build it again, with another layout, instead of a kept build."
    )
    build_key = models.CharField(max_length=200, blank=True)
    priority = models.PositiveSmallIntegerField(default=50)
    requested_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    created_at = models.DateTimeField()
    not_before = models.DateTimeField()
    deadline = models.DateTimeField(null=True, blank=True)
    estimate_seconds = models.FloatField()

    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=ATTEMPTS)
    worker = models.ForeignKey(
        Worker, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    lease = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    last_heard_at = models.DateTimeField(null=True, blank=True)
    stage = models.CharField(max_length=6, choices=Stage, blank=True)
    stage_since = models.DateTimeField(null=True, blank=True)
    progress = models.CharField(max_length=200, blank=True)
    log = models.TextField(blank=True, help_text="The end of the worker's log at its last word")
    failure_stage = models.CharField(max_length=6, choices=Stage, blank=True)
    failure_reason = models.CharField(max_length=500, blank=True)
    cancel_requested = models.BooleanField(default=False)
    cancel_reason = models.CharField(max_length=500, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    runs = models.ManyToManyField(
        Run, related_name="jobs", blank=True, help_text="Its results; a late one may be a second."
    )

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="leased", lease_until__isnull=False) & ~Q(lease=""))
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="job_leased_until_something",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["done", "failed", "cancelled"], ended_at__isnull=False)
                | Q(state__in=["queued", "leased"], ended_at__isnull=True),
                name="job_ended_at_a_moment",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(failure_reason=""), name="job_failed_for_a_reason"
            ),
            models.CheckConstraint(
                condition=Q(cancel_requested=False) | ~Q(cancel_reason=""),
                name="job_cancelled_for_a_reason",
            ),
            models.CheckConstraint(
                condition=~Q(state="cancelled") | Q(cancel_requested=True),
                name="job_cancelled_as_requested",
            ),
            models.CheckConstraint(
                condition=Q(attempts__lte=models.F("max_attempts"), max_attempts__gte=1),
                name="job_attempts_within_bounds",
            ),
            models.CheckConstraint(
                condition=Q(boots__gte=1, boots__lte=MOST_BOOTS)
                & Q(iterations__gte=1, iterations__lte=MOST_ITERATIONS),
                name="job_measures_something",
            ),
            models.CheckConstraint(
                condition=Q(priority__lte=MOST_PRIORITY), name="job_priority_to_100"
            ),
            models.UniqueConstraint(
                fields=["worker"], condition=Q(state="leased"), name="job_one_at_a_time_of_a_worker"
            ),
        ]
        indexes = [
            models.Index(
                fields=["hardware", "-priority", "created_at", "id"],
                name="jobs_to_claim",
                condition=Q(state="queued"),
            ),
            models.Index(fields=["lease_until"], name="jobs_expired", condition=Q(state="leased")),
            models.Index(
                fields=["deadline"],
                name="jobs_past_their_deadline",
                condition=Q(state="queued", deadline__isnull=False),
            ),
            models.Index(fields=["hardware", "mode", "-ended_at"], name="jobs_ended_lately"),
            models.Index(
                fields=["-ended_at", "-id"],
                name="jobs_ended_last",
                condition=Q(ended_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"

    def get_absolute_url(self) -> str:
        """The path of the job's page."""
        return reverse("job", args=[self.pk])

    @property
    def has_ended(self) -> bool:
        """Whether it is done, failed or cancelled."""
        return self.state in Job.ENDED

    @property
    def may_be_retried(self) -> bool:
        """Whether a person may queue it again."""
        return self.state in (Job.State.FAILED, Job.State.CANCELLED)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether a person may cancel it, change its priority or queue it again."""
        return self.may_be_retried or not (self.has_ended or self.cancel_requested)

    def results(self) -> Sequence[Run]:
        """The job's runs, in the order they came; of one that was replaced, the current one."""
        return list(self.runs.current().order_by("pk"))


class JobEvent(models.Model):
    """What happened to a job. Rows are only added.

    ``worker`` and ``lease`` name under whose lease, ``actor`` which person did it.
    """

    class Kind(models.TextChoices):
        QUEUED = "queued", "queued"
        LEASED = "leased", "taken"
        EXPIRED = "expired", "lease ran out"
        FAILED = "failed", "attempt failed"
        RESULT = "result", "result"
        LATE_RESULT = "late result", "late result"
        REFUSED = "refused", "result refused"
        GAVE_UP = "gave up", "given up"
        CANCEL_REQUESTED = "cancel requested", "to be cancelled"
        CANCELLED = "cancelled", "cancelled"
        PRIORITY = "priority", "priority changed"
        RETRIED = "retried", "queued again by hand"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=Kind)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    worker = models.ForeignKey(Worker, on_delete=models.SET_NULL, null=True, related_name="+")
    lease = models.CharField(max_length=32, blank=True)
    stage = models.CharField(max_length=6, choices=Job.Stage, blank=True)
    reason = models.TextField(blank=True)
    log = models.TextField(blank=True)
    data: Any = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["job", "pk"]

    def __str__(self) -> str:
        return f"job {self.job_id}: {self.kind}"
