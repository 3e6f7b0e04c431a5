"""People."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


def check_time_zone(name: str) -> None:
    """Raise ValidationError unless it is a name of the time zone database."""
    if name not in available_timezones():
        raise ValidationError(f"{name!r} is no time zone: give one as Europe/Paris or UTC.")


class PersonManager(UserManager["User"]):
    """Django's manager of people, and who operates the instance."""

    use_in_migrations = False

    def operators(self) -> models.QuerySet["User"]:
        """Who may sign in and operate the instance."""
        operating = Q(role=User.Role.OPERATOR) | Q(is_staff=True) | Q(is_superuser=True)
        return self.filter(operating, is_active=True)


ROLES_HELP = (
    "A viewer reads and has settings of their own, a triager also acts on alerts, "
    "an operator also operates the instance."
)


class User(AbstractUser):
    """A person who signs in. What the person may do follows from the role alone.

    Django's own flags are kept in line with it: an operator is a superuser, others are neither
    that nor staff. So ``createsuperuser`` makes an operator, and the admin is for operators.

    ``aliases`` are the other names and addresses under which the person commits. Between
    ``quiet_from`` and ``quiet_until``, in ``time_zone``, no mail is sent; both null: at no time.
    """

    class Role(models.TextChoices):
        VIEWER = "viewer", "viewer"
        TRIAGER = "triager", "triager"
        OPERATOR = "operator", "operator"

    role = models.CharField(max_length=8, choices=Role, default=Role.VIEWER, help_text=ROLES_HELP)
    aliases = ArrayField(models.CharField(max_length=254), default=list, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[check_time_zone])
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    seen_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="What came after it is new to the person: the end of the visit before this one.",
    )
    looked_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="The front page was read last."
    )
    single_keys = models.BooleanField(
        "single keys",
        default=True,
        db_default=True,
        help_text="Letters and signs act on pages without Ctrl: j, a, g t, ?, /.",
    )

    removed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="The name and everything else about the person were erased then.",
    )

    objects: ClassVar[PersonManager] = PersonManager()

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "triager", "operator"]), name="user_role_known"
            ),
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="user_quiet_from_and_until",
            ),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the person; an operator and Django's superuser are one."""
        if self.is_superuser:
            self.role = User.Role.OPERATOR
        if self.role == User.Role.OPERATOR:
            self.is_staff = self.is_superuser = True
        super().save(*args, **kwargs)

    def take_role(self, role: str) -> None:
        """Have ``role`` and Django's flags that belong to it; not saved here."""
        self.role = role
        self.is_staff = self.is_superuser = role == User.Role.OPERATOR

    @property
    def is_operator(self) -> bool:
        """Whether this person operates the instance, by role or by Django's flags."""
        return self.role == User.Role.OPERATOR or self.is_staff or self.is_superuser

    @property
    def is_triager(self) -> bool:
        """Whether this person may act on alerts, jobs and bisects."""
        return self.role == User.Role.TRIAGER or self.is_operator

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which quiet hours and digests of this person are meant."""
        return ZoneInfo(self.time_zone)

    def after_quiet_hours(self, due: datetime) -> datetime:
        """``due``, or the end of the quiet hours that it falls into."""
        if self.quiet_from is None or self.quiet_until is None:
            return due
        local = due.astimezone(self.zone)
        if not _is_within(local.time(), self.quiet_from, self.quiet_until):
            return due
        tomorrow = timedelta(days=local.time() >= self.quiet_until)
        end = datetime.combine(local.date() + tomorrow, self.quiet_until, self.zone)
        if end.astimezone(UTC) <= due:
            # The clock was put back: that time comes twice, and the first is over.
            end = end.replace(fold=1)
        return end.astimezone(UTC)


def _is_within(at: time, start: time, end: time) -> bool:
    """Whether ``at`` lies in [start, end), which may reach over midnight."""
    return start <= at < end if start <= end else at >= start or at < end


class SavedView(models.Model):
    """A page with its query under a name; ``is_shared``: everybody who signs in finds it."""

    owner = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="saved_views", db_index=False
    )  # saved_view_once_of_an_owner begins with it
    name = models.CharField(max_length=100)
    address = models.CharField(max_length=8000, help_text="Path and query of a page of ours.")
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="saved_view_once_of_an_owner")
        ]

    def __str__(self) -> str:
        return self.name


class Readers(models.Model):
    """Who may read where DRIFTLINE_PUBLIC is not set: the one row of a public instance."""

    ONLY = 1
    everybody = models.BooleanField()

    class Meta:
        verbose_name_plural = "readers"
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="readers_are_one_row")]

    def __str__(self) -> str:
        return "everybody" if self.everybody else "people with an account"


def _of(who: str) -> Q:
    by_name = Q(actor__icontains=who) | Q(person__username__icontains=who)
    return by_name | Q(person=int(who)) if who.isascii() and who.isdecimal() else by_name


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), time(), UTC)


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    """The audit log, newest first."""

    def with_people(self) -> Self:
        """With the present names of the people who acted, in the same query."""
        return self.select_related("person")

    def matching(self, **wanted: str) -> Self:
        """Those of ``who`` (a person's number or name, a token, a command), ``action``, ``table``
        and ``row``, between the days ``since`` and ``until`` (ISO, UTC); empty: any."""
        wanted = {name: text for name, text in wanted.items() if text}
        exact = {"table": "subject", "row": "row_key"}
        found = self.filter(**{exact[name]: wanted[name] for name in exact if name in wanted})
        if "action" in wanted:
            found = found.filter(action__icontains=wanted["action"])
        if "who" in wanted:
            found = found.filter(_of(wanted["who"]))
        if "since" in wanted:
            found = found.filter(at__gte=_midnight(wanted["since"]))
        if "until" in wanted:
            found = found.filter(at__lt=_midnight(wanted["until"]) + timedelta(days=1))
        return found


class AuditEntry(models.Model):
    """A row that a person, a token or a command changed, with what it was before and after.

    Triggers of the database write it in the transaction of the change (``services.audit`` states
    who acts, ``webapp/config/audited.py`` which tables count). Rows are only added. A person is
    kept as a number, whose name is in ``accounts_user`` alone. ``subject`` is the table and
    ``row_key`` the row's key; a statement about many rows is one entry with their ``number`` and
    neither values nor key. ``action`` names the page or endpoint, ``origin`` is an address.
    """

    class Kind(models.TextChoices):
        PERSON = "person", "person"
        TOKEN = "token", "token"
        COMMAND = "command", "command"
        STRANGER = "stranger", "nobody signed in"

    class Operation(models.TextChoices):
        INSERT = "insert", "added"
        UPDATE = "update", "changed"
        DELETE = "delete", "removed"
        EVENT = "event", "event"

    at = models.DateTimeField(db_default=Now())
    kind = models.CharField(max_length=8, choices=Kind)
    person = models.ForeignKey(
        User,
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    actor = models.TextField(blank=True)
    origin = models.TextField(blank=True)
    action = models.TextField(blank=True)
    operation = models.CharField(max_length=6, choices=Operation)
    subject = models.CharField(max_length=63)
    row_key = models.TextField(blank=True)
    number = models.BigIntegerField(db_default=1)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["subject", "row_key", "-id"], name="audit_of_a_row")]

    def __str__(self) -> str:
        return f"{self.operation} {self.subject} {self.row_key}"

    @property
    def who(self) -> str:
        """The person's present name, the token or the command."""
        if self.kind == AuditEntry.Kind.PERSON:
            return str(self.person) if self.person else f"person {self.person_id}"
        return self.actor or self.get_kind_display()
