"""Writes about people: their roles, settings and saved views, when they looked at the front page,
and who may read an instance for which DRIFTLINE_PUBLIC is not set.

Private is the rule. ``migrate`` recorded that an instance which was in use before the rule stays
public, and a demonstration makes itself public.
"""

from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils.http import url_has_allowed_host_and_scheme

from webapp.accounts.models import Readers, SavedView, User

OWN = ("email", "aliases", "time_zone", "quiet_from", "quiet_until", "single_keys")

_is_public = False

VISIT_ENDS_AFTER = timedelta(minutes=30)
"""Without reading the page for so long a person has gone: what came since is new at the next visit.
"""

NOTED_EVERY = timedelta(minutes=1)
"""A page that is read again and again is not written each time."""

NAME_MAX = 100
ADDRESS_MAX = 8000
MOST_VIEWS = 200
"""Of one person."""


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


class ViewError(ValueError):
    """The view cannot be saved; the message names the field and the remedy."""


def save_view(*, owner: User, name: str, address: str) -> SavedView:
    """Save the page at ``address`` (path and query of this site) as ``name``; a view of that name
    moves there. Raises ViewError."""
    name, address = name.replace("\0", "").strip(), address.replace("\0", "").strip()
    if not name or len(name) > NAME_MAX:
        raise ViewError(f"Name: give one of at most {NAME_MAX} characters.")
    is_ours = address.startswith("/") and url_has_allowed_host_and_scheme(address, None)
    if not is_ours or len(address) > ADDRESS_MAX:
        raise ViewError(f"Address: only pages of this site, up to {ADDRESS_MAX:,} characters.")
    if "?" not in address:
        raise ViewError("Address: this page has no query; choose something on it first.")
    others = owner.saved_views.exclude(name=name)
    if others.count() >= MOST_VIEWS:
        raise ViewError(f"You have {MOST_VIEWS} saved views: delete one first.")
    view, _ = SavedView.objects.update_or_create(
        owner=owner, name=name, defaults={"address": address}
    )
    return view


def views_for(user: User) -> QuerySet[SavedView]:
    """The person's own, and those that others share."""
    found = SavedView.objects.filter(Q(owner=user) | Q(is_shared=True))
    return found.select_related("owner").order_by("name", "pk")


def share_view(*, view: SavedView, is_shared: bool) -> None:
    """Let everybody who signs in find it, or nobody else."""
    view.is_shared = is_shared
    view.save(update_fields=["is_shared"])
