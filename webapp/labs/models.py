"""Who measures: labs, their agents, and the tokens the agents sign in with."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q

from webapp.accounts.models import User

MARK = "dl"
PREFIX_BYTES = 6
SECRET_BYTES = 32
USE_IS_NOTED_EVERY = timedelta(minutes=1)


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


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens by whether they still open anything."""

    def usable(self) -> Self:
        """Those that nobody revoked."""
        return self.filter(revoked_at__isnull=True)

    def matching(self, text: str) -> "Token | None":
        """The usable token that ``text`` spells, with its agent and lab, in one query."""
        mark, _, rest = text.partition("_")
        prefix, _, secret = rest.partition("_")
        if mark != MARK or not prefix or not secret:
            return None
        token = self.usable().select_related("agent__lab").filter(prefix=prefix).first()
        return token if token is not None and token.spells(text) else None


class Token(models.Model):
    """A secret of an agent. Shown once; only its digest is kept.

    A plain SHA-256 suffices: the secret has 256 random bits, so there is nothing to guess.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="tokens")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
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

    def use_is_stale(self, now: datetime) -> bool:
        """Whether the last noted use is old enough to write a new one (not on every request), or
        from before the clock was set back.
        """
        return self.last_used_at is None or abs(now - self.last_used_at) > USE_IS_NOTED_EVERY
