"""Who measures: labs, their agents, and the tokens the agents sign in with."""

import hashlib
import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Now

from webapp.accounts.models import User

MARK = "dl"
PREFIX_BYTES = 6
SECRET_BYTES = 32
MOST_DAYS = 3660
USE_IS_NOTED_EVERY = timedelta(minutes=1)
EXPIRES_SOON = timedelta(days=7)
"""How long before its end a token is to be replaced."""


class Lab(models.Model):
    """A place with machines under test."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    simulated = models.BooleanField(
        default=False, help_text="Its figures come from a simulation; pages say so."
    )
    contacts = models.ManyToManyField(
        User,
        blank=True,
        related_name="labs",
        help_text="Who hears when another lab tries to replace its runs; nobody here: every "
        "operator of the instance.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def listeners(self) -> models.QuerySet[User]:
        """Who operates the lab: its contacts, else every operator of the instance."""
        contacts = self.contacts.filter(is_active=True)
        return contacts if contacts.exists() else User.objects.operators()


class LabQuota(models.Model):
    """What a lab has stored, and how much it may; null: as the settings have it.

    ``runs`` are those of ``day`` (UTC). ``trees`` are those that its uploads were the first to
    name, ``series`` those of its hardware, ``profiles`` kilobytes of call trees.
    """

    lab = models.OneToOneField(
        Lab, on_delete=models.CASCADE, primary_key=True, related_name="quota"
    )
    most_runs = models.PositiveIntegerField(null=True, blank=True)
    most_trees = models.PositiveIntegerField(null=True, blank=True)
    most_series = models.PositiveIntegerField(null=True, blank=True)
    most_profiles = models.PositiveIntegerField(null=True, blank=True)
    day = models.DateField()
    runs = models.PositiveIntegerField(default=0)
    trees = models.PositiveIntegerField(default=0)
    series = models.PositiveIntegerField(default=0)
    profiles = models.PositiveIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return f"quota of lab {self.lab_id}"


class Agent(models.Model):
    """A program in a lab that uploads runs."""

    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="agents")
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["lab", "name"]
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="agent_once_in_a_lab")]

    def __str__(self) -> str:
        return f"{self.lab}/{self.name}"


class Scope(models.TextChoices):
    """What a token may do. Reading is open to all, unless the instance is private."""

    UPLOAD = "upload", "upload runs, profiles, events"
    JOBS = "jobs", "take jobs and report them"
    READ = "read", "read a private instance"


def every_scope() -> list[str]:
    """Of an agent that does everything."""
    return list(Scope.values)


USABLE = Q(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), revoked_at__isnull=True)


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens by whether they still open anything."""

    def usable(self) -> Self:
        """Tokens that nobody revoked and that have not expired."""
        return self.filter(USABLE)

    def expiring(self, now: datetime, *, within: timedelta) -> Self:
        """Tokens in use that expire ``within`` a time, or expired no longer ago."""
        return self.filter(
            revoked_at__isnull=True,
            expires_at__range=(now - within, now + within),
            last_used_at__gt=now - 4 * within,
        ).order_by("expires_at")

    def matching(self, text: str) -> "Token | None":
        """The usable token that ``text`` spells, with its agent and lab, in one query."""
        mark, _, rest = text.partition("_")
        prefix, _, secret = rest.partition("_")
        if mark != MARK or not prefix or not secret:
            return None
        token = _by_prefix(prefix)
        return token if token is not None and token.spells(text) else None


class Token(models.Model):
    """A secret of an agent. Shown once; only its digest is kept.

    A plain SHA-256 suffices: the secret has 256 random bits, so there is nothing to guess.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="tokens")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=6, choices=Scope), default=every_scope)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(digest__regex="^[0-9a-f]{64}$"), name="token_digest_is_sha256"
            )
        ]

    def __str__(self) -> str:
        return f"{MARK}_{self.prefix}_…"

    @staticmethod
    def digest_of(text: str) -> str:
        """SHA-256 of the secret part in hexadecimal: all that is stored of it."""
        return hashlib.sha256(text.encode()).hexdigest()

    @staticmethod
    def new_text() -> tuple[str, str]:
        """(prefix, whole text) of a fresh token."""
        prefix = secrets.token_hex(PREFIX_BYTES)
        return prefix, f"{MARK}_{prefix}_{secrets.token_urlsafe(SECRET_BYTES)}"

    def spells(self, text: str) -> bool:
        """Whether ``text`` is the token, compared in constant time."""
        return secrets.compare_digest(self.digest, self.digest_of(text))

    def state(self, now: datetime) -> str:
        """What the token is good for, in words: until when, or since when no longer."""
        if self.revoked_at is not None:
            return f"revoked on {self.revoked_at:%Y-%m-%d}"
        if self.expires_at is None:
            return "good, never expires"
        left = self.expires_at - now
        if left <= timedelta(0):
            return f"expired on {self.expires_at:%Y-%m-%d}"
        if left < EXPIRES_SOON:
            days, hours = left.days, left.seconds // 3600
            return f"expires in {f'{days} d' if days else f'{hours} h'}"
        return f"good until {self.expires_at:%Y-%m-%d}"

    def use_is_stale(self, now: datetime) -> bool:
        """Whether the last noted use is old enough to write a new one (not on every request), or
        from before the clock was set back.
        """
        return self.last_used_at is None or abs(now - self.last_used_at) > USE_IS_NOTED_EVERY


def _by_prefix(prefix: str) -> Any:
    """The usable token, with its agent and lab. Every request of an agent begins so, and composing
    the query took a tenth of the web server's time under load.
    """
    with connection.cursor() as cursor:
        cursor.execute(_statement(), [prefix])
        row = cursor.fetchone()
    if row is None:
        return None
    values = iter(row)
    token, agent, lab = (_read(model, values) for model in (Token, Agent, Lab))
    agent.lab, token.agent = lab, agent
    return token


def _read(model: type[models.Model], values: Iterator[Any]) -> Any:
    """The next columns as a row of ``model``."""
    names = [field.attname for field in model._meta.concrete_fields]  # noqa: SLF001 (documented)
    return model.from_db(connection.alias, names, list(islice(values, len(names))))


@cache
def _statement() -> str:
    # Tables and columns are the models' own; no value of a request is in this text.
    columns = ", ".join(
        f"{table}.{field.column}"
        for table, model in (("token", Token), ("agent", Agent), ("lab", Lab))
        for field in model._meta.concrete_fields  # noqa: SLF001 (documented)
    )
    return (
        f"SELECT {columns} FROM labs_token AS token "  # noqa: S608
        "JOIN labs_agent AS agent ON agent.id = token.agent_id "
        "JOIN labs_lab AS lab ON lab.id = agent.lab_id "
        "WHERE token.prefix = %s AND token.revoked_at IS NULL "
        "AND (token.expires_at IS NULL OR token.expires_at > now())"
    )
