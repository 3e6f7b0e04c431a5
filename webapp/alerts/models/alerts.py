"""Alerts: all findings that point at the same commit, and what became of them."""

from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from webapp.accounts.models import User
from webapp.analysis.models import Finding, FindingQuerySet
from webapp.results.models import Hardware, Point, Revision, RevisionAlias, Tree


class AlertQuerySet(models.QuerySet["Alert"]):
    """Alerts by what they are about, and with what pages show of them."""

    def of_levels(self) -> Self:
        """Alerts that suspect commits: slow losses and excursions suspect none."""
        return self.filter(kind=Alert.Kind.LEVEL)

    def open(self) -> Self:
        """Alerts that wait for somebody: neither resolved nor snoozed."""
        return self.filter(state__in=Alert.OPEN)

    def numbered(self, number: int) -> Self:
        """The one of that number, or the one that its alert was joined to (`FormerAlert`)."""
        joined = FormerAlert.objects.filter(number=number).values("alert")
        return self.filter(pk=Coalesce(Subquery(joined), number))

    def in_state(self, state: str) -> Self:
        """Alerts in ``state``; ``open`` means every state that waits, ``all`` any, ``history``
        those of imported runs, which nobody was notified of.
        """
        if state == "all":
            return self
        if state == "history":
            return self.filter(history=True)
        return self.open() if state == "open" else self.filter(state=state)

    def about(self, *, tree: str = "", hardware: str = "", mode: str = "") -> Self:
        """Alerts of a tree that hold a finding of the hardware in the mode, where given."""
        found = self.filter(tree__name=tree) if tree else self
        parts = {"series__hardware__name": hardware, "series__mode__name": mode}
        wanted = {field: name for field, name in parts.items() if name}
        if not wanted:
            return found
        findings = Finding.all_kinds.filter(membership__alert=OuterRef("pk"), **wanted)
        return found.filter(Exists(findings))

    def past_their_revision(self) -> Self:
        """Snoozed ones of which a series was measured at the revision they sleep until, or later.

        That revision is looked up by its name, for history may have been imported since; while
        nobody knows it, its number gives its place.
        """
        known = RevisionAlias.objects.filter(
            tree=OuterRef("tree"), name=OuterRef("snoozed_until_revision")
        )
        place = Coalesce(Subquery(known.values("revision__position")[:1]), "snoozed_until_position")
        measured = Point.objects.filter(
            series__findings__membership__alert=OuterRef("pk"), position__gte=OuterRef("place")
        )
        slept = self.filter(state=Alert.State.SNOOZED, snoozed_until_position__isnull=False)
        return slept.annotate(place=place).filter(Exists(measured))

    def with_revisions(self) -> Self:
        """With the rows that a line about an alert names."""
        return self.select_related(
            "tree", "revision", "after", "likeliest", "named", "resolution_revision", "duplicate_of"
        )


class Alert(models.Model):
    """One suspect commit and its findings.

    ``revision`` is the last suspect and, with the tree, the alert's identity: the suspects are the
    commits later than ``after`` up to it, ``likeliest`` the one that most findings name. An alert
    is ``is_active`` while findings back it. Its number is its primary key. ``version`` grows with
    each change; who acts names the version that was seen.

    Of a *slow* loss no commit is the suspect: it goes on from ``after`` to ``revision``, and its
    identity is, with the tree, the ``hardware``. Of an *excursion* none is either: several modes of
    the ``hardware`` were off at ``revision`` alone.
    """

    class Kind(models.TextChoices):
        LEVEL = "level", "change of level"
        SLOW = "slow", "slow loss"
        EXCURSION = "excursion", "excursion of a machine"

    class State(models.TextChoices):
        NEW = "new", "new"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        INVESTIGATING = "investigating", "investigating"
        REOPENED = "reopened", "reopened"
        RECOVERED = "recovered", "recovered?"
        SNOOZED = "snoozed", "snoozed"
        RESOLVED = "resolved", "resolved"

    OPEN = (State.NEW, State.ACKNOWLEDGED, State.INVESTIGATING, State.REOPENED, State.RECOVERED)

    class Resolution(models.TextChoices):
        FIXED = "fixed", "fixed"
        BACKED_OUT = "backed out", "backed out"
        EXPECTED = "expected", "expected"
        WONT_FIX = "won't fix", "won't fix"
        NOT_REAL = "not real", "not real: noise, lab or harness"
        DUPLICATE = "duplicate", "duplicate"
        RETRACTED = "retracted", "retracted: later runs no longer show it"

    BY_A_REVISION = (Resolution.FIXED, Resolution.BACKED_OUT)

    class Verdict(models.TextChoices):
        REGRESSION = "regression", "regression"
        IMPROVEMENT = "improvement", "improvement"
        MIXED = "mixed", "mixed"

    kind = models.CharField(
        max_length=9, choices=Kind, default=Kind.LEVEL, db_default=models.Value(Kind.LEVEL.value)
    )
    tree = models.ForeignKey(Tree, on_delete=models.PROTECT, related_name="alerts", db_index=False)
    hardware = models.ForeignKey(
        Hardware,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="slow_losses",
        help_text="Of a slow loss or an excursion alone.",
    )
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="alerts")
    after = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    likeliest = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="+")
    named = models.ForeignKey(
        Revision,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The commit that a bisect named: while it is suspected, it is the likeliest.",
    )
    named_probability = models.FloatField(null=True, blank=True)
    verdict = models.CharField(max_length=12, choices=Verdict)
    state = models.CharField(max_length=13, choices=State, default=State.NEW)
    is_active = models.BooleanField(default=True)
    history = models.BooleanField(
        default=False, help_text="Rests on runs uploaded as history: nobody is to be mailed."
    )
    mailed = models.BooleanField(
        default=False, help_text="Somebody was written to: it never counts as history again."
    )
    is_quiet = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Only another method of analysis opened it: nobody is notified of it.",
    )
    triaged = models.BooleanField(default=False, help_text="A person acted on it.")
    resolution = models.CharField(max_length=10, choices=Resolution, blank=True)
    resolution_revision = models.ForeignKey(
        Revision, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    duplicate_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="duplicates"
    )
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_until_revision = models.CharField(
        max_length=64, blank=True, help_text="Its name; it may be a commit to come."
    )
    snoozed_until_position = models.BigIntegerField(
        null=True, blank=True, help_text="Where that revision was, or is to be."
    )
    recovered_since = models.DateTimeField(null=True, blank=True)
    one_build = models.BooleanField(
        default=False, help_text="Rests on one build a side: no fact about the commit yet."
    )
    opened_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.BigIntegerField(default=1)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tree", "revision"],
                name="alert_once_for_a_commit",
                condition=Q(kind="level"),
            ),
            models.UniqueConstraint(
                fields=["tree", "hardware"],
                name="alert_one_open_slow_loss",
                condition=Q(kind="slow") & ~Q(state="resolved"),
            ),
            models.UniqueConstraint(
                fields=["tree", "hardware", "revision"],
                name="alert_one_excursion_at_a_revision",
                condition=Q(kind="excursion"),
            ),
            models.CheckConstraint(
                condition=Q(kind="level", hardware__isnull=True)
                | Q(kind__in=["slow", "excursion"], hardware__isnull=False),
                name="alert_of_a_machine",
            ),
            models.CheckConstraint(
                condition=Q(state="resolved") & ~Q(resolution="")
                | ~Q(state="resolved") & Q(resolution=""),
                name="alert_resolved_as_something",
            ),
            models.CheckConstraint(
                condition=Q(resolution="duplicate") | Q(duplicate_of__isnull=True),
                name="alert_duplicate_of_another",
            ),
            models.CheckConstraint(condition=~Q(duplicate_of=F("id")), name="alert_not_of_itself"),
            models.CheckConstraint(
                condition=Q(resolution__in=["fixed", "backed out"])
                | Q(resolution_revision__isnull=True),
                name="alert_fixed_by_a_revision",
            ),
            models.CheckConstraint(
                condition=~Q(state="snoozed")
                | Q(snoozed_until__isnull=False)
                | Q(snoozed_until_position__isnull=False)
                | Q(history=True),
                name="alert_snoozed_until_something",
            ),
            models.CheckConstraint(
                condition=Q(snoozed_until_position__isnull=True, snoozed_until_revision="")
                | Q(snoozed_until_position__isnull=False, snoozed_until__isnull=True)
                & ~Q(snoozed_until_revision=""),
                name="alert_snoozed_until_one_thing",
            ),
            models.CheckConstraint(
                condition=Q(named_probability__isnull=True) | Q(named_probability__range=(0, 1)),
                name="alert_named_probability",
            ),
        ]
        indexes = [
            models.Index(fields=["-id"], name="alerts_not_resolved", condition=~Q(state="resolved"))
        ]

    def __str__(self) -> str:
        return f"alert {self.pk}"

    def get_absolute_url(self) -> str:
        """The path of the alert's page."""
        return reverse("alert", args=[self.pk])

    @property
    def is_slow(self) -> bool:
        """Whether it is a slow loss: no commit is to blame."""
        return self.kind == Alert.Kind.SLOW

    @property
    def is_excursion(self) -> bool:
        """Whether it is one revision of a machine alone: no commit is to blame."""
        return self.kind == Alert.Kind.EXCURSION

    @property
    def suspects_commits(self) -> bool:
        """Whether a commit is to blame, so that one may be looked for."""
        return self.kind == Alert.Kind.LEVEL

    @property
    def is_open(self) -> bool:
        """Whether it waits for somebody."""
        return self.state in Alert.OPEN

    @property
    def is_resolved_by_people(self) -> bool:
        """Resolved, by whomever, after a person acted on it: no bisect holds it then."""
        return self.triaged and self.state == Alert.State.RESOLVED

    @property
    def findings(self) -> FindingQuerySet:
        """What it holds, in any state, in no order."""
        return Finding.all_kinds.filter(membership__alert=self.pk).order_by()


class FormerAlert(models.Model):
    """The number of an alert that was joined to another: old mails and links still name it."""

    number = models.BigIntegerField(primary_key=True)
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="former")

    def __str__(self) -> str:
        return f"alert {self.number}, now {self.alert_id}"


class AlertEventQuerySet(models.QuerySet["AlertEvent"]):
    """The log of alerts, and what of it notifications have not read."""

    def unread(self) -> Self:
        """Those that nobody was notified of, with no rule against it."""
        return self.filter(is_read=False)


class AlertEvent(models.Model):
    """What happened to an alert: who, when, what and why. Rows are only added.

    ``actor`` is null for the system. ``version`` is the alert's after it; ``before`` is what an
    undo restores, empty for the system's own. ``findings`` are the ids of those that joined or
    left: together these rows show what the alert held at any time. ``is_read``: notifications have
    dealt with it, by notifying people or by a rule that nobody is to be notified. ``is_quiet``: the
    runs are the same as before, only the method of analysis is another.
    """

    class Kind(models.TextChoices):
        OPENED = "opened", "opened"
        JOINED = "joined", "findings joined"
        LEFT = "left", "findings left"
        MOVED = "moved", "points at another commit"
        REFINED = "refined", "other suspects"
        NAMED = "named", "a bisect ended"
        TURNED = "turned", "another verdict"
        CONFIRMED = "confirmed", "confirmed by more builds"
        ONE_BUILD = "one build", "rests on one build a side"
        RECOVERED = "recovered", "all findings recovered"
        RETURNED = "returned", "no longer recovered"
        RETRACTED = "retracted", "no findings left"
        REACTIVATED = "standing", "findings are back"
        SNOOZED = "snoozed", "snoozed"
        WOKE = "woke", "woke up"
        HISTORY = "history", "rests on history alone"
        CLOSED = "closed", "closed after quiet days"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        INVESTIGATING = "investigating", "investigating"
        RESOLVED = "resolved", "resolved"
        REOPENED = "reopened", "reopened"
        MERGED = "merged", "merged"
        SPLIT = "split", "findings split off"
        SENT = "sent", "findings moved"
        UNDONE = "undone", "undone"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=13, choices=Kind)
    reason = models.TextField(blank=True)
    version = models.BigIntegerField()
    before: Any = models.JSONField(default=dict, blank=True)
    findings = ArrayField(models.BigIntegerField(), default=list, blank=True)
    is_read = models.BooleanField(default=False)
    is_quiet = models.BooleanField(default=False, db_default=False)

    objects = AlertEventQuerySet.as_manager()

    class Meta:
        ordering = ["alert", "pk"]
        indexes = [
            # Found by this and never by "the greatest id seen": ids are not committed in order.
            models.Index(fields=["id"], name="alert_events_unread", condition=Q(is_read=False))
        ]

    def __str__(self) -> str:
        return f"alert {self.alert_id}: {self.kind}"
