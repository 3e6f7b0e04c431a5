"""Writes about people, and who may do what."""

from webapp.accounts.roles import (
    is_operator,
    is_triager,
    operator_required,
    signed_in_required,
    signed_in_user,
    triager_required,
)
from webapp.accounts.services.people import OWN, save_own_settings
from webapp.accounts.services.visits import note_visit
from webapp.accounts.signing_in.forms import LimitedPasswordChange

__all__ = [
    "OWN",
    "LimitedPasswordChange",
    "is_operator",
    "is_triager",
    "note_visit",
    "operator_required",
    "save_own_settings",
    "signed_in_required",
    "signed_in_user",
    "triager_required",
]
