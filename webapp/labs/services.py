"""Writes to labs, agents and tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from webapp.labs.distribution import (
    ZIPAPP,
    AgentMissing,
    agent_wheel,
    agent_wheel_name,
    agent_zipapp,
)
from webapp.labs.models import Agent, Lab, Token, every_scope
from webapp.labs.quotas import (
    UNITS,
    QuotaExceeded,
    Stored,
    default_quota,
    require_quota,
    set_quota,
    spend_quota,
)

__all__ = [
    "UNITS",
    "ZIPAPP",
    "AgentMissing",
    "IssuedToken",
    "QuotaExceeded",
    "Stored",
    "agent_wheel",
    "agent_wheel_name",
    "agent_zipapp",
    "create_agent",
    "default_quota",
    "issue_token",
    "note_use",
    "require_quota",
    "revoke_token",
    "set_quota",
    "spend_quota",
]


@dataclass(frozen=True)
class IssuedToken:
    """A new token with its text, which is not kept and can be shown only now."""

    token: Token
    text: str


@transaction.atomic
def create_agent(*, name: str, lab_name: str, simulated: bool = False) -> Agent:
    """The agent ``name`` of the lab ``lab_name``; both are created when they are new."""
    lab, _ = Lab.objects.get_or_create(name=lab_name, defaults={"simulated": simulated})
    agent, _ = Agent.objects.get_or_create(lab=lab, name=name)
    return agent


def issue_token(
    *, agent: Agent, scopes: Sequence[str] = (), days: int | None = None
) -> IssuedToken:
    """A fresh token for ``agent``, of all scopes when none is named, that expires after ``days``;
    earlier ones stay good until they are revoked.
    """
    prefix, text = Token.new_text()
    token = Token.objects.create(
        agent=agent,
        prefix=prefix,
        digest=Token.digest_of(text),
        scopes=list(scopes) or every_scope(),
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    return IssuedToken(token=token, text=text)


def revoke_token(*, token: Token, now: datetime | None = None) -> None:
    """End a token. Revoking it again changes nothing."""
    Token.objects.filter(pk=token.pk, revoked_at__isnull=True).update(
        revoked_at=now or timezone.now()
    )


def note_use(*, token: Token, now: datetime) -> None:
    """Remember that ``token`` was used, at most once a minute."""
    if token.use_is_stale(now):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
        Agent.objects.filter(pk=token.agent_id).update(last_seen_at=now)
