"""Removing a person: the account keeps its number, and nothing else keeps who that was.

What people did stays, by ``removed-17``. What was theirs alone (subscriptions, mails, saved views,
ways to sign in) goes. Rooms above erase by ``person_removed`` what names the person as an author.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from django.contrib.auth.hashers import make_password
from django.db import connection, models, transaction
from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils import timezone

from webapp.accounts.models import User
from webapp.accounts.services.people import RoleError

person_removed = Signal()
"""Sent in the transaction that removes a person, with ``names`` (as authors are called: names and
addresses), the ``pseudonym`` that stands for each, and ``counts`` to add to (rows by table)."""

ADDRESS = re.compile(r"(?:[^\s<>:][^\n<>:]*<)?([\w.+-]+@[\w.-]+\w)>?")
"""An address in a text, with the name before it: ``Ada Lovelace <ada@example.org>``."""

Pseudonyms = Mapping[str, str]
"""By the digest of a name or an address."""


@transaction.atomic
def remove_people(*, people: QuerySet[User]) -> Counter[str]:
    """Remove ``people``; how many rows of each table changed. Raises RoleError when no operator
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
        counts.update({_table(name): number for name, number in by_model.items() if gone})
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
    counts["accounts_user"] += 1
    person_removed.send(User, names=known, pseudonym=pseudonym, counts=counts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT driftline_forget_origin(%s)", [user.pk])


def _owned() -> Iterable[tuple[type[models.Model], str]]:
    """The tables whose rows are nobody's without their person, and by which column."""
    for one in User._meta.get_fields(include_hidden=True):  # noqa: SLF001 (documented)
        if isinstance(one, models.ManyToOneRel) and one.on_delete is models.CASCADE:
            yield one.related_model, one.field.name


def _table(label: str) -> str:
    return label.replace(".", "_").lower()


def _digest(name: str) -> str:
    return hashlib.sha256(name.strip().lower().encode()).hexdigest()
