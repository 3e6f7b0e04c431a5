"""Writes about people: their roles and settings, when they looked at the front page, and who may
read an instance for which DRIFTLINE_PUBLIC is not set.

Private is the rule. ``migrate`` recorded that an instance which was in use before the rule stays
public, and a demonstration makes itself public.
"""

from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction

from webapp.accounts.models import Readers, User

OWN = ("email", "aliases", "time_zone", "quiet_from", "quiet_until", "single_keys")

_is_public = False

VISIT_ENDS_AFTER = timedelta(minutes=30)
"""Without reading the page for so long a person has gone: what came since is new at the next visit.
"""

NOTED_EVERY = timedelta(minutes=1)
"""A page that is read again and again is not written each time."""


class RoleError(Exception):
    """The role cannot be given; the message says why and what to do instead."""


@transaction.atomic
def set_role(*, user: User, role: str) -> User:
    """Give ``role``. Raises RoleError for an unknown role, or when no operator would be left."""
    if role not in User.Role.values:
        raise RoleError(f"There is no role {role!r}; choose one of {', '.join(User.Role.values)}.")
    ensure_operator_left(user=user, role=role)
    user.take_role(role)
    user.save()
    return user


def ensure_operator_left(*, user: User, role: str, is_active: bool = True) -> None:
    """Raise RoleError if nobody else could operate the instance once ``user`` became ``role``.

    The operators' rows are locked until the transaction ends: two of them who step down at once
    must not both succeed.
    """
    operators = User.objects.operators().select_for_update().order_by("pk")
    names = {row.pk for row in operators}
    stays = is_active and role == User.Role.OPERATOR
    if user.pk in names and not stays and len(names) == 1:
        raise RoleError(f"{user} is the only operator; make another one first.")


@transaction.atomic
def save_own_settings(*, user: User) -> User:
    """Store what people may change about themselves, and nothing else."""
    user.save(update_fields=OWN)
    return user


def everybody_may_read() -> bool:
    """Whether the instance is public; once it is, a process does not ask again. While the database
    is away nobody is let in who was not before.
    """
    global _is_public  # noqa: PLW0603 (one fact about the process)
    if not _is_public:
        try:
            _is_public = Readers.objects.filter(everybody=True).exists()
        except (OperationalError, InterfaceError):
            return False
    return _is_public


def open_to_everybody() -> None:
    """Make the instance public. Idempotent."""
    Readers.objects.update_or_create(pk=Readers.ONLY, defaults={"everybody": True})


def note_visit(*, user: User, now: datetime) -> datetime | None:
    """Note that ``user`` reads the front page ``now``; what came after the answer is new to them.

    It stays the same as long as the visit lasts, so that reading the page twice in a minute loses
    nothing. None: there was no visit before this one.
    """
    looked, seen = user.looked_at, user.seen_at
    if looked is not None and now - looked > VISIT_ENDS_AFTER:
        seen = looked
    if looked is None or abs(now - looked) >= NOTED_EVERY:
        # Of two requests at once the first decides; both begin with the same row and tell the same.
        before = User.objects.filter(pk=user.pk, looked_at=looked)
        # A page reads a snapshot and cannot write before it is read.
        transaction.on_commit(lambda: before.update(seen_at=seen, looked_at=now))
    return seen
