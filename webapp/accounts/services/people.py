"""People: their roles, settings and saved views, who may read an instance, and their removal.

Private is the rule where DRIFTLINE_PUBLIC is not set. ``migrate`` recorded that an instance which
was in use before the rule stays public, and a demonstration makes itself public.

Of a person who is removed the account keeps its number, and nothing else keeps who that was. What
people did stays, by ``removed-17``. What was theirs alone (subscriptions, mails, saved views, ways
to sign in) goes. Rooms above erase by ``person_removed`` what names the person as an author.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import InterfaceError, OperationalError, connection, models, transaction
from django.db.models import Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone
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
    """The role cannot be given; the message states why and what to do instead."""


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
        # Of two requests at once the first decides; both begin with the same row and see the same.
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


person_removed = Signal()
"""Sent in the transaction that removes a person, with ``names`` (as authors are called: names and
addresses), the ``pseudonym`` that stands for each, and ``counts`` to add to (rows by the label of
their model)."""

ADDRESS = re.compile(r"(?:[^\s<>:][^\n<>:]*<)?([\w.+-]+@[\w.-]+\w)>?")
"""An address in a text, with the name before it: ``Ada Lovelace <ada@example.org>``."""

Pseudonyms = Mapping[str, str]
"""By the digest of a name or an address."""


@transaction.atomic
def remove_people(*, people: QuerySet[User]) -> Counter[str]:
    """Remove ``people``; how many rows of each model changed. Raises RoleError when no operator
    would be left.

    The operators' rows are locked: two of them who remove one another must not both succeed.
    """
    operators = User.objects.operators().select_for_update().order_by("pk")
    if not {row.pk for row in operators} - set(people.values_list("pk", flat=True)):
        raise RoleError("These are the only operators; make another one first.")
    counts: Counter[str] = Counter()
    for user in people.filter(removed_at__isnull=True).order_by("pk"):
        _remove(user, (user.email, *user.aliases, user.get_full_name()), counts)
    return counts


@transaction.atomic
def remove_author(*, names: Iterable[str]) -> Counter[str]:
    """Remove somebody without an account, who is an author of commits by ``names``."""
    counts: Counter[str] = Counter()
    user = User(username="author to be removed", is_active=False)
    user.set_unusable_password()
    user.save()
    _remove(user, names, counts)
    return counts


def pseudonyms() -> Pseudonyms:
    """What stands for the names and addresses of everybody who was removed."""
    gone = User.objects.filter(removed_at__isnull=False).values_list("username", "aliases")
    return {digest: name for name, digests in gone for digest in digests}


def pseudonym_of(name: str, known: Pseudonyms) -> str:
    """What stands for ``name``; empty: it is nobody's who was removed."""
    return known.get(_digest(name), "") if name else ""


def without_addresses(text: str, known: Pseudonyms) -> str:
    """``text`` with pseudonyms in place of the addresses of removed people, and of the names that
    stand before these."""
    return ADDRESS.sub(lambda found: known.get(_digest(found[1]), found[0]), text)


def _remove(user: User, names: Iterable[str], counts: Counter[str]) -> None:
    known = {name.strip().lower() for name in names if name.strip()}
    pseudonym = f"removed-{user.pk}"
    for model, field in _owned():
        gone, by_model = model._base_manager.filter(**{field: user}).delete()  # noqa: SLF001 (all rows)
        counts.update(by_model if gone else {})
    User.objects.filter(pk=user.pk).update(
        username=pseudonym,
        first_name="",
        last_name="",
        email="",
        # Only digests, by which a later import knows the author again
        aliases=sorted(map(_digest, known)),
        password=make_password(None),
        role=User.Role.VIEWER,
        is_active=False,
        is_staff=False,
        is_superuser=False,
        seen_at=None,
        looked_at=None,
        last_login=None,
        removed_at=timezone.now(),
    )
    counts[User._meta.label] += 1  # noqa: SLF001 (documented)
    person_removed.send(User, names=known, pseudonym=pseudonym, counts=counts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT driftline_forget_origin(%s)", [user.pk])


def _owned() -> Iterable[tuple[type[models.Model], str]]:
    """The tables whose rows are nobody's without their person, and by which column."""
    for one in User._meta.get_fields(include_hidden=True):  # noqa: SLF001 (documented)
        if isinstance(one, models.ManyToOneRel) and one.on_delete is models.CASCADE:
            yield one.related_model, one.field.name


def _digest(name: str) -> str:
    return hashlib.sha256(name.strip().lower().encode()).hexdigest()
