"""Writes about people, and who may do what."""

from webapp.accounts.roles import (
    is_triager,
    operator_required,
    signed_in_required,
    signed_in_user,
    triager_required,
)
from webapp.accounts.services.people import (
    OWN,
    RoleError,
    delete_people,
    ensure_operator_left,
    save_own_settings,
    set_role,
)
from webapp.accounts.signing_in.forms import LimitedPasswordChange

__all__ = [
    "OWN",
    "LimitedPasswordChange",
    "RoleError",
    "delete_people",
    "ensure_operator_left",
    "is_triager",
    "operator_required",
    "save_own_settings",
    "set_role",
    "signed_in_required",
    "signed_in_user",
    "triager_required",
]
