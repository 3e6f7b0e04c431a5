"""Writes about people, and who may do what."""

from webapp.accounts.services.people import (
    OWN,
    RoleError,
    delete_people,
    ensure_operator_left,
    save_own_settings,
    set_role,
)

__all__ = [
    "OWN",
    "RoleError",
    "delete_people",
    "ensure_operator_left",
    "save_own_settings",
    "set_role",
]
