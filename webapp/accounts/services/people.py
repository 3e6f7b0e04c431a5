"""Writes about people."""

from django.db import transaction

from webapp.accounts.models import User

OWN = ("email", "aliases", "time_zone", "quiet_from", "quiet_until", "single_keys")


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
